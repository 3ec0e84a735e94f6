// Question: does a subgroup sum keep its lanes?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: one lane of a subgroup writes.
enable subgroups;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    var value = 0u;
    if (id.x < arrayLength(&input)) {
        value = input[id.x];
    }
    let sum = subgroupAdd(value);
    if (lane == 0u) {
        atomicAdd(&total, sum);
    }
}
