// Do lanes that return inside a loop stay away from the rest of it?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: one lane in four returns in each of four iterations.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    for (var i = 0u; i < 8u; i++) {
        if (local_index % 4u == i) {
            // block: leaving
            output[workgroup.x * 128u + local_index] = i;
            return;
        }
        // block: staying
        sum += i * local_index;
    }
    output[workgroup.x * 128u + local_index] = sum;
}
