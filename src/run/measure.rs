//! Puts counts and times together into a record's measurement.
//!
//! Input: a launch and what a runner gave for it. Output: `record::Measurement`. Every figure of the
//! record that follows from counts is worked out here and nowhere else in `run`.

mod flow;
#[cfg(feature = "devices")]
pub(in crate::run) use flow::to_record as flow_of;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::launched::{Programs, programs, sha256, sha256_bytes};
use super::{
    Collected, Counted, CountedDispatch, OtherCounted, RunError, RunErrorKind, Timed, trust,
};
use crate::instrument::Count;
use crate::kernel::{Buffer, KernelLanguage, Launch, Texture};
use crate::mapping::sass;
use crate::program::branch::BlockFlow;
use crate::program::loops::{self, CutLoops, LoopCounts};
use crate::program::{BlockInfo, Program};
use crate::record::{
    Block, BlockCode, Device, Dispatch, Flag, Measurement, Method, Output, RuntimeChecks,
    SeedCounts, Seeds, Source, Status, Tag, Time,
};
use crate::units::{Ratio, Width};

/// What a runner gave for a launch.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Counting's result, where it was asked for.
    pub counted: Option<Counted>,
    /// Timing's result, where the device was timed.
    pub timed: Option<Timed>,
    /// The times without run-time checks, where they were asked for.
    pub time_unchecked: Option<Time>,
    /// The times of the modules that count, where they were asked for.
    pub time_counting: Option<Time>,
    /// What hardware counters gave, where they were asked for and the device has any.
    pub collected: Option<Collected>,
    /// What other seeds gave, where they were asked for.
    pub seeds: Option<Seeds>,
    /// What went wrong.
    pub error: Option<RunError>,
}

/// The source of a launch as the record stores it, with its hash.
pub fn source(launch: &Launch) -> (String, Source) {
    let source = Source { file: launch.file.clone(), text: launch.source.clone() };
    (sha256(&launch.source), source)
}

/// Makes the measurement of `launch` on `device`.
///
/// What a kernel expects of its blocks is put beside the counts only where the device numbers lanes
/// by `local_invocation_index`, as the expectations assume.
///
/// # Errors
///
/// [`RunErrorKind::BadInput`] where the launch's shader or formulas cannot be worked out.
#[expect(clippy::too_many_lines, reason = "every field of a measurement stands here once")]
pub fn measurement(
    device: &Device,
    launch: &Launch,
    results: Results,
) -> Result<Measurement, RunError> {
    let Results { counted, timed, time_unchecked, time_counting, collected, seeds, error } =
        results;
    let native = launch.language() == KernelLanguage::Cuda;
    let programs = if native { Arc::default() } else { programs(launch)? };
    let mut counters = counted.as_ref().map(|counted| counted.counters.clone()).unwrap_or_default();
    let Collected { counters: hardware, missing, from, machine_code, other } =
        collected.unwrap_or_default();
    counters.extend(hardware);
    let width = counted.as_ref().and_then(|counted| counted.width);
    let mut dispatches = if native { uncounted_dispatches(launch) } else { Vec::new() };
    for index in 0..programs.len() {
        let counts = counted.as_ref().and_then(|counted| counted.dispatches.get(index));
        let linear = device.lane_is_local_index_mod_width == Some(true);
        dispatches.push(dispatch(
            launch,
            index,
            &programs,
            counts,
            timed.as_ref(),
            width.filter(|_| linear),
        )?);
    }
    let blocks = || dispatches.iter().flat_map(|dispatch: &Dispatch| &dispatch.blocks);
    let active_lanes_mean = mean(&dispatches);
    let efficiency_ratio =
        active_lanes_mean.zip(width).map(|(mean, width)| Ratio(mean / f64::from(width.lanes())));
    let (output, mismatch) = verdict(counted.as_ref(), timed.as_ref());
    let flags = flags(device, counted.as_ref(), timed.as_ref(), programs.iter().zip(&dispatches));
    let has_counts = blocks().next().is_some();
    for (dispatch, code) in dispatches.iter_mut().zip(machine_code) {
        dispatch.machine_code = code;
    }
    // Once the dispatches hold their code: arms are told by it and the counts together.
    if !native && device.gives().counters {
        name_arms(launch, &programs, other.unwrap_or_default(), &mut dispatches)?;
    }
    Ok(Measurement {
        device: device.id.clone(),
        kernel: launch.kernel.clone(),
        parameters: launch.parameters.clone(),
        seed: launch.seed,
        for_widths: launch.for_widths,
        status: if error.is_some() { Status::Failed } else { Status::Ok },
        error_kind: error.as_ref().map(|error| error.kind),
        limit: error.as_ref().and_then(|error| error.limit),
        error: error.map(|error| error.message).or(mismatch),
        subgroup_width: width,
        runtime_checks: RuntimeChecks {
            timed: timed.as_ref().is_some_and(|timed| timed.runtime_checks),
            counted: counted.as_ref().is_some_and(|counted| counted.runtime_checks),
            workgroup_memory_zeroed: launch.workgroup_memory_zeroed,
        },
        output,
        source_sha256: sha256(&launch.source),
        inputs_sha256: inputs(launch),
        method: counted.as_ref().map(|counted| counted.method).filter(|_| has_counts),
        trust: trust::of_shader(device, &programs).filter(|_| !native),
        answer_ns: counted.as_ref().and_then(|counted| counted.answer_ns),
        active_lanes_mean,
        efficiency_ratio,
        dispatches,
        trace: counted.as_ref().and_then(|counted| counted.trace.clone()),
        schedules: Vec::new(),
        seeds,
        shapes: None,
        what_if: None,
        memory: None,
        made_up: Vec::new(),
        time: timed.and_then(|timed| timed.time),
        time_unchecked,
        time_counting,
        bytes_moved_min: launch.bytes,
        outputs_shown: counted.map(|counted| counted.outputs_shown).unwrap_or_default(),
        counters,
        counters_missing: missing,
        counters_from: from,
        flags,
    })
}

