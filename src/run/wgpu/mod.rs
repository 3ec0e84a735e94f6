//! GPUs through wgpu: Vulkan, Metal, DX12. The only place that sees the crate `wgpu`.
//!
//! Input: an adapter's number and launches. Output: a [`Runner`](super::Runner). Everything here runs in the
//! process that owns the device, which `worker` keeps apart from the one that holds the results.
//!
//! - [`adapters`]: what there is, and what is left out and why;
//! - `gpu`: an open device: buffers, dispatches, timestamps, errors as values;
//! - `pipelines`: modules to pipelines, each compiled once;
//! - `features`: what a module needs that the device lacks, in words;
//! - `inputs`: contents that stay on the device from launch to launch;
//! - `probe`: what is measured of the device itself: width, timer, rates, fusion, loop limit;
//! - `launches`: a launch's buffers and pipelines;
//! - `counted`, `timed`: launches with counters, and between timestamps;
//! - `runner`: the device's facts, and who is counted and timed when;
//! - `stages`: single dispatches between timestamps;
//! - `trusted`: the one call that is `unsafe`;
//! - `uniforms`: uniform buffers bound as storage, for lavapipe;
//! - `warm`: brings clocks up before timing.

pub mod adapters;
mod counted;
mod features;
mod gpu;
mod inputs;
mod launches;
mod pipelines;
mod probe;
mod runner;
mod stages;
mod timed;
mod trusted;
mod uniforms;
mod warm;

pub use adapters::{Listed, list};
pub use runner::WgpuRunner;
