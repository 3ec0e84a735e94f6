//! A source text with each line's figures, a column a device.
//!
//! Input: a run. Output: a [`SourceView`] for each kernel at each set of parameters other than size,
//! with every line of its source, those without counts too. Lines of other files than the stored
//! source (none, as long as a kernel is one file) stand after it without text.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::counts::{Work, ratio};
use super::names::{SIZE, device_label, parameters_text};
use super::usual::{Usual, keep_usual_of_each};
use crate::{
    record::{Block, Dispatch, Measurement, Method, Run, Value},
    units::{BlockId, Ratio, Width},
};

/// One kernel's source with figures.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceView {
    /// The kernel's full name.
    pub kernel: String,
    /// Its parameters but for size, as `form=sealed`; may be empty.
    pub parameters: String,
    /// The source's SHA-256 in hexadecimal.
    pub source_sha256: String,
    /// The source's file name; empty where the run does not hold the text.
    pub file: String,
    /// A column for each measurement that counted.
    pub columns: Vec<SourceColumn>,
    /// Every line, by file and number.
    pub lines: Vec<SourceLine>,
}

/// One measurement's column.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceColumn {
    /// The device's id.
    pub device: String,
    /// The device's name for people.
    pub label: String,
    /// The launch's size, where the kernel has one.
    pub size: Option<String>,
    /// The width, in lanes.
    pub width: Option<Width>,
    /// How executions were obtained.
    pub method: Option<Method>,
    /// Σ operations × executions and Σ operations × lanes over every line.
    pub work: Work,
}

/// One line of source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// Its number, from 1.
    pub number: u32,
    /// Its text; `None` if the run does not hold it.
    pub text: Option<String>,
    /// A cell for each column; `None` if no operation of the line was counted.
    pub cells: Vec<Option<LineCell>>,
}

/// One line's figures on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct LineCell {
    /// Static operations on the line.
    pub operations: u64,
    /// Σ operations × executions and Σ operations × lanes of the line.
    pub work: Work,
    /// Mean active lanes; `None` if the line was never executed.
    pub active_lanes_mean: Option<f64>,
    /// Mean active lanes over the width.
    pub efficiency: Option<Ratio>,
    /// The line's part of all subgroup operations of the launch.
    pub share: Option<Ratio>,
    /// The blocks whose first operation is on the line.
    pub blocks: Vec<BlockCell>,
}

/// One block's figures on one device, all dispatches together.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCell {
    /// Its number.
    pub id: BlockId,
    /// The label that a marker comment gave it.
    pub label: Option<String>,
    /// Executions by a subgroup.
    pub executions: u64,
    /// Active lanes over those executions.
    pub lanes: u64,
    /// Element k: executions with k + 1 active lanes.
    pub histogram: Option<Vec<u64>>,
    /// Mean active lanes that the kernel's author expects.
    pub active_lanes_mean_expected: Option<f64>,
}

/// Cells of one column by file and line.
pub(super) type Cells = BTreeMap<(String, u32), LineCell>;

/// Makes the source views of `run`, in the order of measurement.
pub fn lines(run: &Run) -> Vec<SourceView> {
    views(run, find_counted(run))
}

/// The same of, where all measurements have more than `most` lines together, those of each kernel that
/// have its most usual parameters, and of them the largest of each device; and how many measurements
/// that leaves out.
pub fn lines_of_most(run: &Run, most: usize) -> (Vec<SourceView>, usize) {
    let mut found = find_counted(run);
    let all = found.len();
    let dispatches = found.iter().flat_map(|measurement| &measurement.dispatches);
    if dispatches.map(|dispatch| dispatch.lines().len()).sum::<usize>() > most {
        let usual = Usual::from_run(run);
        keep_usual_of_each(&mut found, |measurement| {
            (&measurement.kernel, usual.count(&measurement.parameters))
        });
        let size = |measurement: &Measurement| match measurement.parameters.get(SIZE) {
            Some(Value::Integer(size)) => *size,
            Some(Value::Real(_) | Value::Name(_)) | None => 0,
        };
        let mut largest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for measurement in &found {
            let known =
                largest.entry((&measurement.kernel, &measurement.device)).or_insert(i64::MIN);
            *known = size(measurement).max(*known);
        }
        found.retain(|measurement| {
            largest.get(&(&*measurement.kernel, &*measurement.device)) == Some(&size(measurement))
        });
    }
    let left_out = all - found.len();
    (views(run, found), left_out)
}

/// The measurements that have counts by line and were not counted to compare widths alone.
fn find_counted(run: &Run) -> Vec<&Measurement> {
    let has_lines = |measurement: &&Measurement| {
        !measurement.for_widths
            && measurement.dispatches.iter().any(|dispatch| dispatch.has_lines())
    };
    run.measurements.iter().filter(has_lines).collect()
}

