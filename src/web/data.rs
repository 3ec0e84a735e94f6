//! What the page is given: launches, their texts, what the simulator counts, the form of its record.
//!
//! Input: kernels. Output: [`Data`], written into the page as JSON, and sentences about kernels that
//! no browser runs. A text that several dispatches share stands there once.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::WebError;
use crate::instrument::{BlockDecoding, CounterScheme, Instrumented, Options, Term};
use crate::kernel::generate::{self, Fill};
use crate::kernel::reference;
use crate::kernel::{
    Buffer, Catalogue, DeviceClass, Kernel, KernelLanguage, Launch, SEED, ScalarType, Workgroups,
};
use crate::program::{COUNTING_RULE, Program, portable};
use crate::record::{self, Host, Output, Run, SCHEMA, Tool, Value};
use crate::run::launched::programs;
use crate::run::simulator::{STEPS_MAX, SimulatorRunner};
use crate::run::{CountRequest, RunError, RunErrorKind, Runner, measure, trust};
use crate::run::{WIDTH_PROBE, WIDTH_PROBE_WORKGROUPS};
use crate::store;
use crate::units::Width;

/// The widths at which the page knows what to expect, in lanes.
const WIDTHS: [u32; 6] = [4, 8, 16, 32, 64, 128];

/// The lanes that a subgroup is taken to have where the browser offers no subgroup operations.
const WIDTH_ASSUMED: u32 = 32;

/// The parameter that sizes a launch.
const SIZE: &str = "n";

/// Elements of the smaller of the sizes that are tried first: drivers end what takes seconds.
const SIZE_FIRST: i64 = 16384;

/// How much smaller a launch is tried again that took too long.
const SMALLER: i64 = 4;

/// The most elements that a timed launch grows to.
const SIZE_MAX: i64 = 1 << 22;

/// The most bytes of a buffer of a timed launch.
const BUFFER_BYTES_MAX: u64 = 16 << 20;

/// The most bytes that the counters' buffer may take.
const COUNTER_BYTES_MAX: u64 = 1 << 20;

/// The most bytes of contents that the page holds because it cannot work them out.
const CONTENT_BYTES_MAX: usize = 1 << 20;

/// All that the page's scripts know.
#[derive(Debug, Serialize)]
pub(super) struct Data {
    widths: [u32; 6],
    width_assumed: u32,
    /// Every WGSL text.
    texts: Vec<String>,
    /// Finds the width.
    probe: Text,
    probe_workgroups: u32,
    /// A record of the simulator at the assumed width, whose measurements are those of
    /// [`Data::launches`]: the form that the page fills in.
    template: serde_json::Value,
    pub(super) launches: Vec<LaunchData>,
    /// Words of the record's flags with their meaning.
    flags: BTreeMap<&'static str, &'static str>,
}

/// A text and its entry point.
#[derive(Clone, Debug, Serialize)]
struct Text {
    text: usize,
    entry: String,
}

/// A launch, at each of its sizes.
#[derive(Debug, Serialize)]
pub(super) struct LaunchData {
    /// The form of control flow that it tests, where it is a part of the self-test.
    part: Option<String>,
    /// The launch that it is compared with.
    baseline: Option<usize>,
    /// Whether it is timed.
    timed: bool,
    /// Whether counts must be the simulator's.
    agrees: bool,
    buffers: Vec<BufferData>,
    dispatches: Vec<DispatchData>,
    /// The first that is tried, a smaller one, and growing ones for timing.
    sizes: Vec<SizeData>,
    reference: Option<ReferenceData>,
    /// The forms of control flow that it uses.
    constructs: Vec<String>,
}

/// A buffer, whatever its size.
#[derive(Debug, Serialize)]
struct BufferData {
    name: String,
    scalar: ScalarType,
    output: bool,
    /// Upper and lower half of what its random words begin from.
    stream: [u32; 2],
}

/// A dispatch, whatever its size.
#[derive(Debug, Serialize)]
struct DispatchData {
    setup: bool,
    /// Group, binding, the buffer's number, and 0 for uniform, 1 for storage, 2 for what is written.
    bindings: Vec<[u32; 4]>,
    plain: Text,
    executed: CountingData,
    estimated: CountingData,
    workgroup_size: [u32; 3],
}

/// A module that counts.
#[derive(Debug, Serialize)]
struct CountingData {
    text: usize,
    entry: String,
    group: u32,
    binding: u32,
    words: u32,
    period: u32,
    /// Of each block the terms of its executions and of its lanes: word, factor, word, factor, …
    blocks: Vec<[Vec<i64>; 2]>,
}

