// A histogram of brightness: lanes whose pixels are alike meet at one counter.
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 64>;
var<workgroup> local_counts: array<atomic<u32>, 64>;

@compute @workgroup_size(16, 16)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if (all(id.xy < textureDimensions(photo))) {
        let color = textureLoad(photo, id.xy, 0);
        let level = u32(clamp(color.g * 64.0, 0.0, 63.0));
        atomicAdd(&local_counts[level], 1u);
    }
    workgroupBarrier();
    if (lane < 64u) {
        atomicAdd(&counts[lane], atomicLoad(&local_counts[lane]));
    }
}
