//! Launches whose shaders are compiled before they are counted or timed, several at once.
//!
//! Input: the launches that will be counted, in order, or those that are timed together. Output: nothing; what is
//! compiled waits in the device. A compiler of a text takes longer than the launch that it is for, and one core:
//! a device that gains by it gives a [`Compiler`], and the others compile where they are asked to.

use std::sync::Arc;

use rayon::prelude::*;

use super::device::GpuRunner;
use super::launches::{Widths, shader};
use super::{Compiler, Gpu};
use crate::kernel::Launch;
use crate::run::CountRequest;
use crate::run::ahead::Work;
use crate::run::counting::{instrument, method};
use crate::run::launched::programs;

/// Launches a thread that are compiled together before they are timed: nothing is heard meanwhile.
const LAUNCHES_A_THREAD: usize = 4;

impl<G: Gpu> GpuRunner<G> {
    /// Takes launches that will be counted next.
    pub(super) fn announce_counting(&mut self, launches: &[&Launch], request: &CountRequest) {
        if self.gpu.compiler().is_some() {
            self.ahead.announce(launches, request);
        }
    }

    /// Waits until the counting shaders of a launch that was announced are compiled, and lets others begin.
    pub(super) fn compile_counting(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) {
        let Some(compiler) = self.gpu.compiler() else { return };
        notice();
        let widths = Widths::from_device(&self.device);
        let work = || counting_work(Arc::clone(&compiler), widths);
        let request = CountRequest { runs: 1, ..*request };
        // A launch that was not announced is compiled where it is counted.
        self.ahead.take(launch, &request, work).unwrap_or_default();
    }

    /// Compiles the plain shaders of the launches from `index` on, where those before are prepared and it is the
    /// turn of the next few.
    pub(super) fn compile_plain(&self, launches: &[Launch], index: usize) {
        let at_once = rayon::current_num_threads() * LAUNCHES_A_THREAD;
        let Some(compiler) = self.gpu.compiler().filter(|_| index.is_multiple_of(at_once)) else {
            return;
        };
        launches[index..].par_iter().take(at_once).for_each(|launch| {
            let programs = programs(launch).unwrap_or_default();
            programs.par_iter().for_each(|program| compiler(&shader(launch, program, None)));
        });
    }
}

/// What compiles the counting shaders of a launch.
fn counting_work(compiler: Compiler, widths: Widths) -> Work<()> {
    Arc::new(move |launch, request| {
        let programs = programs(launch).unwrap_or_default();
        let dispatches: Vec<_> = launch.dispatches.iter().zip(programs.iter()).collect();
        dispatches.par_iter().for_each(|(dispatch, program)| {
            let options = widths.options(&dispatch.workgroups, method(request));
            if let Ok(instrumented) = instrument(program, &options) {
                compiler(&shader(launch, program, Some(&instrumented)));
            }
        });
    })
}
