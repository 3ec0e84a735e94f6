//! The tables of machine code: executed without its hardware, and counted by the hardware.
//!
//! Input: a run. Output: [`Table`]s.

use super::{Cell, Column, Table};
use crate::analyze::machine::{ExecutedCode, MachineRow};
use crate::analyze::{self, Comparison, ExecutedComparison};
use crate::record::{ArmOutcome, Run};

/// The outcomes that the last column of a table may have.
const ARMS: [ArmOutcome; 7] = [
    ArmOutcome::Kept,
    ArmOutcome::Skipped,
    ArmOutcome::Masked,
    ArmOutcome::Flattened,
    ArmOutcome::Unrolled,
    ArmOutcome::Folded,
    ArmOutcome::Merged,
];

/// What lanes and passes are.
const PASSES: &str = "Lanes and passes are of vector instructions (VALU) alone; lanes are those that EXEC had on. A \
                      wave of 64 takes two passes of 32 lanes an instruction; at least where every empty half is \
                      skipped, at most where none is. What reads or writes one lane (v_readfirstlane, v_readlane, \
                      v_writelane) counts one pass at both sizes, and what writes a mask of lanes, such as a \
                      comparison, counts both halves. No pass is a cycle.";

/// In which order launches stand, where there are several.
const ORDER: &str = "Launches that use the least part of their lanes at some width come first.";

/// What brings the columns that are not there.
const NOT_BESIDE: &str = "What became of each branch, and lanes by the source, come with counters, for which the \
                          code is laid beside the source.";

/// What machine code came to that was executed without its hardware; `None` if none was.
pub(super) fn executed_code(run: &Run) -> Option<Table> {
    let rows = analyze::machine::executed(run);
    let first = rows.first()?;
    let family = first.device.split(['/', ':']).nth(1).unwrap_or_default();
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::figures("W"),
        Column::figures("lanes by source"),
        Column::figures("lanes"),
        Column::figures("instructions"),
        Column::figures("passes at least"),
        Column::figures("at most"),
        Column::words("arms and loops"),
        Column::words("code"),
    ];
    let title = format!("Machine code for {family} by {}, executed without hardware", first.driver);
    let mut table = Table::new(title, columns);
    for row in &rows {
        let code = match row.code.as_slice() {
            [first, others @ ..] if !others.is_empty() => format!("{first} + {}", others.len()),
            code => code.join(""),
        };
        table.rows.push(vec![
            Cell::Kernel(row.kernel.clone()),
            Cell::parameters(&row.parameters),
            Cell::Width(row.width),
            Cell::from_option(row.source_lanes_mean, Cell::Lanes),
            Cell::from_option(row.lanes_mean, Cell::Lanes),
            count(row.instructions),
            Cell::from_option(row.passes, |passes| count(passes[0])),
            Cell::from_option(row.passes, |passes| count(passes[1])),
            Cell::from_option(row.arms.clone(), Cell::text),
            Cell::text(code),
        ]);
    }
    table.folded_are = "of launches that waste fewer lanes";
    table.notes.push(PASSES.to_owned());
    let launch = |row: &MachineRow| (row.kernel.clone(), row.parameters.clone());
    if rows.iter().any(|row| launch(row) != launch(first)) {
        table.notes.push(ORDER.to_owned());
    }
    if rows.iter().all(|row| row.arms.is_none()) {
        table.notes.push(NOT_BESIDE.to_owned());
    }
    table.notes.extend(arms_note(&rows));
    Some(table)
}

/// The columns of machine code in the summary for machines.
pub(super) const PLAIN_COLUMNS: [&str; 5] = [
    "machine_lanes_mean",
    "machine_instructions",
    "machine_passes_min",
    "machine_passes_max",
    "machine_code",
];

/// Their cells, the last of which says what the others are of; empty where none was executed.
pub(super) fn plain_code(executed: Option<&ExecutedCode>) -> [Cell; 5] {
    let count = |figure: fn(&ExecutedCode) -> u64| {
        Cell::from_option(executed, |code| Cell::Count(figure(code).into()))
    };
    [
        Cell::from_option(executed.and_then(|code| code.active_lanes_mean), Cell::Lanes),
        count(|code| code.instructions),
        count(|code| code.passes_min),
        count(|code| code.passes_max),
        Cell::from_option(executed, |code| Cell::text(code.code_source())),
    ]
}