/// Says of the machine code that the hardware executed what became of each arm and loop, by the launch's input and,
/// where there is one, by another.
fn name_arms(
    launch: &Launch,
    programs: &Programs,
    other: OtherCounted,
    dispatches: &mut [Dispatch],
) -> Result<(), RunError> {
    let mut others = other.dispatches.iter().zip(other.machine_code);
    for (index, dispatch_run) in dispatches.iter_mut().enumerate() {
        let of_other = match others.next() {
            Some((counts, machine_code)) => {
                let made = dispatch(launch, index, programs, Some(counts), None, None)?;
                Some(Dispatch { machine_code, ..made })
            }
            None => None,
        };
        let found = sass::beside(dispatch_run, of_other.as_ref());
        if let (Some(code), Some((arms, near))) = (&mut dispatch_run.machine_code, found) {
            (code.arms, code.near) = (arms, near);
        }
        // As whoever reads the record will have them.
        let arms = sass::arms_anew(dispatch_run);
        if let (Some(code), Some(arms)) = (&mut dispatch_run.machine_code, arms) {
            code.arms = arms;
        }
    }
    Ok(())
}

/// The hashes of what each buffer holds at first, by its name, where the launch says that they are wanted.
fn inputs(launch: &Launch) -> BTreeMap<String, String> {
    let hash = |buffer: &Buffer| (buffer.name.clone(), sha256_bytes(&launch.contents(buffer)));
    let buffers = launch.buffers.iter().filter(|_| launch.inputs_hashed);
    let texels = |texture: &Texture| (texture.name.clone(), sha256_bytes(&launch.texels(texture)));
    let textures = launch.textures.iter().filter(|_| launch.inputs_hashed);
    buffers.map(hash).chain(textures.map(texels)).collect()
}

/// Whether the outputs of what was timed, else of what was counted, were right, and where not.
fn verdict(counted: Option<&Counted>, timed: Option<&Timed>) -> (Output, Option<String>) {
    let checked = timed.map(|timed| &timed.checked).or(counted.map(|counted| &counted.checked));
    let counted_mismatch = counted.and_then(|counted| counted.checked.mismatch.clone());
    let mismatch = checked.and_then(|checked| checked.mismatch.clone()).or(counted_mismatch);
    let output = match (&mismatch, checked) {
        (Some(_), _) => Output::Mismatch,
        (None, Some(checked)) => checked.output,
        (None, None) => Output::Unchecked,
    };
    (output, mismatch)
}

