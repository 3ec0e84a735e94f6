//! One shader's profile: per device each source line's lanes, subgroup operations and waste.
//!
//! Input: a run. Output: a [`Profile`] for each shader at each set of parameters, devices in the
//! order of measurement, a device's lines with the most wasted subgroup operations first. What a line
//! counts is made by `lines`; here it gets a rank and a histogram. Advice is made by
//! [`advice`](super::advice()) from it.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::agreement::differs_by_order;
use super::counts::{Work, efficiency};
use super::explained::{ExplainedTime, explain};
use super::lines::{self, SourceColumn};
use super::machine::ExecutedCode;
use super::names::parameters_text;
use super::rounds::ticks_by_round;
use crate::{
    record::{
        Block, Constant, Counter, CountersFrom, Device, Dispatch, Flag, Limit, MadeUp, Measurement,
        MemoryUse, Method, Output, Run, ShaderTrust, Shapes, Status, Tag, Time, Trust, WhatIf,
        flag,
    },
    statistics::{PairedRatio, RatioVerdict, paired_ratio},
    units::{BlockId, Nanoseconds, Ratio, Width, text},
};

/// The most numbers whose values are named in a sentence.
const CONSTANTS_NAMED: usize = 6;

/// One shader on one or several devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The kernel's full name, or the path of a user's shader.
    pub kernel: String,
    /// Every parameter, as `n=65536`; may be empty.
    pub parameters: String,
    /// The seed of the inputs.
    pub seed: u64,
    /// Where the launch comes from, where it was captured; a sentence.
    pub origin: Option<String>,
    /// The source's SHA-256 in hexadecimal.
    pub source_sha256: String,
    /// The source's file name; empty where the run does not hold the text.
    pub file: String,
    /// The source's text; `None` if the run does not hold it.
    pub text: Option<SourceText>,
    /// One for each measurement, those that failed too.
    pub devices: Vec<DeviceProfile>,
}

/// A text whose lines are found by their numbers, however many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    text: String,
    /// Where each line begins, in bytes.
    begins: Vec<usize>,
}

impl SourceText {
    /// A text with its lines found.
    pub fn new(text: String) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let begins = std::iter::once(0).chain(ends).collect();
        Self { text, begins }
    }

    /// A line by its number from 1, without its end; empty where there is none.
    pub fn line(&self, number: u32) -> &str {
        let rest = self.text.get(self.begin(number)..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// Where a line begins, in bytes; the text's end where there is none of that number.
    pub fn begin(&self, number: u32) -> usize {
        let index = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        self.begins.get(index).copied().unwrap_or(self.text.len())
    }
}

impl std::ops::Deref for SourceText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Profile {
    /// A line of the source by its number from 1; empty where there is none.
    pub fn line(&self, number: u32) -> &str {
        self.text.as_ref().map_or("", |text| text.line(number))
    }
}

/// One device's part of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// Device, width, method of counting, and the sums over every line.
    pub column: SourceColumn,
    /// The driver and its version; empty where the run does not hold the device.
    pub driver: String,
    /// Whether it is the simulator.
    pub simulated: bool,
    /// Whether the processor does the work of a GPU's driver.
    pub cpu_driver: bool,
    /// What a driver's counts are worth.
    pub trust: Trust,
    /// What the self-test says of the shader's forms of control flow; `None` if it was not asked.
    pub judged: Option<ShaderTrust>,
    /// Time from the device being open to the counts being there; `None` if it was not taken.
    pub answer: Option<Nanoseconds>,
    /// How the measurement ended.
    pub status: Status,
    /// Why it failed, or which outputs differ.
    pub error: Option<String>,
    /// The limit that it reached, where one ended it.
    pub limit: Option<Limit>,
    /// Whether the outputs were right.
    pub output: Output,
    /// Whether the counted module had bounds, loop and division checks.
    pub checked: bool,
    /// Its time; `None` if it was not timed.
    pub time: Option<ProfileTime>,
    /// Findings about the device and about the measurement.
    pub flags: Vec<Flag>,
    /// Hardware counters of the launch; empty where none were read.
    pub counters: Vec<Counter>,
    /// Why hardware counters that were asked for are not there, a sentence each.
    pub counters_missing: Vec<String>,
    /// What read the hardware counters.
    pub counters_from: Option<CountersFrom>,
    /// What its machine code came to, where that was executed without hardware; there the source's blocks have no
    /// counts.
    pub executed: Option<ExecutedCode>,
    /// The dispatches, with their blocks.
    pub dispatches: Vec<Dispatch>,
    /// The efficiency under each schedule that was counted, the default one first; empty where the
    /// figures depend on none.
    pub schedules: Vec<Ratio>,
    /// What other shapes of workgroups count, where they were tried.
    pub shapes: Option<Shapes>,
    /// What changes to the launch would have saved; `None` if none was tried.
    pub what_if: Option<WhatIf>,
    /// What was seen of memory; `None` if nobody looked.
    pub memory: Option<MemoryUse>,
    /// What the contents that were made up decide.
    pub made_up: Vec<MadeUp>,
    /// Every line with operations: the one that wastes most subgroup operations first, then by place.
    pub lines: Vec<LineProfile>,
}