/// A launch at one size.
#[derive(Debug, Serialize)]
struct SizeData {
    parameters: BTreeMap<String, Value>,
    /// The parameters that are whole numbers of the type of real ones: JavaScript writes `1.0` as `1`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reals: Vec<String>,
    /// Bytes and first content of each buffer.
    buffers: Vec<(u64, Fill)>,
    /// Workgroups of each dispatch, or the number of a buffer and the byte at which they stand.
    grids: Vec<Grid>,
    bytes: Option<u64>,
    /// By width and dispatch, of each block: executions, lanes, and where the kernel's author expects
    /// some the mean active lanes.
    expected: BTreeMap<u32, Vec<Vec<Expected>>>,
    /// By width, SHA-256 of each output, where the simulator's were right and the page has no reference.
    outputs_sha256: Digests,
}

/// By width and name, SHA-256 of outputs that were verified.
type Digests = BTreeMap<u32, BTreeMap<String, String>>;

/// What the simulator counts of a block.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Expected {
    Counts(u64, u64),
    WithMean(u64, u64, f64),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Grid {
    Direct([u32; 3]),
    Indirect { buffer: usize, offset: u64 },
}

#[derive(Debug, Serialize)]
struct ReferenceData {
    name: String,
    relative: f64,
    absolute: f64,
}

/// Collects what a page of `kernels` needs; and sentences about those that no browser runs.
pub(super) fn collect(
    catalogue: &Catalogue,
    kernels: &[&Kernel],
) -> Result<(Data, Vec<String>), WebError> {
    let mut collector = Collector::default();
    let mut left_out = Vec::new();
    for kernel in kernels {
        let mut known = Vec::new();
        for chosen in points(kernel) {
            let sizes = sizes(kernel, &chosen)?;
            if known.contains(&sizes[0].parameters) {
                continue;
            }
            known.push(sizes[0].parameters.clone());
            if let Err(why) = collector.add(kernel, &sizes) {
                left_out.push(format!("{} is left out: {why}", kernel.id));
                break;
            }
        }
    }
    if collector.measurements.is_empty() {
        return Err(WebError::Nothing(left_out.join("; ")));
    }
    collector.compare(catalogue);
    let probe = crate::run::probe_program(WIDTH_PROBE)
        .map_err(|error| WebError::Launch { kernel: "probe".to_owned(), error })?;
    let probe = collector.texts.portable(&probe)?;
    Ok((collector.finish(catalogue, probe)?, left_out))
}

/// The points at which a page has a kernel: its defaults, what it shows beside them, and where it is
/// about the grain of branches the values that every device takes.
fn points(kernel: &Kernel) -> Vec<BTreeMap<String, Value>> {
    let mut points = kernel.points(&BTreeMap::new());
    let sweeps = kernel.description.sweeps.iter();
    let taken = sweeps.filter(|sweep| !sweep.gpu_only && !sweep.simulator_only);
    for sweep in taken.filter(|_| kernel.description.grain.is_some()) {
        let mut swept = vec![BTreeMap::new()];
        for (name, values) in &sweep.axes {
            let with = |point: &BTreeMap<String, Value>, value: &Value| {
                let mut point = point.clone();
                point.insert(name.clone(), value.clone());
                point
            };
            let each =
                swept.iter().flat_map(|point| values.iter().map(move |value| with(point, value)));
            swept = each.collect();
        }
        points.extend(swept);
    }
    points
}

/// A kernel's launches at one point of its sweep: the size that is tried first, a smaller one, then
/// growing ones where it may be timed.
fn sizes(kernel: &Kernel, chosen: &BTreeMap<String, Value>) -> Result<Vec<Launch>, WebError> {
    let usual = kernel.launch(DeviceClass::Quick, chosen, SEED)?;
    let Some(Value::Integer(n)) = usual.parameters.get(SIZE).cloned() else {
        return Ok(vec![usual]);
    };
    let at = |n: i64| {
        let mut chosen = chosen.clone();
        chosen.insert(SIZE.to_owned(), Value::Integer(n));
        let launch = kernel.launch(DeviceClass::Quick, &chosen, SEED).ok()?;
        let fits = launch.buffers.iter().all(|buffer| buffer.size <= BUFFER_BYTES_MAX);
        (fits && is_alike(&launch, &usual)).then_some(launch)
    };
    let mut first = n;
    while first > SIZE_FIRST && first % 2 == 0 && at(first / 2).is_some() {
        first /= 2;
    }
    let Some(launch) = at(first) else { return Ok(vec![usual]) };
    let mut sizes = vec![launch];
    sizes.extend(at(first / SMALLER));
    if sizes.len() == 2 && usual.repeatable {
        let growing = (1..).map(|power| first << power).take_while(|n| *n <= SIZE_MAX);
        sizes.extend(growing.map_while(at));
    }
    Ok(sizes)
}

