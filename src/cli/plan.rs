//! What `lanescope run` runs: arguments, resolved.
//!
//! Input: the arguments as typed. Output: a [`RunPlan`]: kernels, devices, and how each is counted and
//! timed; executing it drives the sessions, device by device. Nothing is printed or saved here.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::arguments::RunArguments;
use super::axis;
use super::catalogue;
use super::devices::{self, Available, Choice};
use super::failure::{Exit, Failure};
use super::groups::{self, Sizes};
use crate::analyze;
use crate::kernel::{Catalogue, DeviceClass, Kernel, Launch};
use crate::record::{KernelNote, Method, Run, Seeds, Value};
use crate::run::back_end::{OpenOptions, WarmUpRule};
use crate::run::launched::{counts_depend_on_seed, not_available, parts_are_executions};
use crate::run::looks::Looks;
use crate::run::session::{Listener, Recording, RunOptions, Seeded, SessionOptions, Wider};
use crate::run::{CountRequest, RunError, Runner};

/// Seconds that timing may take, without and with `--quick`.
const BUDGET_S: [f64; 2] = [30.0, 6.0];

/// What is run where, and how.
pub(super) struct RunPlan<'a> {
    catalogue: &'a Catalogue,
    kernels: Vec<&'a Kernel>,
    points: Vec<BTreeMap<String, Value>>,
    /// Launches that are asked for one by one, in groups that are compared; `None` if kernels run at their
    /// own points.
    asked: Option<Vec<Vec<Asked>>>,
    seed: u64,
    quick: bool,
    devices: Vec<Choice>,
    /// Whether the simulator at each device's own width runs beside it.
    simulates_beside: bool,
    options: SessionOptions,
    /// How what needs no child process is opened.
    here: OpenOptions,
    silence_max: Duration,
    /// Whether the catalogue's other kernels are compared across widths too.
    surveys: bool,
    /// With how many seeds the two simulators that are compared count, the run's own among them.
    seeds: u32,
    /// What the wider of the two counted for the narrower one, by kernel and parameters, until it is its turn.
    seeds_counted: RefCell<BTreeMap<(String, String), Seeds>>,
    /// What is left out and why, a sentence each.
    pub(super) told: Vec<String>,
}

/// One launch that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// The kernel.
    pub(super) kernel: String,
    /// What is chosen of its parameters.
    pub(super) point: BTreeMap<String, Value>,
    /// Whether every point that the kernel has by itself is asked for.
    pub(super) own_points: bool,
    /// The devices that it is asked of.
    pub(super) of: AskedOf,
    /// Whether somebody looks at its hardware counters or machine code.
    pub(super) counters: bool,
}

/// Which devices a launch is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AskedOf {
    /// Every one.
    All,
    /// Those that have times.
    Timed,
    /// GPUs.
    Gpus,
    /// Those of a back end that reads hardware counters.
    Counters,
}

impl Asked {
    fn is_asked_of(&self, device: &Choice) -> bool {
        match self.of {
            AskedOf::All => true,
            AskedOf::Timed => device.is_device(),
            AskedOf::Gpus => device.is_device() && device.class(false) == DeviceClass::Gpu,
            AskedOf::Counters => device.back_end.gives.counters,
        }
    }
}

