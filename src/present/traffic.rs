//! The table of memory traffic: the model beside hardware counters.
//!
//! Input: a run. Output: a table with a row for each launch and kind of traffic that both know.

use super::{Cell, Column, Table};
use crate::analyze;
use crate::record::Run;

/// What the model of memory says beside hardware counters; `None` if no launch has both.
pub fn traffic(run: &Run) -> Option<Table> {
    let rows = analyze::traffic_beside_counters(run);
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::words("device"),
        Column::words("traffic"),
        Column::figures("modelled"),
        Column::figures("counted"),
        Column::figures("counted / modelled"),
    ];
    let mut table = Table::new("Memory: the model beside hardware counters", columns);
    for row in &rows {
        table.rows.push(vec![
            Cell::Kernel(row.kernel.clone()),
            Cell::parameters(&row.parameters),
            Cell::text(&row.label),
            Cell::text(row.what),
            Cell::Count(row.modelled.into()),
            Cell::text(crate::units::figure(row.counted)),
            Cell::from_option(row.ratio(), Cell::Factor),
        ]);
    }
    table.notes = vec![
        "Sectors are of 32 bytes of global memory, uniform buffers left out; passes are over the 32 banks of \
         workgroup memory. The model knows no caches and no compiler: what a compiler keeps in registers is \
         counted as the source says it, and the zeros that workgroup memory begins with are not counted."
            .to_owned(),
    ];
    (!rows.is_empty()).then_some(table)
}
