// What does a grid-stride loop save, with one atomic addition a workgroup?
//
// Dispatch: `reset` with one invocation, then as many workgroups of 256 as the parameter says.
// Divergence expected: none in the loop but its last turn, where one subgroup of the grid may be cut;
// one lane of each subgroup leaves its sum, one of each workgroup adds the workgroup's. Other forms add those of
// subgroups, or of sixteen lanes, at once.
//
// WGSL has atomics of integers only, so this rung is of u32. Additions arrive in any order, which
// integers do not mind.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

alias Element = u32;

@group(0) @binding(2) var<storage, read_write> output: array<atomic<u32>>;

// The sum of sixteen lanes in a row, or of a narrower subgroup, in each of them.
fn sum_sixteen(own: Element, width: u32) -> Element {
    var sum = own;
    for (var offset = 1u; offset < min(width, 16u); offset *= 2u) {
        sum += subgroupShuffleXor(sum, offset);
    }
    return sum;
}

@compute @workgroup_size(1)
fn reset() {
    atomicStore(&output[0], 0u);
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    var own = Element(0);
    for (var i = workgroup.x * 256u + local_index; i < params.n; i += grid.x * 256u) {
        // block: stride
        own += input[i];
    }
    let sum = sum_workgroup(own, local_index, lane, width);
    if (local_index != 0u) {
        return;
    }
    // block: result
    atomicAdd(&output[0], sum);
}
