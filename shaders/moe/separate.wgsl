// What does a mixture of experts gain when each expert has a dispatch of its own?
//
// Dispatch: the router, those of the split (see sort/split), one that works out grids, one indirect dispatch an
// expert, and with two slots a token one that adds them.
// Divergence expected: none but in each expert's last subgroup.
//
// The shader stands in its parts, named below.
enable subgroups;
