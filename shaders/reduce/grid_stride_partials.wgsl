// What does a grid-stride loop save, with one partial sum a workgroup and a second pass over those?
//
// Dispatch: `main` with as many workgroups of 256 as the parameter says, then `finish` with one.
// Divergence expected: none in the loops but their last turns; one lane of each subgroup leaves its
// sum, one of each workgroup the workgroup's.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

alias Element = f32;

@group(0) @binding(2) var<storage, read_write> partials: array<Element>;
@group(0) @binding(3) var<storage, read_write> output: array<Element>;

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
    // block: partial
    partials[workgroup.x] = sum;
}

@compute @workgroup_size(256)
fn finish(
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    var own = Element(0);
    for (var i = local_index; i < arrayLength(&partials); i += 256u) {
        own += partials[i];
    }
    let sum = sum_workgroup(own, local_index, lane, width);
    if (local_index != 0u) {
        return;
    }
    // block: result
    output[0] = sum;
}
