//! Timing of launches: they are made ready once and sampled over and over, and what was timed is
//! checked.
//!
//! Input: launches. Output: samples, times and verdicts. Which launch is sampled next, and when to
//! stop, `run::sampling` decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::device::GpuRunner;
use super::launches::{Buffers, written_by};
use super::probe;
use super::{Gpu, GpuDispatch, GpuSample, Grid, Stamps};
use crate::instrument::CounterScheme;
use crate::kernel::{self, KernelLanguage, Launch, Workgroups};
use crate::program::Program;
use crate::record::{Flag, Tag, Time};
use crate::run::counting::verify;
use crate::run::launched::programs;
use crate::run::sampling::{Around, LONG_NS, Possibility, Sampled, TakenSample, Timer};
use crate::run::{DispatchTime, RunError, RunErrorKind, Timed};
use crate::units::approximate;

/// The dispatches of a launch, each with its grid.
type Work<G> = Vec<(<G as Gpu>::Kernel, Grid<<G as Gpu>::Buffer>)>;

/// Buffers from and to which contents are copied.
type Resets<G> = Vec<(<G as Gpu>::Buffer, <G as Gpu>::Buffer)>;

/// A launch made ready to be run over and over: what sets up has run.
pub(in crate::run) struct Prepared<G: Gpu> {
    pub(in crate::run) buffers: Buffers<G::Buffer>,
    /// All dispatches in order, with their grids.
    pub(in crate::run) work: Work<G>,
    /// First contents and the buffers that they are copied to before each sample: those that a
    /// launch writes which cannot be repeated on what it left behind.
    pub(super) resets: Resets<G>,
    /// Whether one run has been seen to take [`LONG_NS`] or more, so that none need go before it.
    pub(super) long: bool,
    /// What the first submission of a sample took by the machine's clock, in nanoseconds; nothing before it.
    first_ns: Option<f64>,
    /// The sample of one launch that told most.
    longest: Option<LongestSample>,
    /// A sample of so many repeats after so many runs, recorded.
    recorded: Option<([u32; 2], G::Recorded)>,
    /// Whether it asks for more workgroups at once than the device holds, so that there is nothing
    /// to time.
    pub(super) refused: bool,
}

/// What a sample of one launch told, in nanoseconds.
#[derive(Clone, Copy)]
struct LongestSample {
    /// The time between its timestamps.
    told_ns: f64,
    /// What its submission took by the machine's clock beside that and the run before.
    beside_ns: f64,
}

/// The most that a submission may take beside its work by the machine's clock, in nanoseconds.
const OTHER_NS_MAX: f64 = 250_000_000.0;

/// The same beside what a submission of one launch takes whole: what a busy machine lets one wait.
const OTHER_NS: f64 = 25_000_000.0;

/// How many times less a sample tells than another one of the same launch where one of the two may be wrong.
const FAR_LESS: f64 = 20.0;

/// What copying a byte to where a launch begins may take, in nanoseconds.
const COPIED_BYTE_NS: f64 = 4.0;

/// Why a cooperative launch is not timed.
pub(super) fn cooperative_error() -> RunError {
    let message = "the driver refuses a cooperative launch of more workgroups than fit at once";
    RunError::new(RunErrorKind::Unsupported, message)
}

impl<G: Gpu> Prepared<G> {
    /// The dispatches that do not only set up, or those that do.
    pub(in crate::run) fn dispatches(
        &self,
        launch: &Launch,
        setup: bool,
    ) -> Vec<GpuDispatch<'_, G>> {
        let all = launch.dispatches.iter().zip(&self.work);
        all.filter(|(dispatch, _)| dispatch.setup == setup)
            .map(|(_, (kernel, grid))| (kernel, grid))
            .collect()
    }
}

