// What does a block's scan cost where subgroups scan by the builtin?
//
// Dispatch: one invocation an element, 256 a workgroup, each of which scans its own 256; large grids
// are folded into two dimensions.
// Divergence expected: none but the last lane of each subgroup that leaves its sum, and the first
// subgroup that scans those.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

fn scan_subgroup(own: Element, lane: u32, width: u32) -> Element {
    return subgroupInclusiveAdd(own);
}
