// What is left of a mixture of experts when tokens were sorted by expert before?
//
// Dispatch: the router and the split as set-up, outside the time; in it the router once more, as naive has
// it, one invocation a slot, and with two slots a token one that adds them.
// Divergence expected: at most 7 subgroups of the experts' dispatch hold two experts.
//
// The shader stands in its parts, named below.
enable subgroups;
