//! Algorithms that other programs can call on their own wgpu device, buffers and encoder.
//!
//! Input: a device, buffers and a command encoder of the caller's. Output: commands in that encoder.
//! Nothing is submitted, read back or waited for, and no clock is read.

pub mod multisplit;
mod trusted;
