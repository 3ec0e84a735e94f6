// When does a dispatch for each arm pay, with the sort and the dispatches in the time?
//
// Dispatch: those of the split (see sort/split), one that works out grids, then one indirect dispatch a class.
// Divergence expected: none but in each class's last subgroup.
//
// The shader stands in its parts, named below.
enable subgroups;
