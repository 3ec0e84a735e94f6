// Question: where do lanes meet that leave by `break if`?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: trip counts and a continue.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output)) {
        return;
    }
    let limit = input[id.x % arrayLength(&input)] % 23u;
    var i = 0u;
    var sum = 0u;
    loop {
        if (i % 3u == 1u) {
            continue;
        }
        if (sum > 90u) {
            break;
        }
        sum += i * 2u;
        continuing {
            let next = i + 1u;
            i = next;
            break if i > limit;
        }
    }
    output[id.x] = sum;
}
