// Question: who is left in a loop that lanes leave one by one?
// Dispatch: one invocation an element, 32 a workgroup. Divergence: each lane has its own trip count.
enable subgroups;
// Who is left is the question.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read> trips: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let count = trips[id.x % arrayLength(&trips)] % 17u;
    var seen = 0u;
    for (var i = 0u; i < count; i++) {
        seen += subgroupAdd(1u);
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = seen;
    }
}
