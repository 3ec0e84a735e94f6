// Does each arm of an if run once a subgroup?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: two arms of W / 2 lanes.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    if (local_index % 2u == 0u) {
        // block: even
        sum += local_index * 3u;
    } else {
        // block: odd
        sum += local_index * 5u;
    }
    output[workgroup.x * 128u + local_index] = sum;
}
