//! Observers of memory: what lanes do to one another, and what their addresses cost.
//!
//! Input: what the simulator shows an [`Observer`](super::Observer). Output: data races ([`Races`]) and sums of a memory
//! model ([`Traffic`]). They want every access of a workgroup in order, so a launch that they watch runs on
//! one thread. Nothing here changes what is executed.

mod races;
mod traffic;

pub use races::{Race, Races, Toucher};
pub use traffic::{
    AccessSums, Distances, MEMORY_LINE_BYTES, SECTOR_BYTES, Traffic, TrafficSums, WaitSums,
};
