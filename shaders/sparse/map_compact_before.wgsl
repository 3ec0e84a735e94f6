// What is left when the active elements were collected before?
//
// Dispatch: the split as set-up, outside the time; then one indirect dispatch over the active elements.
// Divergence expected: none but in the last subgroup.
//
// The shader stands in its parts, named below.
enable subgroups;
