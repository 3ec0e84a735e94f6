// What does a block's scan cost where subgroups scan by shuffles?
//
// Dispatch: one invocation an element, 256 a workgroup, each of which scans its own 256; large grids
// are folded into two dimensions.
// Divergence expected: none in the steps (Hillis and Steele's), whose guard is a select; the last lane
// of each subgroup leaves its sum, and the first subgroup scans those.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

// Doubles the distance log2(W) times: lane i has the sum of lanes 0 to i.
fn scan_subgroup(own: Element, lane: u32, width: u32) -> Element {
    var sum = own;
    for (var offset = 1u; offset < width; offset *= 2u) {
        // block: step
        // From before the subgroup's beginning comes any value, which is not taken.
        let above = subgroupShuffleUp(sum, offset);
        sum += select(Element(0), above, lane >= offset);
    }
    return sum;
}