impl<G: Gpu> GpuRunner<G> {
    /// A launch made ready to be timed: the modules that count so, where `counting` says it, in place
    /// of the plain ones.
    ///
    /// # Errors
    ///
    /// What compiling, making buffers and setting up give.
    pub(in crate::run) fn prepare(
        &self,
        launch: &Launch,
        counting: Option<CounterScheme>,
    ) -> Result<Prepared<G>, RunError> {
        let native = launch.language() != KernelLanguage::Wgsl;
        let programs = if native { Arc::default() } else { programs(launch)? };
        let buffers = self.buffers(launch, &programs)?;
        let kernels = if native {
            self.gpu.compile_native(launch, &buffers)?
        } else {
            self.kernels(launch, &programs, &buffers, counting)?
        };
        let written = written_by(launch, &programs)?;
        let work = self.with_grids(launch, kernels, &buffers, &written)?;
        let refused = self.too_large(&work)?;
        let mut prepared = Prepared {
            buffers,
            work,
            resets: Vec::new(),
            long: false,
            first_ns: None,
            longest: None,
            recorded: None,
            refused,
        };
        if refused {
            return Ok(prepared);
        }
        self.set_up(launch, &prepared)?;
        if !launch.repeatable {
            prepared.resets = self.first_contents(&prepared.buffers, &written)?;
        }
        // CPU drivers compile a kernel when it is first dispatched, and CUDA may load it only then: no
        // sample is to hold that, nor the time that samples may take in all.
        let work = prepared.dispatches(launch, false);
        self.gpu.run(&work, &format!("running {} before it is timed", launch.kernel))?;
        Ok(prepared)
    }

    /// The kernels of a launch, plain or counting.
    fn kernels(
        &self,
        launch: &Launch,
        programs: &[Program],
        buffers: &Buffers<G::Buffer>,
        counting: Option<CounterScheme>,
    ) -> Result<Vec<G::Kernel>, RunError> {
        let mut kernels = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(programs) {
            let counters = counting
                .map(|method| self.counters(program, &dispatch.workgroups, method))
                .transpose()?;
            kernels.push(self.kernel(launch, program, buffers, counters.as_ref())?);
        }
        Ok(kernels)
    }

    /// Kernels with their grids. Where a grid is worked out on a device that does not take it from a
    /// buffer, the launch is run once to find it, and its buffers are filled again.
    fn with_grids(
        &self,
        launch: &Launch,
        kernels: Vec<G::Kernel>,
        buffers: &Buffers<G::Buffer>,
        written: &BTreeSet<String>,
    ) -> Result<Work<G>, RunError> {
        let indirect = |dispatch: &kernel::Dispatch| {
            matches!(dispatch.workgroups, Workgroups::Indirect { .. })
        };
        let to_find = !G::TAKES_INDIRECT_GRIDS && launch.dispatches.iter().any(indirect);
        let doing = format!("finding the grids of {}", launch.kernel);
        let mut work = Vec::new();
        for (dispatch, kernel) in launch.dispatches.iter().zip(kernels) {
            let grid = self.settle_grid(dispatch, buffers)?;
            if to_find {
                self.gpu.run(&[(&kernel, &grid)], &doing)?;
            }
            work.push((kernel, grid));
        }
        if to_find {
            self.refill(launch, buffers, written)?;
        }
        Ok(work)
    }