/// What is flagged, each flag once.
fn flags<'a>(
    device: &Device,
    counted: Option<&Counted>,
    timed: Option<&Timed>,
    dispatches: impl Iterator<Item = (&'a Program, &'a Dispatch)>,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    flags.extend(counted.iter().flat_map(|counted| counted.flags.iter().cloned()));
    flags.extend(timed.iter().flat_map(|timed| timed.flags.iter().cloned()));
    for (index, (program, dispatch)) in dispatches.enumerate() {
        let found = counted.and_then(|counted| counted.dispatches.get(index));
        let cut = cut_loops(device, program, dispatch, counted, found);
        flags.extend(cut.certain.iter().map(|line| Flag::at(Tag::LoopCutOff, [*line])));
        flags.extend(cut.possible.iter().map(|line| Flag::at(Tag::LoopMayBeCutOff, [*line])));
    }
    flags.sort();
    flags.dedup();
    flags
}

/// The loops of a dispatch that the device left by itself, or may have left.
fn cut_loops(
    device: &Device,
    program: &Program,
    dispatch: &Dispatch,
    counted: Option<&Counted>,
    found: Option<&CountedDispatch>,
) -> CutLoops {
    if dispatch.blocks.len() != program.blocks().len() {
        return CutLoops::default();
    }
    let lanes: Vec<u64> = dispatch.blocks.iter().map(|block| block.lanes.0).collect();
    // Estimated executions are a lower bound, of which no iterations can be told; lanes are exact.
    let estimated = counted.is_some_and(|counted| counted.method == Method::Estimated);
    let executions: Vec<u64> = match estimated {
        true => lanes.clone(),
        false => dispatch.blocks.iter().map(|block| block.executions.0).collect(),
    };
    let sizes = dispatch.workgroups.into_iter().flatten().chain(dispatch.workgroup_size);
    let invocations = dispatch.workgroups.map(|_| sizes.map(u64::from).product());
    loops::cut_off(
        program,
        &LoopCounts {
            executions: &executions,
            lanes: &lanes,
            invocations,
            limit: device.loop_limit,
            iterations_max: found.and_then(|found| found.iterations_max),
            incomplete: found.is_some_and(|found| found.incomplete),
        },
    )
}

/// The subgroup operations and the lane operations of the dispatches that do not only set up.
pub(super) fn work(dispatches: &[Dispatch]) -> (u128, u128) {
    let worked = dispatches.iter().filter(|dispatch| !dispatch.setup);
    worked.flat_map(|dispatch| &dispatch.blocks).fold((0, 0), |(subgroups, lanes), block| {
        let operations = u128::from(block.operations);
        let executed = operations * u128::from(block.executions.0);
        (subgroups + executed, lanes + operations * u128::from(block.lanes.0))
    })
}

/// The work that a launch with another seed counted.
///
/// # Errors
///
/// [`RunErrorKind::BadInput`] where the launch's shader cannot be worked out,
/// [`RunErrorKind::Unsupported`] where the sums do not fit.
pub fn seed_counts(
    launch: &Launch,
    counted: &Counted,
    narrower: Option<Width>,
) -> Result<SeedCounts, RunError> {
    let executions = |count: &Count| match (narrower, count.parts) {
        (None, _) => Some(count.executions.0),
        (Some(width), Some(parts)) if width.lanes() == 32 => Some(parts.of_32),
        (Some(width), Some(parts)) if width.lanes() == 16 => Some(parts.of_16),
        (Some(_), _) => None,
    };
    let mut sums = [0_u128; 2];
    let programs = programs(launch)?;
    let pairs = launch.dispatches.iter().zip(programs.iter()).zip(&counted.dispatches);
    for ((_, program), counts) in pairs.filter(|((dispatch, _), _)| !dispatch.setup) {
        for (block, count) in program.blocks().iter().zip(&counts.counts) {
            let executions = executions(count).ok_or_else(|| {
                RunError::new(RunErrorKind::Unsupported, "no parts of that width were counted")
            })?;
            let executed = [executions, count.lanes.0].map(u128::from);
            sums = [0, 1].map(|i| sums[i] + u128::from(block.ops) * executed[i]);
        }
    }
    let [subgroups, lanes] = sums;
    let whole = |sum: u128| {
        let message = "the work of a seed does not fit into 64 bits";
        u64::try_from(sum).map_err(|_| RunError::new(RunErrorKind::Unsupported, message))
    };
    Ok(SeedCounts {
        seed: launch.seed,
        subgroup_operations: whole(subgroups)?,
        lane_operations: whole(lanes)?,
    })
}