/// Whether two launches differ in sizes alone.
fn is_alike(a: &Launch, b: &Launch) -> bool {
    let dispatches = || a.dispatches.iter().zip(&b.dispatches);
    let direct = |workgroups: &Workgroups| matches!(workgroups, Workgroups::Direct(_));
    a.source == b.source
        && a.overrides == b.overrides
        && a.dispatches.len() == b.dispatches.len()
        && dispatches().all(|(a, b)| {
            a.entry_point == b.entry_point
                && a.overrides == b.overrides
                && a.setup == b.setup
                && direct(&a.workgroups)
        })
        && a.buffers.iter().map(|buffer| &buffer.name).eq(b.buffers.iter().map(|b| &b.name))
}

/// What has been collected.
#[derive(Default)]
struct Collector {
    texts: Texts,
    launches: Vec<LaunchData>,
    /// At the first size and the assumed width, in the order of `launches`.
    measurements: Vec<record::Measurement>,
    sources: BTreeMap<String, record::Source>,
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Texts {
    fn add(&mut self, text: String) -> usize {
        let next = self.texts.len();
        let number = *self.known.entry(text.clone()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        number
    }

    fn portable(&mut self, program: &Program) -> Result<Text, crate::program::ProgramError> {
        let written = portable(program.module(), program.text())?;
        Ok(Text { text: self.add(written.text), entry: written.entry_point })
    }

    /// The dispatches of a launch, each plain and with counters.
    fn dispatches(
        &mut self,
        launch: &Launch,
        programs: &[Program],
    ) -> Result<Vec<DispatchData>, String> {
        let each = launch.dispatches.iter().zip(programs);
        each.map(|(dispatch, program)| self.dispatch(launch, dispatch.setup, program)).collect()
    }

    fn dispatch(
        &mut self,
        launch: &Launch,
        setup: bool,
        program: &Program,
    ) -> Result<DispatchData, String> {
        let bindings = program.bindings().map_err(|error| error.to_string())?;
        let slot = |binding: &crate::program::Binding| {
            let buffer = launch.buffers.iter().position(|buffer| buffer.name == binding.name);
            let buffer = buffer.and_then(|number| u32::try_from(number).ok());
            let buffer = buffer.ok_or_else(|| format!("it describes no `{}`", binding.name))?;
            let kind = match (binding.uniform, binding.writable) {
                (true, _) => 0,
                (false, false) => 1,
                (false, true) => 2,
            };
            Ok([binding.group, binding.binding, buffer, kind])
        };
        let bindings = bindings.iter().map(slot).collect::<Result<Vec<_>, String>>()?;
        let executed = self.counting(program, CounterScheme::Executed)?;
        let estimated = self.counting(program, CounterScheme::Estimated)?;
        Ok(DispatchData {
            setup,
            bindings,
            plain: self.portable(program).map_err(|error| error.to_string())?,
            executed,
            estimated,
            workgroup_size: program.workgroup_size(),
        })
    }

    fn counting(
        &mut self,
        program: &Program,
        method: CounterScheme,
    ) -> Result<CountingData, String> {
        let options = Options {
            method,
            subgroup_width_max: match method {
                CounterScheme::Estimated => WIDTH_ASSUMED,
                CounterScheme::Executed | CounterScheme::Histogram | CounterScheme::Derived => {
                    Width::MAX
                }
            },
            counter_bytes_max: COUNTER_BYTES_MAX,
            workgroups: None,
        };
        let counting = Instrumented::new(program, &options).map_err(|error| error.to_string())?;
        let written =
            portable(counting.module(), program.text()).map_err(|error| error.to_string())?;
        let decoding = counting.decoding();
        let place = counting.counters();
        let terms = |terms: &[Term]| -> Vec<i64> {
            terms.iter().flat_map(|term| [i64::from(term.word), term.factor]).collect()
        };
        let block = |block: &BlockDecoding| [terms(&block.executions), terms(&block.lanes)];
        Ok(CountingData {
            text: self.add(written.text),
            entry: written.entry_point,
            group: place.group,
            binding: place.binding,
            words: decoding.words,
            period: decoding.period,
            blocks: decoding.blocks.iter().map(block).collect(),
        })
    }
}

impl Collector {
    /// Adds a launch, whose first size is `sizes[0]`; else says why no browser runs it.
    fn add(&mut self, kernel: &Kernel, sizes: &[Launch]) -> Result<(), String> {
        let launch = &sizes[0];
        if kernel.language == KernelLanguage::Cuda {
            return Err("it is CUDA C++".to_owned());
        }
        has_no_immediates(launch)?;
        let words = |error: RunError| error.message;
        let programs = programs(launch).map_err(words)?;
        let known = launch.reference.as_ref().filter(|reference| {
            reference::JAVASCRIPT
                .iter()
                .any(|text| text.contains(&format!("\"{}\"", reference.name)))
        });
        let mut measured = Vec::new();
        let counted = sizes.iter().take(2).map(|launch| {
            let (expected, digests, measurement) = simulate(launch)?;
            measured.push(measurement);
            Ok((expected, digests))
        });
        let counted = counted.collect::<Result<Vec<_>, RunError>>().map_err(words)?;
        let mut counted = counted.into_iter();
        let sized = sizes.iter().map(|launch| {
            let (expected, digests) = counted.next().unwrap_or_default();
            let digests = if known.is_some() { Digests::new() } else { digests };
            size(launch, expected, digests)
        });
        let sized = sized.collect::<Result<Vec<_>, String>>()?;
        let dispatches = self.texts.dispatches(launch, &programs)?;
        let constructs = trust::constructs(launch).map_err(words)?;
        let part = kernel.description.tests.clone();
        self.launches.push(LaunchData {
            timed: part.is_none() && launch.repeatable && sizes.len() > 2,
            part,
            baseline: None,
            agrees: launch.exempt_from_agreement.is_none(),
            buffers: launch.buffers.iter().map(|buffer| buffer_data(launch, buffer)).collect(),
            dispatches,
            sizes: sized,
            reference: known.map(|reference| ReferenceData {
                name: reference.name.clone(),
                relative: reference.tolerance_relative,
                absolute: reference.tolerance_absolute,
            }),
            constructs: constructs.iter().map(|form| form.name().to_owned()).collect(),
        });
        let (sha256, source) = measure::source(launch);
        self.sources.insert(sha256, source);
        self.measurements.extend(measured.into_iter().next());
        Ok(())
    }

    /// Notes which launch each is compared with.
    fn compare(&mut self, catalogue: &Catalogue) {
        for number in 0..self.launches.len() {
            let measurement = &self.measurements[number];
            let baseline =
                catalogue.kernel(&measurement.kernel).and_then(|k| k.description.baseline.clone());
            let found = self.measurements.iter().position(|other| {
                Some(&other.kernel) == baseline.as_ref()
                    && other.parameters.iter().all(|(name, value)| {
                        measurement.parameters.get(name).is_none_or(|parameter| parameter == value)
                    })
            });
            self.launches[number].baseline = found.filter(|found| *found != number);
        }
    }

    fn finish(self, catalogue: &Catalogue, probe: Text) -> Result<Data, WebError> {
        let device = simulator(WIDTH_ASSUMED).device().clone();
        let mut run = Run {
            schema: SCHEMA,
            counting_rule: COUNTING_RULE,
            tool: Tool::this(),
            started_utc: String::new(),
            argv: vec!["web".to_owned()],
            host: Host {
                os: String::new(),
                arch: String::new(),
                logical_cpus: 0,
                environment: BTreeMap::new(),
            },
            devices: vec![device],
            measurements: self.measurements,
            kernels: BTreeMap::new(),
            sources: self.sources,
        };
        catalogue.annotate(&mut run);
        let mut template = serde_json::from_slice(&store::encode(&run, Path::new("page"))?)?;
        strip(&mut template);
        use record::Tag;
        let flags = [
            Tag::Unattested,
            Tag::WallClock,
            Tag::WidthAssumed,
            Tag::StopRuleNotMet,
            Tag::SubgroupWidthMisreported,
            Tag::WidthNotKnownWhenTimed,
            Tag::WidthNotKnownWhenCounted,
            Tag::SelfTestFailed,
            Tag::NoSubgroups,
            Tag::NoUsableSamples,
        ];
        let known = Tag::ALL.iter().filter(|tag| flags.contains(tag));
        Ok(Data {
            widths: WIDTHS,
            width_assumed: WIDTH_ASSUMED,
            texts: self.texts.texts,
            probe,
            probe_workgroups: WIDTH_PROBE_WORKGROUPS,
            template,
            launches: self.launches,
            flags: known.map(|tag| (tag.word(), tag.explanation())).collect(),
        })
    }
}

/// Leaves out what the page fills in by itself, and marks what JavaScript would write otherwise.
fn strip(template: &mut serde_json::Value) {
    if let Some(kernels) = template.get_mut("kernels") {
        mark_reals(kernels);
    }
    let measurements = template.get_mut("measurements").and_then(|all| all.as_array_mut());
    for measurement in
        measurements.into_iter().flatten().filter_map(|measurement| measurement.as_object_mut())
    {
        for key in ["trace", "memory", "counters", "parameters", "trust", "flags"] {
            measurement.remove(key);
        }
        let dispatches = measurement.get_mut("dispatches").and_then(|all| all.as_array_mut());
        for dispatch in
            dispatches.into_iter().flatten().filter_map(|dispatch| dispatch.as_object_mut())
        {
            dispatch.remove("blocks");
        }
    }
}

/// The simulator of a width.
fn simulator(lanes: u32) -> SimulatorRunner {
    SimulatorRunner::new(Width::new(lanes).unwrap_or(Width::W32), STEPS_MAX)
}

/// By width and dispatch, what the simulator counts of each block.
type AtWidths = BTreeMap<u32, Vec<Vec<Expected>>>;

/// Counts a launch at every width, with digests of outputs that were right; and the measurement at the
/// assumed width.
fn simulate(launch: &Launch) -> Result<(AtWidths, Digests, record::Measurement), RunError> {
    let mut expected = AtWidths::new();
    let mut digests = Digests::new();
    let mut assumed = None;
    for width in WIDTHS {
        let mut runner = simulator(width);
        let counted = runner.count_once(launch, &CountRequest::once(record::Method::Executed))?;
        if counted.checked.output == Output::Verified {
            digests.insert(width, counted.outputs_sha256.clone());
        }
        let results = measure::Results { counted: Some(counted), ..Default::default() };
        let measurement = measure::measurement(runner.device(), launch, results)?;
        let block = |block: &record::Block| match block.active_lanes_mean_expected {
            Some(mean) => Expected::WithMean(block.executions.0, block.lanes.0, mean),
            None => Expected::Counts(block.executions.0, block.lanes.0),
        };
        let dispatches = measurement.dispatches.iter();
        let blocks =
            dispatches.map(|dispatch| dispatch.blocks.iter().map(block).collect()).collect();
        expected.insert(width, blocks);
        if width == WIDTH_ASSUMED {
            assumed = Some(measurement);
        }
    }
    let measurement = assumed.ok_or_else(|| {
        RunError::new(RunErrorKind::BadInput, "the assumed width is not among the widths")
    })?;
    Ok((expected, digests, measurement))
}

/// What is the same of a buffer at every size.
fn buffer_data(launch: &Launch, buffer: &Buffer) -> BufferData {
    let stream = generate::stream(launch.seed, &buffer.name);
    let [low, high] = [stream, stream >> 32]
        .map(|half| u32::try_from(half & u64::from(u32::MAX)).unwrap_or_default());
    BufferData {
        name: buffer.name.clone(),
        scalar: buffer.scalar,
        output: buffer.output,
        stream: [high, low],
    }
}

/// A launch at one size, whose contents the page can work out.
fn size(launch: &Launch, expected: AtWidths, outputs_sha256: Digests) -> Result<SizeData, String> {
    let mut held = 0;
    let buffers = launch.buffers.iter().map(|buffer| {
        if is_worked_out(&buffer.fill) {
            return Ok((buffer.size, buffer.fill.clone()));
        }
        let bytes = launch.contents(buffer);
        held += bytes.len();
        if held > CONTENT_BYTES_MAX {
            return Err(format!(
                "its contents are {held} bytes and more that a page would have to hold"
            ));
        }
        Ok((buffer.size, Fill::Bytes(bytes)))
    });
    let buffers = buffers.collect::<Result<Vec<_>, String>>()?;
    Ok(SizeData {
        parameters: launch.parameters.clone(),
        reals: reals(launch),
        buffers,
        grids: grids(launch)?,
        bytes: launch.bytes,
        expected,
        outputs_sha256,
    })
}

/// The real parameters whose values are whole numbers.
fn reals(launch: &Launch) -> Vec<String> {
    let is_whole = |value: &Value| matches!(value, Value::Real(real) if real.fract() == 0.0);
    let found = launch.parameters.iter().filter(|(_, value)| is_whole(value));
    found.map(|(name, _)| name.clone()).collect()
}

/// What stands before a whole number of the type of real ones, in a text in its place.
const REAL: &str = "real:";

/// Puts texts in the place of real whole numbers, from which the page makes numbers again in its record.
fn mark_reals(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number)
            if number.is_f64() && number.as_f64().is_some_and(|real| real.fract() == 0.0) =>
        {
            *value = format!("{REAL}{number}").into();
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(mark_reals),
        serde_json::Value::Object(all) => all.values_mut().for_each(mark_reals),
        serde_json::Value::Number(_)
        | serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::String(_) => {}
    }
}

/// The workgroups of each dispatch.
fn grids(launch: &Launch) -> Result<Vec<Grid>, String> {
    let grid = |workgroups: &Workgroups| match workgroups {
        Workgroups::Direct(workgroups) => Ok(Grid::Direct(*workgroups)),
        Workgroups::Indirect { buffer, offset } => {
            let found = launch.buffers.iter().position(|known| known.name == *buffer);
            let buffer = found.ok_or_else(|| format!("it describes no `{buffer}`"))?;
            Ok(Grid::Indirect { buffer, offset: *offset })
        }
    };
    launch.dispatches.iter().map(|dispatch| grid(&dispatch.workgroups)).collect()
}

fn has_no_immediates(launch: &Launch) -> Result<(), String> {
    match launch.immediates.is_empty() {
        true => Ok(()),
        false => Err("it takes immediate data, which WebGPU lacks".to_owned()),
    }
}

/// What the worker that owns a device is given of one launch whose contents the page holds: to be
/// counted once.
#[derive(Debug, Serialize)]
pub(super) struct ShaderData {
    width_assumed: u32,
    texts: Vec<String>,
    probe: Text,
    probe_workgroups: u32,
    launches: [LaunchData; 1],
}

impl ShaderData {
    /// Writes a launch's shaders for a browser.
    ///
    /// # Errors
    ///
    /// Why no browser runs it, a clause.
    pub(super) fn from_launch(launch: &Launch) -> Result<Self, String> {
        has_no_immediates(launch)?;
        let words = |error: RunError| error.message;
        let mut texts = Texts::default();
        let dispatches = texts.dispatches(launch, &programs(launch).map_err(words)?)?;
        let probe = crate::run::probe_program(WIDTH_PROBE).map_err(words)?;
        let probe = texts.portable(&probe).map_err(|error| error.to_string())?;
        let held = |buffer: &Buffer| (buffer.size, Fill::Bytes(Vec::new()));
        let size = SizeData {
            parameters: launch.parameters.clone(),
            reals: Vec::new(),
            buffers: launch.buffers.iter().map(held).collect(),
            grids: grids(launch)?,
            bytes: launch.bytes,
            expected: AtWidths::new(),
            outputs_sha256: Digests::new(),
        };
        let data = LaunchData {
            part: None,
            baseline: None,
            timed: false,
            agrees: launch.exempt_from_agreement.is_none(),
            buffers: launch.buffers.iter().map(|buffer| buffer_data(launch, buffer)).collect(),
            dispatches,
            sizes: vec![size],
            reference: None,
            constructs: Vec::new(),
        };
        Ok(Self {
            width_assumed: WIDTH_ASSUMED,
            texts: texts.texts,
            probe,
            probe_workgroups: WIDTH_PROBE_WORKGROUPS,
            launches: [data],
        })
    }
}

/// Whether the page's script makes the same bytes.
fn is_worked_out(fill: &Fill) -> bool {
    let plain =
        |scalar: &ScalarType| matches!(scalar, ScalarType::U32 | ScalarType::I32 | ScalarType::F32);
    match fill {
        Fill::Zero | Fill::Words(_) => true,
        Fill::Uniform { scalar, .. } | Fill::Series { scalar, .. } => plain(scalar),
        Fill::Skewed { .. }
        | Fill::Pattern { .. }
        | Fill::Bytes(_)
        | Fill::Default { .. }
        | Fill::Members { .. } => false,
    }
}
