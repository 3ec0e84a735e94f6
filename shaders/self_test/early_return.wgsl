// Do lanes that return early stay away from the rest?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: one lane in four returns.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    if (local_index % 4u == 3u) {
        // block: leaving
        output[workgroup.x * 128u + local_index] = 1u;
        return;
    }
    // block: staying
    output[workgroup.x * 128u + local_index] = local_index * 3u;
}
