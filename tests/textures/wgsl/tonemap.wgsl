// A tone curve in place, over a texture that is read and written. One invocation a texel.
struct Settings { exposure: f32, knee: f32 }
@group(0) @binding(0) var luminance: texture_storage_2d<r32float, read_write>;
@group(0) @binding(1) var<uniform> settings: Settings;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(luminance))) {
        return;
    }
    var value = textureLoad(luminance, id.xy).r * exp2(settings.exposure);
    if (value > settings.knee) {
        value = settings.knee + (1.0 - settings.knee) * (1.0 - exp(settings.knee - value));
    }
    textureStore(luminance, id.xy, vec4(value));
}