/// What a launch takes on a device, and what was paid for beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileTime {
    /// The median of one launch.
    pub median: Nanoseconds,
    /// Its 95 % interval, low and high.
    pub interval: [Nanoseconds; 2],
    /// Whether the timed module had run-time checks.
    pub checked: bool,
    /// The median without them, and the checked time over it, round by round; `None` if it was not
    /// taken.
    pub unchecked: Option<(Nanoseconds, Option<PairedRatio>)>,
    /// The median of the modules that count over the plain one's.
    pub counting_ratio: Option<f64>,
    /// What the time can come from.
    pub explained: Option<ExplainedTime>,
}

impl ProfileTime {
    /// What is said of it, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let [low, high] = self.interval;
        let checks = if self.checked { ", with run-time checks" } else { "" };
        let mut first = format!("{} (95 %: {low} to {high}){checks}", self.median);
        if let Some((unchecked, ratio)) = &self.unchecked {
            let cost = ratio.as_ref().map_or(String::new(), |r| match r.verdict() {
                RatioVerdict::Different => {
                    format!(" (checks make it {} times as long)", text::ratio(r.median))
                }
                RatioVerdict::NotDistinguished | RatioVerdict::TooFewPairs => {
                    " (not told apart)".to_owned()
                }
            });
            first += &format!("; {unchecked} without them{cost}");
        } else if self.checked {
            first += ", and was not timed without: no simulator saw every access in bounds";
        }
        if let Some(ratio) = self.counting_ratio {
            first += &format!(
                "; the launches that count take {} times as long, and are not in this time",
                text::ratio(ratio)
            );
        }
        std::iter::once(format!("{first}."))
            .chain(self.explained.as_ref().map(ExplainedTime::sentence))
            .collect()
    }
}

impl DeviceProfile {
    /// Whether the device has no subgroup operations.
    pub fn no_subgroups(&self) -> bool {
        flag::has(&self.flags, &Tag::NoSubgroups)
    }

    /// Whether the device left a loop by itself, or may have.
    pub fn is_cut_off(&self) -> bool {
        is_cut_off(&self.flags)
    }
}

