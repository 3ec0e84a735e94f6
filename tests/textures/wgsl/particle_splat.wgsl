// Particles are counted where they land: atomics of texels. One invocation a particle.
@group(0) @binding(0) var<storage> positions: array<vec2<f32>>;
@group(0) @binding(1) var heat: texture_storage_2d<r32uint, atomic>;
@group(0) @binding(2) var lowest: texture_storage_2d<r32uint, atomic>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&positions)) {
        return;
    }
    let place = positions[id.x];
    if (place.x < 0.75) {
        let at = vec2<u32>(place * vec2<f32>(textureDimensions(heat)));
        textureAtomicAdd(heat, at, 1u);
        textureAtomicMax(lowest, at, id.x);
    }
}
