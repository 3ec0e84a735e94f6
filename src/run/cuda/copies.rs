//! One launch on several copies of its buffers, for times with cold caches.
//!
//! Input: an open device, a launch, a number of copies, calls a sample. Output: nanoseconds a call, and
//! whether each copy's outputs are right. Kernels are compiled once; copies differ in the addresses
//! they are given. Nothing is counted here, and no stop rule is kept: who compares with another program
//! takes samples in turn with it, and knows when to stop.

use super::driver::{self, Argument, Recorded, Sample};
use super::runner::{Buffers, CudaRunner, Ready};
use crate::kernel::Launch;
use crate::record::Output;
use crate::run::counting::verify;
use crate::run::{RunError, RunErrorKind};

/// A launch on copies of its buffers, whose calls take turns.
pub struct Copies {
    launch: Launch,
    /// The first copy, with the kernels of all.
    first: Ready,
    others: Vec<Copy>,
    /// A sample of so many calls, recorded.
    recorded: Option<(u32, Recorded)>,
}

/// Another copy of the buffers.
struct Copy {
    buffers: Buffers,
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
        let first = self.ready(launch, None)?;
        let mut others = Vec::new();
        for _ in 1..count {
            let buffers = self.buffers(launch)?;
            let work = first.work.iter();
            let arguments =
                work.map(|(work, _)| readdressed(&work.arguments, &first.buffers, &buffers));
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
                let launches = copies.launches(calls);
                let sample = Sample { launches: &launches, repeats: 1, before: 1, resets: &[] };
                self.gpu().record(&sample, &doing)?
            }
        };
        let time = self.gpu().timed(&recorded, &doing);
        copies.recorded = Some((calls, recorded));
        Ok(time? / f64::from(calls))
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
    fn launches(&self, calls: u32) -> Vec<driver::Launch<'_>> {
        let timed = self.launch.dispatches.iter().zip(&self.first.work).enumerate();
        let timed: Vec<_> = timed.filter(|(_, (dispatch, _))| !dispatch.setup).collect();
        let turns = (0..=self.others.len()).cycle().take(calls as usize);
        turns
            .flat_map(|turn| {
                let other = turn.checked_sub(1).map(|index| &self.others[index]);
                timed.iter().map(move |(number, (_, (work, grid)))| driver::Launch {
                    kernel: &work.kernel,
                    arguments: other.map_or(&work.arguments, |copy| &copy.arguments[*number]),
                    grid: *grid,
                    block: work.block,
                })
            })
            .collect()
    }
}

/// The same arguments with the addresses of other buffers of the same names.
fn readdressed(arguments: &[Argument], from: &Buffers, to: &Buffers) -> Vec<Argument> {
    let renamed = |argument: &Argument| {
        let Argument::Address(address) = argument else { return argument.clone() };
        let is = |buffer: &driver::Buffer| match buffer.argument() {
            Argument::Address(other) => other == *address,
            Argument::Bytes(_) => false,
        };
        let name = from.iter().find(|(_, buffer)| is(buffer)).map(|(name, _)| name);
        name.and_then(|name| to.get(name)).map_or_else(|| argument.clone(), |b| b.argument())
    };
    arguments.iter().map(renamed).collect()
}
