//! How many workgroups a core holds at once, from what each of them needs.
//!
//! Input: an architecture's limits, which lie in `limits.toml` with their sources, and a workgroup's
//! registers, workgroup memory and size. Output: how many workgroups each resource allows, which is
//! the scarcest, and the occupancy: subgroups that are there over subgroups that there is room for.
//! Arithmetic alone: no device is asked, and what a device achieves (tails, uneven spread) may be less.
//!
//! # The rules
//!
//! A *core* is what the subgroups of a workgroup share: a multiprocessor, a compute unit, or a
//! work-group processor of two compute units. Its registers are divided among *register files*; a
//! subgroup gets a whole number of units from one of them, so what is left over in each file is lost.
//! Workgroup memory is given out in units as well, after what the driver keeps of it for itself.
//! A workgroup is there as a whole or not at all.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::units::{Ratio, Width};

#[cfg(test)]
mod tests;

/// The embedded table.
const LIMITS: &str = include_str!("limits.toml");

/// What a core of one architecture holds at once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// The name that compilers use, such as `sm_90` or `gfx1100`.
    pub name: String,
    /// Who makes it.
    pub vendor: Vendor,
    /// Devices of it, in words.
    pub description: String,
    /// Words in the names by which drivers call its devices; `*` stands for the rest of a word.
    pub devices: Vec<String>,
    /// Lanes of a subgroup.
    pub width: u32,
    /// The most invocations of a workgroup.
    pub workgroup_invocations_max: u32,
    /// The most subgroups.
    pub subgroups: u32,
    /// The most workgroups.
    pub workgroups: u32,
    /// Whether workgroups of a single subgroup are not counted among [`Architecture::workgroups`].
    #[serde(default)]
    pub single_subgroup_free: bool,
    /// 32-bit registers, of all register files together.
    pub registers: u32,
    /// The portions in which a subgroup gets registers.
    pub registers_unit: u32,
    /// The most registers of an invocation.
    pub registers_per_invocation_max: u32,
    /// Among how many files the registers are divided.
    pub register_files: u32,
    /// Workgroup memory, in bytes.
    pub memory_bytes: u32,
    /// The most workgroup memory of a workgroup, in bytes.
    pub memory_per_workgroup_bytes_max: u32,
    /// The portions in which a workgroup gets memory, in bytes.
    pub memory_unit_bytes: u32,
    /// What the driver keeps for itself in each workgroup, in bytes.
    pub memory_reserved_bytes: u32,
    /// 32-bit multiply-adds a cycle, of all lanes of a core together; `None` if no source was read.
    pub multiply_adds_per_cycle: Option<u32>,
    /// Names of the sources, which the table's head explains.
    pub sources: Vec<String>,
}

/// Who makes an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vendor {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
}

/// The file's whole content.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OccupancyTable {
    architectures: Vec<Architecture>,
}

/// What a workgroup needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// 32-bit registers of an invocation; 0 where they are not known, and then do not limit.
    pub registers: u32,
    /// Workgroup memory, in bytes.
    pub memory_bytes: u32,
    /// Invocations, at least 1.
    pub invocations: u32,
}

/// Something that a core has only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OccupancyResource {
    /// Registers.
    Registers,
    /// Workgroup memory.
    Memory,
    /// Places for workgroups.
    Workgroups,
    /// Places for subgroups.
    Subgroups,
}

/// How many workgroups a resource allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OccupancyLimit {
    /// The resource.
    pub resource: OccupancyResource,
    /// How many workgroups it has room for; `None` if the workgroup needs none of it.
    pub workgroups: Option<u32>,
}

/// What a core holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Occupancy {
    /// Subgroups of a workgroup.
    pub subgroups_per_workgroup: u32,
    /// What each resource allows.
    pub limits: Vec<OccupancyLimit>,
    /// Workgroups that are there at once.
    pub workgroups: u32,
    /// Their subgroups.
    pub subgroups: u32,
    /// [`Occupancy::subgroups`] over the most that there is room for.
    pub ratio: Ratio,
}

impl Occupancy {
    /// The resources that allow no more workgroups than there are.
    pub fn limiting(&self) -> impl Iterator<Item = OccupancyResource> {
        let least = |limit: &&OccupancyLimit| limit.workgroups == Some(self.workgroups);
        self.limits.iter().filter(least).map(|limit| limit.resource)
    }
}

impl std::fmt::Display for OccupancyResource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Registers => "registers",
            Self::Memory => "workgroup memory",
            Self::Workgroups => "workgroups",
            Self::Subgroups => "subgroups",
        })
    }
}

/// Why an occupancy cannot be worked out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OccupancyError {
    /// The embedded table is damaged.
    #[error("limits.toml: {0}")]
    Table(String),
    /// There is no such architecture.
    #[error("there is no architecture {name:?}; there are: {known}")]
    Architecture {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A workgroup of that kind does not fit on a core at all.
    #[error("{architecture} takes at most {max} {what}, and {asked} are asked for")]
    TooMuch {
        /// The architecture's name.
        architecture: String,
        /// Of what.
        what: &'static str,
        /// How much is asked for.
        asked: u32,
        /// How much there may be.
        max: u32,
    },
}

