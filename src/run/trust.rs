//! How far a shader's counts on a device can be trusted, and how to count it there.
//!
//! Input: what the self-test found, and the forms of control flow that a shader uses. Output: a
//! verdict for that shader, and a way of counting. It runs nothing.
//!
//! # The rule
//!
//! A shader's trust follows from the self-test's parts for the forms that the shader uses, and from
//! no other: a device that executes a `case` of two selectors twice is still observed to count loops
//! and `if`s right. Where every such part passed, counts may be derived. Where one failed, each
//! execution is counted, and what comes out is what the device does, as far as its subgroup
//! operations tell it. They are not believed at all, and counts are estimated, where
//!
//! - the device has no subgroup operations;
//! - a part for a form that the shader uses gave wrong *lanes*. They depend on where lanes reconverge only
//!   behind a subgroup operation, as in the part for `subgroup_in_shared_case`: where that fails, the
//!   operations of such a case do not see its lanes together, and neither need those that would count
//!   them. The shader's own operations give other values there, so that outputs may differ, too;
//! - a part for one of the plain forms (`branch`, `nested_branch`, `early_return`, `loop`,
//!   `nested_loop`, `branch_in_loop`, `call`, `loop_in_call`) failed in any way: every GPU that was
//!   tried brings lanes together there, so that the operations themselves are the suspects.

use std::collections::BTreeSet;

use super::RunError;
use super::launched::{Programs, programs};
use crate::kernel::Launch;
use crate::program::Construct;
use crate::record::{Device, Method, ShaderTrust, Trust};

/// The forms of control flow that a launch's entry points use, together.
///
/// # Errors
///
/// [`super::RunErrorKind::BadInput`] with naga's diagnostic.
pub fn constructs(launch: &Launch) -> Result<BTreeSet<Construct>, RunError> {
    Ok(programs(launch)?.constructs().clone())
}

/// The trust in the counts of a launch's programs on a device; `None` if the device was not
/// tested.
pub fn of_shader(device: &Device, programs: &Programs) -> Option<ShaderTrust> {
    assess(device, programs.constructs())
}

/// The trust in the counts of a shader that uses `constructs`.
pub fn assess(device: &Device, constructs: &BTreeSet<Construct>) -> Option<ShaderTrust> {
    let names: Vec<String> =
        constructs.iter().map(|construct| construct.name().to_owned()).collect();
    if device.is_simulator() {
        let trust = Trust::Guaranteed;
        return Some(ShaderTrust { trust, constructs: names, failed: Vec::new() });
    }
    let of_device = device.trust?;
    let fails = |name: &&String| {
        device.self_test.iter().any(|part| part.construct == **name && !part.has_passed())
    };
    let failed: Vec<String> = names.iter().filter(fails).cloned().collect();
    // A test that could not be run has no parts, and leaves the device unknown.
    let possible = of_device != Trust::Unknown || !device.self_test.is_empty();
    let tested =
        names.iter().all(|name| device.self_test.iter().any(|part| part.construct == *name));
    let trust = match possible && tested && failed.is_empty() {
        true => Trust::Observed,
        false => Trust::Unknown,
    };
    Some(ShaderTrust { trust, constructs: names, failed })
}

/// How a shader is counted that is not asked for in a certain way.
pub fn method(device: &Device, constructs: &BTreeSet<Construct>) -> Method {
    if device.subgroup_width_run.is_none() {
        return Method::Estimated;
    }
    let suspect = device.self_test.iter().any(|part| {
        let used = constructs.iter().find(|construct| construct.name() == part.construct);
        used.is_some_and(|construct| !part.lanes_right || (plain(*construct) && !part.has_passed()))
    });
    let trust = assess(device, constructs).map(|judged| judged.trust);
    match trust {
        _ if suspect => Method::Estimated,
        // A CPU's driver is asked what it does: lavapipe, for one, leaves long loops by itself.
        Some(Trust::Guaranteed | Trust::Observed) if !device.cpu_driver => Method::Derived,
        _ => Method::Executed,
    }
}

