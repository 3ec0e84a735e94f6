//! GPUs through wgpu: Vulkan, Metal, DX12. The only place that sees the crate `wgpu`.
//!
//! Input: an adapter's number and launches. Output: a [`Runner`](super::Runner). Everything here runs in the
//! process that owns the device, which `worker` keeps apart from the one that holds the results.
//!
//! - [`adapters`]: what there is, and what is left out and why;
//! - `gpu`: an open device: buffers, dispatches, timestamps, errors as values;
//! - `pipelines`: modules to pipelines, each compiled once;
//! - `kept`: those pipelines, by all that they follow from;
//! - `features`: what a module needs that the device lacks, in words;
//! - `runner`: what wgpu says of a device;
//! - `memory`: what a shader binds;
//! - `textures`: textures and samplers, filled, bound and read back;
//! - `trusted`: the one call that is `unsafe`;
//! - `uniforms`: uniform buffers bound as storage, for lavapipe.
//!
//! Launches, counting, timing and probing are [`run::gpu`](super::gpu)'s.

pub mod adapters;
mod features;
mod gpu;
mod kept;
mod manifests;
mod memory;
mod pipelines;
mod runner;
mod textures;
mod trusted;
mod uniforms;

pub use manifests::DRIVERS;
pub use runner::{GIVES, WgpuRunner, list};
