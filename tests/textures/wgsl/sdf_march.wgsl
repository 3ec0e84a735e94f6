// How long do neighbours march to the same sphere? One ray a pixel; the trip count follows the distance.
@group(0) @binding(0) var picture: texture_storage_2d<rgba8unorm, write>;

fn distance_to(p: vec3<f32>) -> f32 {
    let cell = fract(p * 0.25) * 4.0 - 2.0;
    return max(length(cell) - 1.0, abs(p.y) - 3.0);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    let uv = (vec2<f32>(id.xy) * 2.0 - vec2<f32>(size)) / f32(size.y);
    let ray = normalize(vec3(uv, 1.5));
    var t = 0.25;
    var steps = 0u;
    while (steps < 64u) {
        let d = distance_to(vec3(0.5, 0.25, 0.0) + ray * t);
        if (d < 0.0078125) { break; }
        t += d;
        if (t > 24.0) { break; }
        steps++;
    }
    textureStore(picture, id.xy, vec4(f32(steps) / 64.0, select(0.0, 1.0, t > 24.0), 0.0, 1.0));
}
