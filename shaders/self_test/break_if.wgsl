// Does a loop with `break if` run as often as its longest lane needs?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: lanes leave after 1, 2, 3 or 4 trips.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    var i = 0u;
    loop {
        // block: body
        sum += i * local_index + 1u;
        continuing {
            // block: -
            i += 1u;
            break if i > local_index % 4u;
        }
    }
    // block: behind
    sum += 1u;
    output[workgroup.x * 128u + local_index] = sum;
}
