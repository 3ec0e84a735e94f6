//! Charts and the page, from records to files.
//!
//! Input: runs. Output: one SVG a figure and `report.html`, in a folder. It can
//! be done again from the result files at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::failure::{Exit, Failure};
use crate::analyze::{self, Load};
use crate::record::{PeerRow, Run};
use crate::{chart, report};

/// The page's name in its folder.
pub(crate) const PAGE: &str = "report.html";

/// Writes every chart and the page, and gives the page's path.
pub(crate) fn write(folder: &Path, runs: &[Run], peers: &[PeerRow]) -> Result<PathBuf, Failure> {
    let run = analyze::merge(runs).map_err(Failure::bad_input)?;
    let mut figures = Vec::new();
    let summary = analyze::summary(&run);
    for part in summary.parts().iter().flat_map(analyze::SummaryPart::sheets) {
        let words = [Some(part.family.as_str()), part.form.as_deref()].into_iter().flatten();
        let words = words.chain(part.words.iter().map(String::as_str));
        let name = words.collect::<Vec<_>>().join("-");
        if part.devices.iter().flat_map(|d| &d.rows).any(|row| row.active_lanes_mean.is_some()) {
            figures.push((format!("lanes-{name}.svg"), chart::lanes(&part)));
        }
        let measured =
            |row: &analyze::SummaryRow| matches!(row.time_ratio, analyze::TimeRatio::Measured(_));
        if part.devices.iter().flat_map(|d| &d.rows).any(measured) {
            figures.push((format!("time-{name}.svg"), chart::ratios(&part)));
        }
    }
    for table in analyze::side_by_side(&run) {
        let words = [Some("side-by-side"), Some(table.family.as_str()), table.form.as_deref()];
        let name = words.into_iter().flatten().collect::<Vec<_>>().join("-");
        figures.push((format!("{name}.svg"), chart::side_by_side(&table)));
    }
    let sweep = analyze::width_sweep(&run);
    let several = |series: &analyze::WidthSeries| {
        series.points.iter().any(|point| point.width != series.points[0].width)
    };
    let parts: Vec<analyze::WidthSweep> = sweep
        .parts()
        .into_iter()
        .filter(|part| part.series.iter().any(several) && part.fits_figure())
        .collect();
    for part in &parts {
        let Some(first) = part.series.first() else { continue };
        let family = first.kernel.split('/').next().filter(|_| parts.len() > 1);
        // Where several families or forms are drawn, each name says whose it is.
        let alone = parts.iter().filter(|other| other.series[0].form == first.form).count() == 1;
        let words = [Some("widths"), family.filter(|_| !alone), first.form.as_deref()];
        let name = words.into_iter().flatten().collect::<Vec<_>>().join("-");
        figures.push((format!("{name}.svg"), chart::widths(part)));
    }
    figures.extend(sorting(&run));
    for table in analyze::speedups(&run, &summary) {
        figures.push((format!("speedup-{}.svg", table.family), chart::speedups(&table)));
    }
    let rates = analyze::size_sweeps(&run);
    for (index, sweep) in rates.iter().enumerate().filter(|(_, sweep)| sweep.has_lines()) {
        let word = sweep.name().replace('/', "-");
        // A number where several devices have the same.
        let before = rates[..index].iter().filter(|other| other.name() == sweep.name()).count();
        let number = if before == 0 { String::new() } else { format!("-{}", before + 1) };
        figures.push((format!("rate-{word}{number}.svg"), chart::bandwidth(sweep)));
    }
    let latencies = analyze::latencies(&run);
    for (name, load) in [("latency", Load::Alone), ("latency-saturated", Load::Saturated)] {
        let drawn = |row: &analyze::LatencyRow| row.load == load && row.ratio.is_some();
        if latencies.iter().flat_map(|one| &one.rows).any(drawn) {
            figures.push((format!("{name}.svg"), chart::latencies(&latencies, load)));
        }
    }
    let undefined = analyze::undefined(&run);
    if !undefined.is_empty() {
        figures.push(("shuffle-out-of-range.svg".to_owned(), chart::undefined(&undefined)));
    }
    for table in analyze::curves(&run) {
        figures.push((format!("{}.svg", table.name), chart::curves(&table)));
    }
    for (name, figure) in figures {
        save(&folder.join(name), &figure.map_err(Failure::bad_input)?)?;
    }
    page(folder, runs, peers)
}

/// The figures of speed-ups along a parameter, of lanes before and after sorting, and of stages.
fn sorting(run: &Run) -> Vec<(String, Result<String, chart::ChartError>)> {
    let mut figures: Vec<(String, Result<String, chart::ChartError>)> = Vec::new();
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    for sheet in analyze::speed_sheets(&analyze::speed_curves(run)) {
        let name = format!("speedup-{}", sheet.name());
        // A number where several devices have the same.
        let alike = named.entry(name.clone()).or_insert(0_usize);
        *alike += 1;
        let number = if *alike == 1 { String::new() } else { format!("-{alike}") };
        figures.push((format!("{name}{number}.svg"), chart::crossovers(&sheet)));
    }
    for table in analyze::before_after(run) {
        let name = format!("lanes-before-after-{}.svg", table.family);
        figures.push((name, chart::before_after(&table)));
    }
    let families: BTreeSet<&str> =
        run.measurements.iter().map(|m| analyze::family(&m.kernel)).collect();
    for family in families {
        if let Some(sheet) = analyze::stages(run, family) {
            figures.push((format!("stages-{family}.svg"), chart::stages(family, &sheet)));
        }
    }
    figures
}

/// Writes the page of a profile, and gives its path.
pub(crate) fn profile_page(
    folder: &Path,
    profile: &analyze::Profile,
    run: &Run,
) -> Result<PathBuf, Failure> {
    let page = folder.join(PAGE);
    let advice = analyze::advice_of(profile);
    save(&page, &report::profile_html(profile, &advice, run).map_err(Failure::bad_input)?)?;
    Ok(page)
}

/// Writes the page, and gives its path.
pub(crate) fn page(folder: &Path, runs: &[Run], peers: &[PeerRow]) -> Result<PathBuf, Failure> {
    let page = folder.join(PAGE);
    save(&page, &report::html(runs, peers).map_err(Failure::bad_input)?)?;
    Ok(page)
}

#[expect(clippy::disallowed_methods, reason = "`cli` writes the files that the user asked for")]
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::message(Exit::BadInput, format!("{} cannot be written: {error}", path.display()))
    })
}
