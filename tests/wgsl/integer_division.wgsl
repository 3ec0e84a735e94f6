// Question: do divisions by zero and by minus one end alike everywhere?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the divisor.
@group(0) @binding(0) var<storage, read_write> output: array<i32>;

fn divide(a: i32, b: i32) -> i32 {
    if (b == 0) {
        return 0;
    }
    return a / b * 1000 + a % b;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x);
    let least = -2147483647 - 1 + i / 4;
    var result = divide(i * 100 - 1000, i % 9 - 4);
    result ^= least / (i % 3 - 2) + least % (i % 3 + 1);
    let unsigned = (id.x * 77u) / (id.x % 6u + 1u) + (id.x % (1u + id.x / 2u));
    if (id.x < arrayLength(&output)) {
        output[id.x] = result + i32(unsigned) + abs(-i) + sign(i - 5) + clamp(i, 3, 9);
    }
}
