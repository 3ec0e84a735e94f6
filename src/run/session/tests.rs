//! Tests of the session with a device that is none: its script says what fails and how.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::simulator::SimulatorRunner;
use super::super::{Checked, Collected, Counted, Timed};
use super::*;
use crate::instrument::Count;
use crate::kernel::{Catalogue, DeviceClass, SEED};
use crate::mapping::sass;
use crate::record::{
    ArmOutcome, DeviceKind, Gives, Instruction, MachineCode, Method, Output, Status, Value,
};
use crate::units::Width;

/// What happened, in order.
type Log = Rc<RefCell<Vec<String>>>;

/// A device whose launches fail as its script says: by name, while counting or while timing.
struct Scripted {
    device: Device,
    log: Log,
    counting: BTreeMap<String, RunErrorKind>,
    timing: BTreeMap<String, RunErrorKind>,
}

impl Runner for Scripted {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(
        &mut self,
        launch: &Launch,
        _: &CountRequest,
        _: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        self.log.borrow_mut().push(format!("count {}", launch.kernel));
        assert!(launch.file != "panics.wgsl", "a fault of lanescope's own");
        match self.counting.get(&launch.kernel) {
            Some(kind) => Err(RunError::new(*kind, format!("{} failed", launch.kernel))),
            None => Ok(vec![Counted {
                answer_ns: None,
                trace: None,
                counters: Vec::new(),
                outputs_shown: BTreeMap::new(),
                width: Width::new(8).ok(),
                method: Method::Executed,
                dispatches: Vec::new(),
                outputs_sha256: BTreeMap::new(),
                checked: Checked { output: Output::Verified, mismatch: None },
                runtime_checks: false,
                flags: Vec::new(),
            }]),
        }
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        self.log.borrow_mut().push(format!("collect {}", launch.kernel));
        None
    }

    fn time(
        &mut self,
        launches: &[Launch],
        _: &TimeOptions,
        notice: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        let names: Vec<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
        self.log.borrow_mut().push(format!("time {}", names.join(" ")));
        notice(0);
        let failing = launches.iter().position(|launch| self.timing.contains_key(&launch.kernel));
        let result = |index: usize| match failing {
            Some(culprit) if culprit == index => {
                let kind = self.timing[&launches[index].kernel];
                Err(RunError::new(kind, format!("{} failed", launches[index].kernel)))
            }
            Some(_) => Err(RunError::new(RunErrorKind::Interrupted, "beside")),
            None => Ok(None),
        };
        (0..launches.len()).map(result).collect()
    }
}

#[derive(Default)]
struct Heard {
    devices: usize,
    measurements: Vec<Measurement>,
    /// Where it notes the answers that come before counters.
    log: Log,
}

impl Listener for Heard {
    fn device(&mut self, _: &Device) {
        self.devices += 1;
    }
    fn progress(&mut self, _: &str, _: Phase, _: &Launch) {}
    fn answer(&mut self, measurement: &Measurement) {
        self.log.borrow_mut().push(format!("answer {}", measurement.kernel));
    }
    fn measurement(&mut self, measurement: &Measurement, (sha256, source): (&str, &Source)) {
        assert_eq!(measurement.source_sha256, sha256);
        assert!(!source.text.is_empty());
        self.measurements.push(measurement.clone());
    }
}

fn launches() -> Vec<Launch> {
    let catalogue = Catalogue::embedded().unwrap();
    ["a", "b", "c"]
        .iter()
        .map(|name| {
            let kernel = catalogue.kernel("five_patterns/uniform").unwrap();
            let mut launch = kernel.launch(DeviceClass::Quick, &BTreeMap::new(), SEED).unwrap();
            launch.kernel = (*name).to_owned();
            launch
        })
        .collect()
}

/// A simulator's, as one that gives times.
fn timing_device(simulator: &SimulatorRunner) -> Device {
    let device = simulator.device().clone();
    let gives = Some(Gives { times: true, ..device.gives() });
    Device { kind: DeviceKind::Wgpu, gives, ..device }
}

/// Runs a, b, c on scripted devices; gives what happened, how often a device was opened, and what
/// was heard.
fn session(
    counting: &[(&str, RunErrorKind)],
    timing: &[(&str, RunErrorKind)],
) -> (Vec<String>, u32, Heard) {
    let log = Log::default();
    let mut opened = 0;
    let script = |entries: &[(&str, RunErrorKind)]| {
        entries.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
    };
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        opened += 1;
        let simulator = SimulatorRunner::new(Width::new(8).unwrap(), 1);
        let device = timing_device(&simulator);
        Ok(Box::new(Scripted {
            device,
            log: Rc::clone(&log),
            counting: script(counting),
            timing: script(timing),
        }))
    };
    let options = SessionOptions {
        timing: Some(Duration::from_secs(1)),
        samples_min: 8,
        ..SessionOptions::counting(CountRequest::once(Method::Executed))
    };
    let mut heard = Heard::default();
    let open_device: &mut Open<'_> = &mut open;
    run_device(open_device, &[launches()], &options, &mut heard).unwrap();
    let happened = log.borrow().clone();
    (happened, opened, heard)
}

