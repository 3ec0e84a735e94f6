// A volume is thresholded and its surface is counted: neighbours of a voxel, three dimensions.
@group(0) @binding(0) var density: texture_3d<f32>;
@group(0) @binding(1) var solid: texture_storage_3d<r32uint, write>;
@group(0) @binding(2) var<storage, read_write> surface: array<atomic<u32>, 8>;

@compute @workgroup_size(4, 4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(density);
    if (any(id >= size)) {
        return;
    }
    var open = 0u;
    if (textureLoad(density, id, 0).r > 0.5) {
        for (var axis = 0u; axis < 3u; axis++) {
            var step = vec3<i32>();
            step[axis] = 1;
            let next = clamp(vec3<i32>(id) + step, vec3(0), vec3<i32>(size) - 1);
            open += u32(textureLoad(density, next, 0).r <= 0.5);
        }
        atomicAdd(&surface[open], 1u);
    }
    textureStore(solid, id, vec4(open));
}
