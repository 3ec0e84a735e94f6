// When does it pay to sort elements by arm first, with the sort in the time?
//
// Dispatch: those of the split (see sort/split), then one invocation an element.
// Divergence expected: at most k - 1 subgroups of the last dispatch hold two classes.
//
// The shader stands in its parts, named below.
enable subgroups;
