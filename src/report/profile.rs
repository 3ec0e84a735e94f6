//! The page of one profile: advice, devices, and the source with a column for each device.
//!
//! Input: a profile, its advice and the run that it is from. Output: the text of a page like the
//! [report's](super::html): it needs no other file, no network and no script. Nothing is computed
//! here but lengths of bars.

mod machine;
mod memory;
mod widths;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use minijinja::value::Serde;
use serde::Serialize;

use super::{
    ReportError,
    context::{self, RunText},
    environment, format,
    highlight::{TextPart, highlight},
    table::TableText,
};
use crate::{
    analyze::{
        self, Advice, DeviceProfile, LineProfile, Profile, Rule, WidthProfile,
        machine::ExecutedCode,
    },
    chart,
    present::{self, FlameBox, count_text},
    record::{Device, Flag, Method, Output, Run, Status, Trust},
    units::{Ratio, Width, text},
};
use machine::{CodeText, CountersText, MachineText};
use memory::{MemoryText, memory};
use widths::{WidthsText, widths};

/// The template's name; its ending turns HTML escaping on.
const TEMPLATE: &str = "profile.html";

/// Lines in the table of the worst.
const WORST_MAX: usize = 8;

/// Everything on the page.
#[derive(Debug, Serialize)]
struct Page {
    title: String,
    /// What was found, in two to four sentences.
    found: Vec<String>,
    /// What is wrong with the program, a sentence each.
    faults: Vec<String>,
    /// Its data races, a sentence each.
    races: Vec<String>,
    file: String,
    parameters: String,
    seed: u64,
    /// Where a captured launch comes from.
    origin: Option<String>,
    sha256: String,
    run: RunText,
    records: Vec<RecordText>,
    devices: Vec<DeviceCard>,
    /// The labels of the devices that the source's columns belong to.
    columns: Vec<String>,
    /// What 64 lanes cost over 32; `None` where both were not simulated.
    widths: Option<WidthsText>,
    /// Which lines follow contents that were made up.
    made_up: Vec<String>,
    advice: Vec<AdviceText>,
    /// What else was tried or could not be, of each counted device.
    remarks: Vec<String>,
    /// Whether any change was tried, and whether none was left out for want of time.
    tried: bool,
    tried_all: bool,
    /// What was looked at, where there is nothing to advise.
    looked_at: Vec<String>,
    /// What accesses cost in a model, of each device where somebody looked.
    memory: Vec<MemoryText>,
    /// The devices that the advice's columns belong to.
    advised: Vec<String>,
    /// Lanes along time, as SVG; empty where no simulator counted.
    trace: String,
    /// Totals by dispatch and function of the first device that counted.
    totals: Vec<TableText>,
    /// Its flame chart; empty where the record does not know functions.
    flame: Vec<FlameBox>,
    /// Rows of the flame chart.
    flame_rows: usize,
    worst: Vec<WorstText>,
    worst_of: String,
    lines: Vec<LineText>,
    /// How many lines have their figures in full, where not all have.
    detailed: Option<usize>,
    /// Hardware counters, for the devices that were asked for any.
    counters: Vec<CountersText>,
    /// What became of arms and loops in machine code, by device and dispatch.
    codes: Vec<CodeText>,
    /// Machine code of no line of the source.
    elsewhere: Vec<MachineText>,
}

/// What the record says of a device.
#[derive(Debug, Serialize)]
struct RecordText {
    id: String,
    driver: String,
    width_run: String,
    width_reported: String,
}

fn record(device: &Device) -> RecordText {
    let cpu = if device.cpu_driver { " (runs on the processor)" } else { "" };
    RecordText {
        id: device.id.clone(),
        driver: format!("{}{cpu}", device.driver),
        width_run: format::width(device.subgroup_width_run),
        width_reported: present::width_reported(device).to_text(),
    }
}

