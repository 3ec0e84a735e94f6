//! doctor's self-test: does a device count what every width must count?
//!
//! Input: a runner and the catalogue's family `self_test`, whose descriptions give exact issues and
//! lanes of labelled blocks as formulas in W. Output: a [`CaseResult`] a kernel. What a failure means for what is shown
//! of the device is the caller's to say.

use super::measure::programs;
use super::{CountOptions, RunError, RunErrorKind, Runner};
use crate::kernel::{Catalogue, DeviceClass, Launch, SEED};
use crate::units::Width;

/// The family of the self-test's kernels.
pub const FAMILY: &str = "self_test";

/// The least width for which the kernels' formulas hold.
pub const WIDTH_MIN: u32 = 4;

/// The result of one kernel of the self-test.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    /// The kernel's name within its family.
    pub name: String,
    /// The question that it asks.
    pub question: String,
    /// What differs, one sentence a block; empty where all counts are as expected.
    pub differences: Vec<String>,
    /// How many labelled blocks were compared.
    pub blocks_compared: usize,
}

/// Runs every kernel of the self-test.
///
/// # Errors
///
/// [`RunErrorKind::Unsupported`] where the device runs no subgroups, or narrower ones than
/// [`WIDTH_MIN`], or numbers lanes otherwise than by local index; else what running gives.
pub fn run(runner: &mut dyn Runner, catalogue: &Catalogue) -> Result<Vec<CaseResult>, RunError> {
    let unsupported = |message: &str| RunError::new(RunErrorKind::Unsupported, message);
    let device = runner.device();
    let width = device.subgroup_width_run.ok_or_else(|| unsupported("it runs no subgroups"))?;
    if width.lanes() < WIDTH_MIN {
        return Err(unsupported("its subgroups have fewer than 4 lanes"));
    }
    if device.lane_is_local_index_mod_width != Some(true) {
        return Err(unsupported("its lanes are not numbered by local_invocation_index"));
    }
    let kernels = catalogue.kernels().filter(|kernel| kernel.family() == FAMILY);
    kernels
        .map(|kernel| {
            let launch = kernel
                .launch(DeviceClass::Quick, &std::collections::BTreeMap::new(), SEED)
                .map_err(|error| RunError::new(RunErrorKind::BadInput, error.to_string()))?;
            let question = kernel.description.question.clone();
            case(runner, &launch, width, kernel.name(), question)
        })
        .collect()
}

fn case(
    runner: &mut dyn Runner,
    launch: &Launch,
    width: Width,
    name: &str,
    question: String,
) -> Result<CaseResult, RunError> {
    let counted = runner.count(launch, &CountOptions { histogram: false, derived: false })?;
    let programs = programs(launch)?;
    let mut result =
        CaseResult { name: name.to_owned(), question, differences: Vec::new(), blocks_compared: 0 };
    for (program, dispatch) in programs.iter().zip(&counted.dispatches) {
        for (block, count) in program.blocks().iter().zip(&dispatch.counts) {
            let Some(label) = &block.label else { continue };
            let expected = launch
                .counts_expected(label, width)
                .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
            let Some((issues, lanes)) = expected else { continue };
            result.blocks_compared += 1;
            #[expect(clippy::cast_precision_loss, reason = "counts of the self-test are small")]
            let found = (count.issues.0 as f64, count.lanes.0 as f64);
            if found != (issues, lanes) {
                result.differences.push(format!(
                    "`{label}` (line {}): {} issues with {} lanes, where {issues} with {lanes} were \
                     expected",
                    block.location.line, found.0, found.1
                ));
            }
        }
    }
    Ok(result)
}
