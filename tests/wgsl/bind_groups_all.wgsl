// Question: is there room for counters where all four bind groups are taken?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the element's parity.
struct Scale {
    factor: u32,
}

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(1) @binding(0) var<uniform> scale: Scale;
@group(2) @binding(3) var<storage, read> table: array<u32, 16>;
@group(3) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output) || id.x >= arrayLength(&input)) {
        return;
    }
    var value = input[id.x] * scale.factor;
    if (value % 2u == 0u) {
        value += table[id.x % 16u];
    }
    output[id.x] = value;
}
