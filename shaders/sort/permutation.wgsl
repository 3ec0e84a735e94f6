// What does it cost to find the place of each element when elements are put into order by class?
//
// Dispatch: two or three, as sort/split says; the last writes the permutation, and with
// inverse = yes its inverse.
// Divergence expected: none but in the last tile.
//
// The shader stands in its parts, named below; `lanescope::algorithms::multisplit` is the same, cut the
// same way.
enable subgroups;
