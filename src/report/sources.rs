//! The source views of the page: each line with its figures, a column a device.
//!
//! Input: a run. Output: text and the lengths of bars in percent.

use crate::units::{Ratio, text};
use serde::Serialize;

use super::format;
use crate::{
    analyze::{self, BlockCell, LineCell, SourceColumn, SourceView},
    present::count_text,
    record::{Method, Run},
};

/// One source.
#[derive(Debug, Serialize)]
pub(super) struct SourceText {
    title: String,
    file: String,
    columns: Vec<ColumnText>,
    lines: Vec<LineText>,
}

/// One device's column head.
#[derive(Debug, Serialize)]
struct ColumnText {
    label: String,
    detail: String,
}

/// One line.
#[derive(Debug, Serialize)]
struct LineText {
    number: u32,
    text: String,
    cells: Vec<Option<CellText>>,
}

/// One line's figures on one device.
#[derive(Debug, Serialize)]
struct CellText {
    lanes: String,
    /// The bar's length in percent.
    bar: String,
    share: String,
    detail: String,
    blocks: Vec<BlockText>,
}

/// One block that starts on the line.
#[derive(Debug, Serialize)]
struct BlockText {
    title: String,
    /// One for each number of active lanes, from 1 to the width.
    bins: Vec<BinText>,
    /// The counts above zero, in words.
    counts: Vec<String>,
}

/// One bar of a histogram.
#[derive(Debug, Serialize)]
struct BinText {
    /// Its height in percent of the largest.
    height: String,
    title: String,
}

/// The most lines with figures, those of every measurement counted, that are all on the page: each takes
/// some 400 bytes of it, and a sweep of more would make it too large to open.
const LINES_MAX: usize = 5_000;

/// Makes the views of sources that were counted, and says of how many measurements they leave out lines.
pub(super) fn sources(run: &Run) -> (Vec<SourceText>, usize) {
    let (views, left_out) = analyze::lines_of_most(run, LINES_MAX);
    (views.iter().map(source).collect(), left_out)
}

/// Makes one view.
fn source(view: &SourceView) -> SourceText {
    let parameters =
        if view.parameters.is_empty() { String::new() } else { format!(" ({})", view.parameters) };
    let hash: String = view.source_sha256.chars().take(12).collect();
    let file = if view.file.is_empty() { "text not recorded" } else { &view.file };
    SourceText {
        title: format!("{}{parameters}", view.kernel),
        file: format!("{file}, SHA-256 {hash}…"),
        columns: view.columns.iter().map(column).collect(),
        lines: view
            .lines
            .iter()
            .map(|line| LineText {
                number: line.number,
                text: line.text.clone().unwrap_or_else(|| format!("({})", line.file)),
                cells: line
                    .cells
                    .iter()
                    .zip(&view.columns)
                    .map(|(cell, column)| cell.as_ref().map(|cell| cell_text(cell, column)))
                    .collect(),
            })
            .collect(),
    }
}

/// Makes a column's head.
fn column(column: &SourceColumn) -> ColumnText {
    let method = match column.method {
        Some(Method::Executed) => "executed",
        Some(Method::Derived) => "derived",
        Some(Method::Estimated) => "estimated",
        None => "method not known",
    };
    let size = column.size.as_ref().map_or(String::new(), |size| format!(", n = {size}"));
    ColumnText {
        label: column.label.clone(),
        detail: format!(
            "W = {}{size}; mean {} lanes; {method} counts",
            format::width(column.width),
            format::lanes(column.work.active_lanes_mean())
        ),
    }
}

/// Makes a cell.
fn cell_text(cell: &LineCell, column: &SourceColumn) -> CellText {
    let lanes = cell
        .active_lanes_mean
        .map_or("never executed".to_owned(), |mean| text::lanes_and_efficiency(mean, column.width));
    let portion = cell.efficiency.map_or(0.0, |efficiency| efficiency.0.clamp(0.0, 1.0));
    CellText {
        lanes,
        bar: format!("{:.1}", portion * 100.0),
        share: format!("{} of subgroup operations", format::percent(cell.share)),
        detail: format!(
            "{} on the line, {}, {}",
            count_text(cell.operations.into(), "operation"),
            count_text(cell.work.subgroup_operations, "subgroup operation"),
            count_text(cell.work.lane_operations, "lane operation")
        ),
        blocks: cell.blocks.iter().map(block).collect(),
    }
}

/// Makes a block's histogram.
fn block(block: &BlockCell) -> BlockText {
    let label = block.label.as_ref().map_or(String::new(), |label| format!(" “{label}”"));
    let mean = Ratio::divide(block.lanes, block.executions).map(|ratio| ratio.0);
    let expected = block
        .active_lanes_mean_expected
        .map_or(String::new(), |expected| format!(", expected {}", text::lanes(expected)));
    let bins = block.histogram.as_deref().unwrap_or(&[]);
    let wide: Vec<u128> = bins.iter().copied().map(u128::from).collect();
    let quantiles = analyze::describe_quantiles(&wide);
    let quantiles = quantiles.map_or(String::new(), |words| format!("; {words}"));
    let title = format!(
        "block {}{label}: {}, mean {} lanes{expected}{quantiles}",
        block.id,
        count_text(block.executions.into(), "execution"),
        format::lanes(mean)
    );
    let most = bins.iter().copied().max().unwrap_or(0);
    let portion =
        |part: u64, whole: u64| Ratio::divide(part, whole).map_or(0.0, |ratio| ratio.0 * 100.0);
    let says = |lanes: usize, count: u64| {
        format!(
            "{}: {} ({})",
            count_text(lanes as u128, "lane"),
            count_text(count.into(), "execution"),
            text::percent_or_none(Ratio::divide(count, block.executions))
        )
    };
    let numbered = || (1usize..).zip(bins.iter().copied());
    BlockText {
        title,
        bins: numbered()
            .map(|(lanes, count)| BinText {
                height: format!("{:.1}", portion(count, most)),
                title: says(lanes, count),
            })
            .collect(),
        counts: numbered()
            .filter(|(_, count)| *count > 0)
            .map(|(lanes, count)| says(lanes, count))
            .collect(),
    }
}