/// Resolves arguments: whatever is wrong with them is found before a launch runs. Devices are asked for here where
/// `available` is not known.
///
/// # Errors
///
/// Where kernels, axes, devices or options do not exist or do not fit together.
pub(super) fn plan<'a>(
    catalogue: &'a Catalogue,
    arguments: &RunArguments,
    available: Option<Available>,
) -> Result<RunPlan<'a>, Failure> {
    let kernels = choose_kernels(catalogue, arguments)?;
    let points = axis::points(&arguments.axes()).map_err(Failure::bad_input)?;
    let mut told = groups::lacking(&kernels, &points)?;
    told.extend(groups::refusing(&kernels, &points)?);
    let budget = arguments.budget.unwrap_or(BUDGET_S[usize::from(arguments.quick)]);
    let budget = Duration::try_from_secs_f64(budget)
        .map_err(|error| Failure::message(Exit::BadInput, format!("--budget: {error}")))?;
    // Launches are worked out before any device is asked for: bad input costs nothing.
    groups::groups(&kernels, &points, Sizes::of_gpu(DeviceClass::Quick), arguments.seed)?;
    let available = available.unwrap_or_else(|| Available::ask(&arguments.device));
    let mut devices = devices::choose(&arguments.device, &available)?;
    let asked = !arguments.device.is_empty();
    let surveys =
        arguments.kernels.is_empty() && arguments.axes().is_empty() && !arguments.no_counting;
    devices.extend(devices::list_surveyed().filter(|_| surveys && !asked));
    let gives = |device: &Choice| device.back_end.gives.counters || device.back_end.gives.code;
    if arguments.counters && !devices.iter().any(gives) {
        let message = "--counters reads what a device cuda:N or radv:F/W has; add --device cuda:0, or \
                       radv:navi21/32, which needs no GPU";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    let devices = if arguments.no_counting { keep_timed(devices)? } else { devices };
    let mut all_told = devices::remarks(&available, &devices, asked);
    all_told.append(&mut told);
    Ok(RunPlan {
        catalogue,
        kernels,
        points,
        asked: None,
        seed: arguments.seed,
        quick: arguments.quick,
        simulates_beside: !asked && !arguments.no_counting,
        options: session_options(arguments, budget, &devices),
        devices,
        here: OpenOptions {
            steps_max: arguments.steps,
            operations_max: arguments.operations,
            strict: arguments.strict,
            memory_bytes_max: arguments.memory_max.saturating_mul(1 << 20),
            ..OpenOptions::usual(None)
        },
        silence_max: Duration::from_secs(arguments.time_limit),
        seeds: arguments.seeds,
        seeds_counted: RefCell::default(),
        surveys,
        told: all_told,
    })
}

/// How each device counts and times; the budget is shared by those that have times.
fn session_options(
    arguments: &RunArguments,
    budget: Duration,
    devices: &[Choice],
) -> SessionOptions {
    let timed = devices.iter().filter(|device| device.is_device()).count();
    let executed = CountRequest::once(Method::Executed);
    SessionOptions {
        count: (!arguments.no_counting)
            .then_some(CountRequest { histogram: arguments.histogram, ..executed }),
        timing: (!arguments.no_timing)
            .then(|| budget.div_f64(u32::try_from(timed.max(1)).map_or(1.0, f64::from))),
        hardware_counters: arguments.counters,
        memory: arguments.memory.then_some(Looks {
            steps_max: arguments.steps,
            operations_max: arguments.operations,
            strict: arguments.strict,
            everything: true,
        }),
        ..SessionOptions::counting(executed)
    }
}

