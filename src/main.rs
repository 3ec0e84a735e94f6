//! The lanescope command.

fn main() {}