/// One line on one device, all dispatches together.
#[derive(Clone, Debug, PartialEq)]
pub struct LineProfile {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Static operations on the line.
    pub operations: u64,
    /// Σ operations × executions and Σ operations × lanes of the line.
    pub work: Work,
    /// Mean active lanes; `None` if the line was never executed.
    pub active_lanes_mean: Option<f64>,
    /// Mean active lanes over the width.
    pub efficiency: Option<Ratio>,
    /// The line's part of all subgroup operations.
    pub share: Option<Ratio>,
    /// Subgroup operations that full subgroups would not need: those × (1 − efficiency). `None` if the
    /// width is not known.
    pub wasted: Option<f64>,
    /// Element k: subgroup operations of the line with k + 1 active lanes. `None` if a block on the line
    /// has no histogram.
    pub histogram: Option<Vec<u128>>,
    /// The blocks with operations on the line.
    pub blocks: Vec<BlockId>,
}

impl Profile {
    /// What is wrong with the program whatever its counts, a sentence each with its devices.
    pub fn faults(&self) -> IndexMap<String, Vec<String>> {
        let mut faults: IndexMap<String, Vec<String>> = IndexMap::new();
        for device in &self.devices {
            for fault in device.faults() {
                faults.entry(fault).or_default().push(device.column.device.clone());
            }
        }
        faults
    }

    /// Whether something was made up that no launch file speaks of.
    pub fn has_undescribed(&self) -> bool {
        self.devices.iter().flat_map(|device| &device.made_up).any(|part| !part.asked)
    }

    /// Says which lines follow contents that were made up, a sentence for each kind of contents and one for what to
    /// do; none if nothing follows them.
    pub fn made_up_notes(&self) -> Vec<String> {
        let made = self.devices.iter().map(|device| &device.made_up).find(|m| !m.is_empty());
        let all: &[MadeUp] = made.map_or(&[], Vec::as_slice);
        let select =
            |is: fn(&MadeUp) -> bool| all.iter().filter(|part| is(part)).collect::<Vec<_>>();
        let is_random = |part: &MadeUp| part.constants.is_empty() && !part.zeros;
        let random = |asked: bool| -> Vec<&MadeUp> {
            all.iter().filter(|part| is_random(part) && part.asked == asked).collect()
        };
        let nobodys = decided_by(&random(false));
        let asked = decided_by(&random(true));
        let notes = [
            nobodys.map(|decided| format!("Random values decide {decided}.")),
            asked.map(|decided| {
                format!("Random values, distributed as the launch file says, decide {decided}.")
            }),
            zeros_note(&select(|part| part.zeros)),
            chosen_note(&select(|part| !part.constants.is_empty())),
        ];
        let mut notes: Vec<String> = notes.into_iter().flatten().collect();
        if !notes.is_empty() {
            notes.push(if self.has_undescribed() {
                "Your own data may give other figures: name them in a launch file.".to_owned()
            } else {
                "With another distribution the figures change.".to_owned()
            });
        }
        notes
    }

    /// Whether devices of several widths stand beside each other: lane slots compare across them, and
    /// efficiency and subgroup operations do not.
    pub fn has_several_widths(&self) -> bool {
        have_several_widths(&self.devices)
    }

    /// Returns the device that views show first: the first that counted anything.
    pub fn first_counted(&self) -> Option<&DeviceProfile> {
        self.devices.iter().find(|device| !device.lines.is_empty())
    }
}

/// Whether these devices have several widths.
pub fn have_several_widths(devices: &[DeviceProfile]) -> bool {
    let mut widths = devices.iter().filter_map(|device| device.column.width);
    widths.next().is_some_and(|first| widths.any(|other| other != first))
}

impl LineProfile {
    /// The lane slots of the line that were idle, as a part of all of its device.
    pub fn wasted_share(&self) -> Option<Ratio> {
        Some(Ratio(self.share?.0 * (1.0 - self.efficiency?.0)))
    }

    /// The lane slots of the line that were idle at this width.
    pub fn lane_slots_idle(&self, width: Width) -> u128 {
        self.work.lane_slots(width).saturating_sub(self.work.lane_operations)
    }
}

impl DeviceProfile {
    /// What its counts are worth; `None` where there are none of the source's: it failed, or its machine code was
    /// executed instead.
    pub fn trust_shown(&self) -> Option<Trust> {
        let counted = self.status == Status::Ok && self.executed.is_none();
        counted.then_some(self.trust)
    }

