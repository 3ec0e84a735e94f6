//! Machine instructions beside the blocks of the source, and what became of each branch.
//!
//! Input: how often blocks and instructions ran, with how many lanes. Output: which instructions are which
//! block ([`matching`]), and what a compiler did to each arm and loop ([`branches`]), for AMD's code and for
//! NVIDIA's by one rule: what guards an arm is `guards`', what became of loops and of copies `loops`'. It asks
//! no compiler and knows no device: [`sass`] reads NVIDIA's texts, whoever executes AMD's code makes
//! [`Step`](branches::Step)s of it.

pub mod branches;
mod guards;
mod loops;
pub mod matching;
pub mod sass;