impl RunPlan<'_> {
    /// The same plan for launches that are asked for one by one. Simulators take the sizes of a quick run.
    pub(super) fn asking(self, asked: Vec<Vec<Asked>>) -> Self {
        Self { asked: Some(asked), ..self }
    }

    /// What a record says of the kernels.
    pub(super) fn notes(&self) -> BTreeMap<String, KernelNote> {
        let note = |kernel: &Kernel| (kernel.id.clone(), kernel.description.note());
        self.kernels.iter().map(|kernel| note(kernel)).collect()
    }

    /// Runs everything, device by device.
    ///
    /// # Errors
    ///
    /// Where launches cannot be worked out at a device's sizes.
    pub(super) fn execute(
        self,
        recording: &mut Recording,
        listener: &mut dyn Listener,
    ) -> Result<(), Failure> {
        let gpu = self.devices.iter().any(|d| d.class(false) == DeviceClass::Gpu);
        let mut queue: VecDeque<Choice> = self.devices.iter().cloned().collect();
        while let Some(device) = queue.pop_front() {
            let (able, unable): (Vec<&Kernel>, Vec<&Kernel>) =
                self.kernels.iter().partition(|kernel| device.speaks(kernel.language));
            if let Some(text) = unavailable(&device, &unable) {
                listener.message(&text);
            }
            if able.is_empty() {
                continue;
            }
            let sizes = self.sizes(&device, gpu);
            let mut groups = match &self.asked {
                Some(asked) => self.find_asked(&device, asked, sizes, listener),
                None => groups::groups(&able, &self.points, sizes, self.seed)?,
            };
            groups.extend(self.survey_launches(&device));
            self.run_device(&device, &groups, recording, listener);
            if listener.has_failed() {
                break;
            }
            if self.simulates_beside
                && let Some(beside) = simulator_beside(&device, recording)
                && !queue.contains(&beside)
            {
                queue.push_front(beside);
            }
        }
        Ok(())
    }

    /// The launches that are asked of a device; what a kernel does not take there is told.
    fn find_asked(
        &self,
        device: &Choice,
        asked: &[Vec<Asked>],
        sizes: Sizes,
        listener: &mut dyn Listener,
    ) -> Vec<Vec<Launch>> {
        let mut launches = |asked: &Asked| -> Vec<Launch> {
            self.launches_of(device, asked, sizes).unwrap_or_else(|failure| {
                listener.message(&format!("{}: left out: {}", device.id(), failure.error));
                Vec::new()
            })
        };
        let groups = asked.iter().map(|group| group.iter().flat_map(&mut launches).collect());
        groups.filter(|group: &Vec<Launch>| !group.is_empty()).collect()
    }

    /// What one thing that is asked for means on a device; nothing where it is not asked of it.
    fn launches_of(
        &self,
        device: &Choice,
        asked: &Asked,
        sizes: Sizes,
    ) -> Result<Vec<Launch>, Failure> {
        let mut known = self.kernels.iter().filter(|kernel| kernel.id == asked.kernel);
        let Some(kernel) = known.next() else { return Ok(Vec::new()) };
        if !device.speaks(kernel.language) || !asked.is_asked_of(device) {
            return Ok(Vec::new());
        }
        if asked.own_points {
            let points = std::slice::from_ref(&asked.point);
            let groups = groups::groups(&[kernel], points, sizes, self.seed)?;
            return Ok(groups.into_iter().flatten().collect());
        }
        let launch = kernel.launch(sizes.class_for(kernel), &asked.point, self.seed);
        launch.map(|launch| vec![launch]).map_err(Failure::bad_input)
    }

    /// The launches whose hardware counters are read on a device, by kernel and parameters, where launches are
    /// asked for one by one; `None` if those of every launch are.
    fn launches_collected(&self, device: &Choice, sizes: Sizes) -> Option<Vec<Launch>> {
        let asked = self.asked.as_ref()?.iter().flatten().filter(|asked| asked.counters);
        Some(asked.flat_map(|asked| self.launches_of(device, asked, sizes)).flatten().collect())
    }

    /// Where the default set is run, the launches by which the catalogue's other kernels are compared
    /// across widths: on the two simulators that are compared.
    fn survey_launches(&self, device: &Choice) -> Vec<Vec<Launch>> {
        if !self.surveys || !is_compared(device) {
            return Vec::new();
        }
        let known: Vec<&str> = self.kernels.iter().map(|kernel| kernel.id.as_str()).collect();
        let others = self.catalogue.kernels().filter(|kernel| {
            !known.contains(&kernel.id.as_str()) && kernel.description.compared_across_widths
        });
        groups::for_widths(&others.collect::<Vec<_>>(), self.seed)
    }

    /// The sizes of a device's launches.
    fn sizes(&self, device: &Choice, gpu: bool) -> Sizes {
        let class = match (self.quick, gpu) {
            _ if self.asked.is_some() && device.is_simulator() => DeviceClass::Quick,
            // Alone, simulators answer the main job's question in a second or two.
            _ if self.surveys && !self.devices.iter().any(Choice::is_device) => {
                DeviceClass::Simulator
            }
            // Executing machine code takes a hundred times as long as the GPU that it is for.
            _ if self.surveys && self.is_surveyed(device) => DeviceClass::Simulator,
            // Beside a GPU the simulator runs the GPU's sizes, or nothing could be compared.
            (false, true) if !device.is_device() => DeviceClass::Gpu,
            (quick, _) => device.class(quick),
        };
        Sizes { class, alone: device.class(false), simulated: device.is_simulator() }
    }

    /// Whether a device stands in the main job because no device was named.
    fn is_surveyed(&self, device: &Choice) -> bool {
        self.simulates_beside && devices::list_surveyed().any(|surveyed| surveyed == *device)
    }

    /// Runs groups of launches on one device.
    fn run_device(
        &self,
        device: &Choice,
        groups: &[Vec<Launch>],
        recording: &mut Recording,
        listener: &mut dyn Listener,
    ) {
        let mut calibrate = true;
        let mut open = || -> Result<Box<dyn Runner>, RunError> {
            if !device.back_end.in_child {
                return device.open_here(&self.here);
            }
            let warm_up = calibrate.then_some(WarmUpRule::Whole);
            let there = OpenOptions { calibrate: warm_up, ..self.here };
            let mut runner = device.worker(&there, self.silence_max)?;
            if calibrate && device.back_end.gives.counts {
                runner.test_counting(self.catalogue)?;
            }
            calibrate = false;
            Ok(Box::new(runner))
        };
        let gpu = self.devices.iter().any(|d| d.class(false) == DeviceClass::Gpu);
        let sizes = self.sizes(device, gpu);
        let known = seeds_counted(&recording.run);
        let collected = self.launches_collected(device, sizes);
        let alike =
            |a: &Launch, b: &Launch| (&a.kernel, &a.parameters) == (&b.kernel, &b.parameters);
        let wide_choice = Choice::simulator(analyze::WIDTHS_COMPARED[1]);
        let is_wide = wide_choice.as_ref() == Some(device);
        let wide = wide_choice.map(|choice| move || choice.open_here(&self.here));
        let keep = |launch: &Launch, seeds: Seeds| {
            let parameters = analyze::parameters_text(&launch.parameters, &[]);
            self.seeds_counted.borrow_mut().insert((launch.kernel.clone(), parameters), seeds);
        };
        let options = RunOptions {
            session: SessionOptions {
                hardware_counters: self.options.hardware_counters
                    || (self.surveys && self.is_surveyed(device)),
                memory: self.options.memory.filter(|_| device.back_end.watches_memory),
                ..self.options
            },
            seeded: &|launch| {
                let mut launches = self.launches_of_seeds(device, sizes, launch);
                // A ratio takes a seed that both widths count.
                let parameters = analyze::parameters_text(&launch.parameters, &[]);
                let counted = known.get(&(launch.kernel.clone(), parameters.clone()));
                launches.truncate(counted.copied().unwrap_or(usize::MAX));
                // More than two were counted there because they cost unlike.
                let beside = (launch.kernel.clone(), parameters);
                Seeded {
                    launches,
                    all: counted.is_some_and(|count| *count > 2),
                    known: is_wide
                        .then(|| self.seeds_counted.borrow_mut().remove(&beside))
                        .flatten(),
                    by_wider: self.is_counted_wider(device, launch),
                }
            },
            collected: &|launch| {
                collected
                    .as_ref()
                    .is_none_or(|known| known.iter().any(|other| alike(other, launch)))
            },
            wider: wide.as_ref().map(|wide| Wider { open: wide, keep: &keep }),
        };
        recording.run_device_seeded(&device.id(), &mut open, groups, &options, listener);
    }

    /// The launches whose counts say what other seeds make of one: on the two simulators that are
    /// compared, and at the sizes of CPU drivers at most.
    fn launches_of_seeds(&self, device: &Choice, sizes: Sizes, launch: &Launch) -> Vec<Launch> {
        if !is_compared(device) || !counts_depend_on_seed(launch) {
            return Vec::new();
        }
        let Some(kernel) = self.catalogue.kernel(&launch.kernel) else { return Vec::new() };
        let small = small_of(kernel, sizes.class_for(kernel), launch);
        let first = u64::from(small.parameters == launch.parameters);
        let seeds = first..u64::from(self.seeds);
        // The run's own seed is the one whose outputs are checked.
        let small = Launch { reference: None, ..small };
        let seed = |number| Launch { seed: self.seed.wrapping_add(number), ..small.clone() };
        seeds.map(seed).collect()
    }

    /// Whether the wider of the two simulators that are compared counts the seeds of a launch for this one, too.
    fn is_counted_wider(&self, device: &Choice, launch: &Launch) -> bool {
        let [narrow, wide] = analyze::WIDTHS_COMPARED.map(Choice::simulator);
        let place = |choice: &Option<Choice>| {
            self.devices.iter().position(|other| Some(other) == choice.as_ref())
        };
        // What the wider one counts is kept until it is its turn.
        let is_before = place(&narrow).is_some_and(|at| place(&wide).is_some_and(|wide| at < wide));
        is_before && narrow.as_ref() == Some(device) && parts_are_executions(launch)
    }
}

