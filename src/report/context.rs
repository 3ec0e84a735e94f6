//! What the template is filled with: every cell of every table, as text.
//!
//! Input: tables of `analyze`. Output: a [`Context`]; its fields are the template's names.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::Serialize;

use super::{
    ReportError,
    counters::{self, MeasuredText},
    format,
    sources::{SourceText, sources},
    table::TableText,
};
use crate::{
    analyze::{self, AgreementRow, Difference, MissGroup, Quantity, Summary, parameters_text},
    chart::{self, Drawing, Figure},
    claims,
    present::{self, Section},
    record::{Output, PeerRow, Run, Status, Tag, flag},
};

/// Everything on the page.
#[derive(Debug, Serialize)]
pub(super) struct Context {
    /// What was found, a sentence each.
    found: Vec<String>,
    /// Where counting predicts another time than was measured.
    misses: Vec<MissText>,
    runs: Vec<RunText>,
    /// `None` if no device was opened.
    devices: Option<TableText>,
    /// When 64 lanes cost more than 32, a sentence each; empty where nothing was counted at both.
    width_sentences: Vec<String>,
    width_costs: Vec<TableText>,
    summaries: Vec<TableText>,
    side_by_side: Vec<TableText>,
    machine_code: Vec<TableText>,
    /// Where kernels pay, a sentence each; empty where nothing is compared.
    sentences: Vec<String>,
    crossovers: Vec<TableText>,
    models: Vec<TableText>,
    counters: Vec<MeasuredText>,
    figures: Vec<FigureText>,
    /// Figures that a reader has to open.
    figures_folded: Vec<FigureText>,
    /// Whether any of them has no narrow sheet.
    figures_wide: bool,
    /// Lanes along time, a family each.
    traces: Vec<TraceText>,
    /// How unlike subgroups are; `None` if they are all alike, or no simulator ran.
    spreads: Option<TableText>,
    agreements: Vec<DeviceAgreementText>,
    sources: Vec<SourceText>,
    /// Measurements whose lines are not among them.
    sources_left_out: usize,
    findings: Vec<FindingText>,
    /// The published claims that the runs decide; `None` if they decide none.
    claims: Option<TableText>,
    failures: Vec<FailureText>,
    /// `None` if there are none.
    peers: Option<TableText>,
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

/// A figure and where it stands.
#[derive(Debug, Serialize)]
struct FigureText {
    /// The figure itself.
    svg: String,
    /// The same for a narrow screen; nothing where there is none.
    narrow: Option<String>,
    /// Whether it begins a row.
    first: bool,
}

/// The figure of lanes along time of one family.
#[derive(Debug, Serialize)]
struct TraceText {
    family: String,
    title: String,
    /// Whether a reader has to open it.
    folded: bool,
    svg: String,
}

/// Ratios that counting misses, and what the record says of why.
#[derive(Debug, Serialize)]
struct MissText {
    reasons: String,
    table: TableText,
}

/// A device held against the simulator at its width.
#[derive(Debug, Serialize)]
struct DeviceAgreementText {
    /// What came of it.
    sentence: String,
    /// Launches that differ.
    different: Vec<AgreementText>,
    /// Launches that do not, which a reader has to open.
    equal: Vec<AgreementText>,
}

/// A launch held against the simulator's.
#[derive(Debug, Serialize)]
struct AgreementText {
    launch: String,
    compared: String,
    differences: Vec<String>,
}

/// A flag in plain words.
#[derive(Debug, Serialize)]
struct FindingText {
    flag: String,
    explanation: &'static str,
    places: Vec<String>,
    /// Places that a reader has to open.
    places_folded: Vec<String>,
}

/// A measurement that did not end well.
#[derive(Debug, Serialize)]
struct FailureText {
    what: String,
    device: String,
    how: String,
    reason: String,
}

/// Fills the context from the runs, and from all of them joined; beside it each figure's name, and its SVG.
pub(super) fn context(
    runs: &[Run],
    joined: &Run,
    peers: &[PeerRow],
) -> Result<(Context, Vec<(String, String)>), ReportError> {
    let (drawn, (claims, mut tables)) = rayon::join(
        || chart::draw_all(joined),
        || rayon::join(|| claims::judge_touched(runs), || present::tables(joined)),
    );
    let (drawn, claims) = (drawn?, claims?);
    let named = drawn.iter().map(|(figure, svg)| (figure.name.clone(), svg.clone())).collect();
    let summary = analyze::summary(joined);
    let (sources, sources_left_out) = sources(joined);
    let findings = analyze::findings(joined).into_iter().map(|finding| {
        let mut places = finding.places;
        let places_folded = places.split_off(places.len().min(PLACES_MAX));
        let (flag, explanation) = (finding.flag.to_string(), finding.flag.explanation());
        FindingText { flag, explanation, places, places_folded }
    });
    let width_sentences = analyze::width_sentences(joined);
    let found = analyze::overview(joined, &summary);
    let (traces, figures): (Vec<_>, Vec<_>) =
        drawn.into_iter().partition(|(figure, _)| matches!(figure.drawing, Drawing::Trace(_)));
    let placed = |(figure, svg): (Figure, String)| FigureText {
        // What was drawn once can be drawn again.
        narrow: chart::draw_narrow(&figure.drawing).ok().flatten(),
        svg,
        first: figure.begins_row,
    };
    let mut figures: Vec<FigureText> = figures.into_iter().map(placed).collect();
    let figures_wide = figures.iter().any(|figure| figure.narrow.is_none());
    let figures_folded = figures.split_off(figures.len().min(FIGURES_MAX));
    let traces = traces.into_iter().filter_map(|(figure, svg)| trace(figure, svg));
    let mut traces: Vec<TraceText> = traces.collect();
    // Of forms of one family the first is open.
    let mut families: BTreeSet<String> = BTreeSet::new();
    for trace in &mut traces {
        trace.folded |= !families.insert(trace.family.clone());
    }
    let mut take_tables = |section: Section| -> Vec<TableText> {
        let found = tables.extract_if(.., |(name, _)| *name == section);
        found.map(|(_, table)| TableText::with_sentences_beneath(table)).collect()
    };
    let context = Context {
        misses: analyze::misses(joined, &summary).iter().map(miss).collect(),
        runs: runs.iter().map(run).collect(),
        devices: take_tables(Section::Devices).pop().filter(|_| !joined.devices.is_empty()),
        width_sentences: width_sentences
            .into_iter()
            .filter(|sentence| !found.contains(sentence))
            .collect(),
        found,
        width_costs: take_tables(Section::Widths),
        summaries: take_tables(Section::Summary),
        side_by_side: take_tables(Section::Instruments),
        machine_code: take_tables(Section::MachineCode),
        sentences: analyze::crossover_sentences(joined),
        crossovers: take_tables(Section::Crossovers),
        models: take_tables(Section::Model),
        figures,
        figures_folded,
        figures_wide,
        traces,
        spreads: spreads(joined),
        counters: counters::list_measurements(joined),
        agreements: device_agreements(&analyze::agreements(joined)),
        sources,
        sources_left_out,
        findings: findings.collect(),
        claims: (!claims.is_empty()).then(|| present::claims_table(&claims).into()),
        failures: failures(&summary),
        peers: (!peers.is_empty()).then(|| present::peers(peers).into()),
    };
    Ok((context, named))
}

/// The most figures that are open.
const FIGURES_MAX: usize = 12;

/// The most places of a flag that are listed at once.
const PLACES_MAX: usize = 8;

/// The most kernels of which the page says how unlike their subgroups are.
const SPREADS_MAX: usize = 24;

/// The kernels whose subgroups are most unlike each other.
fn spreads(run: &Run) -> Option<TableText> {
    let mut rows = analyze::spreads(run);
    rows.truncate(SPREADS_MAX);
    (!rows.is_empty()).then(|| present::spread_table(&rows).into())
}

/// A figure of lanes along time; nothing for another figure.
fn trace(figure: Figure, svg: String) -> Option<TraceText> {
    let Drawing::Trace(sheet) = figure.drawing else { return None };
    let form = sheet.form.map_or(String::new(), |form| format!(" ({form})"));
    let kernels = match sheet.rows.len() {
        1 => "1 kernel".to_owned(),
        many => format!("{many} kernels"),
    };
    let title = format!("{}{form}: {kernels}", sheet.family);
    Some(TraceText { family: sheet.family, title, folded: sheet.for_widths, svg })
}

/// Describes ratios that counting misses.
fn miss(group: &MissGroup) -> MissText {
    MissText {
        reasons: group.reasons.join(" "),
        table: present::misses_table(&group.misses).into(),
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

/// Launches by device and simulator, those that differ apart.
fn device_agreements(rows: &[AgreementRow]) -> Vec<DeviceAgreementText> {
    let mut devices: IndexMap<(&str, &str), Vec<&AgreementRow>> = IndexMap::new();
    for row in rows {
        devices.entry((&row.label, &row.simulator)).or_default().push(row);
    }
    let texts = devices.into_iter().map(|((label, simulator), rows)| {
        let blocks: usize = rows.iter().map(|row| row.agreement.blocks_compared).sum();
        let compared = format!(
            "{} of {}",
            present::count_text(blocks as u128, "block"),
            present::count_text(rows.len() as u128, "launch")
        );
        let (equal, different): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.agreement.differences.is_empty());
        let found = match different.len() {
            0 => "all are equal".to_owned(),
            1 => "1 launch differs".to_owned(),
            many => format!("{many} launches differ"),
        };
        DeviceAgreementText {
            sentence: format!("{label} against {simulator}: {compared}; {found}."),
            different: different.into_iter().map(agreement).collect(),
            equal: equal.into_iter().map(agreement).collect(),
        }
    });
    texts.collect()
}

/// Writes how a launch's counts compare with the simulator's.
fn agreement(row: &AgreementRow) -> AgreementText {
    let found = &row.agreement;
    AgreementText {
        launch: format!("{} {}", row.kernel, parameters_text(&row.parameters, &[])),
        compared: match found.histograms_compared {
            0 => present::count_text(found.blocks_compared as u128, "block"),
            some => format!(
                "{}, {some} with histogram",
                present::count_text(found.blocks_compared as u128, "block")
            ),
        },
        differences: found.differences.iter().map(difference).collect(),
    }
}

/// Writes a count that is not the simulator's.
fn difference(difference: &Difference) -> String {
    let quantity = match difference.quantity {
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
        difference.dispatch,
        difference.block,
        difference.place.0,
        difference.place.1,
        side(difference.left),
        side(difference.right)
    )
}

/// Lists what failed or gave wrong outputs, with the reasons.
fn failures(summary: &Summary) -> Vec<FailureText> {
    let by_order = Tag::OutputDependsOnOrder;
    let mut failures = Vec::new();
    for device in &summary.devices {
        for row in &device.rows {
            let how = match (row.status, row.output) {
                (Status::Failed, _) => "did not finish",
                (Status::Ok, Output::Mismatch) if flag::has(&row.flags, &by_order) => {
                    "outputs differ by order"
                }
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