    /// What is said of the blocks of a dispatch of which its executed machine code has nothing, a sentence each.
    pub fn unmatched(&self, dispatch: &Dispatch) -> Vec<&str> {
        let begin = format!("{}: ", dispatch.entry_point);
        let of_it = |why: &&String| self.executed.is_some() && why.starts_with(&begin);
        self.counters_missing.iter().filter(of_it).map(String::as_str).collect()
    }

    /// Whether a sentence of what is missing stands beside the machine code that it is of.
    pub fn is_beside_code(&self, why: &str) -> bool {
        let with_code = self.dispatches.iter().filter(|dispatch| dispatch.machine_code.is_some());
        with_code.into_iter().any(|dispatch| self.unmatched(dispatch).contains(&why))
    }

    /// Returns the figures of a line; `None` if it has no operations.
    pub fn line(&self, number: u32) -> Option<&LineProfile> {
        self.lines.iter().find(|line| line.line == number)
    }

    /// Whether its outputs differ from what the captured dispatch left where the order of workgroups, subgroups or
    /// lanes decides them.
    pub fn differs_by_order(&self) -> bool {
        flag::has(&self.flags, &Tag::OutputDependsOnOrder)
    }

    /// The lines that depend on the order of workgroups: those that read what others wrote, and the
    /// conditions that follow.
    pub fn schedule_lines(&self) -> BTreeSet<u32> {
        let flags = self.flags.iter().filter(|flag| flag.tag == Tag::DependsOnSchedule);
        flags.flat_map(|flag| flag.lines.iter().copied()).collect()
    }

    /// Says of how many schedules the figures are, in a sentence; `None` if they depend on none.
    pub fn schedule_note(&self) -> Option<String> {
        let lines = self.schedule_lines();
        if lines.is_empty() {
            return None;
        }
        let follow = if lines.len() == 1 { ["line", "follows"] } else { ["lines", "follow"] };
        let lines = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let lines = format!("{} {lines} {}", follow[0], follow[1]);
        let what = match self.dispatches.len() {
            ..2 => {
                "what workgroups, or subgroups of one, write for each other in the same dispatch"
            }
            _ => {
                "what workgroups, or subgroups of one, write for each other in the same dispatch, or leave for a \
                 later one"
            }
        };
        let percent = |ratio: f64| text::percent(Ratio(ratio));
        let ratios = || self.schedules.iter().map(|ratio| ratio.0);
        Some(match self.schedules.len() {
            0 | 1 => format!(
                "the figures are one schedule's: {lines} {what}, and other orders may move them"
            ),
            count => format!(
                "the figures are the default schedule's: {lines} {what}. Over {count} \
                 schedules efficiency was {} to {}",
                percent(ratios().fold(f64::INFINITY, f64::min)),
                percent(ratios().fold(f64::NEG_INFINITY, f64::max))
            ),
        })
    }

    /// What is wrong with the program whatever its counts, a sentence each.
    pub fn faults(&self) -> Vec<String> {
        let barriers = self.flags.iter().filter(|flag| flag.tag == Tag::DivergentBarrier);
        barriers
            .flat_map(|flag| flag.lines.iter().map(|line| (line, flag.explanation())))
            .map(|(line, meaning)| {
                format!("line {line}: barrier in divergent control flow. {meaning}")
            })
            .collect()
    }

    /// Returns the efficiency over all lines.
    pub fn efficiency(&self) -> Option<Ratio> {
        efficiency(self.column.work.active_lanes_mean(), self.column.width)
    }
}

