// Question: does a barrier of the subgroup alone part the lanes?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: none before the end.
enable subgroups;

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
) {
    var value = id.x;
    subgroupBarrier();
    value = subgroupAdd(value);
    subgroupBarrier();
    if (id.x < arrayLength(&output)) {
        output[id.x] = value + select(0u, 1u, subgroup < subgroups);
    }
}
