//! `lanescope occupancy`: how many workgroups a core holds.
//!
//! Input: an architecture, and what a workgroup needs. Output: what each resource allows, and the
//! occupancy; without an architecture the table of those that are known. No device is opened.

use crate::units::text;
use std::io::Write;

use serde_json::json;

use super::arguments::OccupancyArguments;
use super::failure::{Exit, Failure};
use crate::occupancy::{self, Architecture, Needs, Occupancy};
use crate::present::fit::fold;
use crate::present::{Cell, Column, Table, terminal_columns};

/// Prints an occupancy, or the architectures.
pub(crate) fn occupancy(
    arguments: &OccupancyArguments,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let Some(name) = &arguments.arch else {
        let all = occupancy::architectures().map_err(Failure::bad_input)?;
        writeln!(out, "{}", architectures(all).to_text(terminal_columns()))?;
        return Ok(Exit::Done);
    };
    let architecture = occupancy::architecture(name).map_err(Failure::bad_input)?;
    let needs = Needs {
        registers: arguments.registers,
        memory_bytes: arguments.workgroup_memory,
        invocations: arguments.workgroup_size,
    };
    let found = occupancy::occupancy(&architecture, &needs).map_err(Failure::bad_input)?;
    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &document(&architecture, &found))
            .map_err(Failure::bad_input)?;
        writeln!(out)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{}: {}", architecture.name, architecture.description)?;
    writeln!(out, "{}", limits(&found).to_text(terminal_columns()))?;
    let limiting: Vec<String> = found.limiting().map(|resource| resource.to_string()).collect();
    let sentence = format!(
        "Occupancy {}: {} of {} subgroups, {} {} of {}; limited by {}.",
        text::percent(found.ratio),
        found.subgroups,
        architecture.subgroups,
        found.workgroups,
        if found.workgroups == 1 { "workgroup" } else { "workgroups" },
        found.subgroups_per_workgroup,
        limiting.join(" and ")
    );
    writeln!(out, "{}", fold(&sentence, "", terminal_columns()))?;
    if arguments.registers == 0 {
        writeln!(out, "Without --registers, registers do not limit.")?;
    }
    Ok(Exit::Done)
}

/// What each resource allows of a workgroup.
fn limits(found: &Occupancy) -> Table {
    let columns =
        [Column::words("resource"), Column::figures("workgroups"), Column::figures("subgroups")];
    let mut table = Table::new("", columns);
    for limit in &found.limits {
        let times = |times: u32| {
            Cell::from_option(limit.workgroups, |workgroups| {
                Cell::Count((workgroups * times).into())
            })
        };
        let name = Cell::text(limit.resource.to_string());
        table.rows.push(vec![name, times(1), times(found.subgroups_per_workgroup)]);
    }
    table
}

/// What a core of each architecture holds.
fn architectures(all: &[Architecture]) -> Table {
    let columns = [
        Column::words("architecture"),
        Column::words("devices").below(),
        Column::figures("W"),
        Column::figures("subgroups"),
        Column::figures("workgroups"),
        Column::figures("registers"),
        Column::figures("workgroup memory"),
        Column::words("sources").named_below(),
    ];
    let mut table = Table::new("", columns);
    for limits in all {
        let figures = [
            limits.width,
            limits.subgroups,
            limits.workgroups,
            limits.registers,
            limits.memory_bytes,
        ];
        let mut row = vec![Cell::text(&limits.name), Cell::text(&limits.description)];
        row.extend(figures.map(|figure| Cell::Count(figure.into())));
        row.push(Cell::text(limits.sources.join(", ")));
        table.rows.push(row);
    }
    table
}

/// An occupancy for machines.
fn document(architecture: &Architecture, found: &Occupancy) -> serde_json::Value {
    let limits: serde_json::Map<String, serde_json::Value> = found
        .limits
        .iter()
        .map(|limit| (limit.resource.to_string().replace(' ', "_"), json!(limit.workgroups)))
        .collect();
    json!({
        "architecture": architecture.name,
        "subgroups_per_workgroup": found.subgroups_per_workgroup,
        "workgroups_by_resource": limits,
        "workgroups": found.workgroups,
        "subgroups": found.subgroups,
        "subgroups_max": architecture.subgroups,
        "occupancy_ratio": found.ratio,
        "sources": architecture.sources,
    })
}
