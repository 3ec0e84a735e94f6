// Do lanes that part in every iteration of a loop meet again in each?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: even lanes in even iterations, odd lanes in odd ones: W / 2 lanes each time.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    for (var i = 0u; i < 16u; i++) {
        if ((local_index + i) % 2u == 0u) {
            // block: taken
            sum += i * local_index;
        }
    }
    output[workgroup.x * 128u + local_index] = sum;
}
