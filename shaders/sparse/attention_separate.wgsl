// What does attention cost when queries of each density have a dispatch of their own, with the sort in the time?
//
// Dispatch: the sort of queries by density, one that works out grids, then one indirect dispatch a step of
// density, one invocation a query, 128 a workgroup; before them one that lists the keys and is not timed.
// Divergence expected: lengths in a subgroup differ by as much as a step is wide; each step's last subgroup is
// not full.
//
// The shader stands in its parts, named below.
enable subgroups;
