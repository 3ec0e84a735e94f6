//! Tables as typed cells, each listed once: what a terminal, Markdown, CSV and the page show is the same.
//!
//! Input: runs, and tables of `analyze`. Output: [`Table`]s of [`Cell`]s, which this module writes for a
//! terminal, as Markdown and as CSV, and `report` as HTML. No figure is worked out here, and nothing is
//! printed or written to disk.

mod before_after;
mod cell;
mod claims;
mod condense;
pub mod fit;
mod flame;
mod gallery;
mod layout;
mod machine_code;
mod table;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod traffic;
mod width_costs;

pub use before_after::{comparison, device_text, launch_comparison};
pub use cell::{Cell, count_text, workgroups};
pub use claims::{
    claims_checklist, claims_counted, claims_markdown, claims_plain, claims_screen, claims_table,
};
pub use flame::{FlameBox, flame_boxes, speedscope, totals};
pub use gallery::{gallery, gallery_claims};
pub use machine_code::compared_code;
#[cfg(feature = "devices")]
pub use table::error_columns;
pub use table::{Align, Column, Table, terminal_columns, to_csv};
pub use tables::{
    Section, crossovers, devices, launches_table, memory_table, misses_table, model, peers,
    profile_table, side_by_side, spread_table, summary, summary_plain, summary_tables, tables,
    waits_table, width_reported,
};
pub use traffic::traffic;
pub use width_costs::{kernel_costs, machine_models, width_costs};
