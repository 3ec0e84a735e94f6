// Question: how uneven are Collatz's sequences?
// Dispatch: one invocation a number, 64 a workgroup. Divergence: each number has its own length.
@group(0) @binding(0) var<storage, read_write> lengths: array<u32>;

fn length(first: u32) -> u32 {
    var number = first;
    var steps = 0u;
    while (number > 1u && steps < 500u) {
        if ((number & 1u) == 0u) {
            number /= 2u;
        } else {
            number = 3u * number + 1u;
        }
        steps++;
    }
    return steps;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&lengths)) {
        lengths[id.x] = length(id.x + 1u);
    }
}
