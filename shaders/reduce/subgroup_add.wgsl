// What does a block's sum cost where subgroups add up by the builtin?
//
// Dispatch: 256 invocations a workgroup, which leaves the sum of 256 elements; large grids are folded
// into two dimensions.
// Divergence expected: none but one lane of each subgroup that leaves its sum, and the first subgroup
// that adds those up.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

fn sum_subgroup(own: Element, lane: u32, width: u32) -> Element {
    return subgroupAdd(own);
}