/// The mean active lanes over the dispatches that do not only set up.
fn mean(dispatches: &[Dispatch]) -> Option<f64> {
    let (subgroups, lanes) = work(dispatches);
    #[expect(clippy::cast_precision_loss, reason = "a mean of counts is shown to a few digits")]
    (subgroups != 0).then(|| lanes as f64 / subgroups as f64)
}

/// The dispatches of a launch in CUDA C++: there are no blocks of WGSL to count.
fn uncounted_dispatches(launch: &Launch) -> Vec<Dispatch> {
    let each = launch.dispatches.iter().map(|dispatch| Dispatch {
        entry_point: dispatch.entry_point.clone(),
        workgroups: dispatch.workgroups.direct(),
        workgroup_size: dispatch.native.map_or([1; 3], |native| native.workgroup_size),
        blocks: Vec::new(),
        calls: Vec::new(),
        line_counts: Vec::new(),
        machine_code: None,
        median_ns: None,
        ci95_ns: None,
        setup: dispatch.setup,
    });
    each.collect()
}

/// What a record says of each block of a program, whatever it counts.
fn block_codes(program: &Program) -> Vec<Arc<BlockCode>> {
    let flows = program.flows();
    let code = |(info, flow): (&BlockInfo, &BlockFlow)| {
        Arc::new(BlockCode {
            id: info.id,
            label: info.label.clone(),
            file: program.text().file().to_owned(),
            line: info.location.line,
            column: info.location.column,
            operations: info.ops,
            fma_operations: Some(info.fma_ops),
            lines: info.lines.clone(),
            flow: Some(flow::to_record(info, flow)),
        })
    };
    program.blocks().iter().zip(&flows).map(code).collect()
}

fn dispatch(
    launch: &Launch,
    index: usize,
    programs: &Programs,
    counted: Option<&CountedDispatch>,
    timed: Option<&Timed>,
    width_expected: Option<Width>,
) -> Result<Dispatch, RunError> {
    let program = &programs[index];
    let counts = counted.map_or(&[][..], |counted| &counted.counts);
    let mut blocks = Vec::new();
    for (code, count) in programs.codes(index, block_codes).iter().zip(counts) {
        let expected = match (&code.label, width_expected) {
            (Some(label), Some(width)) => launch
                .active_lanes_mean_expected(label, width)
                .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?,
            _ => None,
        };
        blocks.push(Block {
            code: Arc::clone(code),
            executions: count.executions,
            lanes: count.lanes,
            histogram: count.histogram.clone(),
            parts: count.parts,
            active_lanes_mean_expected: expected,
        });
    }
    let time = timed.and_then(|timed| timed.dispatches.get(index).copied().flatten());
    let direct = launch.dispatches[index].workgroups.direct();
    Ok(Dispatch {
        entry_point: launch.dispatches[index].entry_point.clone(),
        workgroups: counted.and_then(|counted| counted.workgroups).or(direct),
        workgroup_size: program.workgroup_size(),
        setup: launch.dispatches[index].setup,
        median_ns: time.map(|time| time.median_ns),
        ci95_ns: time.map(|time| time.ci95_ns),
        blocks,
        calls: counted.map_or_else(Vec::new, |counted| counted.calls.clone()),
        line_counts: Vec::new(),
        machine_code: None,
    })
}