    /// Whether some dispatch asks for more workgroups at once than the device holds.
    fn too_large(&self, work: &[(G::Kernel, Grid<G::Buffer>)]) -> Result<bool, RunError> {
        for (kernel, grid) in work {
            let Grid::Direct(workgroups) = grid else { continue };
            let wanted: u64 = workgroups.iter().copied().map(u64::from).product();
            if self.gpu.resident_max(kernel)?.is_some_and(|held| wanted > u64::from(held)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies of the buffers that a launch writes, as they are after what is not timed: each with the
    /// buffer that it is copied to before a sample.
    fn first_contents(
        &self,
        buffers: &Buffers<G::Buffer>,
        written: &BTreeSet<String>,
    ) -> Result<Resets<G>, RunError> {
        let mut resets = Vec::new();
        for name in written {
            let Some(buffer) = buffers.get(name) else { continue };
            let first = self.gpu.alike(name, buffer)?;
            self.gpu.copy(buffer, &first)?;
            resets.push((first, buffer.clone()));
        }
        Ok(resets)
    }

    /// Runs the dispatches that are not timed.
    ///
    /// # Errors
    ///
    /// What goes wrong while they run.
    pub(in crate::run) fn set_up(
        &self,
        launch: &Launch,
        prepared: &Prepared<G>,
    ) -> Result<(), RunError> {
        let work = prepared.dispatches(launch, true);
        if work.is_empty() {
            return Ok(());
        }
        self.gpu.run(&work, &format!("setting up {}", launch.kernel))
    }

    /// Takes one sample, right after as much of the same work without timestamps; a launch that has
    /// once taken long goes without.
    pub(super) fn sample(
        &self,
        timer: Timer,
        launch: &Launch,
        prepared: &mut Prepared<G>,
        repeats: u32,
    ) -> Result<TakenSample, RunError> {
        if prepared.refused {
            return Err(cooperative_error());
        }
        let doing = format!("timing {}", launch.kernel);
        let before = if prepared.long { 0 } else { repeats };
        let recorded = match prepared.recorded.take() {
            Some((counts, recorded)) if counts == [repeats, before] => recorded,
            _ => {
                let work = prepared.dispatches(launch, false);
                let (resets, stamps) = (prepared.resets.as_slice(), Stamps::Around);
                self.gpu
                    .record(&GpuSample { work: &work, repeats, before, resets, stamps }, &doing)?
            }
        };
        let begun = self.gpu.machine_ns();
        let ticks = self.gpu.play(&recorded, &doing);
        let whole_ns = self.gpu.machine_ns() - begun;
        prepared.recorded = Some(([repeats, before], recorded));
        let ticks = probe::single_sample(ticks?)?;
        let told_ns = timer.duration_ns(ticks);
        let other_ns = self.other_ns(prepared, repeats, told_ns);
        prepared.first_ns.get_or_insert(whole_ns);
        let runs = f64::from(repeats + before) / f64::from(repeats);
        let possibility = timer.held_against(ticks, Around { whole_ns, other_ns, runs });
        if possibility == Possibility::Possible {
            prepared.long |= told_ns >= LONG_NS * f64::from(repeats);
            let is_longest = prepared.longest.is_none_or(|longest| told_ns > longest.told_ns);
            if repeats == 1 && is_longest {
                let beside_ns = (whole_ns - told_ns * runs).max(0.0);
                prepared.longest = Some(LongestSample { told_ns, beside_ns });
            }
        }
        Ok(TakenSample { ticks, possibility })
    }

    /// How much of a submission may be something else than the work that is sampled, in nanoseconds; `told_ns` is
    /// what its timestamps tell.
    fn other_ns(&self, prepared: &Prepared<G>, repeats: u32, told_ns: f64) -> f64 {
        let known = if repeats > 1 {
            // What one launch took is submitted and waited for as what many take.
            prepared.first_ns
        } else {
            // Another sample has told far more of the same work, and what lay beside it.
            let longest = prepared.longest.filter(|longest| told_ns * FAR_LESS < longest.told_ns);
            longest.map(|longest| longest.beside_ns)
        };
        let known = known.map(|known_ns| known_ns + OTHER_NS);
        let copied: u64 = prepared.resets.iter().map(|(first, _)| self.gpu.size(first)).sum();
        let most = known.map_or(OTHER_NS_MAX, |known| known.min(OTHER_NS_MAX));
        most + 2.0 * COPIED_BYTE_NS * approximate(copied)
    }

    /// What sampling gave, with the outputs checked.
    pub(super) fn finish_time(
        &self,
        launch: &Launch,
        prepared: &Prepared<G>,
        sampled: Sampled,
        dispatches: Vec<Option<DispatchTime>>,
    ) -> Result<Timed, RunError> {
        let before = |time: Time| Time {
            dispatches_before_sample: Some(if prepared.long {
                0
            } else {
                time.dispatches_per_sample
            }),
            ..time
        };
        let mut flags: Vec<Flag> = Vec::new();
        let time = match sampled {
            Sampled::Timed { time, contradicted } => {
                flags.extend(contradicted.then(|| Tag::TimerContradicted.into()));
                Some(before(time))
            }
            Sampled::Unusable => {
                flags.push(Tag::NoUsableSamples.into());
                None
            }
            Sampled::Contradicted => {
                flags.push(Tag::TimerContradicted.into());
                None
            }
        };
        if time.as_ref().is_some_and(|time| !time.stop_rule_met) {
            flags.push(Tag::StopRuleNotMet.into());
        }
        if self.width_varies() {
            flags.push(Tag::WidthNotKnownWhenTimed.into());
        }
        let checked = verify(launch, &self.outputs(launch, &prepared.buffers)?)?;
        Ok(Timed { time, dispatches, checked, runtime_checks: !launch.trusted, flags })
    }
}
