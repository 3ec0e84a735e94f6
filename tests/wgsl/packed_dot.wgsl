// Question: are dot products of packed bytes computed and counted?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: signed and unsigned halves.
requires packed_4x8_integer_dot_product;

@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output)) {
        return;
    }
    let weight = weights[id.x % arrayLength(&weights)] * 0x01020408u;
    if ((id.x & 8u) != 0u) {
        output[id.x] = dot4I8Packed(weight, 0xff01fe02u);
    } else {
        output[id.x] = i32(dot4U8Packed(weight, 0x01020304u));
    }
}
