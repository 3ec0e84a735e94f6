//! The tables of machine code: executed without its hardware, and counted by the hardware.
//!
//! Input: a run. Output: [`Table`]s.

use super::{Cell, Column, Table};
use crate::analyze;
use crate::record::Run;

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
    table.notes.push(
        "Lanes are those that EXEC had on, over vector instructions. A wave of 64 takes two passes of 32 lanes \
         an instruction; at least where every empty half is skipped, at most where none is. No pass is a cycle."
            .to_owned(),
    );
    table.notes.push(ARMS.to_owned());
    Some(table)
}

/// What the words of the last column of machine code mean.
const ARMS: &str = "Arms and loops: kept, a branch on a condition of the whole subgroup leads over the arm, or \
                    the loop is a loop; skipped, lanes part, and a branch leads over it where none is left; \
                    masked, its lanes alone are on, and every subgroup goes through; flattened, every lane \
                    computes it, and selects choose; unrolled, a loop's body is there in copies; folded, \
                    nothing is left of it; merged, the counts do not tell it from what surrounds it. These words \
                    are read off the counts of each launch: with other data the same code may get others.";

/// What the hardware counted of machine code; `None` if it did not.
pub(super) fn counted_code(run: &Run) -> Option<Table> {
    let rows = analyze::machine::counted(run);
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
    table.notes.push(ARMS.to_owned());
    Some(table)
}

/// A count that a record holds as a real number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole")]
fn count(value: f64) -> Cell {
    Cell::Count(value as u128)
}