/// Makes the profiles of `run`, in the order of measurement.
pub fn profiles(run: &Run) -> Vec<Profile> {
    let mut groups: IndexMap<(&str, String, &str, u64), Vec<&Measurement>> = IndexMap::new();
    for measurement in &run.measurements {
        let parameters = parameters_text(&measurement.parameters, &[]);
        let key = (&*measurement.kernel, parameters, &*measurement.source_sha256, measurement.seed);
        groups.entry(key).or_default().push(measurement);
    }
    let profile = |((kernel, parameters, sha256, seed), measurements): (_, Vec<&Measurement>)| {
        let source = run.sources.get::<str>(sha256);
        Profile {
            kernel: str::to_owned(kernel),
            parameters,
            seed,
            origin: run.kernels.get(kernel).and_then(|note| note.question.clone()),
            source_sha256: sha256.to_owned(),
            file: source.map(|source| source.file.clone()).unwrap_or_default(),
            text: source.map(|source| SourceText::new(source.text.clone())),
            devices: devices(run, &measurements),
        }
    };
    groups.into_iter().map(profile).collect()
}

/// Makes the parts of devices: simulators last, whenever they were run.
fn devices(run: &Run, measurements: &[&Measurement]) -> Vec<DeviceProfile> {
    let mut devices: Vec<DeviceProfile> =
        measurements.iter().map(|measurement| device(run, measurement)).collect();
    devices.sort_by_key(|device| device.simulated);
    // What one simulator saw to be forbidden is so on every device.
    let has = |tag| measurements.iter().any(|measurement| flag::has(&measurement.flags, tag));
    if has(&Tag::DivergentBarrier) || has(&Tag::DivergentUniformLoad) {
        devices.iter_mut().for_each(|device| device.trust = Trust::Undefined);
    }
    devices
}

/// Makes one device's part.
fn device(run: &Run, measurement: &Measurement) -> DeviceProfile {
    let (column, cells) = lines::column(run, measurement);
    let known = super::names::device(run, &measurement.device);
    let mut flags = known.map(|device| device.flags.clone()).unwrap_or_default();
    flags.extend(measurement.flags.iter().cloned());
    flags.extend(differs_by_order(run, measurement).then(|| Tag::OutputDependsOnOrder.into()));
    flags.sort();
    flags.dedup();
    let by_line = blocks_by_line(measurement);
    let mut lines: Vec<LineProfile> = cells
        .into_iter()
        .map(|((file, number), cell)| {
            let here = by_line.get(&(&*file, number));
            let (histogram, blocks) = on_line(here.map_or(&[], Vec::as_slice), number);
            LineProfile {
                wasted: count_wasted(cell.work, column.width),
                file,
                line: number,
                operations: cell.operations,
                work: cell.work,
                active_lanes_mean: cell.active_lanes_mean,
                efficiency: cell.efficiency,
                share: cell.share,
                histogram,
                blocks,
            }
        })
        .collect();
    // The sort is stable: equal lines stay in the order of the source.
    lines.sort_by(|a, b| b.wasted.unwrap_or(0.0).total_cmp(&a.wasted.unwrap_or(0.0)));
    DeviceProfile {
        driver: known.map(|device| device.driver.clone()).unwrap_or_default(),
        simulated: known.is_some_and(|device| device.is_simulator()),
        cpu_driver: known.is_some_and(|device| device.cpu_driver),
        trust: trust(known, measurement),
        judged: measurement.trust.clone(),
        answer: measurement.answer_ns,
        status: measurement.status,
        error: measurement.error.clone(),
        limit: measurement.limit,
        output: measurement.output,
        checked: measurement.runtime_checks.counted,
        time: time(run, measurement),
        flags,
        counters: measurement.counters.clone(),
        counters_missing: measurement.counters_missing.clone(),
        counters_from: measurement.counters_from.clone(),
        executed: ExecutedCode::new(run, measurement),
        dispatches: measurement.dispatches.clone(),
        schedules: schedules(measurement),
        shapes: measurement.shapes.clone(),
        what_if: measurement.what_if.clone(),
        memory: measurement.memory.clone(),
        made_up: measurement.made_up.clone(),
        column,
        lines,
    }
}

