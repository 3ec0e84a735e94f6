// Which lanes wait where an image is sharpened only at edges? One invocation a pixel, workgroups of 8 × 8;
// flat regions skip the second half.
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var sharpened: texture_storage_2d<rgba8unorm, write>;

fn pixel(at: vec2<i32>) -> vec4<f32> {
    let last = vec2<i32>(textureDimensions(photo)) - 1;
    return textureLoad(photo, clamp(at, vec2(0), last), 0);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<i32>(id.xy);
    if (any(id.xy >= textureDimensions(photo))) {
        return;
    }
    let middle = pixel(at);
    let across = pixel(at + vec2(1, 0)) - pixel(at - vec2(1, 0));
    let down = pixel(at + vec2(0, 1)) - pixel(at - vec2(0, 1));
    var result = middle;
    if (dot(across.rgb, across.rgb) + dot(down.rgb, down.rgb) > 0.01) {
        var mean = vec4<f32>();
        for (var y = -1; y <= 1; y++) {
            for (var x = -1; x <= 1; x++) {
                mean += pixel(at + vec2(x, y));
            }
        }
        result = middle + (middle - mean * 0.125) * 0.5;
    }
    textureStore(sharpened, at, result);
}
