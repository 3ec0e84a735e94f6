// Do the lanes of an inner if come together again in the outer one?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: W / 2 lanes before and after the inner if, W / 4 in it.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    if (local_index % 2u == 0u) {
        // block: outer
        sum += local_index * 3u;
        if (local_index % 4u == 0u) {
            // block: inner
            sum += local_index * 5u;
        }
        // block: after_inner
        sum += local_index * 7u;
    }
    // block: behind
    sum += 1u;
    output[workgroup.x * 128u + local_index] = sum;
}
