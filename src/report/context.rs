//! What the template is filled with: every cell of every table, as text.
//!
//! Input: tables of `analyze`. Output: a [`Context`]; its fields are the template's names.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    ReportError,
    counters::{self, MeasuredText},
    format,
    model::{self, SortingText},
    side_by_side::{self, SideBySideText},
    sources::{SourceText, sources},
};
use crate::{
    analyze::{
        self, AgreementRow, Quantity, Summary, SummaryRow, TimeRatio, Verdict, parameters_text,
    },
    chart::{self, ChartError},
    record::{Device, Output, PeerRow, Run, Status, flag},
    units::{Nanoseconds, Ratio},
};

/// Everything on the page.
#[derive(Debug, Serialize)]
pub(super) struct Context {
    runs: Vec<RunText>,
    devices: Vec<DeviceText>,
    summaries: Vec<SummaryText>,
    side_by_side: Vec<SideBySideText>,
    sorting: SortingText,
    counters: Vec<MeasuredText>,
    figures: Vec<String>,
    agreements: Vec<AgreementText>,
    sources: Vec<SourceText>,
    /// Measurements whose lines are not among them.
    sources_left_out: usize,
    findings: Vec<FindingText>,
    failures: Vec<FailureText>,
    peers: Vec<PeerText>,
}

/// One invocation.
#[derive(Debug, Serialize)]
pub(super) struct RunText {
    started: String,
    tool: String,
    commit: String,
    command: String,
    host: String,
    environment: Vec<String>,
    measurements: usize,
}

/// One row of the table of devices.
#[derive(Debug, Serialize)]
pub(super) struct DeviceText {
    id: String,
    label: String,
    driver: String,
    width_run: String,
    width_reported: String,
    lane_order: String,
    timer: String,
    quantum: String,
    peak: String,
    copy: String,
    fused: String,
    loop_limit: String,
    flags: String,
}

/// The summary of one device.
#[derive(Debug, Serialize)]
struct SummaryText {
    label: String,
    rows: Vec<RowText>,
}

/// One row of a summary.
#[derive(Debug, Serialize)]
struct RowText {
    kernel: String,
    parameters: String,
    width: String,
    lanes: String,
    expected: String,
    simulated: String,
    published: String,
    published_for: String,
    efficiency: String,
    time: String,
    interval: String,
    noise: String,
    ratio: String,
    ratio_interval: String,
    predicted: String,
    output: String,
    flags: String,
}

/// A device held against the simulator.
#[derive(Debug, Serialize)]
struct AgreementText {
    kernel: String,
    label: String,
    simulator: String,
    compared: String,
    verdict: String,
    differences: Vec<String>,
}

/// A flag in plain words.
#[derive(Debug, Serialize)]
struct FindingText {
    flag: String,
    explanation: &'static str,
    places: Vec<String>,
}

/// A measurement that did not end well.
#[derive(Debug, Serialize)]
struct FailureText {
    what: String,
    device: String,
    how: String,
    reason: String,
}

/// Fills the context from the runs, and from all of them joined.
pub(super) fn context(
    runs: &[Run],
    joined: &Run,
    peers: &[PeerRow],
) -> Result<Context, ReportError> {
    let summary = analyze::summary(joined);
    let (sources, sources_left_out) = sources(joined);
    let findings = analyze::findings(joined).into_iter().map(|finding| FindingText {
        flag: finding.flag.to_string(),
        explanation: finding.flag.explanation(),
        places: finding.places,
    });
    Ok(Context {
        runs: runs.iter().map(run).collect(),
        devices: joined.devices.iter().map(|one| device(joined, one)).collect(),
        figures: figures(joined, &summary)?,
        side_by_side: side_by_side::texts(joined),
        sorting: model::texts(joined),
        counters: counters::measured(joined),
        agreements: analyze::agreements(joined).iter().map(agreement).collect(),
        sources,
        sources_left_out,
        findings: findings.collect(),
        failures: failures(&summary),
        peers: peers.iter().map(peer).collect(),
        summaries: summary
            .devices
            .iter()
            .filter(|device| !device.rows.is_empty())
            .map(|device| SummaryText {
                label: device.label.clone(),
                rows: device.rows.iter().map(row).collect(),
            })
            .collect(),
    })
}

/// A row of the table of peers.
#[derive(Debug, Serialize)]
pub(super) struct PeerText {
    work: String,
    n: u64,
    device: String,
    state: &'static str,
    time: String,
    peer: String,
    peer_time: String,
    ratio: String,
    copy: String,
}

