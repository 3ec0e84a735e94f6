// Question: what do lanes cost that leave at the top?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: three quarters leave at once.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output) || id.x % 4u != 0u) {
        return;
    }
    var sum = id.x;
    for (var i = 0u; i < 20u; i++) {
        sum = sum * 5u + i;
    }
    output[id.x] = sum;
}
