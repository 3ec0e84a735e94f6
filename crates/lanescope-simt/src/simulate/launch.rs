//! How a dispatch is run: on how many threads, and watched by what.
//!
//! Input: a compiled program, its memory and a [`Config`]. Output: the outcome, which does not depend
//! on the number of threads. It chooses no order of workgroups: `schedule` does.
//!
//! # Threads
//! Workgroups that write no common memory, or each its own elements by what the program says, run side by side. Else a dispatch is first run side by
//! side while each worker notes who touched which word ([`Tags`]). If no two workgroups met, each did
//! what it would have done alone, and any order gives this answer. If two met, all is put back, and
//! the dispatch is run again on one thread, in the order that the schedule's words say; what
//! workgroups exchange is noticed there, what subgroups of one exchange in each run. With one thread that run is the only one. Whether
//! workgroups meet does not depend on threads (`exchange` says why), so the answer never does.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::arrange::Arrangement;
use super::compiled::Compiled;
use super::config::{
    BUFFER_BYTES_MAX, Config, Fma, Reconvergence, SUBGROUP_OPERATIONS, Schedule, WORKGROUPS_MAX,
};
use super::error::{SimulateError, Trap};
use super::exchange::{Exchange, GROUPS_MAX, Tags, Watch};
use super::memory::{Memory, SimulatedBuffer};
use super::observe::{ForkObserver, Observer};
use super::op::{FOLLOW_NONE, Op, Owner, ROOT_WORKGROUP};
use super::report::{Outcome, Tally};
use super::schedule::{self, Queue, work};
use super::table::{LaunchContext, Root};

/// Bytes of tags at most, all workers together: 1 GiB. Where more are needed fewer workers run.
const TAG_BYTES_MAX: u64 = 1 << 30;

/// Sees nothing.
pub(super) struct Unseen;

impl Observer for Unseen {}

impl ForkObserver for Unseen {
    fn fresh(&self) -> Self {
        Self
    }

    fn merge(&mut self, _: Self) {}
}

/// Executes a dispatch, in an arrangement where there is one; with an observer like `observer` for each worker, where there is one.
pub(super) fn launch<O: ForkObserver>(
    compiled: &Compiled,
    workgroups: [u32; 3],
    memory: &Memory,
    config: &Config,
    arrangement: Option<&Arrangement>,
    observer: Option<&O>,
) -> (Result<Outcome, Trap>, Vec<O>) {
    if workgroups.iter().any(|&count| count > WORKGROUPS_MAX) {
        return (Err(SimulateError::Workgroups { workgroups, max: WORKGROUPS_MAX }.into()), vec![]);
    }
    let dispatch = Dispatch { compiled, workgroups, memory, config, arrangement, observer };
    match dispatch.ran() {
        Ok(Ran { tally, trap: None, watches, seen, .. }) => {
            let mut outcome = tally.outcome(&compiled.code, workgroups);
            let mut exchanged = tally.exchanged;
            for watch in &watches {
                if let Watch::Exchange(exchange) = watch {
                    exchanged.extend(exchange.exchanged_accesses());
                }
            }
            for follow in exchanged {
                let follow = &compiled.code.follows[usize::from(follow)];
                outcome.depends_on_schedule.insert(follow.line);
                outcome.depends_on_schedule.extend(&follow.conditions);
            }
            (Ok(outcome), seen)
        }
        Ok(Ran { trap: Some(trap), seen, .. }) => (Err(trap), seen),
        Err(error) => (Err(error.into()), vec![]),
    }
}

/// Worker threads.
fn threads(config: &Config) -> usize {
    config.threads.unwrap_or_else(rayon::current_num_threads).max(1)
}

/// A dispatch that is to be run.
struct Dispatch<'a, O> {
    compiled: &'a Compiled,
    workgroups: [u32; 3],
    memory: &'a Memory,
    config: &'a Config,
    arrangement: Option<&'a Arrangement>,
    observer: Option<&'a O>,
}

/// What a run gave.
struct Ran<O> {
    tally: Tally,
    trap: Option<Trap>,
    watches: Vec<Watch>,
    /// Whether workgroups met before the end.
    met: bool,
    seen: Vec<O>,
}

impl<O> Ran<O> {
    /// A run that did not begin.
    fn from_trap(trap: Trap) -> Self {
        let tally = Tally::new(0, crate::units::Width::W32);
        Self { tally, trap: Some(trap), watches: Vec::new(), met: false, seen: Vec::new() }
    }
}