fn peer(row: &PeerRow) -> PeerText {
    PeerText {
        work: row.work.clone(),
        n: row.n,
        device: row.device.clone(),
        state: if row.cold { "cold" } else { "warm" },
        time: format::time(Some(Nanoseconds(row.median_ns))),
        peer: row.peer.clone(),
        peer_time: format::time(Some(Nanoseconds(row.peer_median_ns))),
        ratio: format!("{:.2}×", row.speed_ratio),
        copy: format::percent(Some(Ratio(row.copy_rate_ratio))),
    }
}

/// Describes one invocation.
pub(super) fn run(run: &Run) -> RunText {
    let dirty = match run.tool.git_dirty {
        Some(true) => " with changes",
        Some(false) => "",
        None => ", changes not known",
    };
    let commit = run.tool.git_sha.as_ref();
    RunText {
        started: run.started_utc.clone(),
        tool: format!("{} {}", run.tool.name, run.tool.version),
        commit: commit.map_or("not known".to_owned(), |sha| format!("{sha}{dirty}")),
        command: std::iter::once("lanescope".to_owned())
            .chain(run.argv.iter().cloned())
            .collect::<Vec<_>>()
            .join(" "),
        host: format!("{} {}, {} processors", run.host.os, run.host.arch, run.host.logical_cpus),
        environment: run
            .host
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
        measurements: run.measurements.len(),
    }
}

/// Describes one device.
pub(super) fn device(run: &Run, device: &Device) -> DeviceText {
    let reported = match (device.subgroup_width_min, device.subgroup_width_max) {
        (Some(min), Some(max)) if min != max => format!("{min} to {max}"),
        (Some(one), _) | (None, Some(one)) => one.to_string(),
        (None, None) => format::NONE.to_owned(),
    };
    let flags =
        if device.flags.is_empty() { "none".to_owned() } else { flag::words(&device.flags, ", ") };
    DeviceText {
        id: device.id.clone(),
        label: analyze::device_label(run, &device.id),
        driver: if device.cpu_driver {
            format!("{} (runs on the processor)", device.driver)
        } else {
            device.driver.clone()
        },
        width_run: format::width(device.subgroup_width_run),
        width_reported: reported,
        lane_order: format::yes_no(device.lane_is_local_index_mod_width),
        timer: device
            .timestamp_period_ns
            .map_or(format::NONE.to_owned(), |period| format!("{period} ns a tick")),
        quantum: format::time(device.timestamp_quantum_ns),
        peak: format::rate(device.peak_fma_per_s, "FMA/s"),
        copy: format::rate(device.copy_bytes_per_s, "B/s"),
        fused: format::yes_no(device.fma_fused),
        loop_limit: device.loop_limit.map_or("none seen".to_owned(), |limit| limit.to_string()),
        flags,
    }
}

/// Writes one row of a summary.
fn row(row: &SummaryRow) -> RowText {
    let published = row.published.as_ref();
    let (ratio, ratio_interval) = ratio(row);
    RowText {
        kernel: row.kernel.clone(),
        parameters: parameters_text(&row.parameters, &[]),
        width: format::width(row.width),
        lanes: format::lanes(row.active_lanes_mean),
        expected: format::lanes(row.active_lanes_mean_expected),
        simulated: format::lanes(row.active_lanes_mean_simulated),
        published: published.map_or(format::NONE.to_owned(), |published| {
            format!("{:.1}", published.active_lanes_mean)
        }),
        published_for: published.map_or(String::new(), |published| published.hardware.clone()),
        efficiency: format::percent(row.efficiency),
        time: format::time(row.time.map(|time| time.median)),
        interval: row.time.map_or(String::new(), |time| format::interval(time.interval)),
        noise: row
            .time
            .map_or(String::new(), |time| format!("noise {:.2} %", time.noise.0 * 100.0)),
        ratio,
        ratio_interval,
        predicted: format::factor(row.time_ratio_predicted),
        output: match row.output {
            Output::Verified => "verified",
            Output::Mismatch => "mismatch",
            Output::Unchecked => "unchecked",
        }
        .to_owned(),
        flags: flag::words(&row.flags, ", "),
    }
}

/// Writes a time ratio and its interval, or why it is not shown.
fn ratio(row: &SummaryRow) -> (String, String) {
    match &row.time_ratio {
        TimeRatio::None => (format::NONE.to_owned(), String::new()),
        TimeRatio::Baseline => ("baseline".to_owned(), String::new()),
        TimeRatio::Withheld(reason) => ("withheld".to_owned(), reason.phrase()),
        TimeRatio::Measured(paired) => {
            let interval = paired.interval.map_or(String::new(), |interval| {
                format!("{:.3} to {:.3}", interval.low, interval.high)
            });
            let verdict = match paired.verdict() {
                Verdict::Different => String::new(),
                Verdict::NotDistinguished => ", not distinguished from 1".to_owned(),
                Verdict::TooFewPairs => format!("only {} pairs", paired.pairs),
            };
            (format::factor(Some(paired.median)), format!("{interval}{verdict}"))
        }
    }
}

