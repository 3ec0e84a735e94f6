// Question: do scans over subgroups work where some lanes stay away?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: every third lane stays away.
enable subgroups;
// Lanes that stay away are the question.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read_write> output: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    var row = vec4<u32>(lane, 0u, 0u, 0u);
    if (id.x % 3u != 0u) {
        row.y = subgroupInclusiveAdd(1u);
        row.z = subgroupExclusiveAdd(lane);
        row.w = subgroupInclusiveMul(1u + (lane & 1u));
    } else {
        row.y = subgroupExclusiveMul(3u) % 1000u;
        row.z = subgroupMul(1u + (lane & 1u)) + u32(width > lane);
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = row;
    }
}
