// What does a block's sum cost where subgroups add up by shuffles?
//
// Dispatch: 256 invocations a workgroup, which leaves the sum of 256 elements; large grids are folded
// into two dimensions.
// Divergence expected: none in the steps, which run at full width though fewer and fewer lanes hold
// something of use; one lane of each subgroup leaves its sum, and the first subgroup adds those.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

// Halves the distance log2(W) times; lane 0 has the sum. What other lanes have is of no use: from
// beyond the subgroup's end WGSL gives any value.
fn sum_subgroup(own: Element, lane: u32, width: u32) -> Element {
    var sum = own;
    for (var offset = width / 2u; offset > 0u; offset /= 2u) {
        // block: step
        sum += subgroupShuffleDown(sum, offset);
    }
    return sum;
}
