// What is left of attention when queries were put into order by their density before?
//
// Dispatch: one invocation a query, 128 a workgroup; before them those that list the keys and sort queries by
// density, which are not timed.
// Divergence expected: little; lengths in a subgroup differ by a few of 64 steps.
//
// The shader stands in its parts, named below.
enable subgroups;
