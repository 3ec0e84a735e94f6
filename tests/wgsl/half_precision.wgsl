// Question: does arithmetic in half precision change who goes where?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: values above a half.
enable f16;

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output)) {
        return;
    }
    // Multiples of 1/16 up to 4: exact in half precision, and so are their squares.
    let x = f16(id.x % 64u) * 0.0625h;
    var sum = 0.0h;
    if (x > 0.5h) {
        sum = x * x - 1.0h;
    } else {
        sum = -x;
    }
    let pair = vec2<f16>(sum, x);
    output[id.x] = u32(i32(f32(pair.x + pair.y) * 256.0) + 1024);
}
