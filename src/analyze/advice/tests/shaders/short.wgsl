@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    let i = g.x;
    var v = a[i];
    for (var k = 0u; k < 100u; k++) {
        v = v * 1.7 + 0.3;
        if v > 1.0 { v = v - 1.0; }
    }
    a[i] = v;
}
