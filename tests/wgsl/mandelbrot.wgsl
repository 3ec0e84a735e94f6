// Question: how many lanes does a Mandelbrot set keep busy?
// Dispatch: 2D, one invocation a pixel, 8 × 8 a workgroup. Divergence: points leave at their own time.
struct Picture {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
@group(0) @binding(1) var<storage, read_write> iterations: array<u32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = clamp(picture.width, 1u, 64u);
    let at = id.y * width + id.x;
    if (id.x >= width || at >= arrayLength(&iterations)) {
        return;
    }
    // Powers of two, so that every device rounds alike.
    let c = vec2<f32>(f32(id.x) * 0.046875 - 2.0, f32(id.y) * 0.03125 - 1.0);
    var z = vec2<f32>(0.0, 0.0);
    var count = 0u;
    while (count < 60u) {
        let xx = z.x * z.x;
        let yy = z.y * z.y;
        if (xx + yy > 4.0) {
            break;
        }
        let xy = z.x * z.y;
        z = vec2<f32>(xx - yy, xy + xy) + c;
        count++;
    }
    iterations[at] = count;
}
