// What does a mixture of experts gain when tokens are sorted by expert first?
//
// Dispatch: the router, those of the split (see sort/split), one invocation a slot, and with two slots a token
// one that adds them.
// Divergence expected: at most 7 subgroups of the experts' dispatch hold two experts.
//
// The shader stands in its parts, named below.
enable subgroups;
