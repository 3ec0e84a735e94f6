//! One launch on several copies of its buffers, for times with cold caches.
//!
//! Input: an open device, a launch, a number of copies, calls a sample. Output: nanoseconds a call, and
//! whether each copy's outputs are right. Kernels are compiled once; copies differ in the addresses
//! they are given. Nothing is counted here, and no stop rule is kept: who compares with another program
//! takes samples in turn with it, and knows when to stop.

use std::rc::Rc;
use std::sync::Arc;

use super::device::CudaDevice;
use super::driver::{self, Argument, DriverBuffer, DriverSample, Recorded};
use super::runner::CudaRunner;
use crate::kernel::{KernelLanguage, Launch};
use crate::record::Output;
use crate::run::counting::verify;
use crate::run::gpu::{Buffers, Prepared, Stamps};
use crate::run::launched::programs;
use crate::run::{RunError, RunErrorKind};

/// A launch on copies of its buffers, whose calls take turns.
pub struct Copies {
    launch: Launch,
    /// The first copy, with the kernels of all.
    first: Prepared<CudaDevice>,
    others: Vec<Copy>,
    /// A sample of so many calls, recorded.
    recorded: Option<(u32, Recorded)>,
}

/// Another copy of the buffers.
struct Copy {
    buffers: Buffers<Rc<DriverBuffer>>,
    /// What each dispatch takes.
    arguments: Vec<Vec<Argument>>,
}

impl std::fmt::Debug for Copies {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let copies = self.others.len() + 1;
        formatter.debug_struct("Copies").field("copies", &copies).finish_non_exhaustive()
    }
}

impl CudaRunner {
    /// Makes a launch ready on so many copies of its buffers, at least one.
    ///
    /// # Errors
    ///
    /// As timing; [`RunErrorKind::Unsupported`] for a launch that cannot be repeated on what it left
    /// behind.
    pub fn copies(&mut self, launch: &Launch, count: usize) -> Result<Copies, RunError> {
        if !launch.repeatable {
            let message = format!("{} cannot be repeated on what it left behind", launch.kernel);
            return Err(RunError::new(RunErrorKind::Unsupported, message));
        }
        let native = launch.language() != KernelLanguage::Wgsl;
        let programs = if native { Arc::default() } else { programs(launch)? };
        self.forget_inputs();
        let first = self.prepare(launch, None)?;
        self.forget_inputs();
        let mut others = Vec::new();
        for _ in 1..count {
            let buffers = self.buffers_apart(launch, &programs)?;
            let kernels = first.work.iter();
            let arguments =
                kernels.map(|(kernel, _)| readdress(&kernel.arguments, &first.buffers, &buffers));
            let arguments = arguments.collect();
            others.push(Copy { buffers, arguments });
        }
        Ok(Copies { launch: launch.clone(), first, others, recorded: None })
    }

    /// Takes a sample of `calls` calls on the copies in turn, right after as many that are not timed:
    /// nanoseconds a call.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn sample_copies(&self, copies: &mut Copies, calls: u32) -> Result<f64, RunError> {
        let doing = format!("timing {}", copies.launch.kernel);
        let recorded = match copies.recorded.take() {
            Some((known, recorded)) if known == calls => recorded,
            _ => {
                let launches = copies.launches(&self.gpu, calls)?;
                let (launches, stamps) = (launches.as_slice(), Stamps::Around);
                let sample = DriverSample { launches, repeats: 1, before: 1, resets: &[], stamps };
                self.gpu.driver.record(&sample, &doing)?
            }
        };
        let spans = self.gpu.driver.take_sample(&recorded, &doing);
        copies.recorded = Some((calls, recorded));
        Ok(spans?.iter().sum::<f64>() / f64::from(calls))
    }

    /// Compares what each copy holds with the reference.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Driver`] with the first elements that differ, or that there is no reference.
    pub fn verify_copies(&self, copies: &Copies) -> Result<(), RunError> {
        let others = copies.others.iter().map(|copy| &copy.buffers);
        for buffers in std::iter::once(&copies.first.buffers).chain(others) {
            let checked = verify(&copies.launch, &self.outputs(&copies.launch, buffers)?)?;
            if checked.output != Output::Verified {
                let why = checked.mismatch.unwrap_or_else(|| "there is no reference".to_owned());
                let message = format!("{}: {why}", copies.launch.kernel);
                return Err(RunError::new(RunErrorKind::Driver, message));
            }
        }
        Ok(())
    }
}

impl Copies {
    /// The dispatches of so many calls.
    fn launches(
        &self,
        device: &CudaDevice,
        calls: u32,
    ) -> Result<Vec<driver::DriverLaunch<'_>>, RunError> {
        let dispatches = self.launch.dispatches.iter().enumerate();
        let timed: Vec<usize> =
            dispatches.filter(|(_, dispatch)| !dispatch.setup).map(|(index, _)| index).collect();
        let first = device.launches(&self.first.dispatches(&self.launch, false))?;
        let mut launches = Vec::new();
        for turn in (0..=self.others.len()).cycle().take(calls as usize) {
            let other = turn.checked_sub(1).map(|index| &self.others[index]);
            for (index, launch) in timed.iter().zip(&first) {
                let arguments = other.map_or(launch.arguments, |copy| &copy.arguments[*index]);
                launches.push(driver::DriverLaunch { arguments, ..*launch });
            }
        }
        Ok(launches)
    }
}

/// The same arguments with the addresses of other buffers of the same names.
fn readdress(
    arguments: &[Argument],
    from: &Buffers<Rc<DriverBuffer>>,
    to: &Buffers<Rc<DriverBuffer>>,
) -> Vec<Argument> {
    let renamed = |argument: &Argument| {
        let Argument::Address(address) = argument else { return argument.clone() };
        let is = |buffer: &DriverBuffer| match buffer.argument() {
            Argument::Address(other) => other == *address,
            Argument::Bytes(_) => false,
        };
        let name = from.iter().find(|(_, buffer)| is(buffer)).map(|(name, _)| name);
        name.and_then(|name| to.get(name)).map_or_else(|| argument.clone(), |b| b.argument())
    };
    arguments.iter().map(renamed).collect()
}
