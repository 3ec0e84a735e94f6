//! doctor's self-test: does a device count what every width must count?
//!
//! Input: a runner and the catalogue, whose kernels that test a form of control flow ([`parts`]) give
//! exact executions and lanes of labelled blocks as formulas in W. Output: a [`CaseResult`] a part. What a failure means for what is shown of the
//! device is [`trust`](super::trust)'s to say.

use std::collections::{BTreeMap, BTreeSet};

use super::launched::programs;
use super::{CountRequest, RunError, RunErrorKind, Runner};
use crate::kernel::{Catalogue, DeviceClass, Kernel, Launch, SEED};
use crate::program::Construct;
use crate::record::{Device, Method, Tag, TestedPart, Trust};
use crate::units::Width;

/// The least width for which the kernels' formulas hold.
pub const WIDTH_MIN: u32 = 4;

/// The kernels that test a form of control flow each, in the order of the forms. What else a kernel uses
/// is tested by parts of its own.
pub fn parts(catalogue: &Catalogue) -> impl Iterator<Item = (&Kernel, Construct)> {
    Construct::ALL.into_iter().filter_map(|construct| {
        let tests =
            |kernel: &&Kernel| kernel.description.tests.as_deref() == Some(construct.name());
        Some((catalogue.all().find(tests)?, construct))
    })
}

/// The result of one part of the self-test.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    /// The kernel's name within its family.
    pub name: String,
    /// The question that it asks.
    pub question: String,
    /// The form of control flow that it tests.
    pub construct: Construct,
    /// What differs, one sentence a block; empty where all counts are as expected.
    pub differences: Vec<String>,
    /// Whether all executions were as expected.
    pub executions_right: bool,
    /// Whether all lanes were.
    pub lanes_right: bool,
    /// How many labelled blocks were compared.
    pub blocks_compared: usize,
}

impl CaseResult {
    /// What a record keeps of it.
    fn to_record(&self) -> TestedPart {
        TestedPart {
            part: self.name.clone(),
            construct: self.construct.name().to_owned(),
            executions_right: self.executions_right,
            lanes_right: self.lanes_right,
        }
    }
}

/// Runs the parts for some forms of control flow, and notes in `device` what they found: its
/// [`Trust`], the parts, and the flag `self_test_failed` where a count is not the expected one. A
/// test that cannot be run flags nothing.
///
/// # Errors
///
/// What running gives, where the device is not usable after it.
pub fn examine(
    runner: &mut dyn Runner,
    catalogue: &Catalogue,
    constructs: &BTreeSet<Construct>,
    device: &mut Device,
) -> Result<(), RunError> {
    device.trust = Some(match run_some(runner, catalogue, constructs) {
        Ok(cases) => {
            device.self_test = cases.iter().map(CaseResult::to_record).collect();
            if device.self_test.iter().all(TestedPart::has_passed) {
                Trust::Observed
            } else {
                device.flags.push(Tag::SelfTestFailed.into());
                Trust::Unknown
            }
        }
        Err(error) if error.kind.ends_device() => return Err(error),
        Err(_) => Trust::Unknown,
    });
    Ok(())
}

/// Runs every part of the self-test.
///
/// # Errors
///
/// [`RunErrorKind::Unsupported`] where the device runs no subgroups, or narrower ones than
/// [`WIDTH_MIN`], or numbers lanes otherwise than by local index; else what running gives.
pub fn run(runner: &mut dyn Runner, catalogue: &Catalogue) -> Result<Vec<CaseResult>, RunError> {
    run_some(runner, catalogue, &BTreeSet::from(Construct::ALL))
}

