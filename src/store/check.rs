//! Whether the figures of a record can be what they say they are.
//!
//! Input: a record that was read. Output: nothing, or what in it cannot be, and where. Tables, charts and
//! pages rely on it: sums of what passes fit into 64 bits, shares lie from 0 to 1, and no figure is so
//! large that what follows from it is no number.

use std::collections::BTreeSet;

use crate::record::{
    Device, Dispatch, MachineCode, Measurement, Method, Run, ShapeCounts, Time, Trace,
};
use crate::units::Width;

/// The longest name of a device or a kernel, in bytes: as long as paths are.
const NAME_BYTES_MAX: usize = 4096;

/// The largest figure of any unit; times of it in nanoseconds are three hundred thousand years.
const FIGURE_MAX: f64 = 1e22;

/// The most operations of all lanes of a measurement: sums of several still fit.
const OPERATIONS_MAX: u128 = 1 << 56;

/// The most lines that a source may seem to have.
const LINE_MAX: u32 = 1 << 24;

/// The most invocations of a workgroup along a dimension: more than any machine has.
const WORKGROUP_SIZE_MAX: u32 = 1 << 16;

/// Checks a record.
///
/// # Errors
///
/// A clause that says where it cannot be right, and why.
pub(super) fn check(run: &Run) -> Result<(), String> {
    for (number, device) in (1..).zip(&run.devices) {
        check_device(device).map_err(|what| format!("device {number}: {what}"))?;
    }
    for (number, measurement) in (1..).zip(&run.measurements) {
        let place = |what| {
            let kernel: String = measurement.kernel.chars().take(80).collect();
            format!("measurement {number} ({kernel} on {}): {what}", measurement.device)
        };
        check_measurement(run, measurement).map_err(place)?;
    }
    Ok(())
}

fn check_name(key: &str, name: &str) -> Result<(), String> {
    let bytes = name.len();
    if bytes <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(format!("`{key}` has {bytes} bytes; at most {NAME_BYTES_MAX}"))
}

/// Refuses a figure that is negative, or too large to be one.
fn check_figure(key: &str, figure: Option<f64>, max: f64) -> Result<(), String> {
    match figure {
        // A mean may be rounded up.
        Some(figure) if !(0.0..=max * (1.0 + 1e-9)).contains(&figure) => {
            Err(format!("`{key}` is {figure:e}, and must lie from 0 to {max:e}"))
        }
        _ => Ok(()),
    }
}

fn check_device(device: &Device) -> Result<(), String> {
    for (key, text) in [
        ("id", &device.id),
        ("name", &device.name),
        ("vendor", &device.vendor),
        ("driver", &device.driver),
    ] {
        check_name(key, text)?;
    }
    for (key, figure) in [
        ("timestamp_period_ns", device.timestamp_period_ns),
        ("timestamp_quantum_ns", device.timestamp_quantum_ns.map(|time| time.0)),
        ("peak_fma_per_s", device.peak_fma_per_s),
        ("copy_bytes_per_s", device.copy_bytes_per_s),
        ("launch_ns", device.launch_ns.map(|time| time.0)),
    ] {
        check_figure(key, figure, FIGURE_MAX)?;
    }
    Ok(())
}

fn check_measurement(run: &Run, measurement: &Measurement) -> Result<(), String> {
    check_name("kernel", &measurement.kernel)?;
    check_name("device", &measurement.device)?;
    if !run.devices.iter().any(|device| device.id == measurement.device) {
        return Err(format!("there is no device {}", measurement.device));
    }
    let lanes = f64::from(measurement.subgroup_width.map_or(Width::MAX, Width::lanes));
    check_figure("active_lanes_mean", measurement.active_lanes_mean, lanes)?;
    check_figure("efficiency_ratio", measurement.efficiency_ratio.map(|ratio| ratio.0), 1.0)?;
    check_figure("answer_ns", measurement.answer_ns.map(|time| time.0), FIGURE_MAX)?;
    if let Some(time) = &measurement.time {
        check_time(time)?;
    }
    for counter in &measurement.counters {
        check_name("counters", &counter.name)?;
        if counter.value.abs() > FIGURE_MAX {
            return Err(format!("the counter {} is {:e}", counter.name, counter.value));
        }
    }
    let lines = measurement.flags.iter().flat_map(|flag| &flag.lines);
    if let Some(line) = lines.max().filter(|line| **line > LINE_MAX) {
        return Err(format!("a flag is about line {line}; sources have at most {LINE_MAX}"));
    }
    let mut operations = 0_u128;
    for (number, dispatch) in (1..).zip(&measurement.dispatches) {
        let counted = check_dispatch(dispatch, measurement);
        operations += counted.map_err(|what| format!("dispatch {number}: {what}"))?;
    }
    if operations > OPERATIONS_MAX {
        return Err(format!("its lanes execute {operations} operations; at most {OPERATIONS_MAX}"));
    }
    if let Some(trace) = &measurement.trace {
        check_trace(trace, measurement).map_err(|what| format!("`trace`: {what}"))?;
    }
    let shapes = measurement.shapes.iter().flat_map(|shapes| &shapes.tried);
    for shape in shapes {
        check_shape(shape, measurement).map_err(|what| format!("`shapes`: {what}"))?;
    }
    Ok(())
}

