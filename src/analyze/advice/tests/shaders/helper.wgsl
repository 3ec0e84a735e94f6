@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
fn f(x: f32) -> f32 {
    if x < 0.5 { return 0.0; }
    var s = x;
    for (var k = 0u; k < 50u; k++) { s = s * x + 0.1; }
    return s;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    o[g.x] = f(a[g.x]) + 1.0;
}
