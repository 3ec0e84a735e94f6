// What does a dispatch for each expert cost when tokens were sorted by expert before?
//
// Dispatch: the router, the split and the grids as set-up, outside the time; in it the router once more, as
// naive has it, one indirect dispatch an expert, and with two slots a token one that adds them.
// Divergence expected: none but in each expert's last subgroup.
//
// The shader stands in its parts, named below.
enable subgroups;
