// Do lanes that leave an inner loop at different times come together in the outer one?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: lanes leave the inner loop after 1, 2, 3 or 4 trips.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    for (var i = 0u; i < 2u; i++) {
        for (var j = 0u; j <= (local_index + i) % 4u; j++) {
            // block: inner
            sum += j * local_index + 1u;
        }
        // block: after_inner
        sum = sum * 3u;
    }
    output[workgroup.x * 128u + local_index] = sum;
}