/// Whether every device is expected to bring lanes together again after a form.
fn plain(construct: Construct) -> bool {
    match construct {
        Construct::Branch
        | Construct::NestedBranch
        | Construct::EarlyReturn
        | Construct::Loop
        | Construct::NestedLoop
        | Construct::BranchInLoop
        | Construct::Call
        | Construct::LoopInCall => true,
        Construct::WorkBeforeBreak
        | Construct::Continue
        | Construct::ReturnInLoop
        | Construct::BreakIf
        | Construct::Switch
        | Construct::SwitchInLoop
        | Construct::SwitchSharedCase
        | Construct::SubgroupInSharedCase => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DeviceKind, TestedPart};
    use crate::run::Runner;
    use crate::run::simulator::SimulatorRunner;
    use crate::units::Width;

    /// A GPU on which these constructs' parts gave wrong executions, and these wrong lanes.
    fn gpu(executions: &[Construct], lanes: &[Construct]) -> Device {
        let simulator = SimulatorRunner::new(Width::new(32).unwrap(), 1);
        let part = |construct: Construct| TestedPart {
            part: format!("of {}", construct.name()),
            construct: construct.name().to_owned(),
            executions_right: !executions.contains(&construct),
            lanes_right: !lanes.contains(&construct),
        };
        let passed = executions.is_empty() && lanes.is_empty();
        Device {
            kind: DeviceKind::Wgpu,
            trust: Some(if passed { Trust::Observed } else { Trust::Unknown }),
            self_test: Construct::ALL.map(part).to_vec(),
            ..simulator.device().clone()
        }
    }

    fn set(constructs: &[Construct]) -> BTreeSet<Construct> {
        constructs.iter().copied().collect()
    }

    #[test]
    fn only_the_forms_that_a_shader_uses_count() {
        use Construct::{Branch, Loop, Switch, SwitchSharedCase};
        let device = gpu(&[SwitchSharedCase], &[]);
        let judge = |used: &[Construct]| {
            let trust = assess(&device, &set(used)).unwrap();
            (trust.trust, trust.failed, method(&device, &set(used)))
        };
        assert_eq!(judge(&[]), (Trust::Observed, vec![], Method::Derived));
        assert_eq!(judge(&[Branch, Loop]), (Trust::Observed, vec![], Method::Derived));
        assert_eq!(judge(&[Branch, Switch]), (Trust::Observed, vec![], Method::Derived));
        let shared = vec!["switch_shared_case".to_owned()];
        let judgement = judge(&[Branch, Switch, SwitchSharedCase]);
        assert_eq!(judgement, (Trust::Unknown, shared, Method::Executed));
    }

    #[test]
    fn a_case_whose_lanes_exchange_apart_is_estimated_where_a_shader_has_one() {
        use Construct::{SubgroupInSharedCase, Switch, SwitchSharedCase};
        // As a driver that runs a case of two selectors twice: executions of each such case are wrong, and lanes
        // where a subgroup operation decides them.
        let failing = [Switch, SwitchSharedCase, SubgroupInSharedCase];
        let device = gpu(&failing, &[SubgroupInSharedCase]);
        let without = set(&[Switch, SwitchSharedCase]);
        assert_eq!(method(&device, &without), Method::Executed);
        let with = set(&failing);
        assert_eq!(method(&device, &with), Method::Estimated);
        let judged = assess(&device, &with).unwrap();
        let names = ["switch", "switch_shared_case", "subgroup_in_shared_case"];
        assert_eq!(
            (judged.trust, judged.failed),
            (Trust::Unknown, names.map(str::to_owned).to_vec())
        );
        let executions = gpu(&failing, &[]);
        assert_eq!(method(&executions, &with), Method::Executed);
    }

    #[test]
    fn subgroup_operations_that_fail_in_plain_forms_are_not_believed() {
        use Construct::{Branch, Loop, Switch, WorkBeforeBreak};
        let count = |device: &Device, used: &[Construct]| method(device, &set(used));
        let loops = gpu(&[Loop], &[]);
        assert_eq!(count(&loops, &[Branch]), Method::Derived);
        assert_eq!(count(&loops, &[Branch, Loop]), Method::Estimated);
        let breaks = gpu(&[WorkBeforeBreak], &[]);
        assert_eq!(count(&breaks, &[Loop, WorkBeforeBreak]), Method::Executed);
        let lanes = gpu(&[], &[Switch]);
        assert_eq!(count(&lanes, &[Switch]), Method::Estimated);
        assert_eq!(count(&lanes, &[Loop]), Method::Derived);
        let none = Device { subgroup_width_run: None, ..gpu(&[], &[]) };
        assert_eq!(count(&none, &[]), Method::Estimated);
    }

    #[test]
    fn what_was_not_tested_is_unknown() {
        use Construct::Loop;
        let untested = Device { trust: None, self_test: Vec::new(), ..gpu(&[], &[]) };
        assert_eq!(assess(&untested, &set(&[Loop])), None);
        let impossible = Device { trust: Some(Trust::Unknown), ..untested.clone() };
        for used in [&[][..], &[Loop]] {
            let judged = assess(&impossible, &set(used)).unwrap();
            assert_eq!((judged.trust, judged.failed), (Trust::Unknown, vec![]));
            assert_eq!(method(&impossible, &set(used)), Method::Executed);
        }
        let cpu = Device { cpu_driver: true, ..gpu(&[], &[]) };
        assert_eq!(method(&cpu, &set(&[Loop])), Method::Executed);
        let part = gpu(&[], &[]).self_test.remove(0);
        let partly = Device { self_test: vec![part], ..gpu(&[], &[]) };
        assert_eq!(assess(&partly, &set(&[Loop])).unwrap().trust, Trust::Unknown);
    }
}