impl<O: ForkObserver> Dispatch<'_, O> {
    // Threads

    /// Runs it side by side where that gives the answer of a run in turn, else in turn.
    fn ran(&self) -> Result<Ran<O>, SimulateError> {
        let groups = self.arrangement.map_or_else(
            || self.workgroups.iter().map(|&count| u64::from(count)).product::<u64>(),
            Arrangement::groups,
        );
        // What is too large is not even begun.
        if groups.saturating_mul(SUBGROUP_OPERATIONS) > self.config.operations_max {
            return Ok(Ran::from_trap(self.over()));
        }
        let threads = usize::try_from(groups).unwrap_or(usize::MAX).clamp(1, threads(self.config));
        let code = &self.compiled.code;
        let shared: Vec<bool> = (0..code.roots.len())
            .map(|root| groups > 1 && code.written[root] && !self.stays_apart(code.owners[root]))
            .collect();
        if !shared.contains(&true) {
            return self.run((0..threads).map(|_| Watch::Nothing).collect());
        }
        let words = self.words(&shared);
        let bytes = words.iter().flatten().map(|&words| words as u64 * 4).sum::<u64>().max(1);
        let workers = threads.min(usize::try_from(TAG_BYTES_MAX / bytes).unwrap_or(usize::MAX));
        if workers > 1 && groups <= GROUPS_MAX {
            let before = self.copies();
            let tags = || Watch::Apart(Tags::new(words.iter().copied()));
            let ran = self.run((0..workers).map(|_| tags()).collect())?;
            if !ran.met && stayed_apart(&ran.watches) {
                return Ok(ran);
            }
            self.put_back(&before);
        }
        let mut followed = vec![false; code.roots.len()];
        let atomics = code.atomics.iter().map(|atomic| &atomic.at);
        let places = code.accesses.iter().chain(atomics).map(|at| (at.root, at.follow));
        let textures = code.textures.iter().map(|texture| (texture.root, texture.follow));
        for (root, _) in places.chain(textures).filter(|(_, follow)| *follow != FOLLOW_NONE) {
            followed[usize::from(root)] = shared[usize::from(root)];
        }
        self.run(vec![if followed.contains(&true) {
            Watch::Exchange(Exchange::new(self.words(&followed).into_iter()))
        } else {
            Watch::Nothing
        }])
    }

    /// Whether workgroups cannot meet in a memory whose elements have this owner.
    fn stays_apart(&self, owner: Owner) -> bool {
        let [_, y, z] = self.workgroups;
        let [_, depth, height] = self.compiled.workgroup_size;
        match owner {
            Owner::Invocation => [y, z, depth, height] == [1; 4],
            // In an arrangement several workgroups have the number of one.
            Owner::Workgroup => [y, z] == [1; 2] && self.arrangement.is_none(),
            Owner::Anybody => false,
        }
    }

    /// What stops a dispatch of too many operations.
    fn over(&self) -> Trap {
        let file = self.compiled.file.clone();
        Trap::Operations { file, operations: self.config.operations_max }
    }

    /// The words of the chosen roots.
    fn words(&self, chosen: &[bool]) -> Vec<Option<usize>> {
        let roots = self.compiled.code.roots.iter().zip(chosen);
        roots
            .map(|(root, &chosen)| {
                self.buffer(root).filter(|_| chosen).map(|buffer| buffer.words.len())
            })
            .collect()
    }

    fn buffer(&self, root: &Root) -> Option<&SimulatedBuffer> {
        match *root {
            Root::Workgroup => None,
            Root::Buffer { group, binding, .. } | Root::Texture { group, binding, .. } => {
                self.memory.buffer(group, binding)
            }
            Root::Immediates { .. } => Some(self.memory.immediates()),
        }
    }

    /// The buffers that the program writes, with what they hold.
    fn copies(&self) -> Vec<(&SimulatedBuffer, Vec<u32>)> {
        let code = &self.compiled.code;
        let written = code.roots.iter().zip(&code.written).filter(|(_, written)| **written);
        let buffers = written.filter_map(|(root, _)| self.buffer(root));
        let copy = |buffer: &SimulatedBuffer| {
            buffer.words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
        };
        buffers.map(|buffer| (buffer, copy(buffer))).collect()
    }

    fn put_back(&self, copies: &[(&SimulatedBuffer, Vec<u32>)]) {
        for (buffer, words) in copies {
            for (word, &before) in buffer.words.iter().zip(words) {
                word.store(before, Ordering::Relaxed);
            }
        }
    }

    /// Runs it with a worker for each of `watches`.
    fn run(&self, watches: Vec<Watch>) -> Result<Ran<O>, SimulateError> {
        let Self { compiled, workgroups, memory, config, arrangement, observer } = *self;
        let ops: Vec<Op> = compiled.code.ops.iter().map(|&op| by_policy(op, config.fma)).collect();
        let workers = watches.len();
        let context = context(compiled, &ops, memory, config, workers == 1)?;
        let launch = schedule::ScheduledLaunch {
            code: &compiled.code,
            constants: constants(compiled, &context),
            context,
            file: &compiled.file,
            copies: compiled.code.copies.len(),
            width: config.width,
            workgroups,
            workgroup_size: compiled.workgroup_size,
            arrangement,
            zero_workgroup_memory: config.zero_workgroup_memory,
            steps_max: config.steps_max,
            operations_max: config.operations_max,
            operations: AtomicU64::new(0),
            schedule: config.schedule,
            met: AtomicBool::new(false),
            stop: AtomicU64::new(u64::MAX),
            trap: Mutex::new(None),
        };
        let mut seen: Vec<O> = observer
            .map_or_else(Vec::new, |observer| (0..workers).map(|_| observer.fresh()).collect());
        let mut hooks: Vec<&mut dyn Observer> = Vec::new();
        for worker in &mut seen {
            hooks.push(worker);
        }
        let (tally, watches) = run_at_width(&launch, config, watches, &mut hooks)?;
        let met = launch.met.load(Ordering::Relaxed);
        let over = launch.is_over().then(|| self.over());
        let trap = launch.trap.into_inner().ok().flatten().map(|(_, trap)| trap).or(over);
        Ok(Ran { tally, trap, watches, met, seen })
    }
}

