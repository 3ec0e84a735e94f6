// Question: how uneven is Euclid's algorithm?
// Dispatch: 2D, one invocation a pair, 16 × 16 a workgroup. Divergence: trip counts.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(16, 16)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
) {
    var a = id.x + 10u;
    var b = id.y * 7u + 3u;
    loop {
        if (b == 0u) {
            break;
        }
        let rest = a % b;
        a = b;
        b = rest;
    }
    let at = id.y * grid.x * 16u + id.x;
    if (at < arrayLength(&output)) {
        output[at] = a;
    }
}
