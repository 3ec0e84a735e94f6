//! The core of the page on which one pastes a shader: `profile`, asked by messages.
//!
//! Input: questions as JSON, one after the other ([`Core::answer`]). Output: answers as JSON, and the bytes of
//! buffers. It keeps one launch with the record of what was counted of it; the record grows with each
//! question, and its page is that of `lanescope profile`. Nothing is read but what is asked, no clock is
//! looked at, and everything has a limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::data::ShaderData;
use crate::analyze::{self, Profile, WIDTHS_COMPARED, Work};
use crate::instrument::Count;
use crate::kernel::{Description, Launch, SEED};
use crate::present::count_text;
use crate::program::COUNTING_RULE;
use crate::record::{
    Device, Flag, Host, MadeUp, Measurement, Method, Output, Run, SCHEMA, Status, Tag, Tool,
};
use crate::report;
use crate::run::looks::Looks;
use crate::run::measure::{Results, measurement, source};
use crate::run::profile::made_up::find_made_up;
use crate::run::profile::pilot::prepare_affordable;
use crate::run::profile::{ProfileError, ProfileRequest};
use crate::run::simulator::{self, SimulatorRunner};
use crate::run::what_if::Budget;
use crate::run::{Checked, CountRequest, Counted, CountedDispatch, Runner};
use crate::units::{Executions, Lanes, Ratio, Width, grouped_text, text};

/// The most bytes of a shader's text.
pub const SOURCE_BYTES_MAX: usize = 256 << 10;

/// The most bytes of a launch file.
const LAUNCH_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a launch's buffers and textures: an address space has 4 GiB, and a launch that is
/// tried otherwise takes several times its buffers.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Operations that one subgroup may execute.
const STEPS_MAX: u64 = 1 << 28;

/// Operations that all subgroups of a launch may execute: about a minute.
const OPERATIONS_MAX: u64 = 1 << 30;

/// Operations that changes are tried for at one width: a second or two.
const TRIED_MAX: u64 = 1 << 24;

/// Differences between a GPU and the simulator that are told by line.
const DIFFERENCES_MAX: usize = 12;

/// What the page asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Question {
    /// To make a launch of a shader, in place of the last one.
    Open(Box<Opening>),
    /// To count it at a width, in lanes.
    Count { width: u32 },
    /// To look at what is beside counts, at a width that was counted.
    Look { width: u32 },
    /// For the page of all that was counted.
    Page,
    /// For the record of all that was counted: its text, since JavaScript writes the real number 1.0 as 1.
    Record,
    /// For what a GPU is to run.
    Gpu,
    /// For the first content of a buffer, by its number: the only answer that is bytes and no JSON.
    Contents { buffer: usize },
    /// To add what a GPU counted.
    Measured(Box<Measured>),
}

/// A shader and how it is to be launched.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    /// The shader's file name, as messages show it.
    file: String,
    /// WGSL.
    source: String,
    /// A launch file, where there is one.
    launch: Option<String>,
    /// The entry point, where the launch file does not say it.
    entry: Option<String>,
    /// The number of elements, where it is not lanescope's to choose.
    n: Option<u64>,
    /// When it was asked, RFC 3339 in UTC.
    started_utc: String,
    /// The visitor's machine.
    host: Host,
}

/// What a GPU counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    /// As the record has it.
    device: Device,
    /// The width at which its counts are read, in lanes.
    width: u32,
    /// How executions were counted.
    method: Method,
    /// Of each dispatch and block executions and lanes.
    dispatches: Vec<Vec<[u64; 2]>>,
}

/// A launch that was made.
#[derive(Debug, Serialize)]
struct Opened {
    /// Its number of elements.
    n: Option<u64>,
    /// Why a GPU cannot run it from a page; `None` if it can.
    no_gpu: Option<String>,
}

/// What was counted at a width.
#[derive(Debug, Serialize)]
struct Totals {
    subgroup_operations: u64,
    lane_operations: u64,
    active_lanes_mean: Option<f64>,
    efficiency_ratio: Option<f64>,
}

/// How a GPU's counts compare with the simulator's.
#[derive(Debug, Serialize)]
struct Compared {
    sentence: String,
    /// Blocks that both counted, and those of them that are equal.
    blocks: usize,
    equal: usize,
    /// The first differences, a sentence each.
    different: Vec<String>,
}

/// An answer: what was asked for, or why there is none.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    Ok(T),
    Error(String),
}

/// What answers.
#[derive(Debug, Default)]
pub struct Core {
    shader: Option<Shader>,
}