/// Checks that a trace's steps are of blocks that there are, with lanes that a subgroup has.
fn check_trace(trace: &Trace, measurement: &Measurement) -> Result<(), String> {
    let Some(dispatch) = measurement.dispatches.get(trace.dispatch) else {
        let count = measurement.dispatches.len();
        return Err(format!("its `dispatch` is {}, and there are {count}", trace.dispatch));
    };
    let known: BTreeSet<_> = dispatch.blocks.iter().map(|block| block.id).collect();
    let width = measurement.subgroup_width.map_or(Width::MAX, Width::lanes);
    let first = (&trace.blocks, &trace.active);
    for (blocks, active) in
        [first].into_iter().chain(trace.beside.iter().map(|other| (&other.blocks, &other.active)))
    {
        if blocks.len() != active.len() {
            return Err(format!("{} blocks with lanes of {}", blocks.len(), active.len()));
        }
        if let Some(block) = blocks.iter().find(|block| !known.contains(block)) {
            return Err(format!("there is no block {block}"));
        }
        let fits = |lanes: &&String| {
            let lanes = u128::from_str_radix(lanes, 16);
            lanes.is_ok_and(|lanes| lanes.checked_shr(width).unwrap_or(0) == 0)
        };
        if let Some(lanes) = active.iter().find(|lanes| !fits(lanes)) {
            let lanes: String = lanes.chars().take(80).collect();
            return Err(format!("`active` has {lanes}, and a subgroup {width} lanes"));
        }
    }
    let quantiles = trace.spread.iter().flat_map(|spread| &spread.efficiency_ratio_quantiles);
    for (percent, ratio) in quantiles {
        check_figure("efficiency_ratio_quantiles", Some(ratio.0), 1.0)?;
        check_figure("efficiency_ratio_quantiles", Some(f64::from(*percent)), 100.0)?;
    }
    Ok(())
}

/// Checks that a shape is one of workgroups, no larger than the launch, whose lanes fit into its subgroups.
fn check_shape(shape: &ShapeCounts, measurement: &Measurement) -> Result<(), String> {
    let size = shape.workgroup_size;
    if size.iter().any(|side| !(1..=WORKGROUP_SIZE_MAX).contains(side)) {
        return Err(format!("`workgroup_size` is {size:?}; 1 to {WORKGROUP_SIZE_MAX} each"));
    }
    let product = |sizes: &mut dyn Iterator<Item = u32>| sizes.map(u128::from).product::<u128>();
    let launch = measurement.dispatches.iter().filter_map(|dispatch| {
        let all = dispatch.workgroups?.into_iter().chain(dispatch.workgroup_size);
        Some(product(&mut all.into_iter()))
    });
    let (invocations, most) = (product(&mut size.into_iter()), launch.max());
    if let Some(most) = most.filter(|most| invocations > *most) {
        return Err(format!("`workgroup_size` is {size:?}, and the launch has {most} invocations"));
    }
    let width = measurement.subgroup_width.map_or(Width::MAX, Width::lanes);
    check_lanes(shape.subgroup_operations, shape.lane_operations, width)?;
    let operations = u128::from(shape.subgroup_operations) * u128::from(width);
    if operations > OPERATIONS_MAX {
        return Err(format!("its lanes execute {operations} operations; at most {OPERATIONS_MAX}"));
    }
    Ok(())
}

/// Refuses more lanes than so many executions of a subgroup of `width` have.
fn check_lanes(executions: u64, lanes: u64, width: u32) -> Result<(), String> {
    let slots = u128::from(executions) * u128::from(width);
    if u128::from(lanes) <= slots {
        return Ok(());
    }
    Err(format!("{lanes} lanes, and {executions} executions have {slots}"))
}

