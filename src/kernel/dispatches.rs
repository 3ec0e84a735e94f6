//! A description's dispatches, worked out: entry points, workgroups, overrides, repetitions.
//!
//! Input: the description and the parameters' values. Output: the list that a [`super::Launch`]
//! holds, each repetition by itself. It knows nothing of buffers' contents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::described::KernelLanguage;
use super::format::{Description, DispatchDescription, IndirectDescription, WorkgroupsDescription};
use super::formula::{self, Names};
use super::limits::{DISPATCHES_MAX, REPETITIONS_MAX, WORKGROUPS_PER_DIMENSION_MAX, fold};
use super::names::{add_names, interpolate, values};
use crate::record::Value;

/// A dispatch of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The entry point.
    pub entry_point: String,
    /// The number of workgroups.
    pub workgroups: Workgroups,
    /// Values of overrides for it alone, over those of the launch.
    #[serde(default)]
    pub overrides: BTreeMap<String, f64>,
    /// Whether it only makes ready what the others work on: not timed, not in the launch's mean.
    #[serde(default)]
    pub setup: bool,
    /// What a kernel in CUDA C++ is launched with beside; nothing in WGSL, which says it itself.
    #[serde(default)]
    pub native: Option<Native>,
}

/// How a kernel in CUDA C++ is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Native {
    /// Invocations a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Whether all workgroups must be on the device at once.
    pub cooperative: bool,
}

/// The number of workgroups of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workgroups {
    /// Along x, y and z.
    Direct([u32; 3]),
    /// Read from a buffer when the dispatch runs: three u32.
    Indirect {
        /// The buffer's name.
        buffer: String,
        /// The offset in it, in bytes.
        offset: u64,
    },
}

impl Workgroups {
    /// What the launch gives; `None` of those that a buffer holds.
    pub fn direct(&self) -> Option<[u32; 3]> {
        match self {
            Self::Direct(workgroups) => Some(*workgroups),
            Self::Indirect { .. } => None,
        }
    }
}

/// Works out every dispatch, in order.
///
/// # Errors
///
/// A sentence that names the dispatch and what in it cannot be worked out.
pub(super) fn build_all(
    language: KernelLanguage,
    description: &Description,
    parameters: &BTreeMap<String, Value>,
    names: &Names,
) -> Result<Vec<Dispatch>, String> {
    let named = add_names(&description.names, parameters)?;
    let mut dispatches = Vec::new();
    for dispatch in &description.dispatches {
        dispatches.extend(repeat(language, dispatch, &named, names)?);
        if dispatches.len() > DISPATCHES_MAX {
            return Err(format!("there are over {DISPATCHES_MAX} dispatches, the limit"));
        }
    }
    Ok(dispatches)
}

/// A described dispatch, as often as it stands in the list.
fn repeat(
    language: KernelLanguage,
    dispatch: &DispatchDescription,
    parameters: &BTreeMap<String, Value>,
    names: &Names,
) -> Result<Vec<Dispatch>, String> {
    let mut names = names.clone();
    let entry_point = interpolate(&dispatch.entry_point, parameters)?;
    let count = dispatch.repeat.as_ref().map(|count| formula::evaluate_count(count, &names));
    let about = |message: String| format!("the dispatch of `{entry_point}`: {message}");
    let count = count.transpose().map_err(|message| about(format!("`repeat`: {message}")))?;
    let count = count.unwrap_or(1);
    if count > REPETITIONS_MAX {
        return Err(about(format!("it is repeated {count} times; at most {REPETITIONS_MAX}")));
    }
    let setup = dispatch.setup.holds(parameters).map_err(about)?;
    let mut dispatches = Vec::new();
    for repetition in 0..count {
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        names.insert("repetition".to_owned(), repetition as f64);
        let workgroups = match (&dispatch.workgroups, &dispatch.indirect) {
            (Some(given), None) => Workgroups::Direct(
                grid(given, &names).map_err(|message| about(format!("`workgroups`: {message}")))?,
            ),
            (None, Some(given)) => indirect(given, repetition).map_err(about)?,
            _ => {
                return Err(format!(
                    "the dispatch of `{entry_point}` needs either `workgroups` or `indirect`"
                ));
            }
        };
        dispatches.push(Dispatch {
            entry_point: entry_point.clone(),
            workgroups,
            overrides: values(&dispatch.overrides, &names)?,
            setup,
            native: native(language, dispatch, &names).map_err(about)?,
        });
    }
    Ok(dispatches)
}

/// What a dispatch of a kernel in CUDA C++ needs beside, and one in WGSL must not have.
fn native(
    language: KernelLanguage,
    dispatch: &DispatchDescription,
    names: &Names,
) -> Result<Option<Native>, String> {
    match (language, dispatch.workgroup_size) {
        (KernelLanguage::Wgsl, None) if dispatch.cooperative.is_none() => Ok(None),
        (KernelLanguage::Wgsl, _) => {
            Err("it has `workgroup_size` or `cooperative`, which only CUDA C++ takes".to_owned())
        }
        (KernelLanguage::Cuda, None) => Err("it needs a `workgroup_size`".to_owned()),
        (KernelLanguage::Cuda, Some(workgroup_size)) => {
            let cooperative = dispatch.cooperative.as_ref();
            let cooperative =
                cooperative.map_or(Ok(0), |asked| formula::evaluate_count(asked, names))?;
            Ok(Some(Native { workgroup_size, cooperative: cooperative != 0 }))
        }
    }
}

fn grid(given: &WorkgroupsDescription, names: &Names) -> Result<[u32; 3], String> {
    match given {
        WorkgroupsDescription::Count(formula) => {
            let count = formula::evaluate_count(formula, names)?;
            fold(count).ok_or_else(|| format!("{count} workgroups do not fit into 65535 × 65535"))
        }
        WorkgroupsDescription::Grid(formulas) => {
            let mut counts = [0; 3];
            for (count, formula) in counts.iter_mut().zip(formulas) {
                let value = formula::evaluate_count(formula, names)?;
                *count = u32::try_from(value)
                    .ok()
                    .filter(|count| *count <= WORKGROUPS_PER_DIMENSION_MAX)
                    .ok_or_else(|| {
                        format!("{value} workgroups are over the limit of 65535 a dimension")
                    })?;
            }
            Ok(counts)
        }
    }
}

/// Where a repetition of an indirect dispatch reads its workgroups.
fn indirect(given: &IndirectDescription, repetition: u64) -> Result<Workgroups, String> {
    let IndirectDescription { buffer, offset, stride } = given;
    for (key, value) in [("offset", offset), ("stride", stride)] {
        if !value.is_multiple_of(4) {
            return Err(format!("`{key}` is {value}, and must be a multiple of 4"));
        }
    }
    Ok(Workgroups::Indirect { buffer: buffer.clone(), offset: offset + repetition * stride })
}