/// Runs a, b, c on a scripted device without counting.
fn uncounted() -> (Vec<String>, Heard) {
    let log = Log::default();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        let simulator = SimulatorRunner::new(Width::new(8).unwrap(), 1);
        let device = timing_device(&simulator);
        let (counting, timing) = (BTreeMap::new(), BTreeMap::new());
        Ok(Box::new(Scripted { device, log: Rc::clone(&log), counting, timing }))
    };
    let options = SessionOptions {
        count: None,
        timing: Some(Duration::from_secs(1)),
        samples_min: 8,
        ..SessionOptions::counting(CountRequest::once(Method::Executed))
    };
    let mut heard = Heard::default();
    run_device(&mut open, &[launches()], &options, &mut heard).unwrap();
    let happened = log.borrow().clone();
    (happened, heard)
}

#[test]
fn without_counting_everything_is_timed_alone() {
    let (happened, heard) = uncounted();
    assert_eq!(happened, ["time a b c"]);
    assert_eq!(statuses(&heard), named([Status::Ok; 3]));
    assert!(heard.measurements.iter().all(|m| m.method.is_none()));
    assert!(heard.measurements.iter().all(|m| m.efficiency_ratio.is_none()));
}

fn statuses(heard: &Heard) -> Vec<(String, Status)> {
    heard.measurements.iter().map(|m| (m.kernel.clone(), m.status)).collect()
}

fn named(statuses: [Status; 3]) -> Vec<(String, Status)> {
    ["a", "b", "c"].map(str::to_owned).into_iter().zip(statuses).collect()
}

#[test]
fn everything_is_counted_first_and_then_timed_side_by_side() {
    let (happened, opened, heard) = session(&[], &[]);
    assert_eq!(happened, ["count a", "count b", "count c", "time a b c"]);
    assert_eq!((opened, heard.devices), (1, 1));
    assert_eq!(statuses(&heard), named([Status::Ok; 3]));
}

/// Writes down when a measurement is finished.
struct Noting(Log);

impl Listener for Noting {
    fn device(&mut self, _: &Device) {}
    fn progress(&mut self, _: &str, _: Phase, _: &Launch) {}
    fn measurement(&mut self, measurement: &Measurement, _: (&str, &Source)) {
        self.0.borrow_mut().push(format!("finish {}", measurement.kernel));
    }
}

#[test]
fn what_is_not_timed_is_finished_once_it_is_counted() {
    let log = Log::default();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        let device = SimulatorRunner::new(Width::new(8).unwrap(), 1).device().clone();
        let (counting, timing) = (BTreeMap::new(), BTreeMap::new());
        Ok(Box::new(Scripted { device, log: Rc::clone(&log), counting, timing }))
    };
    let options = SessionOptions {
        timing: Some(Duration::from_secs(1)),
        samples_min: 8,
        ..SessionOptions::counting(CountRequest::once(Method::Executed))
    };
    run_device(&mut open, &[launches()], &options, &mut Noting(Rc::clone(&log))).unwrap();
    let happened = ["count a", "finish a", "count b", "finish b", "count c", "finish c"];
    assert_eq!(log.borrow().as_slice(), happened);
}

/// What was counted and timed is told before hardware counters are read, which takes seconds.
#[test]
fn the_answer_is_told_before_counters_are_read() {
    let log = Log::default();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        let device = timing_device(&SimulatorRunner::new(Width::new(8).unwrap(), 1));
        let gives = Some(Gives { counters: true, ..device.gives() });
        let device = Device { gives, ..device };
        let (counting, timing) = (BTreeMap::new(), BTreeMap::new());
        Ok(Box::new(Scripted { device, log: Rc::clone(&log), counting, timing }))
    };
    let options = SessionOptions {
        timing: Some(Duration::from_secs(1)),
        samples_min: 8,
        hardware_counters: true,
        ..SessionOptions::counting(CountRequest::once(Method::Executed))
    };
    let mut heard = Heard { log: Rc::clone(&log), ..Heard::default() };
    let group = vec![launches().remove(0)];
    run_device(&mut open, &[group], &options, &mut heard).unwrap();
    assert_eq!(log.borrow().as_slice(), ["count a", "time a", "answer a", "collect a"]);
    assert_eq!(heard.measurements.len(), 1);
}

