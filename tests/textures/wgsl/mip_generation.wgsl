// Two levels of a mip chain in one workgroup: how many lanes are left in the second? One workgroup a
// tile of 16 × 16 texels.
@group(0) @binding(0) var level_0: texture_2d<f32>;
@group(0) @binding(1) var level_1: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var level_2: texture_storage_2d<rgba8unorm, write>;
var<workgroup> means: array<vec4<f32>, 64>;

@compute @workgroup_size(8, 8)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(local_invocation_id) at: vec3<u32>,
) {
    let last = vec2<i32>(textureDimensions(level_0, 0)) - 1;
    var sum = vec4<f32>();
    for (var k = 0; k < 4; k++) {
        let place = vec2<i32>(id.xy) * 2 + vec2(k & 1, k >> 1u);
        sum += textureLoad(level_0, min(place, last), 0);
    }
    means[lane] = sum * 0.25;
    if (all(id.xy < textureDimensions(level_1))) {
        textureStore(level_1, id.xy, means[lane]);
    }
    workgroupBarrier();
    if (all(at.xy % 2u == vec2(0u))) {
        let mean = means[lane] + means[lane + 1u] + means[lane + 8u] + means[lane + 9u];
        if (all(id.xy / 2u < textureDimensions(level_2))) {
            textureStore(level_2, id.xy / 2u, mean * 0.25);
        }
    }
}
