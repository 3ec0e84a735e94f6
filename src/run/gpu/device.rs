//! The runner of an open GPU: what it owns.
//!
//! Input: a device behind [`Gpu`] and what its interface says of it. Output: [`GpuRunner`], which the
//! files beside this one prepare, count and time launches with. Nothing is run here.

use std::cell::RefCell;

use super::Gpu;
use super::inputs::Inputs;
use super::warm::WarmUp;
use crate::record::Device;
use crate::run::ahead::Ahead;
use crate::run::sampling::Timer;

/// A GPU, or a CPU driver, behind an interface.
pub struct GpuRunner<G: Gpu> {
    pub(in crate::run) gpu: G,
    pub(in crate::run) device: Device,
    pub(super) timer: Option<Timer>,
    pub(super) inputs: RefCell<Inputs<G::Buffer>>,
    /// What warms the device up; nothing on CPU drivers, which have none of their own.
    pub(super) warm_up: Option<WarmUp<G>>,
    /// What is compiled while the launches before it are counted.
    pub(super) ahead: Ahead<()>,
}

impl<G: Gpu> std::fmt::Debug for GpuRunner<G> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GpuRunner").field("device", &self.device).finish_non_exhaustive()
    }
}

impl<G: Gpu> GpuRunner<G> {
    /// A device of which nothing is measured.
    pub(in crate::run) fn unprobed(gpu: G, device: Device) -> Self {
        // What is compiled takes no memory of the launch.
        let ahead = Ahead::new(|_| 0);
        Self { gpu, device, timer: None, inputs: RefCell::default(), warm_up: None, ahead }
    }

    /// Whether the driver may choose another width for each module.
    pub(super) fn width_varies(&self) -> bool {
        self.device.subgroup_width_min != self.device.subgroup_width_max
    }
}