/// One device's card.
#[derive(Debug, Serialize)]
struct DeviceCard {
    id: String,
    label: String,
    driver: String,
    width: String,
    lanes: String,
    efficiency: String,
    /// The efficiency in percent, for a bar's length; `None` if nothing was counted.
    bar: Option<String>,
    /// Subgroup operations.
    slots: String,
    /// Lane slots, where there are several widths, across which operations do not compare.
    lane_slots: Option<String>,
    method: String,
    trust: String,
    trust_meaning: String,
    checks: String,
    output: String,
    /// Whether outputs differ where the order of workgroups or lanes decides them.
    by_order: bool,
    launches: Vec<String>,
    /// Its time, and what that can come from, a sentence each.
    time: Vec<String>,
    flags: Vec<String>,
    /// Of how many schedules the figures are.
    schedules: Option<String>,
    failed: bool,
    error: Option<String>,
    counted: bool,
    /// What machine code came to that was executed without hardware.
    executed: Option<ExecutedText>,
}

/// What a device's machine code came to, and what of.
#[derive(Debug, Serialize)]
struct ExecutedText {
    lanes: String,
    instructions: String,
    passes: String,
    kinds: String,
    of: String,
}

fn executed(code: &ExecutedCode) -> ExecutedText {
    ExecutedText {
        lanes: format::lanes(code.active_lanes_mean),
        instructions: format::count(code.instructions.into()),
        passes: code.passes_text(),
        kinds: code.kinds_text(),
        of: code.code_source(),
    }
}

/// One piece of advice, for every device that it holds for.
#[derive(Debug, Serialize)]
struct AdviceText {
    rule: String,
    line: u32,
    code: String,
    sentence: String,
    /// Of each device that it holds for.
    reasons: Vec<String>,
    remedy: String,
    /// One for each device that got advice.
    gains: Vec<Option<String>>,
}

/// One of the worst lines of the first device.
#[derive(Debug, Serialize)]
struct WorstText {
    line: u32,
    lanes: String,
    share: String,
    wasted: String,
    code: String,
}

/// Lines of a source whose figures stand in full, those with most operations first: of the others the page
/// has the mean alone, so that a long source does not become a page of many times its record.
const DETAILED_MAX: usize = 400;

/// The strongest tint, in percent; text on it stays readable.
const TINT_MAX: f64 = 34.0;

/// One line of source.
#[derive(Debug, Serialize)]
struct LineText {
    number: u32,
    parts: Vec<TextPart>,
    /// Whether some device has figures for it.
    counted: bool,
    /// Whether its figures stand in full.
    detailed: bool,
    cells: Vec<Option<CellText>>,
    /// Its machine code, for the devices that tell.
    machine: Vec<MachineText>,
}

/// One line's figures on one device.
#[derive(Debug, Serialize)]
struct CellText {
    lanes: String,
    bar: String,
    share: String,
    /// How strong its tint is, in percent: the more, the nearer the line's waste is to the worst's.
    tint: String,
    detail: String,
    /// What the wider of the two simulators that are compared adds to the line; absent beside other devices.
    added: Option<String>,
    histogram: Option<HistogramText>,
}

/// The subgroup operations of a line by active lanes.
#[derive(Debug, Serialize)]
struct HistogramText {
    width: usize,
    /// The drawing's bars as an SVG path: ten units a bin, sixty high.
    path: String,
    most: String,
    /// How unlike the operations are, in words.
    quantiles: String,
    counts: Vec<String>,
}

/// Makes the page of one profile of `run`.
///
/// # Errors
///
/// [`ReportError::Template`], a fault of lanescope's own.
pub fn profile_html(
    profile: &Profile,
    advice: &[Advice],
    run: &Run,
) -> Result<String, ReportError> {
    let mut environment = environment()?;
    environment.add_template(TEMPLATE, include_str!("profile.html"))?;
    Ok(environment.get_template(TEMPLATE)?.render(Serde(page(profile, advice, run)))?)
}

