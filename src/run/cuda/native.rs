//! Launches of kernels that are written in CUDA C++, for what WGSL cannot say.
//!
//! Input: launches whose text is CUDA C++, their buffers. Output: compiled dispatches. There are no
//! blocks of WGSL in them, so nothing is counted by source line: `run::gpu` says so with a flag.

use std::rc::Rc;

use super::device::{CudaDevice, CudaKernel};
use super::driver::{Argument, DriverBuffer};
use super::embedded::native_text;
use crate::kernel::{Launch, Native};
use crate::run::gpu::Buffers;
use crate::run::{RunError, RunErrorKind};

/// The dispatches of a launch, compiled; each takes all buffers in the launch's order.
pub(super) fn kernels(
    device: &CudaDevice,
    launch: &Launch,
    buffers: &Buffers<Rc<DriverBuffer>>,
) -> Result<Vec<CudaKernel>, RunError> {
    let image = device.text_image(&native_text(&launch.file, &launch.source))?;
    let bound: Vec<Rc<DriverBuffer>> =
        launch.buffers.iter().map(|buffer| Rc::clone(&buffers[&buffer.name])).collect();
    let arguments: Vec<Argument> = bound.iter().map(|buffer| buffer.argument()).collect();
    let each = launch.dispatches.iter().map(|dispatch| {
        let Native { workgroup_size, cooperative } = dispatch.native.ok_or_else(|| {
            let message = format!("{} has no workgroup size", launch.kernel);
            RunError::new(RunErrorKind::BadInput, message)
        })?;
        let kernel = device.driver.load(&image, &dispatch.entry_point)?.cooperative(cooperative);
        Ok(CudaKernel {
            kernel,
            image: image.clone(),
            function: dispatch.entry_point.clone(),
            arguments: arguments.clone(),
            block: workgroup_size,
            _bound: bound.clone(),
        })
    });
    each.collect()
}