/// How many other seeds of each launch were counted on a device before, by kernel and parameters.
fn seeds_counted(run: &Run) -> BTreeMap<(String, String), usize> {
    let counted = run.measurements.iter().filter_map(|measurement| {
        let seeds = measurement.seeds.as_ref()?;
        let parameters = analyze::parameters_text(&measurement.parameters, &[]);
        Some(((measurement.kernel.clone(), parameters), seeds.counts.len()))
    });
    counted.collect()
}

/// Whether a device is one of the simulators whose widths are compared.
fn is_compared(device: &Choice) -> bool {
    analyze::WIDTHS_COMPARED.map(Choice::simulator).contains(&Some(device.clone()))
}

/// A launch at no more than a CPU driver's default sizes, and of few elements, with the same parameters
/// otherwise; itself where it is no larger, or has no smaller one.
fn small_of(kernel: &Kernel, class: DeviceClass, launch: &Launch) -> Launch {
    let (usual, least) = (kernel.defaults(class), kernel.defaults(DeviceClass::Cpu));
    let mut chosen = launch.parameters.clone();
    if class == DeviceClass::Gpu {
        chosen.retain(|name, value| {
            let sized = usual.get(name) != least.get(name);
            !sized || least.get(name).is_some_and(|least| *value < *least)
        });
    }
    let elements = chosen.get(analyze::SIZE).or_else(|| least.get(analyze::SIZE));
    if let Some(Value::Integer(elements)) = elements {
        let elements = (*elements).min(analyze::SEEDED_SIZE_MAX);
        chosen.insert(analyze::SIZE.to_owned(), Value::Integer(elements));
    }
    let small = kernel.launch(DeviceClass::Cpu, &chosen, launch.seed);
    small.unwrap_or_else(|_| launch.clone())
}

