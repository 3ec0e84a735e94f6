// Question: how far does each lane look for the end of its run?
// Dispatch: one invocation a position, 64 a workgroup. Divergence: only starts of runs look on.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> lengths: array<u32>;

fn kind(at: u32) -> u32 {
    return u32(input[at] % 5u < 3u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = min(arrayLength(&input), arrayLength(&lengths));
    if (id.x >= n) {
        return;
    }
    lengths[id.x] = 0u;
    if (id.x > 0u) {
        if (kind(id.x - 1u) == kind(id.x)) {
            return;
        }
    }
    var end = id.x + 1u;
    loop {
        if (end >= n) { break; }
        if (kind(end) != kind(id.x)) { break; }
        continuing {
            end++;
        }
    }
    lengths[id.x] = end - id.x;
}
