// What is left when elements were sorted by arm before?
//
// Dispatch: the split as set-up, outside the time; then one invocation an element.
// Divergence expected: at most k - 1 subgroups hold two classes.
//
// The shader stands in its parts, named below.
enable subgroups;