/// The simulator at the width of a device that was opened.
fn simulator_beside(device: &Choice, recording: &Recording) -> Option<Choice> {
    let id = device.id();
    let opened = recording.run.devices.iter().find(|known| known.id == id);
    let opened = opened.filter(|_| device.is_device())?;
    opened.subgroup_width_run.and_then(Choice::simulator)
}

/// The devices that have times.
fn keep_timed(devices: Vec<Choice>) -> Result<Vec<Choice>, Failure> {
    let timed: Vec<Choice> = devices.into_iter().filter(Choice::is_device).collect();
    if timed.is_empty() {
        let message = "--no-counting leaves nothing to do on simulators, which have no times: leave it \
                       out, or name another device (`lanescope doctor` lists them)";
        return Err(Failure::message(Exit::BadInput, message.to_owned()));
    }
    Ok(timed)
}

/// The kernels that the arguments name, or the default set.
fn choose_kernels<'a>(
    catalogue: &'a Catalogue,
    arguments: &RunArguments,
) -> Result<Vec<&'a Kernel>, Failure> {
    let kernels = catalogue::choose(catalogue, &arguments.kernels)?;
    if !arguments.kernels.is_empty() {
        return Ok(kernels);
    }
    Ok(kernels.into_iter().filter(|kernel| kernel.description.in_default_set).collect())
}

