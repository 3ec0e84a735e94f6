// What do separate dispatches cost when elements were sorted by arm before?
//
// Dispatch: the split and the grids as set-up, outside the time; then one indirect dispatch a class.
// Divergence expected: none but in each class's last subgroup.
//
// The shader stands in its parts, named below.
enable subgroups;
