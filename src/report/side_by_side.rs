//! The tables of launches by every instrument, as text.
//!
//! Input: [`SideBySide`] tables. Output: cells. A figure that is missing is a dash, and its reason
//! stands below the table with the kernels that it holds for.

use serde::Serialize;

use super::format;
use crate::{
    analyze::{self, Missing, SideBySide, SideRow},
    record::Run,
};

/// One table.
#[derive(Debug, Serialize)]
pub(super) struct SideBySideText {
    title: String,
    devices: String,
    /// Whether any row has a published figure.
    published: bool,
    rows: Vec<SideRowText>,
    reasons: Vec<String>,
}

/// One launch.
#[derive(Debug, Serialize)]
struct SideRowText {
    kernel: String,
    parameters: String,
    /// Expected, simulator, Vulkan, CUDA, machine code, not predicated off.
    lanes: Vec<String>,
    published: String,
    /// Vulkan, CUDA, their ratio.
    times: Vec<String>,
    differences: Vec<String>,
}

/// The tables of a run.
pub(super) fn texts(run: &Run) -> Vec<SideBySideText> {
    analyze::side_by_side(run).iter().map(text).collect()
}

fn text(table: &SideBySide) -> SideBySideText {
    let form = table.form.as_ref().map_or(String::new(), |form| format!(", {form}"));
    let other = table.other_label.as_ref();
    let beside = other.map_or("no other GPU".to_owned(), Clone::clone);
    SideBySideText {
        title: format!("{}{form}", table.family),
        devices: format!("Vulkan: {beside}. CUDA: {}.", table.cuda_label),
        published: table.rows.iter().any(|row| row.published.is_some()),
        rows: table.rows.iter().map(row).collect(),
        reasons: table.reasons(),
    }
}

fn row(row: &SideRow) -> SideRowText {
    let lanes = |figure: &Result<f64, Missing>| format::lanes(figure.as_ref().ok().copied());
    let counted = [&row.simulated, &row.counted_other, &row.counted_cuda];
    let machine = [&row.threads, &row.threads_on];
    let expected = std::iter::once(format::lanes(row.expected));
    let published = row.published.as_ref().map(|published| published.active_lanes_mean);
    let differences = match (row.differences.is_empty(), row.machine_code) {
        (true, true) => vec!["nowhere".to_owned()],
        (true, false) => vec![format::NONE.to_owned()],
        (false, _) => row.differences.clone(),
    };
    SideRowText {
        kernel: row.kernel.clone(),
        parameters: row.parameters.clone(),
        lanes: expected.chain(counted.into_iter().chain(machine).map(lanes)).collect(),
        published: published.map_or(format::NONE.to_owned(), |lanes| format!("{lanes:.1}")),
        times: vec![
            format::time(row.time_other.as_ref().ok().copied()),
            format::time(row.time_cuda.as_ref().ok().copied()),
            format::factor(row.times_ratio()),
        ],
        differences,
    }
}