/// Whether the workgroups of all workers stayed apart.
fn stayed_apart(watches: &[Watch]) -> bool {
    let tags: Vec<&Tags> = watches
        .iter()
        .filter_map(|watch| match watch {
            Watch::Apart(tags) => Some(tags),
            Watch::Nothing | Watch::Exchange(_) => None,
        })
        .collect();
    Tags::stayed_apart(&tags)
}

/// Binds the buffers.
#[expect(clippy::too_many_lines, reason = "each field of the context from its part of the launch")]
fn context<'a>(
    compiled: &'a Compiled,
    ops: &'a [Op],
    memory: &'a Memory,
    config: &Config,
    alone: bool,
) -> Result<LaunchContext<'a>, SimulateError> {
    let code = &compiled.code;
    let mut words = Vec::new();
    let mut sizes = Vec::new();
    let mut textures = Vec::new();
    for root in &code.roots {
        let (buffer, size_min, what) = match *root {
            Root::Workgroup => {
                words.push([].as_slice());
                sizes.push(0);
                textures.push(None);
                continue;
            }
            Root::Buffer { group, binding, size_min, .. } => {
                let unbound = SimulateError::Unbound { group, binding };
                let buffer = memory.buffer(group, binding).ok_or(unbound)?;
                let what = format!("the buffer at @group({group}) @binding({binding})");
                (buffer, size_min, what)
            }
            Root::Texture { group, binding, view, class } => {
                let unfit = |why| SimulateError::Unfit { what: "the texture", group, binding, why };
                let bound = memory.buffer(group, binding).filter(|buffer| buffer.texture.is_some());
                let buffer = bound.ok_or_else(|| unfit("none is bound".to_owned()))?;
                let layout = buffer.texture.as_ref();
                if let Some(why) = layout.and_then(|layout| layout.unfit(view, class)) {
                    return Err(unfit(why));
                }
                (buffer, 0, format!("the texture at @group({group}) @binding({binding})"))
            }
            Root::Immediates { size_min } => {
                (memory.immediates(), size_min, "the immediate data".to_owned())
            }
        };
        let bytes = buffer.bytes;
        if bytes < size_min as usize {
            return Err(SimulateError::TooSmall { what, bytes, bytes_min: size_min });
        }
        match u32::try_from(bytes) {
            Ok(size) if size <= BUFFER_BYTES_MAX => sizes.push(size),
            _ => {
                let bytes_max = BUFFER_BYTES_MAX;
                return Err(SimulateError::TooLarge { what, bytes, bytes_max });
            }
        }
        words.push(buffer.words.as_slice());
        textures.push(buffer.texture.as_ref());
    }
    let sampler = |&(group, binding): &(u32, u32)| {
        let why = "none is bound".to_owned();
        let unbound = SimulateError::Unfit { what: "the sampler", group, binding, why };
        memory.sampler(group, binding).ok_or(unbound)
    };
    let samplers = code.samplers.iter().map(sampler).collect::<Result<_, _>>()?;
    Ok(LaunchContext {
        texture_ops: &code.textures,
        textures,
        samplers,
        code: ops,
        copies: &code.copies,
        accesses: &code.accesses,
        atomics: &code.atomics,
        roots: &code.roots,
        sites: &code.sites,
        decisive: &code.decisive,
        words,
        sizes,
        lock: memory.lock(),
        alone,
        width: config.width.lanes(),
        late: config.reconvergence == Reconvergence::Late,
        pauses: config.schedule != Schedule::InOrder,
        fused: config.fma == Fma::Fused,
        strict: config.strict,
    })
}

