// A ray for each pixel through a grid of spheres, and one from there to the light.
@group(0) @binding(0) var<storage, read_write> image: array<f32>;
@group(0) @binding(1) var<uniform> side: u32;

// How far the nearest sphere is.
fn distance_at(p: vec3f) -> f32 {
    let cell = fract(p) - 0.5;
    return length(cell) - 0.3;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let uv = 2.0 * vec2f(id.xy) / f32(side) - 1.0;
    let ray = normalize(vec3f(uv, 0.7));
    var p = vec3f(0.0, 0.0, -0.2);
    var far = 0.0;
    while far < 16.0 {
        let step = distance_at(p);
        if step < 0.01 { break; }
        p += ray * step;
        far += step;
    }
    var shade = 0.1;                      // the sky
    if far < 16.0 {
        let to_light = normalize(vec3f(0.6, 1.0, -0.3));
        var light = 1.0;
        for (var t = 0.05; t < 4.0; ) {   // is the light in sight?
            let step = distance_at(p + to_light * t);
            light = min(light, 8.0 * step / t);
            if light < 0.02 { break; }
            t += max(step, 0.02);
        }
        shade = 0.2 + 0.8 * max(light, 0.0);
    }
    image[id.y * side + id.x] = shade;
}