impl Core {
    /// Answers a question: JSON, or a buffer's bytes where these are asked for.
    pub fn answer(&mut self, question: &[u8]) -> Vec<u8> {
        match serde_json::from_slice(question) {
            Ok(question) => self.answer_to(question),
            Err(error) => {
                to_bytes(Err::<(), _>(format!("the page asks what is no question: {error}")))
            }
        }
    }

    fn answer_to(&mut self, question: Question) -> Vec<u8> {
        if let Question::Open(opening) = question {
            self.shader = None;
            let opened = Shader::open(*opening);
            return to_bytes(opened.map(|(shader, opened)| {
                self.shader = Some(shader);
                opened
            }));
        }
        let Some(shader) = &mut self.shader else {
            return to_bytes(Err::<(), _>("no shader is open".to_owned()));
        };
        match question {
            Question::Open(_) => Vec::new(),
            Question::Count { width } => to_bytes(lanes(width).and_then(|w| shader.count(w))),
            Question::Look { width } => to_bytes(lanes(width).and_then(|w| shader.look(w))),
            Question::Page => to_bytes(shader.page()),
            Question::Record => to_bytes(shader.record()),
            Question::Gpu => to_bytes(shader.gpu()),
            Question::Contents { buffer } => shader.contents(buffer),
            Question::Measured(measured) => to_bytes(shader.add(*measured)),
        }
    }
}

/// An answer as JSON.
fn to_bytes<T: Serialize>(answer: Result<T, String>) -> Vec<u8> {
    let answer = match answer {
        Ok(answer) => Answer::Ok(answer),
        Err(why) => Answer::Error(why),
    };
    serde_json::to_vec(&answer).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}").into())
}