fn page(profile: &Profile, advice: &[Advice], run: &Run) -> Page {
    let first = profile.first_counted();
    let counted: Vec<&DeviceProfile> =
        profile.devices.iter().filter(|device| !device.lines.is_empty()).collect();
    let advised: Vec<&DeviceProfile> = counted
        .iter()
        .copied()
        .filter(|device| advice.iter().any(|card| card.device == device.column.device))
        .collect();
    let flame = first.map(present::flame_boxes).unwrap_or_default();
    let several_widths = profile.has_several_widths();
    let shown = |id: &str| profile.devices.iter().any(|device| device.column.device == id);
    Page {
        title: analyze::short_name(&profile.kernel).to_owned(),
        found: analyze::profile_overview(profile, advice),
        faults: profile.faults().into_keys().collect(),
        races: profile.races(),
        file: profile.kernel.clone(),
        parameters: profile.parameters.clone(),
        seed: profile.seed,
        origin: profile.origin.clone(),
        sha256: profile.source_sha256.clone(),
        run: context::run(run),
        records: run.devices.iter().filter(|device| shown(&device.id)).map(record).collect(),
        devices: profile.devices.iter().map(|device| card(device, several_widths)).collect(),
        columns: counted.iter().map(|device| device.column.label.clone()).collect(),
        widths: widths(profile),
        made_up: profile.made_up_notes(),
        advice: advices(profile, advice, &advised),
        remarks: remarks(&counted),
        tried: counted.iter().any(|device| device.what_if.is_some()),
        tried_all: counted
            .iter()
            .filter_map(|d| d.what_if.as_ref())
            .all(|tried| tried.untried == 0),
        looked_at: counted
            .iter()
            .map(|device| format!("{}: {}", device.column.label, analyze::looked_at(device)))
            .collect(),
        memory: counted.iter().filter_map(|device| memory(device)).collect(),
        advised: advised.iter().map(|device| device.column.label.clone()).collect(),
        trace: analyze::trace_of(run, &profile.kernel)
            .and_then(|sheet| chart::trace(&sheet).ok())
            // Within a page an SVG needs no name space, and the page names no address.
            .map(|svg| svg.replace(" xmlns=\"http://www.w3.org/2000/svg\"", ""))
            .unwrap_or_default(),
        totals: first
            .map(present::totals)
            .unwrap_or_default()
            .into_iter()
            .map(Into::into)
            .collect(),
        flame_rows: flame.iter().map(|frame| frame.depth + 1).max().unwrap_or(0),
        flame,
        worst: first.map(|device| worst(profile, device)).unwrap_or_default(),
        worst_of: first.map(|device| device.column.label.clone()).unwrap_or_default(),
        detailed: find_detailed_lines(profile, &counted).map(|lines| lines.len()),
        lines: lines(profile, &counted),
        counters: machine::tables(profile),
        codes: machine::codes(profile),
        elsewhere: machine::elsewhere(profile),
    }
}

fn card(device: &DeviceProfile, several_widths: bool) -> DeviceCard {
    let column = &device.column;
    let lane_slots = |width| format::count(column.work.lane_slots(width));
    let launch = |dispatch: &crate::record::Dispatch| {
        let groups = present::workgroups(dispatch.workgroups, dispatch.workgroup_size);
        format!("{}: {groups}", dispatch.entry_point)
    };
    DeviceCard {
        id: column.device.clone(),
        label: column.label.clone(),
        driver: device.driver.clone(),
        width: format::width(column.width),
        lanes: format::lanes(column.work.active_lanes_mean()),
        efficiency: format::percent(device.efficiency()),
        bar: device.efficiency().map(bar),
        slots: format::count(column.work.subgroup_operations),
        lane_slots: column.width.filter(|_| several_widths).map(lane_slots),
        method: column.method.map_or(format::NONE, Method::name).to_owned(),
        trust: device.trust_shown().map_or(format::NONE, Trust::name).to_owned(),
        trust_meaning: device.trust.meaning().to_owned(),
        checks: if device.checked { "on" } else { "off" }.to_owned(),
        output: match device.output {
            Output::Verified => "verified",
            Output::Mismatch if device.differs_by_order() => "differs by order",
            Output::Mismatch => "mismatch",
            Output::Unchecked => "unchecked",
        }
        .to_owned(),
        by_order: device.differs_by_order(),
        launches: device.dispatches.iter().map(launch).collect(),
        time: device.time.as_ref().map(analyze::ProfileTime::sentences).unwrap_or_default(),
        flags: device.flags.iter().map(Flag::to_string).collect(),
        schedules: device.schedule_note(),
        failed: device.status == Status::Failed,
        error: device.error.clone(),
        counted: !device.lines.is_empty(),
        executed: device.executed.as_ref().map(executed),
    }
}

