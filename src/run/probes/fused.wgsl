// A multiply-add whose rounding shows.
@group(0) @binding(0) var<storage, read_write> values: array<f32, 4>;
@compute @workgroup_size(1)
fn main() { values[3] = fma(values[0], values[1], values[2]); }