/// Says which kernels a device does not have the language for; `None` if there are none.
fn unavailable(device: &Choice, kernels: &[&Kernel]) -> Option<String> {
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.id.as_str()).collect();
    let why = not_available(match names.as_slice() {
        [] => return None,
        [device] => device,
        _ => "each of them",
    });
    Some(match names.len() {
        1 => format!("{}: {why}", device.id()),
        _ => format!("{}: {}: {why}", device.id(), names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::arguments::{Arguments, Command};
    use crate::record::{Measurement, Source};
    use crate::run::backends;
    use crate::run::launched::programs;
    use crate::run::radv::compiled::ToCompile;
    use crate::run::radv::{RadvPlace, brought};
    use crate::run::session::Phase;
    use crate::units::Width;

    #[test]
    fn what_a_device_cannot_run_is_a_sentence() {
        let catalogue = Catalogue::embedded().unwrap();
        let chosen = catalogue.select("match").unwrap();
        let simulator = Choice::simulator(Width::new(32).unwrap()).unwrap();
        let cuda = backends::by_prefix("cuda").unwrap();
        assert!(
            chosen
                .iter()
                .all(|k| cuda.languages.contains(&k.language) && !simulator.speaks(k.language))
        );
        let text = unavailable(&simulator, &chosen).unwrap();
        assert!(text.starts_with("sim:32: match/all, match/any: each of them is not"), "{text}");
        let text = unavailable(&simulator, &chosen[..1]).unwrap();
        assert!(text.starts_with("sim:32: match/all is not available on this device"), "{text}");
        assert_eq!(unavailable(&simulator, &[]), None);
    }

    /// The plan of a command line.
    fn planned<'a>(catalogue: &'a Catalogue, line: &str) -> Result<RunPlan<'a>, Failure> {
        let words = ["lanescope", "run"].into_iter().chain(line.split(' '));
        let Ok(Arguments { command: Some(Command::Run(arguments)), .. }) =
            Arguments::try_parse_from(words)
        else {
            panic!("{line}")
        };
        plan(catalogue, &arguments, None)
    }

    /// Keeps the sentences.
    #[derive(Default)]
    struct Heard {
        sentences: Vec<String>,
        measurements: usize,
        fails: bool,
    }

    impl Listener for Heard {
        fn device(&mut self, _: &crate::record::Device) {}
        fn progress(&mut self, _: &str, _: Phase, _: &Launch) {}
        fn measurement(&mut self, _: &Measurement, _: (&str, &Source)) {
            self.measurements += 1;
        }
        fn message(&mut self, text: &str) {
            self.sentences.push(text.to_owned());
        }
        fn has_failed(&self) -> bool {
            self.fails
        }
    }

    #[test]
    fn a_plan_is_executed_device_by_device_without_a_screen_or_a_folder() {
        let catalogue = Catalogue::embedded().unwrap();
        let line = "five_patterns/uniform match/all --device sim:4 --device sim:8 --quick -a n=256";
        for fails in [false, true] {
            let plan = planned(&catalogue, line).unwrap();
            assert!(plan.told.iter().any(|text| text.starts_with("no adapter is used")));
            let mut recording = Recording::new(crate::cli::watch::begin_run(plan.notes()));
            let mut heard = Heard { fails, ..Heard::default() };
            plan.execute(&mut recording, &mut heard).unwrap();
            // What cannot be saved ends the run after the device at hand.
            let devices = if fails { 1 } else { 2 };
            assert_eq!((recording.opened, recording.unopened), (devices, 0));
            assert_eq!(recording.run.devices.len(), devices);
            assert_eq!(recording.run.measurements.len(), heard.measurements);
            assert!(heard.measurements > 0);
            assert_eq!(heard.sentences.len(), devices, "{:?}", heard.sentences);
            assert!(heard.sentences[0].starts_with("sim:4: match/all is not available"));
        }
    }

    #[test]
    fn code_is_brought_for_all_machine_code_that_the_main_job_executes() {
        let catalogue = Catalogue::embedded().unwrap();
        let wanted = brought::list_wanted().unwrap();
        let gpus = devices::choose(&["wgpu:0".to_owned()], &Available::made_up()).unwrap();
        let mut launched = 0;
        for (quick, gpus) in
            [(true, &gpus[..0]), (true, &gpus), (false, &gpus[..0]), (false, &gpus)]
        {
            let line = if quick { "--device sim:32 --quick" } else { "--device sim:32" };
            let mut plan = planned(&catalogue, line).unwrap();
            // As it is where no device is named, which would ask drivers.
            (plan.surveys, plan.simulates_beside) = (true, true);
            plan.devices.extend(gpus.iter().cloned().chain(devices::list_surveyed()));
            for device in devices::list_surveyed() {
                let id = device.id();
                let (_, place) = id.split_once(':').unwrap();
                let (place, sizes) =
                    (RadvPlace::parse(place).unwrap(), plan.sizes(&device, !gpus.is_empty()));
                let able: Vec<&Kernel> =
                    plan.kernels.iter().copied().filter(|k| device.speaks(k.language)).collect();
                for launch in
                    groups::groups(&able, &plan.points, sizes, plan.seed).unwrap().concat()
                {
                    for program in programs(&launch).unwrap().iter() {
                        let bindings = program.bindings().unwrap();
                        let key = ToCompile::new(program, &bindings, &launch).unwrap().key(place);
                        assert!(
                            wanted.contains_key(&key),
                            "{id}: {} {:?}",
                            launch.kernel,
                            launch.parameters
                        );
                        launched += 1;
                    }
                }
            }
        }
        assert!(launched > 100, "{launched}");
    }

    #[test]
    fn what_does_not_fit_together_is_refused_before_anything_runs() {
        let catalogue = Catalogue::embedded().unwrap();
        let refused = |line: &str| {
            let failure = planned(&catalogue, line).err().unwrap();
            (failure.exit, failure.error.to_string())
        };
        let (exit, message) = refused("uniform --device sim:4 --counters");
        assert!(exit == Exit::BadInput && message.contains("add --device cuda:0"), "{message}");
        let (exit, message) = refused("uniform --device sim:4 --no-counting");
        assert!(exit == Exit::BadInput && message.contains("--no-counting"), "{message}");
        assert_eq!(refused("uniform --device sim:3").0, Exit::NoDevice);
    }
}
