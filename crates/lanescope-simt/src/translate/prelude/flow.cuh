// Control flow: what a lane remembers that waits for others.
// How these files are read: `mod.rs`.

//# leaving
// Where a lane is on its way to, while the others of its subgroup go on.
enum Leaving { STAYS, BREAKS, CONTINUES, RETURNS };
