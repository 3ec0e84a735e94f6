//! `radv:<family>/<32|64>`: AMD's machine code, compiled by Mesa's RADV and executed here.
//!
//! Input: launches. Output: outputs with verdicts, and what each machine instruction did: how often
//! waves executed it, with how many lanes, in how many passes. No times: nothing runs on a GPU, and
//! no count of instructions is one of cycles.
//!
//! RADV compiles for hardware that is not there, where `RADV_FORCE_FAMILY` names it: the variable is
//! set for the process that opens a place, before it starts ([`environment`]). The code that
//! runs is the plain module's, as it would be timed: without run-time checks where the launch is
//! trusted, else with those of indices and divisions. Where Mesa is not installed,
//! the catalogue's code as it was compiled elsewhere runs ([`brought`]), and nothing else.
//!
//! | file | what it does |
//! |---|---|
//! | `brought` | the machine code that lanescope brings, for machines without Mesa |
//! | `compiled` | what is compiled, and what comes of it |
//! | `driver` | the only place that sees ash: SPIR-V in, machine code and texts out |
//! | `facts` | from the driver's texts to the interpreter's facts, and to lines beside the instructions |
//! | `place` | which places there are, and what they give |
//! | `runner` | the device: a launch compiled, executed and matched |
//! | `steps` | executed code as [`mapping`](crate::mapping) looks at it |
//! | `source` | where machine code comes from |

pub mod brought;
pub mod compiled;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod facts;
mod place;
mod runner;
mod source;
mod steps;

pub use runner::{Disturb, Executed, Matched, RadvRunner};

use std::path::Path;

use place::family_of;
pub use place::{FAMILIES, GIVES, RadvPlace};

use super::back_end::OpenOptions;
use super::{RunError, RunErrorKind, Runner};

/// Where Mesa's description of RADV for the Vulkan loader lies.
const ICDS: [&str; 2] =
    ["/usr/share/vulkan/icd.d/radeon_icd.x86_64.json", "/usr/share/vulkan/icd.d/radeon_icd.json"];

/// What the process that opens a family must have in its environment, beside its parent's, so that
/// RADV compiles for it.
///
/// # Errors
///
/// A sentence where the family is not executed or RADV is not installed.
pub fn environment(family: &str) -> Result<Vec<(String, String)>, String> {
    let family = family_of(family)?;
    let icd = ICDS.iter().find(|path| Path::new(path).exists()).ok_or(
        "Mesa's RADV is not installed; on Linux, Debian and Ubuntu have it in mesa-vulkan-drivers",
    )?;
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok(vec![
        pair("RADV_FORCE_FAMILY", family),
        pair("VK_DRIVER_FILES", icd),
        pair("VK_ICD_FILENAMES", icd),
        pair("MESA_SHADER_CACHE_DISABLE", "true"),
    ])
}

/// [`environment`] of the family of a place.
pub(super) fn environment_of(place: &str) -> Result<Vec<(String, String)>, String> {
    let family = place.split('/').next().unwrap_or(place);
    // Without RADV the code that lanescope brings runs, which asks for nothing.
    family_of(family).map(|family| environment(family).unwrap_or_default())
}

/// Opens a place in this process, as a row of the back ends asks.
pub(super) fn open(place: &str, options: &OpenOptions) -> Result<Box<dyn Runner>, RunError> {
    let missing = |why: Option<String>| {
        let why = why.unwrap_or_else(|| "a family and 32 or 64 are wanted".to_owned());
        RunError::new(RunErrorKind::NoDevice, format!("there is no device radv:{place} ({why})"))
    };
    let place = RadvPlace::parse(place).map_err(missing)?;
    let runner = RadvRunner::open(place)?.steps_max(options.steps_max);
    Ok(Box::new(runner.operations_max(options.operations_max)))
}
