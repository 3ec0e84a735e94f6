// Question: do comparisons of ordinary floats send lanes the same way everywhere?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by size and sign.
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> classes: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= min(arrayLength(&classes), arrayLength(&values))) {
        return;
    }
    let x = input[id.x % arrayLength(&input)] - 0.5;
    var kind = 0u;
    if (abs(x) < 0.125) {
        kind = 1u;
    } else if (x < 0.0) {
        kind = 2u;
    } else if (floor(x * 8.0) == 3.0) {
        kind = 3u;
    }
    classes[id.x] = kind + 4u * u32(i32(trunc(x * 16.0)) + 8);
    values[id.x] = exp2(x) + sin(x) * sqrt(abs(x)) + fract(x) + mix(x, 1.0, 0.25);
}