/// Checks what instructions did, where executions and lanes are of one run, as on a simulator of AMD's; hardware
/// counters of several runs need not agree. The arms are of lines that sources can have.
fn check_machine_code(code: &MachineCode, measurement: &Measurement) -> Result<(), String> {
    let width = measurement.subgroup_width.map_or(Width::MAX, Width::lanes);
    let amd = code.architecture.starts_with("gfx");
    for instruction in code.instructions.iter().filter(|_| amd) {
        let place = |what| format!("instruction at byte {}: {what}", instruction.offset_bytes);
        check_lanes(instruction.inst_executed, instruction.thread_inst_executed, width)
            .map_err(place)?;
        if instruction.thread_inst_executed_pred_on > instruction.thread_inst_executed {
            return Err(place("more lanes are on than run".to_owned()));
        }
    }
    match code.arms.iter().find(|arm| !(1..=LINE_MAX).contains(&arm.line)) {
        Some(arm) => Err(format!("an arm of line {}; sources have 1 to {LINE_MAX}", arm.line)),
        None => Ok(()),
    }
}

fn check_time(time: &Time) -> Result<(), String> {
    let [low, high] = time.ci95_ns;
    for (key, figure) in [
        ("time.median_ns", time.median_ns.0),
        ("time.ci95_ns", low.0),
        ("time.ci95_ns", high.0),
        ("time.noise_ratio", time.noise_ratio.0),
    ] {
        check_figure(key, Some(figure), FIGURE_MAX)?;
    }
    Ok(())
}

/// Checks a dispatch; gives the operations of its lanes, those of subgroups' whole widths.
fn check_dispatch(dispatch: &Dispatch, measurement: &Measurement) -> Result<u128, String> {
    let sizes = dispatch.workgroup_size;
    if sizes.iter().any(|size| *size > WORKGROUP_SIZE_MAX) {
        return Err(format!("`workgroup_size` is {sizes:?}; at most {WORKGROUP_SIZE_MAX} each"));
    }
    let all = dispatch.workgroups.into_iter().flatten().chain(sizes);
    if all.map(u128::from).product::<u128>() > OPERATIONS_MAX {
        return Err(format!("`workgroups` is {:?}, too many", dispatch.workgroups));
    }
    let times = dispatch.ci95_ns.into_iter().flatten().map(|time| ("ci95_ns", time));
    for (key, time) in dispatch.median_ns.map(|time| ("median_ns", time)).into_iter().chain(times) {
        check_figure(key, Some(time.0), FIGURE_MAX)?;
    }
    if let Some(code) = &dispatch.machine_code {
        check_machine_code(code, measurement).map_err(|what| format!("machine code: {what}"))?;
    }
    let width = measurement.subgroup_width.map_or(Width::MAX, Width::lanes);
    let mut operations = 0_u128;
    for block in &dispatch.blocks {
        let place = |what: String| format!("block {}, line {}: {what}", block.id, block.line);
        let (executions, lanes) = (u128::from(block.executions.0), u128::from(block.lanes.0));
        let slots = executions * u128::from(width);
        // Estimated executions are a lower bound.
        if lanes > slots && measurement.method != Some(Method::Estimated) {
            let what = format!("`lanes` is {lanes}, and {executions} executions have {slots}");
            return Err(place(what));
        }
        if let Some(bins) =
            block.histogram.as_ref().map(Vec::len).filter(|bins| *bins > width as usize)
        {
            return Err(place(format!(
                "`histogram` has {bins} bins, and a subgroup {width} lanes"
            )));
        }
        if let Some(line) = block.lines.keys().chain([&block.line]).find(|line| **line > LINE_MAX) {
            return Err(place(format!("line {line}; sources have at most {LINE_MAX}")));
        }
        let mean = block.active_lanes_mean_expected;
        check_figure("active_lanes_mean_expected", mean, f64::from(width)).map_err(place)?;
        operations += u128::from(block.operations) * slots.max(lanes);
    }
    for line in &dispatch.line_counts {
        if line.line > LINE_MAX {
            return Err(format!("line {}; sources have at most {LINE_MAX}", line.line));
        }
        let most = line.subgroup_operations.max(line.lane_operations);
        operations += u128::from(most) * u128::from(width);
    }
    Ok(operations)
}