/// Joins the devices' advice: a row for each rule and line, the largest gain on any device first.
fn advices(profile: &Profile, advice: &[Advice], advised: &[&DeviceProfile]) -> Vec<AdviceText> {
    let mut groups: IndexMap<(Rule, u32), Vec<&Advice>> = IndexMap::new();
    for card in advice {
        groups.entry((card.rule, card.line)).or_default().push(card);
    }
    let most = |list: &[&Advice]| list.iter().map(|card| card.gain_share.0).fold(0.0, f64::max);
    let barrier = |rule: Rule| rule == Rule::BarrierInDivergentFlow;
    groups.sort_by(|group, list, other, others| {
        barrier(other.0).cmp(&barrier(group.0)).then(most(others).total_cmp(&most(list)))
    });
    let gain = |list: &[&Advice], device: &str| {
        let card = list.iter().find(|card| card.device == device)?;
        if card.rule == Rule::BarrierInDivergentFlow {
            return Some("an error".to_owned());
        }
        if let Some(sentence) = &card.modelled {
            return Some(sentence.clone());
        }
        let slots = format::count(card.saved_operations);
        Some(format!("saves {slots} operations ({})", format::percent(Some(card.gain_share))))
    };
    let text = |((rule, line), list): ((Rule, u32), Vec<&Advice>)| AdviceText {
        rule: rule.name().to_owned(),
        line,
        code: code(profile, line),
        sentence: list[0].sentence.clone(),
        reasons: list.iter().map(|card| format!("{}: {}", card.device, card.reason)).collect(),
        remedy: rule.remedy().to_owned(),
        gains: advised.iter().map(|device| gain(&list, &device.column.device)).collect(),
    };
    groups.into_iter().map(text).collect()
}

/// What else was tried on any device, each sentence once with the devices that it holds for.
fn remarks(devices: &[&DeviceProfile]) -> Vec<String> {
    let mut all: IndexMap<String, Vec<&str>> = IndexMap::new();
    for device in devices {
        for remark in analyze::remarks(device) {
            all.entry(remark).or_default().push(&device.column.device);
        }
    }
    all.into_iter().map(|(text, devices)| format!("{text} ({})", devices.join(", "))).collect()
}

fn code(profile: &Profile, number: u32) -> String {
    profile.line(number).trim().to_owned()
}

fn worst(profile: &Profile, device: &DeviceProfile) -> Vec<WorstText> {
    let wasteful = |line: &&LineProfile| line.wasted.is_some_and(|wasted| wasted > 0.0);
    let slots_of = device.column.width.filter(|_| profile.has_several_widths());
    let wasted = |line: &LineProfile| {
        let idle = slots_of.map_or(String::new(), |width| {
            format!(" ({})", count_text(line.lane_slots_idle(width), "lane slot"))
        });
        text::percent_or_none(line.wasted_share()) + &idle
    };
    let text = |line: &LineProfile| WorstText {
        line: line.line,
        lanes: lanes(line, device.column.width),
        share: format::percent(line.share),
        wasted: wasted(line),
        code: code(profile, line.line),
    };
    device.lines.iter().filter(wasteful).take(WORST_MAX).map(text).collect()
}

/// What the line wastes that wastes most, as a part of all slots of the device.
fn most_wasted(device: &DeviceProfile) -> f64 {
    let shares = device.lines.iter().filter_map(LineProfile::wasted_share);
    shares.map(|share| share.0).fold(0.0, f64::max)
}

/// A tint up to [`TINT_MAX`], in proportion to what the line that wastes most wastes.
fn tint(line: &LineProfile, worst: f64) -> String {
    let part = line.wasted_share().filter(|_| worst > 0.0).map_or(0.0, |share| share.0 / worst);
    format!("{:.1}", part * TINT_MAX)
}

/// The lines whose figures stand in full; `None` if all do.
fn find_detailed_lines(profile: &Profile, devices: &[&DeviceProfile]) -> Option<BTreeSet<u32>> {
    let mut most: BTreeMap<u32, u128> = BTreeMap::new();
    for line in devices.iter().flat_map(|device| &device.lines) {
        if line.file == profile.file {
            let operations = most.entry(line.line).or_default();
            *operations = line.work.subgroup_operations.max(*operations);
        }
    }
    if most.len() <= DETAILED_MAX {
        return None;
    }
    let mut lines: Vec<(u32, u128)> = most.into_iter().collect();
    lines.sort_by_key(|(line, operations)| (Reverse(*operations), *line));
    Some(lines.into_iter().take(DETAILED_MAX).map(|(line, _)| line).collect())
}

