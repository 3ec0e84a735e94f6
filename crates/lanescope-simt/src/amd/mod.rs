//! AMD's machine code, executed without AMD's hardware: gfx10.3 (RDNA 2), as Mesa's RADV emits it.
//!
//! Input: words of machine code with the compiler's facts ([`code::Facts`]), buffers, a number of
//! workgroups. Output: changed buffers, and for each instruction how often waves executed it, with
//! how many lanes and in how many passes ([`dispatch::Counts`]). It knows no driver, no shading
//! language and no time: whoever compiles stands above it.
//!
//! It is AMD's own code that runs, on an interpreter of this project. What it says about hardware
//! are counts that follow from the code: no cycles, no microseconds, nothing of caches or
//! occupancy.
//!
//! | module | what it is |
//! |---|---|
//! | [`mod@decode`] | formats: from words to instructions |
//! | [`opcodes`] | number, name and function of each opcode, and where the rows come from |
//! | [`math`] | what single opcodes compute |
//! | [`lanes`] | moves between lanes through the local data share |
//! | [`memory`] | buffers and descriptors, and views of them for workgroups that run side by side |
//! | [`reach`] | accesses of a wave's lanes |
//! | `local` | the local data share |
//! | [`wave`] | registers, operands, results |
//! | [`code`] | a compiled entry point |
//! | [`dispatch`] | the schedule, threads, and what is counted |
//!
//! # What is strict
//!
//! - A word that is not decoded, an opcode that is not executed, a modifier that an opcode is not
//!   known to take, scratch memory: each is refused by its name before anything runs. There is never
//!   a figure of a part.
//! - Denormal f32 are flushed where the code's mode says so; f16 and f64 keep theirs.
//! - `v_exp_f32`, `v_log_f32`, `v_rsq_f32`, `v_sin_f32` and `v_cos_f32` are rounded from f64. The
//!   hardware may differ by a unit in the last place, so that outputs that depend on them are right
//!   within a tolerance, never to the bit; counts depend on them only through branches.
//! - Waiting for memory does nothing: a wait that the compiler forgot is not seen.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::precedence,
    reason = "machine words: fields are cut from them, and opcodes are defined on bits"
)]

pub mod code;
pub mod decode;
pub mod dispatch;
pub mod fields;
pub mod lanes;
mod local;
pub mod math;
pub mod memory;
pub mod opcodes;
pub mod reach;
pub mod wave;

pub use code::{Code, CodeError, Facts, FloatMode, IssueKind, Start};
pub use decode::{DecodeError, Instruction, decode};
pub use dispatch::{Counts, DispatchError, Moment, Outcome, WaveLaunch, run, run_disturbed};
pub use memory::AmdMemory;

#[cfg(test)]
mod tests;
