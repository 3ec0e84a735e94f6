// Do calls in divergent flow keep their lanes?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: W / 2 lanes enter the outer function, W / 4 the arm of the inner one.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn inner(x: u32) -> u32 {
    // block: inner_body
    var y = x * 3u;
    if (x % 2u == 0u) {
        // block: inner_arm
        y += 7u;
    }
    // block: -
    return y;
}

fn outer(x: u32) -> u32 {
    // block: outer_body
    return inner(x) + 1u;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    if (local_index % 4u < 2u) {
        sum += outer(local_index);
    }
    sum += inner(local_index * 2u);
    output[workgroup.x * 128u + local_index] = sum;
}
