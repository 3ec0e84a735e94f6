//! The figure of lanes before and after sorting, warps against wavefronts.
//!
//! Input: a family's rows by width. Output: SVG: two bars a width, the baseline's and the kernel's.

use indexmap::IndexMap;

use super::{
    ChartError,
    bars::{Bar, BarFigure, BarGroup, Scale},
};
use crate::analyze::{BeforeAfter, BeforeAfterRow};
use crate::units::text;

/// Efficiency before and after sorting at each width.
///
/// # Errors
///
/// [`ChartError::Empty`] where nothing was counted.
pub(super) fn before_after(table: &BeforeAfter) -> Result<BarFigure, ChartError> {
    if table.rows.is_empty() {
        return Err(ChartError::Empty("lanes before and after"));
    }
    let all: Vec<&BeforeAfterRow> = table.rows.iter().collect();
    let shared = shared_parameters(&all);
    let first = table.rows.first().map(|row| row.baseline.as_str());
    let baseline = first.filter(|first| table.rows.iter().all(|row| row.baseline == *first));
    let mut subtitle = "mean active lanes of W, by width W".to_owned();
    if !shared.is_empty() {
        subtitle += &format!("; {}", shared.join(", "));
    }
    let simulated = table.rows.iter().any(|row| row.simulated);
    if simulated {
        subtitle += "; counted by the simulator";
    }
    if table.not_shown > 0 {
        subtitle += &format!("; {} of other parameters or smaller not shown", table.not_shown);
    }
    Ok(BarFigure {
        title: format!("Lanes before and after, {}", table.family),
        subtitle,
        x_label: "efficiency: mean active lanes / W (%)".to_owned(),
        series: vec![format!("before: {}", baseline.unwrap_or("the baseline")), "after".to_owned()],
        tick_label: None,
        diamond_label: None,
        whisker_label: None,
        reference: Some(100.0),
        scale: Scale::alone(100.0),
        groups: sections(table)
            .iter()
            .flat_map(|rows| section(rows, &shared, baseline.is_some()))
            .collect(),
    })
}

/// The rows in order of size: the kernel first that gets furthest at any width; each kernel's widths as they were.
fn ordered(table: &BeforeAfter) -> Vec<&BeforeAfterRow> {
    let after = |row: &BeforeAfterRow| row.lanes[1] / f64::from(row.width.lanes());
    let furthest = |group: &BeforeAfterRow| {
        let same = |row: &&BeforeAfterRow| {
            (&row.kernel, &row.baseline, &row.parameters)
                == (&group.kernel, &group.baseline, &group.parameters)
        };
        table.rows.iter().filter(same).map(after).fold(0.0, f64::max)
    };
    let mut rows: Vec<&BeforeAfterRow> = table.rows.iter().collect();
    rows.sort_by(|a, b| furthest(b).total_cmp(&furthest(a)));
    rows
}

/// The rows of each baseline, in order.
fn sections(table: &BeforeAfter) -> Vec<Vec<&BeforeAfterRow>> {
    let mut sections: IndexMap<&str, Vec<&BeforeAfterRow>> = IndexMap::new();
    for row in ordered(table) {
        sections.entry(&row.baseline).or_default().push(row);
    }
    sections.into_values().collect()
}

/// The parameters that all rows share.
fn shared_parameters<'a>(rows: &[&'a BeforeAfterRow]) -> Vec<&'a str> {
    let Some(first) = rows.first() else { return Vec::new() };
    let everywhere = |part: &&str| {
        !part.is_empty()
            && rows.iter().all(|row| row.parameters.split(", ").any(|parameter| parameter == *part))
    };
    first.parameters.split(", ").filter(everywhere).collect()
}

/// The bars of a baseline's rows; above them what they are compared with and share, where that is not said for all.
fn section(rows: &[&BeforeAfterRow], told: &[&str], one_baseline: bool) -> Vec<BarGroup> {
    if one_baseline {
        return rows.iter().map(|row| group(row, told)).collect();
    }
    let shared = shared_parameters(rows);
    let mut groups: Vec<BarGroup> = rows.iter().map(|row| group(row, &shared)).collect();
    if let (Some(first), Some(row)) = (groups.first_mut(), rows.first()) {
        let untold = shared.into_iter().filter(|part| !told.contains(part)).map(str::to_owned);
        let words = std::iter::once(format!("before: {}", row.baseline)).chain(untold);
        first.heading = words.collect::<Vec<String>>().join(", ");
    }
    groups
}

/// A kernel's two bars; below its name what was not said of it.
fn group(row: &BeforeAfterRow, told: &[&str]) -> BarGroup {
    let width = f64::from(row.width.lanes());
    let bar = |(series, lanes): (usize, &f64)| {
        let percent = lanes / width * 100.0;
        Bar {
            series,
            value: Some(percent),
            whisker: None,
            tick: None,
            diamond: None,
            text: text::lanes_and_efficiency(*lanes, Some(row.width)),
        }
    };
    BarGroup {
        heading: String::new(),
        label: format!("{}, W = {}", row.kernel, row.width),
        detail: detail(row, told),
        bars: row.lanes.iter().enumerate().map(bar).collect(),
    }
}

/// The device, where its name does not just say the width, and the parameters that were not said.
fn detail(row: &BeforeAfterRow, told: &[&str]) -> String {
    let parameter =
        row.parameters.split(", ").filter(|part| !part.is_empty() && !told.contains(part));
    let device = (!row.simulated).then_some(row.label.as_str());
    device.into_iter().chain(parameter).collect::<Vec<_>>().join(", ")
}