/// What a launch took, and what was paid for beside it.
fn time(run: &Run, measurement: &Measurement) -> Option<ProfileTime> {
    let time = measurement.time.as_ref()?;
    let ratio = |beside: &Time| {
        let other = Measurement { time: Some(beside.clone()), ..measurement.clone() };
        let (plain, beside) = (ticks_by_round(measurement), ticks_by_round(&other));
        let pairs: Vec<(f64, f64)> =
            plain.iter().filter_map(|(round, time)| Some((*time, *beside.get(round)?))).collect();
        paired_ratio(&pairs)
    };
    let unchecked = measurement.time_unchecked.as_ref();
    let counting = measurement.time_counting.as_ref();
    Some(ProfileTime {
        median: time.median_ns,
        interval: time.ci95_ns,
        checked: measurement.runtime_checks.timed,
        unchecked: unchecked.map(|beside| (beside.median_ns, ratio(beside))),
        counting_ratio: counting.map(|counting| counting.median_ns.0 / time.median_ns.0),
        explained: explain(run, measurement),
    })
}

fn is_cut_off(flags: &[Flag]) -> bool {
    [Tag::LoopCutOff, Tag::LoopMayBeCutOff].iter().any(|tag| flag::has(flags, tag))
}

/// Says what a device's counts of a shader are worth: those of a loop that the driver cut off nothing that a
/// self-test says, else as that judges the shader's forms of control flow, or, in older records, the device as a
/// whole.
fn trust(device: Option<&Device>, measurement: &Measurement) -> Trust {
    let of_shader = measurement.trust.as_ref().map(|judged| judged.trust);
    if device.is_some_and(Device::is_simulator) {
        let order = [Tag::DependsOnSchedule, Tag::DataRace];
        let one_schedule = order.iter().any(|tag| flag::has(&measurement.flags, tag));
        match () {
            () if one_schedule => Trust::OneSchedule,
            () if decides(&measurement.made_up) => Trust::GeneratedData,
            () => Trust::Guaranteed,
        }
    } else if is_cut_off(&measurement.flags) {
        Trust::CutOff
    } else if measurement.method == Some(Method::Estimated) {
        Trust::Estimated
    } else {
        of_shader.or(device.and_then(|device| device.trust)).unwrap_or(Trust::Unknown)
    }
}

/// Which branches, loops and indices follow the contents of these buffers; `None` if none do.
fn decided_by(made_up: &[&MadeUp]) -> Option<String> {
    let sentence = |what: fn(&MadeUp) -> &Vec<u32>, words: [&str; 2]| {
        let lines: BTreeSet<u32> = made_up.iter().flat_map(|buffer| what(buffer).clone()).collect();
        let deciding = made_up.iter().filter(|buffer| !what(buffer).is_empty());
        let buffers: Vec<&str> = deciding.map(|buffer| buffer.buffer.as_str()).collect();
        let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
        let (line, follow) =
            if numbers.len() == 1 { ("line", words[0]) } else { ("lines", words[1]) };
        (!numbers.is_empty()).then(|| {
            let (lines, buffers) = (numbers.join(", "), buffers.join(", "));
            format!("{follow} {line} {lines} (from {buffers})")
        })
    };
    let branches =
        sentence(|buffer| &buffer.conditions, ["the branch or loop on", "branches and loops on"]);
    let indices = sentence(|buffer| &buffer.indices, ["the index on", "indices on"]);
    let parts: Vec<String> = branches.into_iter().chain(indices).collect();
    (!parts.is_empty()).then(|| parts.join(", and "))
}

/// Says which buffers were filled with zeros that something follows; `None` if none were.
fn zeros_note(zeros: &[&MadeUp]) -> Option<String> {
    let buffers: Vec<&str> = zeros.iter().map(|part| part.buffer.as_str()).collect();
    (!zeros.is_empty()).then(|| {
        format!("lanescope filled {} with zeros, on which {}.", buffers.join(", "), depend(zeros))
    })
}

