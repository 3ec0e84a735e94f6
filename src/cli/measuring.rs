//! How a shader of the user's own is counted and timed on a device.
//!
//! Input: launches that are timed side by side, a device, options. Output: measurements, in a
//! [`Recording`]. What is made of them is for the commands to say.

use std::time::Duration;

use super::arguments::LaunchArguments;
use super::devices::Choice;
use crate::analyze;
use crate::kernel::{Catalogue, DeviceClass, KernelLanguage, Launch};
use crate::record::{Flag, Measurement, Method, Run, Status, Tag};
use crate::run::back_end::{OpenOptions, WarmUpRule};
use crate::run::measure::{Results, measurement};
use crate::run::profile::repeated::RepeatedRunner;
use crate::run::session::{Listener, Recording, SessionOptions};
use crate::run::simulator::SimulatorRunner;
use crate::run::{CountRequest, RunError, Runner, caught, trust};

/// How long a launch may be sampled, on a GPU and on a driver that works on the processor: an answer
/// is waited for.
const BUDGET: [Duration; 2] = [Duration::from_millis(120), Duration::from_millis(500)];

/// Counts launches on one device, and times those of a group side by side where it has a clock. A device that is
/// timed is measured itself too: its rates are what times are held against.
pub(super) fn run(
    choice: &Choice,
    groups: &[Vec<Launch>],
    how: &LaunchArguments,
    catalogue: &Catalogue,
    recording: &mut Recording,
    listener: &mut dyn Listener,
) {
    let silence_max = Duration::from_secs(how.time_limit);
    let method = match (how.exact, how.estimate) {
        (true, _) => Some(Method::Executed),
        (false, true) => Some(Method::Estimated),
        (false, false) => None,
    };
    let here = OpenOptions {
        steps_max: how.steps,
        operations_max: how.operations,
        strict: how.strict,
        memory_bytes_max: how.memory_max.saturating_mul(1 << 20),
        ..OpenOptions::usual(None)
    };
    let timed = choice.is_device() && !how.no_timing;
    let launches = groups.iter().flatten();
    // A shader that cannot be used is reported when it is counted.
    let constructs =
        launches.clone().flat_map(|launch| trust::constructs(launch).unwrap_or_default()).collect();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        if !choice.back_end.in_child {
            return choice.open_here(&here);
        }
        let there = OpenOptions { calibrate: timed.then_some(WarmUpRule::Short), ..here };
        let runner = Box::new(choice.worker(&there, silence_max)?);
        if !choice.back_end.gives.counts {
            return Ok(runner);
        }
        Ok(Box::new(RepeatedRunner::new(runner, catalogue, &constructs, method)?))
    };
    let budget = BUDGET[usize::from(choice.class(false) != DeviceClass::Gpu)];
    let count = u32::try_from(launches.clone().count()).unwrap_or(u32::MAX);
    let options = SessionOptions {
        count: Some(CountRequest::once(Method::Executed).with_histogram()),
        timing: timed.then(|| budget * count),
        time_unchecked: timed
            && launches.clone().filter(|launch| !launch.trusted).all(|launch| {
                is_seen_in_bounds(launch, &recording.run)
                    .unwrap_or_else(|| is_simulated_in_bounds(launch, how))
            }),
        time_counting: true,
        hardware_counters: !how.no_counters || !choice.back_end.gives.counters,
        ..SessionOptions::counting(CountRequest::once(Method::Executed))
    };
    recording.run_device(&choice.id(), &mut open, groups, &options, listener);
}

/// Operations over which no launch is simulated only to see where it reaches, about half a second.
const SIMULATED_MAX: u64 = 1 << 25;

/// What was found keeps a launch from being timed without run-time checks: an access out of bounds, or one order of
/// workgroups or subgroups among several.
fn may_leave_bounds(flags: &[Flag]) -> bool {
    let may = [Tag::ReadOutOfBounds, Tag::WriteOutOfBounds, Tag::DependsOnSchedule, Tag::DataRace];
    flags.iter().any(|flag| may.contains(&flag.tag))
}

/// Whether a simulator that ran the same launch saw no access out of bounds; `None` where none ran it.
fn is_seen_in_bounds(launch: &Launch, run: &Run) -> Option<bool> {
    let simulator =
        |id: &str| run.devices.iter().any(|device| device.id == id && device.is_simulator());
    let mut seen = run.measurements.iter().filter(|measurement| {
        simulator(&measurement.device)
            && measurement.kernel == launch.kernel
            && measurement.parameters == launch.parameters
            && run.sources.get(&measurement.source_sha256).is_some_and(|s| s.text == launch.source)
    });
    let in_bounds = |measurement: &Measurement| {
        measurement.status == Status::Ok && !may_leave_bounds(&measurement.flags)
    };
    seen.next().map(|first| in_bounds(first) || seen.any(in_bounds))
}

/// Whether a simulator that runs the launch for this alone sees no access out of bounds; a long launch is not run.
fn is_simulated_in_bounds(launch: &Launch, how: &LaunchArguments) -> bool {
    if launch.language() == KernelLanguage::Cuda {
        return false;
    }
    let operations_max = how.operations.min(SIMULATED_MAX);
    let mut simulator =
        SimulatorRunner::new(analyze::WIDTHS_COMPARED[0], how.steps).operations_max(operations_max);
    let request = CountRequest::once(Method::Executed);
    let seen = caught("simulator", &launch.file, || simulator.count_once(launch, &request));
    let seen = seen.and_then(|counted| {
        let results = Results { counted: Some(counted), ..Results::default() };
        measurement(simulator.device(), launch, results)
    });
    seen.is_ok_and(|seen| !may_leave_bounds(&seen.flags))
}