/// Reads the table.
///
/// # Errors
///
/// [`OccupancyError::Table`] where it is damaged; a test shows that it is not.
pub fn architectures() -> Result<&'static [Architecture], OccupancyError> {
    static READ: OnceLock<Result<OccupancyTable, OccupancyError>> = OnceLock::new();
    let read = || toml::from_str(LIMITS).map_err(|error| OccupancyError::Table(error.to_string()));
    match READ.get_or_init(read) {
        Ok(table) => Ok(&table.architectures),
        Err(error) => Err(error.clone()),
    }
}

/// Finds an architecture by its name.
///
/// # Errors
///
/// [`OccupancyError::Architecture`] with the names that there are.
pub fn architecture(name: &str) -> Result<Architecture, OccupancyError> {
    let all = architectures()?;
    if let Some(found) = all.iter().find(|limits| limits.name == name) {
        return Ok(found.clone());
    }
    let known: Vec<&str> = all.iter().map(|limits| limits.name.as_str()).collect();
    Err(OccupancyError::Architecture { name: name.to_owned(), known: known.join(", ") })
}

/// Finds the architecture of a device by the name that its driver gives; the longest part of a name
/// that is in it decides. `None` if the table knows no such device.
///
/// # Errors
///
/// [`OccupancyError::Table`] where the table is damaged.
pub fn of_device(device: &str) -> Result<Option<Architecture>, OccupancyError> {
    let mut best: Option<(usize, &Architecture)> = None;
    for limits in architectures()? {
        let parts = limits.devices.iter().filter(|part| has_word(device, part));
        if let Some(length) = parts.map(String::len).max()
            && best.as_ref().is_none_or(|(known, _)| length > *known)
        {
            best = Some((length, limits));
        }
    }
    Ok(best.map(|(_, occupancy)| occupancy.clone()))
}

/// Whether `part` is in `text` as whole words; where it ends in `*`, as the beginning of words.
fn has_word(text: &str, part: &str) -> bool {
    let word = part.trim_end_matches('*');
    let apart = |next: Option<char>| !next.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        let after = text[at + word.len()..].chars().next();
        apart(text[..at].chars().next_back()) && (word != part || apart(after))
    })
}

/// Works out what a core holds.
///
/// # Errors
///
/// [`OccupancyError::TooMuch`] where not even one such workgroup fits.
pub fn occupancy(architecture: &Architecture, needs: &Needs) -> Result<Occupancy, OccupancyError> {
    let maxima = architecture;
    let check = |what: &'static str, asked: u32, max: u32| {
        let architecture = maxima.name.clone();
        if asked <= max {
            Ok(())
        } else {
            Err(OccupancyError::TooMuch { architecture, what, asked, max })
        }
    };
    check("invocations a workgroup", needs.invocations, maxima.workgroup_invocations_max)?;
    check("registers an invocation", needs.registers, maxima.registers_per_invocation_max)?;
    let memory_max = maxima.memory_per_workgroup_bytes_max;
    check("bytes of workgroup memory a workgroup", needs.memory_bytes, memory_max)?;
    let per_workgroup = needs.invocations.max(1).div_ceil(maxima.width);

    let registers = (needs.registers > 0).then(|| {
        let per_subgroup = (needs.registers * maxima.width).next_multiple_of(maxima.registers_unit);
        let per_file = maxima.registers / maxima.register_files / per_subgroup;
        per_file * maxima.register_files / per_workgroup
    });
    if registers == Some(0) {
        let most = maxima.registers / (per_workgroup * maxima.width);
        check("registers an invocation in workgroups of that size", needs.registers, most)?;
    }
    let memory_bytes = needs.memory_bytes + maxima.memory_reserved_bytes;
    let memory = (memory_bytes > 0)
        .then(|| maxima.memory_bytes / memory_bytes.next_multiple_of(maxima.memory_unit_bytes));
    let counted = !(maxima.single_subgroup_free && per_workgroup == 1);
    let limits = vec![
        OccupancyLimit { resource: OccupancyResource::Registers, workgroups: registers },
        OccupancyLimit { resource: OccupancyResource::Memory, workgroups: memory },
        OccupancyLimit {
            resource: OccupancyResource::Workgroups,
            workgroups: counted.then_some(maxima.workgroups),
        },
        OccupancyLimit {
            resource: OccupancyResource::Subgroups,
            workgroups: Some(maxima.subgroups / per_workgroup),
        },
    ];
    let workgroups = limits.iter().filter_map(|limit| limit.workgroups).min().unwrap_or(0);
    let subgroups = workgroups * per_workgroup;
    let ratio = Ratio(f64::from(subgroups) / f64::from(maxima.subgroups));
    Ok(Occupancy { subgroups_per_workgroup: per_workgroup, limits, workgroups, subgroups, ratio })
}

impl Architecture {
    /// The width as a type of its own.
    ///
    /// # Errors
    ///
    /// [`OccupancyError::Table`] where the table holds none that can be.
    pub fn subgroup_width(&self) -> Result<Width, OccupancyError> {
        Width::new(self.width).map_err(|error| OccupancyError::Table(error.to_string()))
    }
}
