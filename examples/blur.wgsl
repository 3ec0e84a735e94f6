// Blurs each row of an image; pixels near the border take fewer neighbours.
struct Params { width: u32, height: u32, radius: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> blurred: array<f32>;

fn weight(distance: u32) -> f32 {
    return 1.0 / f32(1u + distance);
}

@compute @workgroup_size(48)
fn blur(@builtin(global_invocation_id) id: vec3<u32>) {
    let pixel = id.x;
    if pixel >= params.width * params.height { return; }
    let x = pixel % params.width;
    let row = pixel - x;
    var sum = 0.0;
    var weights = 0.0;
    for (var i = 0u; i <= 2u * params.radius; i++) {
        let at = i32(x + i) - i32(params.radius);
        if at >= 0 && at < i32(params.width) {
            let w = weight(u32(abs(at - i32(x))));
            sum += source[row + u32(at)] * w;
            weights += w;
        }
    }
    blurred[pixel] = sum / weights;
}
