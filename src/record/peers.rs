//! What `lab peers` measured, in a file of its own.
//!
//! Input: its samples. Output: serde types. No part of a run's record.

use serde::{Deserialize, Serialize};

/// The number of this file's format.
pub const PEERS_SCHEMA: u32 = 1;

/// What `lab peers` measured: the library's algorithms beside what a CUDA user would pick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peers {
    /// The format's number, [`PEERS_SCHEMA`].
    pub schema: u32,
    /// A row for each work, size, peer, device and state of the caches.
    pub rows: Vec<PeerRow>,
}

/// One work at one size, beside one peer; both sides were sampled in turn on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerRow {
    /// The work: `reduce_f32`, `scan_u32`, `softmax_f32`.
    pub work: String,
    /// Elements.
    pub n: u64,
    /// Who else does it: `cub`, `torch`.
    pub peer: String,
    /// The peer's time, median over the samples.
    pub peer_median_ns: f64,
    /// The device's name; with ` (CUDA)` behind it where the library's WGSL ran translated, through CUDA,
    /// and not through wgpu.
    pub device: String,
    /// Our time, median over the samples.
    pub median_ns: f64,
    /// The peer's time over ours.
    pub speed_ratio: f64,
    /// Bytes that must move: each input once, each output once.
    pub bytes_moved: u64,
    /// Those bytes over our time, over the device's copy rate.
    pub copy_rate_ratio: f64,
    /// Whether calls took turns on so many copies of the buffers that no cache held them.
    pub cold: bool,
}
