// What does the apron of a separable blur cost? One workgroup of 64 a part of a row; a tile in workgroup
// memory is loaded with its apron by fewer lanes than there are.
const RADIUS = 6u;
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var blurred: texture_storage_2d<rgba16float, write>;
var<workgroup> tile: array<vec4<f32>, 76>;

@compute @workgroup_size(64, 1)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let size = textureDimensions(source);
    let first = i32(group.x * 64u) - i32(RADIUS);
    let row = min(group.y, size.y - 1u);
    for (var k = lane; k < 76u; k += 64u) {
        let column = clamp(first + i32(k), 0, i32(size.x) - 1);
        tile[k] = textureLoad(source, vec2(column, i32(row)), 0);
    }
    workgroupBarrier();
    var sum = vec4<f32>();
    for (var k = 0u; k <= 2u * RADIUS; k++) {
        sum += tile[lane + k];
    }
    let column = group.x * 64u + lane;
    if (column < size.x && group.y < size.y) {
        textureStore(blurred, vec2(column, group.y), sum / f32(2u * RADIUS + 1u));
    }
}