#[test]
fn counters_are_read_of_the_launches_that_somebody_asks_them_of() {
    let log = Log::default();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        let device = SimulatorRunner::new(Width::new(8).unwrap(), 1).device().clone();
        let (counting, timing) = (BTreeMap::new(), BTreeMap::new());
        Ok(Box::new(Scripted { device, log: Rc::clone(&log), counting, timing }))
    };
    let session = SessionOptions {
        count: None,
        samples_min: 8,
        hardware_counters: true,
        ..SessionOptions::counting(CountRequest::once(Method::Executed))
    };
    let collected = &|launch: &Launch| launch.kernel == "b";
    let options = RunOptions { session, seeded: &|_| Seeded::default(), collected, wider: None };
    run_device_seeded(&mut open, &[launches()], &options, &mut Heard::default()).unwrap();
    assert_eq!(log.borrow().as_slice(), ["collect b"]);
}

/// A simulator that takes what it counted for machine code of an instruction a block.
struct Coded {
    device: Device,
    simulator: SimulatorRunner,
    log: Log,
}

impl Coded {
    fn code(&mut self, launch: &Launch) -> Collected {
        let request = CountRequest::once(Method::Executed);
        let counted = self.simulator.count_once(launch, &request).unwrap();
        let instruction = |(at, count): (usize, &Count)| Instruction {
            offset_bytes: u32::try_from(16 * at).unwrap(),
            file: None,
            line: None,
            text: Some("FADD R0, R0, R1".to_owned()),
            inst_executed: count.executions.0,
            thread_inst_executed: count.lanes.0,
            thread_inst_executed_pred_on: count.lanes.0,
        };
        let counts = &counted.dispatches[0].counts;
        let code = MachineCode {
            function: "main".to_owned(),
            architecture: "sm_90".to_owned(),
            instructions: counts.iter().enumerate().map(instruction).collect(),
            sha256: None,
            arms: Vec::new(),
            near: Vec::new(),
        };
        Collected { machine_code: vec![Some(code)], ..Collected::default() }
    }
}

impl Runner for Coded {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        self.log.borrow_mut().push(format!("count {}", launch.seed));
        self.simulator.count(launch, request, notice)
    }

    fn collect(&mut self, launch: &Launch) -> Option<Collected> {
        self.log.borrow_mut().push(format!("collect {}", launch.seed));
        Some(self.code(launch))
    }

    fn collect_code(&mut self, launch: &Launch) -> Option<Collected> {
        self.log.borrow_mut().push(format!("code {}", launch.seed));
        Some(self.code(launch))
    }
}

/// Arms of hardware's machine code are told by two inputs where counts depend on the input.
#[test]
fn a_second_input_is_counted_where_it_tells_blocks_apart() {
    let catalogue = Catalogue::embedded().unwrap();
    let happened = |id: &str, point: &[(&str, &str)]| {
        let log = Log::default();
        let mut open = || -> Result<Box<dyn Runner>, RunError> {
            let simulator = SimulatorRunner::new(Width::new(32).unwrap(), 1 << 20);
            let device = simulator.device().clone();
            let gives = Some(Gives { counters: true, ..device.gives() });
            let device = Device { gives, ..device };
            Ok(Box::new(Coded { device, simulator, log: Rc::clone(&log) }))
        };
        let kernel = catalogue.kernel(id).unwrap();
        let value = |value: &str| Value::Name(value.to_owned());
        let point = point.iter().map(|(name, word)| ((*name).to_owned(), value(word))).collect();
        let launch = kernel.launch(DeviceClass::Simulator, &point, SEED).unwrap();
        let options = SessionOptions {
            hardware_counters: true,
            ..SessionOptions::counting(CountRequest::once(Method::Executed))
        };
        let mut heard = Heard::default();
        run_device(&mut open, &[vec![launch]], &options, &mut heard).unwrap();
        let code = heard.measurements[0].dispatches[0].machine_code.clone().unwrap();
        assert_eq!(heard.measurements[0].counters_missing, [""; 0]);
        // A record says what whoever reads it will say.
        let dispatch = &heard.measurements[0].dispatches[0];
        assert_eq!(sass::arms_anew(dispatch).as_ref(), Some(&code.arms));
        let log = log.borrow().clone();
        (log, code.arms)
    };
    let (log, arms) = happened("predication/branch", &[("flags", "random")]);
    assert_eq!(log, ["count 1", "collect 1", "count 2", "code 2"]);
    // Code without a branch has no loop, and what ran as an arm did is there.
    assert!(arms.iter().any(|arm| arm.outcome == ArmOutcome::Unrolled), "{arms:?}");
    assert!(arms.iter().any(|arm| arm.outcome == ArmOutcome::Skipped), "{arms:?}");
    let (log, arms) = happened("five_patterns/branch_by_lane", &[]);
    assert_eq!(log, ["count 1", "collect 1", "count 2"]);
    assert!(!arms.is_empty());
}

