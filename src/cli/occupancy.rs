//! `lanescope occupancy`: how many workgroups a core holds.
//!
//! Input: an architecture, and what a workgroup needs. Output: what each resource allows, and the
//! occupancy; without an architecture the table of those that are known. No device is opened.

use std::io::Write;

use serde_json::json;

use super::arguments::OccupancyArguments;
use super::failure::{Exit, Failure};
use super::table::{self, Style};
use crate::occupancy::{self, Architecture, Needs, Occupancy};

/// Prints an occupancy, or the architectures.
pub(crate) fn occupancy(
    arguments: &OccupancyArguments,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let Some(name) = &arguments.arch else {
        let all = occupancy::architectures().map_err(Failure::bad_input)?;
        writeln!(out, "{}", table::architectures(&all, Style::Terminal))?;
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
    writeln!(out, "{}", table::occupancy(&found, Style::Terminal))?;
    let limiting: Vec<String> = found.limiting().map(|resource| resource.to_string()).collect();
    writeln!(
        out,
        "Occupancy {:.1} %: {} of {} subgroups, {} workgroups of {}; limited by {}.",
        found.ratio.0 * 100.0,
        found.subgroups,
        architecture.subgroups,
        found.workgroups,
        found.subgroups_per_workgroup,
        limiting.join(" and ")
    )?;
    if arguments.registers == 0 {
        writeln!(out, "Without --registers, registers do not limit.")?;
    }
    Ok(Exit::Done)
}

/// The same for machines.
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