/// Says which numbers were chosen, and what follows them; `None` if none were.
fn chosen_note(made_up: &[&MadeUp]) -> Option<String> {
    let constants: Vec<&Constant> = made_up.iter().flat_map(|part| &part.constants).collect();
    let mut numbers: Vec<String> = constants
        .iter()
        .take(CONSTANTS_NAMED)
        .map(|constant| match constant.value {
            value if value.fract() == 0.0 => format!("{} = {value}", constant.name),
            value => format!("{} = {value:.4}", constant.name),
        })
        .collect();
    if let Some(more @ 1..) = constants.len().checked_sub(CONSTANTS_NAMED) {
        numbers.push(format!("{more} more"));
    }
    (!numbers.is_empty())
        .then(|| format!("lanescope chose {}, on which {}.", numbers.join(", "), depend(made_up)))
}

/// "line 3 of the shader depends" or "lines 3, 8 of the shader depend": those of the conditions.
fn depend(made_up: &[&MadeUp]) -> String {
    let lines: BTreeSet<u32> = made_up.iter().flat_map(|part| part.conditions.clone()).collect();
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    let (line, depend) = if numbers.len() == 1 { ("line", "depends") } else { ("lines", "depend") };
    format!("{line} {} of the shader {depend}", numbers.join(", "))
}

/// Whether a branch or a trip count follows contents that were made up.
pub(super) fn decides(made_up: &[MadeUp]) -> bool {
    made_up.iter().any(|buffer| !buffer.conditions.is_empty())
}

/// The efficiency under each schedule, the default one first, where others were counted.
fn schedules(measurement: &Measurement) -> Vec<Ratio> {
    if measurement.schedules.is_empty() {
        return Vec::new();
    }
    let others = measurement.schedules.iter().map(|schedule| schedule.efficiency_ratio);
    std::iter::once(measurement.efficiency_ratio).chain(others).flatten().collect()
}

/// Works out the subgroup operations that full subgroups would not need.
#[expect(clippy::cast_precision_loss, reason = "a count is shown to a few digits")]
fn count_wasted(work: Work, width: Option<Width>) -> Option<f64> {
    let width = u128::from(width?.lanes());
    Some(
        (work.subgroup_operations * width).saturating_sub(work.lane_operations) as f64
            / width as f64,
    )
}

/// The blocks with operations on each line of each file.
fn blocks_by_line(measurement: &Measurement) -> BTreeMap<(&str, u32), Vec<&Block>> {
    let mut all: BTreeMap<(&str, u32), Vec<&Block>> = BTreeMap::new();
    for block in super::counts::blocks(measurement) {
        for line in block.lines.keys().filter(|line| operations_on(block, **line) > 0) {
            all.entry((&block.file, *line)).or_default().push(block);
        }
    }
    all
}

/// Merges the histograms of the blocks on a line, weighted by their operations there.
fn on_line(here: &[&Block], line: u32) -> (Option<Vec<u128>>, Vec<BlockId>) {
    let mut merged: Option<Vec<u128>> = Some(Vec::new());
    let mut ids = BTreeSet::new();
    for block in here {
        ids.insert(block.id);
        let (Some(sum), Some(bins)) = (&mut merged, &block.histogram) else {
            // A sum without one of its parts would be no histogram of the whole.
            merged = None;
            continue;
        };
        sum.resize(sum.len().max(bins.len()), 0);
        for (bin, count) in sum.iter_mut().zip(bins) {
            *bin += u128::from(*count) * u128::from(operations_on(block, line));
        }
    }
    let known = merged.filter(|bins| !bins.is_empty());
    (known, ids.into_iter().collect())
}

/// The operations of a block on a line, where the record told them apart.
fn operations_on(block: &Block, line: u32) -> u64 {
    block.lines.get(&line).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
