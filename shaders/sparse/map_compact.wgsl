// When does it pay to collect the active elements first, with the collecting in the time?
//
// Dispatch: those of the split (see sort/split), one that works out grids, then one indirect
// dispatch over the active elements.
// Divergence expected: none but in the last subgroup.
//
// The shader stands in its parts, named below.
enable subgroups;
