// What does a dispatch for each density of queries cost when queries were put into order before?
//
// Dispatch: one indirect dispatch a step of density, one invocation a query, 128 a workgroup; before them,
// not timed, those that list the keys, sort queries by density and work out grids.
// Divergence expected: lengths in a subgroup differ by as much as a step is wide; each step's last subgroup is
// not full.
//
// The shader stands in its parts, named below.
enable subgroups;
