// Does a loop in a function run as often as the longest lane of each call needs?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: four trips for all lanes together, then two for the even ones.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn work(x: u32, trips: u32) -> u32 {
    var y = x;
    for (var i = 0u; i <= trips; i++) {
        // block: body
        y = y * 3u + i;
    }
    // block: done
    y += 1u;
    return y;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    // block: -
    var sum = work(local_index, local_index % 4u);
    if (local_index % 2u == 0u) {
        sum += work(local_index * 5u, (local_index / 2u) % 2u);
    }
    output[workgroup.x * 128u + local_index] = sum;
}