fn views(run: &Run, measurements: Vec<&Measurement>) -> Vec<SourceView> {
    let mut groups: IndexMap<(&str, String, &str), Vec<&Measurement>> = IndexMap::new();
    for measurement in measurements {
        let parameters = parameters_text(&measurement.parameters, &[SIZE]);
        let key = (&*measurement.kernel, parameters, &*measurement.source_sha256);
        groups.entry(key).or_default().push(measurement);
    }
    groups
        .into_iter()
        .map(|((kernel, parameters, source_sha256), measurements)| {
            view(run, kernel, parameters, source_sha256, &measurements)
        })
        .collect()
}

/// Makes the view of one source.
fn view(
    run: &Run,
    kernel: &str,
    parameters: String,
    source_sha256: &str,
    measurements: &[&Measurement],
) -> SourceView {
    let columns: Vec<(SourceColumn, Cells)> =
        measurements.iter().map(|measurement| column(run, measurement)).collect();
    let source = run.sources.get(source_sha256);
    let mut keys: BTreeMap<(String, u32), Option<String>> = BTreeMap::new();
    if let Some(source) = source {
        for (number, text) in (1u32..).zip(source.text.lines()) {
            keys.insert((source.file.clone(), number), Some(text.to_owned()));
        }
    }
    for key in columns.iter().flat_map(|(_, cells)| cells.keys()) {
        keys.entry(key.clone()).or_insert(None);
    }
    let lines = keys
        .into_iter()
        .map(|(key, text)| SourceLine {
            cells: columns.iter().map(|(_, cells)| cells.get(&key).cloned()).collect(),
            file: key.0,
            number: key.1,
            text,
        })
        .collect();
    SourceView {
        kernel: kernel.to_owned(),
        parameters,
        source_sha256: source_sha256.to_owned(),
        file: source.map(|source| source.file.clone()).unwrap_or_default(),
        columns: columns.into_iter().map(|(column, _)| column).collect(),
        lines,
    }
}

/// Makes one measurement's column and its cells.
pub(super) fn column(run: &Run, measurement: &Measurement) -> (SourceColumn, Cells) {
    let mut cells = Cells::new();
    for line in measurement.dispatches.iter().flat_map(Dispatch::lines) {
        let cell = cell(&mut cells, &line.file, line.line);
        // The same line of several dispatches is the same code: its operations count once.
        cell.operations = cell.operations.max(line.operations);
        cell.work.subgroup_operations += u128::from(line.subgroup_operations);
        cell.work.lane_operations += u128::from(line.lane_operations);
    }
    // A block that is nothing but a jump has no operation, and its line none of it.
    let mut places: BTreeMap<(&str, u32, BlockId), usize> = BTreeMap::new();
    for block in super::counts::blocks(measurement).filter(|block| block.operations > 0) {
        let blocks = &mut cell(&mut cells, &block.file, block.line).blocks;
        let place =
            *places.entry((block.file.as_str(), block.line, block.id)).or_insert(blocks.len());
        add_block(blocks, place, block);
    }
    let work = cells.values().fold(Work::default(), |sum, cell| Work {
        subgroup_operations: sum.subgroup_operations + cell.work.subgroup_operations,
        lane_operations: sum.lane_operations + cell.work.lane_operations,
    });
    for cell in cells.values_mut() {
        cell.active_lanes_mean = cell.work.active_lanes_mean();
        cell.efficiency =
            super::counts::efficiency(cell.active_lanes_mean, measurement.subgroup_width);
        cell.share = ratio(cell.work.subgroup_operations, work.subgroup_operations).map(Ratio);
    }
    let column = SourceColumn {
        device: measurement.device.clone(),
        label: device_label(run, &measurement.device),
        size: measurement.parameters.get(SIZE).map(ToString::to_string),
        width: measurement.subgroup_width,
        method: measurement.method,
        work,
    };
    (column, cells)
}

/// Returns the cell of a line, made empty where it is new.
fn cell<'a>(cells: &'a mut Cells, file: &str, line: u32) -> &'a mut LineCell {
    cells.entry((file.to_owned(), line)).or_insert_with(|| LineCell {
        operations: 0,
        work: Work::default(),
        active_lanes_mean: None,
        efficiency: None,
        share: None,
        blocks: Vec::new(),
    })
}

/// Adds one dispatch's counts of a block to those of the dispatches before, which stand at `place` if there are any.
fn add_block(blocks: &mut Vec<BlockCell>, place: usize, block: &Block) {
    let Some(known) = blocks.get_mut(place) else {
        blocks.push(BlockCell {
            id: block.id,
            label: block.label.clone(),
            executions: block.executions.0,
            lanes: block.lanes.0,
            histogram: block.histogram.clone(),
            active_lanes_mean_expected: block.active_lanes_mean_expected,
        });
        return;
    };
    known.executions = known.executions.saturating_add(block.executions.0);
    known.lanes = known.lanes.saturating_add(block.lanes.0);
    match (&mut known.histogram, &block.histogram) {
        (Some(bins), Some(more)) => {
            bins.resize(bins.len().max(more.len()), 0);
            for (bin, count) in bins.iter_mut().zip(more) {
                *bin = bin.saturating_add(*count);
            }
        }
        // A sum without one of its parts would be no histogram of the whole.
        (histogram, _) => *histogram = None,
    }
}