/// Machine code of both sides of a comparison, executed without its hardware; `None` if there is none in both. On a
/// narrow terminal a row has its lanes and what is B's over A's; the counts stand beneath.
pub fn compared_code(comparison: &Comparison) -> Option<Table> {
    comparison.executed.first()?;
    let columns = [
        Column::words("kernel"),
        Column::words("parameters").below(),
        Column::words("device A").once(),
        Column::words("device B").once().repeats(&["device A"]),
        Column::figures("W A").once(),
        Column::figures("W B").once().repeats(&["W A"]),
        Column::figures("lanes A"),
        Column::figures("lanes B"),
        Column::figures("lanes B / A"),
        Column::figures("instructions A").spare(),
        Column::figures("instructions B").spare(),
        Column::figures("instructions B / A"),
        Column::figures("passes at least A").spare(),
        Column::figures("passes at least B").spare(),
        Column::figures("passes at least B / A"),
        Column::figures("at most A").spare(),
        Column::figures("at most B").spare(),
        Column::figures("at most B / A"),
        Column::words("code A").named_below(),
        Column::words("code B").named_below().repeats(&["code A"]),
    ];
    let mut drivers: [Vec<&str>; 2] = Default::default();
    let mut families: Vec<&str> = Vec::new();
    for side in comparison.executed.iter().map(|row| &row.sides) {
        for (drivers, code) in drivers.iter_mut().zip(side) {
            drivers.extend((!drivers.contains(&&*code.driver)).then_some(&*code.driver));
            families.extend((!families.contains(&&*code.family)).then_some(&*code.family));
        }
    }
    let [a, b] = drivers.map(|drivers| drivers.join(", "));
    let by = if a == b { format!("by {a}") } else { format!("A by {a}, B by {b}") };
    let families = families.join(", ");
    let title = format!("Machine code for {families}, {by}, executed without hardware");
    let mut table = Table::new(title, columns);
    table.rows = comparison.executed.iter().map(compared_cells).collect();
    table.notes.push(PASSES.to_owned());
    Some(table)
}

fn compared_cells(row: &ExecutedComparison) -> Vec<Cell> {
    let ExecutedComparison { kernel, parameters, devices, sides, .. } = row;
    let both = |cell: &dyn Fn(&ExecutedCode) -> Cell| sides.each_ref().map(cell);
    let ratio = |ratio: Option<f64>| Cell::from_option(ratio, Cell::Factor);
    let mut cells = vec![Cell::Kernel(kernel.clone()), Cell::parameters(parameters)];
    cells.extend(devices.iter().map(Cell::text));
    cells.extend(both(&|side| Cell::Width(side.width)));
    cells.extend(both(&|side| Cell::from_option(side.active_lanes_mean, Cell::Lanes)));
    cells.push(ratio(row.lanes_ratio));
    cells.extend(both(&|side| Cell::Count(side.instructions.into())));
    cells.push(ratio(row.instructions_ratio));
    cells.extend(both(&|side| Cell::Count(side.passes_min.into())));
    cells.push(ratio(row.passes_ratios[0]));
    cells.extend(both(&|side| Cell::Count(side.passes_max.into())));
    cells.push(ratio(row.passes_ratios[1]));
    cells.extend(both(&|side| Cell::text(side.code.join(" "))));
    cells
}

/// What the hardware counted of machine code; `None` if it did not.
pub(super) fn counted_code(run: &Run) -> Option<Table> {
    let rows = analyze::machine::find_counted(run);
    let first = rows.first()?;
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::figures("lanes by source"),
        Column::figures("lanes"),
        Column::figures("not predicated off"),
        Column::figures("instructions"),
        Column::words("arms and loops"),
    ];
    let title = format!("Machine code by {}, counted by the hardware", first.driver);
    let mut table = Table::new(title, columns);
    for row in &rows {
        table.rows.push(vec![
            Cell::Kernel(row.kernel.clone()),
            Cell::parameters(&row.parameters),
            Cell::from_option(row.source_lanes_mean, Cell::Lanes),
            Cell::from_option(row.lanes_mean, Cell::Lanes),
            Cell::from_option(row.lanes_on_mean, Cell::Lanes),
            count(row.instructions),
            Cell::from_option(row.arms.clone(), Cell::text),
        ]);
    }
    table.notes.extend(arms_note(&rows));
    Some(table)
}

/// What the words for arms mean, where some launch has them.
fn arms_note(rows: &[MachineRow]) -> Option<String> {
    rows.iter().any(|row| row.arms.is_some()).then(|| analyze::machine::arms_note(&ARMS))
}

/// A count that a record holds as a real number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole")]
fn count(value: f64) -> Cell {
    Cell::Count(value as u128)
}
