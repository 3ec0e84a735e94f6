//! A SIMT machine in software: which lanes of a subgroup are active, line by line, at any width.
//!
//! Input: a WGSL compute shader and the bytes of its buffers. Output: its outputs; for each basic
//! block how often a subgroup executed it and with how many active lanes; and the same shader with
//! counters added, as naga's IR or as CUDA C++. It opens no device and reads no file.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`units`] | newtypes: width, lane count, block number, nanoseconds, bytes, ratio | – |
//! | [`layout`] | how a variable that the host binds lies in memory, as plain data | – |
//! | [`binary`] | a shader in SPIR-V and the files of its source, as plain data | – |
//! | [`texture`] | formats, extents and samplers of textures, and what reading one gives | – |
//! | [`program`] | the only door to naga's front end: WGSL or SPIR-V in, validated IR, numbered blocks, source map | units, layout, binary, texture; naga |
//! | [`simulate`] | the interpreter; its page is the semantics | units, texture, program; naga |
//! | [`instrument`] | IR → IR: adds counters of executions and lanes | units, program; naga |
//! | [`translate`] | IR → CUDA C++, with tracked masks of active lanes | units, program; naga |
//! | [`amd`] | AMD's machine code (gfx10.3), decoded and executed; knows no driver | – |

pub mod amd;
pub mod binary;
pub mod instrument;
pub mod layout;
pub mod program;
pub mod simulate;
pub mod texture;
pub mod translate;
pub mod units;
