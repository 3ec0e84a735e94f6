// Adds up the elements of each workgroup in a tree, as introductions to GPUs begin.
@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

var<workgroup> partial: array<f32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3u,
) {
    partial[lane] = values[id.x];
    workgroupBarrier();
    for (var apart = 1u; apart < 256u; apart *= 2u) {
        let at = lane;
        if lane % (2u * apart) == 0u {
            partial[at] += partial[at + apart];
        }
        workgroupBarrier();
    }
    if lane == 0u { sums[group.x] = partial[0]; }
}