/// As [`run`], for the parts that test one of `constructs`.
fn run_some(
    runner: &mut dyn Runner,
    catalogue: &Catalogue,
    constructs: &BTreeSet<Construct>,
) -> Result<Vec<CaseResult>, RunError> {
    let unsupported = |message: &str| RunError::new(RunErrorKind::Unsupported, message);
    let device = runner.device();
    let width = device.subgroup_width_run.ok_or_else(|| unsupported("it runs no subgroups"))?;
    if width.lanes() < WIDTH_MIN {
        return Err(unsupported("its subgroups have fewer than 4 lanes"));
    }
    if device.lane_is_local_index_mod_width != Some(true) {
        return Err(unsupported("its lanes are not numbered by local_invocation_index"));
    }
    let bad = |message: String| RunError::new(RunErrorKind::BadInput, message);
    let chosen = parts(catalogue).filter(|(_, construct)| constructs.contains(construct));
    chosen
        .map(|(kernel, construct)| {
            let launch = kernel
                .launch(DeviceClass::Quick, &BTreeMap::new(), SEED)
                .map_err(|error| bad(error.to_string()))?;
            let case = CaseResult {
                name: kernel.name().to_owned(),
                question: kernel.description.question.clone(),
                construct,
                differences: Vec::new(),
                executions_right: true,
                lanes_right: true,
                blocks_compared: 0,
            };
            compare(runner, &launch, width, case)
        })
        .collect()
}

/// Counts a part and notes in `result` what is not as expected.
fn compare(
    runner: &mut dyn Runner,
    launch: &Launch,
    width: Width,
    mut result: CaseResult,
) -> Result<CaseResult, RunError> {
    let counted = runner.count_once(launch, &CountRequest::once(Method::Executed))?;
    let programs = programs(launch)?;
    for (program, dispatch) in programs.iter().zip(&counted.dispatches) {
        for (block, count) in program.blocks().iter().zip(&dispatch.counts) {
            let Some(label) = &block.label else { continue };
            let expected = launch
                .counts_expected(label, width)
                .map_err(|message| RunError::new(RunErrorKind::BadInput, message))?;
            let Some((executions, lanes)) = expected else { continue };
            result.blocks_compared += 1;
            #[expect(clippy::cast_precision_loss, reason = "counts of the self-test are small")]
            let found = (count.executions.0 as f64, count.lanes.0 as f64);
            #[expect(clippy::float_cmp, reason = "whole numbers")]
            let right = [found.0 == executions, found.1 == lanes];
            result.executions_right &= right[0];
            result.lanes_right &= right[1];
            if right != [true; 2] {
                result.differences.push(format!(
                    "`{label}` (line {}): {} executions with {} lanes, where {executions} with {lanes} were \
                     expected",
                    block.location.line, found.0, found.1
                ));
            }
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::simulator::{STEPS_MAX, SimulatorRunner};
    use crate::run::trust::constructs;

    #[test]
    fn every_form_has_a_part_that_uses_it_and_every_kernel_is_a_part() {
        let catalogue = Catalogue::embedded().unwrap();
        let found: Vec<_> = parts(&catalogue).collect();
        assert_eq!(
            found.iter().map(|(_, construct)| *construct).collect::<Vec<_>>(),
            Construct::ALL
        );
        let family = found[0].0.family();
        let kernels = catalogue.all().filter(|kernel| kernel.family() == family);
        let names: BTreeSet<&str> = kernels.map(Kernel::name).collect();
        assert_eq!(names, found.iter().map(|(kernel, _)| kernel.name()).collect());
        for (kernel, construct) in found {
            let launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
            assert!(constructs(&launch).unwrap().contains(&construct), "{}", kernel.id);
        }
    }

    #[test]
    fn the_simulator_passes_every_part_and_only_what_is_asked_for_is_run() {
        let catalogue = Catalogue::embedded().unwrap();
        for width in [4, 32, 128] {
            let mut simulator = SimulatorRunner::new(Width::new(width).unwrap(), STEPS_MAX);
            for case in run(&mut simulator, &catalogue).unwrap() {
                assert!(case.differences.is_empty(), "{}: {:?}", case.name, case.differences);
                assert!(case.blocks_compared > 0, "{}", case.name);
            }
        }
        let mut simulator = SimulatorRunner::new(Width::new(8).unwrap(), STEPS_MAX);
        let mut device = simulator.device().clone();
        let wanted = BTreeSet::from([Construct::Loop, Construct::Switch]);
        examine(&mut simulator, &catalogue, &wanted, &mut device).unwrap();
        let parts: Vec<&str> = device.self_test.iter().map(|part| part.part.as_str()).collect();
        assert_eq!(parts, ["loop_trips", "switch_cases"]);
        assert_eq!((device.trust, device.flags.len()), (Some(Trust::Observed), 0));
    }
}