fn lines(profile: &Profile, devices: &[&DeviceProfile]) -> Vec<LineText> {
    let detailed = find_detailed_lines(profile, devices);
    let by_line: Vec<BTreeMap<u32, &LineProfile>> = devices
        .iter()
        .map(|device| {
            let here = device.lines.iter().filter(|line| line.file == profile.file);
            here.map(|line| (line.line, line)).collect()
        })
        .collect();
    let worst: Vec<f64> = devices.iter().map(|device| most_wasted(device)).collect();
    let added = WidthProfile::from_profile(profile).map(|compared| compared.added_shown());
    let mut codes = machine::by_line(profile);
    let source = profile.text.as_deref().unwrap_or_default();
    (1u32..)
        .zip(highlight(source))
        .map(|(number, parts)| {
            let cells: Vec<Option<CellText>> = by_line
                .iter()
                .zip(devices)
                .zip(&worst)
                .map(|((lines, device), worst)| {
                    let wide = device.simulated
                        && device.column.width == Some(analyze::WIDTHS_COMPARED[1]);
                    let added = added.as_ref().filter(|_| wide);
                    let added = added.and_then(|added| added.get(&number));
                    lines.get(&number).map(|line| cell(line, device, *worst, added.copied()))
                })
                .collect();
            let machine = codes.remove(&number).unwrap_or_default();
            let counted = cells.iter().any(Option::is_some);
            let detailed = detailed.as_ref().is_none_or(|lines| lines.contains(&number));
            LineText { number, parts, counted, detailed, cells, machine }
        })
        .collect()
}

/// `16.3 / 32 (50.9 %)`.
fn lanes(line: &LineProfile, width: Option<Width>) -> String {
    line.active_lanes_mean
        .map_or("never executed".to_owned(), |mean| text::lanes_and_efficiency(mean, width))
}

fn bar(ratio: Ratio) -> String {
    format!("{:.1}", ratio.0.clamp(0.0, 1.0) * 100.0)
}

/// `added` is what the width of `device` adds to the line, as a part of all lane slots of the narrower.
fn cell(line: &LineProfile, device: &DeviceProfile, worst: f64, added: Option<Ratio>) -> CellText {
    let [narrow, _] = analyze::WIDTHS_COMPARED;
    let added = added.map(text::signed_percent);
    let beside = added.as_ref().map_or(String::new(), |added| {
        format!("; lane slots beside {narrow} lanes: {added} of all at {narrow}")
    });
    CellText {
        lanes: lanes(line, device.column.width),
        bar: line.efficiency.map_or("0".to_owned(), bar),
        share: format::percent(line.share),
        tint: tint(line, worst),
        detail: format!(
            "{}, {} ({} of all), {}{beside}",
            count_text(line.operations.into(), "operation"),
            count_text(line.work.subgroup_operations, "subgroup operation"),
            format::percent(line.share),
            count_text(line.work.lane_operations, "lane operation")
        ),
        added: added.map(|added| format!("slots {added}")),
        histogram: line
            .histogram
            .as_deref()
            .map(|bins| histogram(bins, line.work.subgroup_operations)),
    }
}

/// Draws a histogram; `whole` is what its bins sum to.
#[expect(clippy::cast_precision_loss, reason = "lengths of a drawing, figures to a few digits")]
fn histogram(bins: &[u128], whole: u128) -> HistogramText {
    let most = bins.iter().copied().max().unwrap_or(0);
    let mut path = String::new();
    let mut counts = Vec::new();
    for (index, count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = *count as f64 / most as f64 * 60.0;
        path += &format!("M{} 60v-{height:.1}h9v{height:.1}z", index * 10);
        let lanes = index + 1;
        let part = text::percent(Ratio(*count as f64 / whole.max(1) as f64));
        counts.push(format!("{lanes}: {} ({part})", format::count(*count)));
    }
    let quantiles = analyze::describe_quantiles(bins).unwrap_or_default();
    HistogramText { width: bins.len(), path, most: format::count(most), quantiles, counts }
}

#[cfg(test)]
mod tests;
