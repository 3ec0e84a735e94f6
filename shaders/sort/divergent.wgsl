// What does it cost when every element takes one of k arms and neighbours differ?
//
// Dispatch: one invocation an element, 256 a workgroup.
// Divergence expected: W lanes part into up to k arms: for equal arms and random classes k * (1 - (1 - 1/k)^W) arms a
// subgroup, W / that many lanes in each.
//
// The shader stands in its parts, named below.
enable subgroups;