#[test]
fn a_failure_that_takes_the_device_goes_on_in_a_fresh_one() {
    for kind in [RunErrorKind::DeviceLost, RunErrorKind::TimeLimit, RunErrorKind::OutOfMemory] {
        let (happened, opened, heard) = session(&[("b", kind)], &[]);
        assert_eq!(happened, ["count a", "count b", "count c", "time a c"]);
        assert_eq!((opened, heard.devices), (2, 1));
        assert_eq!(statuses(&heard), named([Status::Ok, Status::Failed, Status::Ok]));
        assert_eq!(heard.measurements[1].error.as_deref(), Some("b failed"));
    }
}

#[test]
fn a_refused_shader_keeps_the_device() {
    let (happened, opened, heard) = session(&[("a", RunErrorKind::Driver)], &[]);
    assert_eq!(happened, ["count a", "count b", "count c", "time b c"]);
    assert_eq!(opened, 1);
    assert_eq!(statuses(&heard), named([Status::Failed, Status::Ok, Status::Ok]));
}

#[test]
fn those_that_a_neighbour_interrupted_are_timed_again_without_it() {
    let (happened, opened, heard) = session(&[], &[("b", RunErrorKind::TimeLimit)]);
    assert_eq!(happened[3..], ["time a b c", "time a c"]);
    assert_eq!(opened, 2);
    assert_eq!(statuses(&heard), named([Status::Ok, Status::Failed, Status::Ok]));
}

#[test]
fn a_device_that_cannot_be_opened_again_fails_what_is_left() {
    let log = Log::default();
    let mut opened = 0;
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        opened += 1;
        if opened > 1 {
            return Err(RunError::new(RunErrorKind::NoDevice, "it is gone"));
        }
        let device = SimulatorRunner::new(Width::new(8).unwrap(), 1).device().clone();
        let counting = BTreeMap::from([("a".to_owned(), RunErrorKind::DeviceLost)]);
        Ok(Box::new(Scripted { device, log: Rc::clone(&log), counting, timing: BTreeMap::new() }))
    };
    let options = SessionOptions::counting(CountRequest::once(Method::Executed));
    let mut heard = Heard::default();
    run_device(&mut open, &[launches()], &options, &mut heard).unwrap();
    assert_eq!(*log.borrow(), ["count a"]);
    let errors: Vec<Option<&str>> = heard.measurements.iter().map(|m| m.error.as_deref()).collect();
    assert_eq!(errors, [Some("a failed"), Some("it is gone"), Some("it is gone")]);
}

#[test]
fn where_everything_was_interrupted_nothing_is_timed_for_ever() {
    let (happened, _, heard) = session(&[], &[("b", RunErrorKind::Interrupted)]);
    assert_eq!(happened[3..], ["time a b c"]);
    assert_eq!(statuses(&heard), named([Status::Failed, Status::Failed, Status::Failed]));
    let errors = heard.measurements.iter().map(|measurement| measurement.error.as_deref());
    assert!(errors.into_iter().all(|error| error == Some("timing was interrupted")));
}

#[test]
fn a_panic_costs_its_launch_only() {
    let mut launches = launches();
    launches[1].file = "panics.wgsl".to_owned();
    let mut open = || -> Result<Box<dyn Runner>, RunError> {
        let device = SimulatorRunner::new(Width::new(8).unwrap(), 1).device().clone();
        let (log, counting, timing) = (Log::default(), BTreeMap::new(), BTreeMap::new());
        Ok(Box::new(Scripted { device, log, counting, timing }))
    };
    let options = SessionOptions::counting(CountRequest::once(Method::Executed));
    let mut heard = Heard::default();
    run_device(&mut open, &[launches], &options, &mut heard).unwrap();
    let states: Vec<Status> = heard.measurements.iter().map(|m| m.status).collect();
    assert_eq!(states, [Status::Ok, Status::Failed, Status::Ok]);
    let failed = &heard.measurements[1];
    assert_eq!(
        failed.error.as_deref(),
        Some(
            "lanescope's counting panicked on panics.wgsl: a fault of lanescope's own; please \
             report it with the shader"
        )
    );
    assert_eq!(failed.error_kind, Some(RunErrorKind::Panicked));
}
