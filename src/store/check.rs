//! Whether the figures of a record can be what they say they are.
//!
//! Input: a record that was read. Output: nothing, or what in it cannot be, and where. Tables, charts and
//! pages rely on it: sums of what passes fit into 64 bits, shares lie from 0 to 1, and no figure is so
//! large that what follows from it is no number.

use crate::record::{Device, Dispatch, Measurement, Method, Run, Time};
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
    Ok(())
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
