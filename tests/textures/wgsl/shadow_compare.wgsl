// Percentage-closer filtering of a shadow map: only pixels at the shadow's edge look at more texels.
@group(0) @binding(0) var shadows: texture_depth_2d;
@group(0) @binding(1) var compares: sampler_comparison;
@group(0) @binding(2) var lit: texture_storage_2d<r32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(lit);
    if (any(id.xy >= size)) {
        return;
    }
    let at = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size);
    let corners = textureGatherCompare(shadows, compares, at, 0.5);
    let count = corners.x + corners.y + corners.z + corners.w;
    var light = count * 0.25;
    if (count > 0.5 && count < 3.5) {
        light = 0.0;
        for (var k = 0; k < 9; k++) {
            let offset = vec2<f32>(vec2(k % 3 - 1, k / 3 - 1)) / vec2<f32>(size);
            light += textureSampleCompareLevel(shadows, compares, at + offset, 0.5);
        }
        light /= 9.0;
    }
    textureStore(lit, id.xy, vec4(light));
}