/// The words of the registers that are the same everywhere, array lengths included.
fn constants(compiled: &Compiled, context: &LaunchContext<'_>) -> Vec<u32> {
    let mut constants = compiled.code.constants.clone();
    for length in &compiled.code.lengths {
        debug_assert_ne!(length.root, ROOT_WORKGROUP, "run-time arrays are in buffers");
        let size = context.sizes[usize::from(length.root)];
        let elements = size.saturating_sub(length.offset).checked_div(length.stride);
        constants[usize::from(length.register)] = elements.unwrap_or(0);
    }
    constants
}

/// An instruction as the policy wants it.
fn by_policy(op: Op, fma: Fma) -> Op {
    match (op, fma) {
        (Op::FmaF(d, a, b, c), Fma::Unfused) => Op::MulAddF(d, a, b, c),
        (op, _) => op,
    }
}

/// As [`run_workers`], for the launch's width. Not generic, so that the interpreter is compiled with
/// this package, and not once more with whatever package has an observer.
fn run_at_width(
    launch: &schedule::ScheduledLaunch<'_>,
    config: &Config,
    watches: Vec<Watch>,
    observers: &mut [&mut dyn Observer],
) -> Result<(Tally, Vec<Watch>), SimulateError> {
    // Narrow subgroups use the first lanes of eight.
    match config.width.lanes() {
        0..=8 => run_workers::<8>(launch, config, watches, observers),
        16 => run_workers::<16>(launch, config, watches, observers),
        32 => run_workers::<32>(launch, config, watches, observers),
        64 => run_workers::<64>(launch, config, watches, observers),
        _ => run_workers::<128>(launch, config, watches, observers),
    }
}

/// Runs the launch on a worker for each of `watches`, and adds their tallies up.
fn run_workers<const N: usize>(
    launch: &schedule::ScheduledLaunch<'_>,
    config: &Config,
    mut watches: Vec<Watch>,
    observers: &mut [&mut dyn Observer],
) -> Result<(Tally, Vec<Watch>), SimulateError> {
    let queue = Mutex::new(Queue::<N>::new(launch));
    let mut slots = observers.iter_mut().map(|observer| &mut **observer);
    if watches.len() == 1 {
        let watch = watches.swap_remove(0);
        let observer = slots.next().map(|observer| observer as _);
        let (tally, watch) = work(launch, &queue, observer, watch);
        return Ok((tally, vec![watch]));
    }
    let mut done: Vec<Option<(Tally, Watch)>> = Vec::new();
    done.resize_with(watches.len(), || None);
    let queue = &queue;
    let all = |done: &mut [Option<(Tally, Watch)>]| {
        rayon::scope(|scope| {
            for (done, watch) in done.iter_mut().zip(watches) {
                let observer = slots.next();
                scope.spawn(move |_| {
                    let observer = observer.map(|observer| observer as _);
                    *done = Some(work(launch, queue, observer, watch));
                });
            }
        });
    };
    match config.threads {
        None => all(&mut done),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| {
                let message = error.to_string();
                SimulateError::Threads { threads, message }
            })?;
            pool.install(|| all(&mut done));
        }
    }
    let mut sum = Tally::new(launch.copies, launch.width);
    let mut watches = Vec::new();
    for (tally, watch) in done.into_iter().flatten() {
        sum.merge(&tally);
        watches.push(watch);
    }
    Ok((sum, watches))
}