fn lanes(width: u32) -> Result<Width, String> {
    Width::new(width).map_err(|error| error.to_string())
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A launch with what was counted of it.
#[derive(Debug)]
struct Shader {
    launch: Launch,
    made_up: Vec<MadeUp>,
    run: Run,
}

impl Shader {
    fn open(opening: Opening) -> Result<(Self, Opened), String> {
        let Opening { file, source: text, launch, entry, n, started_utc, host } = opening;
        check_size("the shader", text.len(), SOURCE_BYTES_MAX)?;
        check_size("the launch file", launch.as_ref().map_or(0, String::len), LAUNCH_BYTES_MAX)?;
        let describe = |text: String| {
            let name = "launch.toml".to_owned();
            let description = Description::parse_launch_file(&name, &text);
            description.map(|description| (name, description)).map_err(words)
        };
        let description = launch.map(describe).transpose()?;
        let name = file.rsplit('/').next().unwrap_or(&file);
        let request = ProfileRequest {
            name: name.strip_suffix(".wgsl").unwrap_or(name).to_owned(),
            file,
            source: text,
            derived: None,
            description,
            entry_point: entry,
            workgroups: None,
            n,
            seed: SEED,
        };
        let mut read = |name: &str| Err(format!("{name} cannot be read: a page opens no files"));
        let prepared = prepare_affordable(&request, &mut read).map_err(|error| refusal(&error))?;
        let launch = prepared.launch;
        let bytes = launch.bytes();
        if bytes > MEMORY_BYTES_MAX {
            return Err(format!(
                "the buffers and textures take {} bytes, over {}, this page's limit: choose a smaller n",
                grouped_text(bytes.into()),
                grouped_text(MEMORY_BYTES_MAX.into())
            ));
        }
        let note = request.description.as_ref().map(|(_, description)| description.note());
        let (sha256, source) = source(&launch);
        let run = Run {
            schema: SCHEMA,
            counting_rule: COUNTING_RULE,
            tool: Tool::this(),
            started_utc,
            argv: vec!["(in a browser)".to_owned()],
            host,
            devices: Vec::new(),
            measurements: Vec::new(),
            kernels: note.map(|note| (launch.kernel.clone(), note)).into_iter().collect(),
            sources: BTreeMap::from([(sha256, source)]),
        };
        let n = launch.parameters.get("n").and_then(|n| n.to_string().parse().ok());
        let no_gpu = ShaderData::from_launch(&launch).err();
        let made_up = find_made_up(&request, &launch).unwrap_or_default();
        Ok((Self { launch, made_up, run }, Opened { n, no_gpu }))
    }

    /// Counts at a width, where that was not done.
    fn count(&mut self, width: Width) -> Result<Totals, String> {
        let index = match self.find_simulated(width) {
            Some(index) => index,
            None => self.simulate(width)?,
        };
        let measurement = &self.run.measurements[index];
        if measurement.status == Status::Failed {
            return Err(measurement.error.clone().unwrap_or_default());
        }
        let work = Work::from_measurement(measurement);
        let whole = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        Ok(Totals {
            subgroup_operations: whole(work.subgroup_operations),
            lane_operations: whole(work.lane_operations),
            active_lanes_mean: measurement.active_lanes_mean,
            efficiency_ratio: measurement.efficiency_ratio.map(|ratio| ratio.0),
        })
    }

    /// The number of the simulator's measurement at a width.
    fn find_simulated(&self, width: Width) -> Option<usize> {
        let id = simulator::device_id(width);
        self.run.measurements.iter().position(|measurement| measurement.device == id)
    }

    fn simulate(&mut self, width: Width) -> Result<usize, String> {
        let runner = SimulatorRunner::new(width, STEPS_MAX).operations_max(OPERATIONS_MAX);
        let mut runner = runner.memory_bytes_max(MEMORY_BYTES_MAX);
        let request = CountRequest::once(Method::Executed).with_histogram();
        let (counted, error) = match runner.count_once(&self.launch, &request) {
            Ok(counted) => (Some(counted), None),
            Err(error) => (None, Some(error)),
        };
        let results = Results { counted, error, ..Results::default() };
        let device = runner.device().clone();
        self.record_measurement(device, results)
    }

    fn record_measurement(&mut self, device: Device, results: Results) -> Result<usize, String> {
        let mut measured = measurement(&device, &self.launch, results).map_err(words)?;
        measured.made_up.clone_from(&self.made_up);
        self.run.devices.retain(|known| known.id != device.id);
        self.run.measurements.retain(|known| known.device != device.id);
        self.run.devices.push(device);
        self.run.measurements.push(measured);
        Ok(self.run.measurements.len() - 1)
    }

    /// Looks at other shapes, memory and changes; gives sentences on what was not looked at.
    fn look(&mut self, width: Width) -> Result<Vec<String>, String> {
        let index = self.find_simulated(width).ok_or("this width was not counted")?;
        let measurement: &mut Measurement = &mut self.run.measurements[index];
        if measurement.status == Status::Failed {
            return Ok(Vec::new());
        }
        let looks = Looks {
            steps_max: STEPS_MAX,
            operations_max: OPERATIONS_MAX,
            strict: false,
            everything: false,
        };
        let mut left_out = Vec::new();
        if WIDTHS_COMPARED.contains(&width) {
            looks.at_shapes(&self.launch, width, measurement);
        }
        if let Err(why) = looks.at_memory(&self.launch, width, measurement) {
            left_out.push(format!("{}: {why}", measurement.device));
        }
        match looks.at_changes(&self.launch, width, Budget::Operations(TRIED_MAX)) {
            Ok(tried) => measurement.what_if = Some(tried),
            Err(error) => {
                left_out.push(format!("{}: no change was tried: {error}", measurement.device))
            }
        }
        Ok(left_out)
    }

    fn profile(&self) -> Result<Profile, String> {
        let profile = analyze::profiles(&self.run).into_iter().next();
        profile.ok_or_else(|| "nothing was counted".to_owned())
    }

    /// The page of `lanescope profile`.
    fn page(&self) -> Result<String, String> {
        let profile = self.profile()?;
        let advice = analyze::advice_of(&profile);
        report::profile_html(&profile, &advice, &self.run).map_err(words)
    }

    /// The record, as a file holds it.
    fn record(&self) -> Result<String, String> {
        let path = std::path::Path::new("result.json");
        String::from_utf8(crate::store::encode(&self.run, path).map_err(words)?).map_err(words)
    }

    fn gpu(&self) -> Result<ShaderData, String> {
        ShaderData::from_launch(&self.launch)
    }

    fn contents(&self, number: usize) -> Vec<u8> {
        let buffer = self.launch.buffers.get(number);
        buffer.map(|buffer| self.launch.contents(buffer)).unwrap_or_default()
    }

    /// Records what a GPU counted, and holds it against the simulator at the same width.
    fn add(&mut self, measured: Measured) -> Result<Compared, String> {
        let Measured { device, width, method, dispatches } = measured;
        let width = lanes(width)?;
        self.count(width)?;
        let mut flags = vec![];
        if method == Method::Estimated {
            flags.push(Flag::from(Tag::WidthAssumed));
        }
        let counts = |blocks: &Vec<[u64; 2]>| {
            let count = |[executions, lanes]: &[u64; 2]| Count {
                executions: Executions(*executions),
                lanes: Lanes(*lanes),
                histogram: None,
                parts: None,
            };
            blocks.iter().map(count).collect()
        };
        let dispatched = self.launch.dispatches.iter().zip(&dispatches);
        let counted = Counted {
            width: Some(width),
            method,
            dispatches: dispatched
                .map(|(dispatch, blocks)| CountedDispatch {
                    workgroups: dispatch.workgroups.direct(),
                    counts: counts(blocks),
                    calls: Vec::new(),
                    iterations_max: None,
                    incomplete: false,
                })
                .collect(),
            outputs_sha256: BTreeMap::new(),
            checked: Checked { output: Output::Unchecked, mismatch: None },
            runtime_checks: true,
            flags,
            outputs_shown: BTreeMap::new(),
            counters: Vec::new(),
            answer_ns: None,
            trace: None,
        };
        let results = Results { counted: Some(counted), ..Results::default() };
        let index = self.record_measurement(device, results)?;
        Ok(self.compare(index, width))
    }

    /// Holds a measurement against the simulator's at its width.
    fn compare(&self, index: usize, width: Width) -> Compared {
        let measurement = &self.run.measurements[index];
        let label = analyze::device_label(&self.run, &measurement.device);
        let twin = self.find_simulated(width).map(|index| &self.run.measurements[index]);
        let compared = twin.map(|twin| analyze::agreement(measurement, twin));
        let nothing = |why: String| Compared {
            sentence: format!("{label} cannot be held against the simulator: {why}"),
            blocks: 0,
            equal: 0,
            different: Vec::new(),
        };
        let found = match compared {
            Some(Ok(found)) => found,
            Some(Err(error)) => return nothing(error.to_string()),
            None => return nothing("its width was not simulated".to_owned()),
        };
        let mut blocks: Vec<_> = found
            .differences
            .iter()
            .map(|difference| (difference.dispatch, difference.block))
            .collect();
        blocks.dedup();
        let (all, different) = (found.blocks_compared, blocks.len());
        let sentence = match different {
            0 => format!(
                "{label} counts what the simulator counts at {width} lanes, in all of {}.",
                count_text(all as u128, "block")
            ),
            _ => format!(
                "{label}: counts differ from the simulator's at {width} lanes in {different} of {}; \
                 {}. The cause may be that floats decide a branch, and that this device rounds \
                 them in another way.",
                count_text(all as u128, "block"),
                executions_apart(&found.differences)
            ),
        };
        let line = |difference: &analyze::Difference| {
            let side = |count: Option<u64>| {
                count.map_or("nothing".to_owned(), |count| grouped_text(count.into()))
            };
            let what = match difference.quantity {
                analyze::Quantity::Operations => "operations".to_owned(),
                analyze::Quantity::Executions => "executions".to_owned(),
                analyze::Quantity::Lanes => "lanes".to_owned(),
                analyze::Quantity::Histogram(lanes) => format!("executions with {lanes} lanes"),
            };
            format!(
                "line {}: {} {what}; the simulator has {}",
                difference.place.1,
                side(difference.left),
                side(difference.right)
            )
        };
        let told = found.differences.iter().take(DIFFERENCES_MAX).map(line).collect();
        Compared { sentence, blocks: all, equal: all - different.min(all), different: told }
    }
}

/// How far executions lie from the simulator's at most, in words.
fn executions_apart(differences: &[analyze::Difference]) -> String {
    let executions = differences
        .iter()
        .filter(|difference| matches!(difference.quantity, analyze::Quantity::Executions));
    let apart = |difference: &analyze::Difference| {
        let (left, right) = (difference.left? as f64, difference.right? as f64);
        Some((left - right).abs() / right * 100.0)
    };
    let mut most: Option<f64> = None;
    for difference in executions {
        let percent = apart(difference).unwrap_or(f64::INFINITY);
        most = Some(most.map_or(percent, |most| most.max(percent)));
    }
    match most {
        None => "all have equal executions".to_owned(),
        Some(most) if !most.is_finite() => "some of them are executed on one side alone".to_owned(),
        Some(most) if most < 0.1 => "their executions differ by less than 0.1 %".to_owned(),
        Some(most) => {
            format!("their executions differ by up to {}", text::percent(Ratio(most / 100.0)))
        }
    }
}

/// Refuses what is over a limit of bytes.
fn check_size(what: &str, bytes: usize, bytes_max: usize) -> Result<(), String> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(format!(
        "{what} has {} bytes, over {}, this page's limit; `lanescope profile` takes larger ones",
        grouped_text(bytes as u128),
        grouped_text(bytes_max as u128)
    ))
}

/// Why there is no launch, with what helps on this page.
fn refusal(error: &ProfileError) -> String {
    match error {
        ProfileError::EntryPoints { .. } => {
            format!("{error}; name one under \"How it is launched\"")
        }
        other => other.to_string(),
    }
}
