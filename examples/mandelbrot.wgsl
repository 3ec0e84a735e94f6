// How often a point can be squared before it runs away.
struct View { width: u32, height: u32, scale: f32 }

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= view.width || id.y >= view.height) {
        return;
    }
    let c = vec2(f32(id.x), f32(id.y)) / f32(view.width) * 4.0 * view.scale - vec2(1.5, 1.0);
    var z = vec2(0.0, 0.0);
    var n = 0u;
    while (n < 256u && dot(z, z) < 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n++;
    }
    steps[id.y * view.width + id.x] = n;
}
