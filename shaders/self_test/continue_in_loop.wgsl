// Do lanes that continue come together with the others in the next iteration?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: one lane in four continues in each of four iterations.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    for (var i = 0u; i < 4u; i++) {
        if (local_index % 4u == i) {
            // block: skipping
            sum += 7u;
            continue;
        }
        // block: rest
        sum += i * local_index;
    }
    // block: behind
    sum += 1u;
    output[workgroup.x * 128u + local_index] = sum;
}