/// Draws every figure that has something in it, a family and form after the other.
fn figures(run: &Run, summary: &Summary) -> Result<Vec<String>, ReportError> {
    let mut figures = Vec::new();
    let mut add = |figure: Result<String, ChartError>| match figure {
        Ok(svg) => {
            figures.push(svg);
            Ok(())
        }
        Err(ChartError::Empty(_)) => Ok(()),
        Err(error) => Err(ReportError::from(error)),
    };
    for part in summary.parts().iter().flat_map(analyze::SummaryPart::sheets) {
        add(chart::lanes(&part))?;
        add(chart::ratios(&part))?;
    }
    for table in analyze::side_by_side(run) {
        add(chart::side_by_side(&table))?;
    }
    let sweep = analyze::width_sweep(run);
    for part in sweep.parts().into_iter().filter(analyze::WidthSweep::fits_figure) {
        add(chart::widths(&part))?;
    }
    for table in analyze::speedups(run, summary) {
        add(chart::speedups(&table))?;
    }
    for sheet in analyze::speed_sheets(&analyze::speed_curves(run)) {
        add(chart::crossovers(&sheet))?;
    }
    for table in analyze::before_after(run) {
        add(chart::before_after(&table))?;
    }
    let families = run.measurements.iter().map(|one| analyze::family(&one.kernel));
    for family in families.collect::<BTreeSet<&str>>() {
        if let Some(sheet) = analyze::stages(run, family) {
            add(chart::stages(family, &sheet))?;
        }
    }
    for sweep in analyze::size_sweeps(run).iter().filter(|sweep| sweep.has_lines()) {
        add(chart::bandwidth(sweep))?;
    }
    let latencies = analyze::latencies(run);
    for load in [analyze::Load::Alone, analyze::Load::Saturated] {
        add(chart::latencies(&latencies, load))?;
    }
    add(chart::undefined(&analyze::undefined(run)))?;
    for table in analyze::curves(run) {
        add(chart::curves(&table))?;
    }
    Ok(figures)
}

/// Writes how a device's counts compare with the simulator's.
fn agreement(row: &AgreementRow) -> AgreementText {
    let found = &row.agreement;
    let differences: Vec<String> = found
        .differences
        .iter()
        .map(|one| {
            let quantity = match one.quantity {
                Quantity::Operations => "operations".to_owned(),
                Quantity::Executions => "executions".to_owned(),
                Quantity::Lanes => "lanes".to_owned(),
                Quantity::Histogram(lanes) => format!("executions with {lanes} active lanes"),
            };
            let side = |count: Option<u64>| {
                count.map_or("no such block".to_owned(), |count| format::count(count.into()))
            };
            format!(
                "dispatch {}, block {} ({}:{}), {quantity}: device {}, simulator {}",
                one.dispatch,
                one.block,
                one.place.0,
                one.place.1,
                side(one.left),
                side(one.right)
            )
        })
        .collect();
    let parameters = parameters_text(&row.parameters, &[]);
    AgreementText {
        kernel: format!("{} {parameters}", row.kernel),
        label: row.label.clone(),
        simulator: row.simulator.clone(),
        compared: format!(
            "{} blocks, {} with histogram",
            found.blocks_compared, found.histograms_compared
        ),
        verdict: match differences.len() {
            0 => "equal".to_owned(),
            1 => "1 difference".to_owned(),
            many => format!("{many} differences"),
        },
        differences,
    }
}

/// Lists what failed or gave wrong outputs, with the reasons.
fn failures(summary: &Summary) -> Vec<FailureText> {
    let mut failures = Vec::new();
    for device in &summary.devices {
        for row in &device.rows {
            let how = match (row.status, row.output) {
                (Status::Failed, _) => "did not finish",
                (Status::Ok, Output::Mismatch) => "wrong outputs",
                (Status::Ok, Output::Verified | Output::Unchecked) => continue,
            };
            failures.push(FailureText {
                what: format!("{} {}", row.kernel, parameters_text(&row.parameters, &[])),
                device: device.label.clone(),
                how: how.to_owned(),
                reason: row.error.clone().unwrap_or_else(|| "no reason was recorded".to_owned()),
            });
        }
    }
    failures
}
