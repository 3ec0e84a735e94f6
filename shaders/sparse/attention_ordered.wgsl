// What does attention cost when queries are put into order by their density first?
//
// Dispatch: the sort of queries by density, then one invocation a query, 128 a workgroup; before them
// one that lists the keys and is not timed.
// Divergence expected: little; lengths in a subgroup differ by a few of 64 steps.
//
// The shader stands in its parts, named below.
enable subgroups;
