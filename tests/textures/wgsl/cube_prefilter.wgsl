// A cube map is convolved for rough reflections: one invocation a texel of a face, layers are faces.
@group(0) @binding(0) var sky: texture_cube<f32>;
@group(0) @binding(1) var sky_sampler: sampler;
@group(0) @binding(2) var filtered: texture_storage_2d_array<rgba16float, write>;

fn direction(face: u32, at: vec2<f32>) -> vec3<f32> {
    switch (face) {
        case 0u: { return vec3(1.0, -at.y, -at.x); }
        case 1u: { return vec3(-1.0, -at.y, at.x); }
        case 2u: { return vec3(at.x, 1.0, at.y); }
        case 3u: { return vec3(at.x, -1.0, -at.y); }
        case 4u: { return vec3(at.x, -at.y, 1.0); }
        default: { return vec3(-at.x, -at.y, -1.0); }
    }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(filtered);
    let layers = textureNumLayers(filtered);
    for (var face = 0u; face < min(layers, 6u); face++) {
        let at = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size) * 2.0 - 1.0;
        let normal = normalize(direction(face, at));
        var sum = vec4<f32>();
        for (var k = 0u; k < 8u; k++) {
            let turn = f32(k) * 0.7853982;
            let side = vec3(cos(turn), sin(turn), cos(turn * 2.0)) * 0.25;
            sum += textureSampleLevel(sky, sky_sampler, normal + side, 1.0);
        }
        textureStore(filtered, id.xy, face, sum * 0.125);
    }
}
