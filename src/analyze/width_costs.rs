//! What each kernel costs at each width, and what 64 lanes cost over 32.
//!
//! Input: a run with several widths. Output: [`WidthCost`]s in lane slots, which compare across widths
//! as efficiency does not; the machine models that one simulated run gives; the answer in sentences.
//! What other seeds make of the ratio is counted elsewhere and only read here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::counts::{Work, ratio};
use super::names::{device_label, exact, is_simulated, parameters_text, uncapital};
use super::usual::Usual;
use crate::record::{ConstructPart, GrainNote, Measurement, Run, SeedCounts, Seeds, Status, Value};
use crate::units::{Ratio, Width, text};

/// The most elements of a launch that is counted with several seeds: 15 · 256, a multiple of every
/// width, and of the runs and workgroups that whole grids of the catalogue are made of.
pub const SEEDED_SIZE_MAX: i64 = 3840;

/// The widths whose costs are compared: the second over the first.
pub const WIDTHS_COMPARED: [Width; 2] = [Width::W32, Width::W64];

/// The fewest values of an axis of grain that a sentence speaks of.
const GRAINS_MIN: usize = 3;

/// How far lane operations may differ between two widths of the same work.
const WORK_DIFFERS: f64 = 0.005;

/// How many kernels the sentences name, the dearest first.
const NAMED_MAX: usize = 6;

/// The most kernels of which the answer's first sentence alone says enough.
const UNNAMED_MAX: usize = 3;

/// Ratios that lie no further apart are printed alike.
const ALIKE: f64 = 0.005;

/// The least cost over the first width's that a sentence calls dearer.
const DEARER_MIN: f64 = 1.05;

/// A launch's cost at the widths that it was counted at.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthCost {
    /// The kernel's full name.
    pub kernel: String,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// In how many of them it differs from the usual launch.
    pub unusual: usize,
    /// Whether it was counted to compare widths alone.
    pub for_widths: bool,
    /// What it does at each width, by ascending width: the simulator's counts where there are some.
    pub widths: Vec<WidthWork>,
    /// Its lane slots at 64 lanes over those at 32, where it was counted at both.
    pub ratio: Option<CostRatio>,
    /// What the masks of 64 lanes say of machines, where they were counted.
    pub models: Option<MachineModels>,
    /// Where the most of what 64 lanes cost more lies; `None` where they do not, or at no place of the source.
    pub dearest: Option<DearestPlace>,
}

/// The condition or loop in whose part the wider subgroups spend the most lane slots more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DearestPlace {
    /// Whether lanes are there by a loop; by the arm of an `if` or a case of a `switch` otherwise; `None` in the
    /// outermost body.
    pub looped: Option<bool>,
    /// The line of the condition, the selector or the loop; in the outermost body of the operations. From 1.
    pub line: u32,
    /// Its part of all lane slots that were spent more, those spent less elsewhere left out.
    pub share: Ratio,
}

/// What a launch does at one width.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthWork {
    /// The width, in lanes.
    pub width: Width,
    /// The device's name for people.
    pub label: String,
    /// Whether the simulator gave it.
    pub simulated: bool,
    /// Subgroup operations × width.
    pub lane_slots: u128,
    /// Mean active lanes over the width.
    pub efficiency: Option<Ratio>,
}

/// The cost at 64 lanes over that at 32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostRatio {
    /// Of the launch itself: lane slots over lane slots; 1 is as dear.
    pub ratio: f64,
    /// The least and the greatest ratio of all seeds, the launch's own among them.
    pub range: [f64; 2],
    /// How many seeds that is; 1 where the counts do not depend on the seed, or one was asked for.
    pub seeds: usize,
    /// At how many elements the seeds were counted, where that is fewer than the launch has: the ratio itself may
    /// then lie outside the range.
    pub seeds_at: Option<i64>,
    /// The lane operations at 64 lanes over those at 32: 1 but where a kernel asks for its width and
    /// does something else at another.
    pub work_ratio: f64,
}

/// Lane slots that different machines would spend on what subgroups of 64 lanes executed, from the
/// masks of the one run. A kernel that asks for its width would do something else on the narrower
/// ones.
///
/// Sources: AMD, "RDNA 3 Instruction Set Architecture", section 2.1 (and those of RDNA 3.5 and 4):
/// wave64 instructions are typically issued twice, for the low and for the high half; either half may
/// be skipped if its part of EXEC is zero, but not of a vector instruction that writes a scalar
/// register. AMD, "RDNA Architecture" (white paper): a wave64 instruction is two wave32 instructions,
/// of the upper and the lower half. Intel, "Execution of OpenCL Work Items: the SIMD Machine":
/// compilers choose SIMD-8, SIMD-16 or SIMD-32, and a thread executes both sides of a branch that its
/// instances part at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineModels {
    /// Subgroups of 16 lanes: Intel's SIMD16.
    pub simd16: u128,
    /// Subgroups of 32 lanes: AMD's wave32, NVIDIA's warps.
    pub wave32: u128,
    /// Subgroups of 64 lanes, both halves of each operation executed: GCN, and the most that RDNA's
    /// wave64 spends.
    pub wave64: u128,
    /// The least that RDNA's wave64 spends: every half without an active lane is skipped. The guide
    /// says "may", so that what it spends lies between this and `wave64`.
    pub wave64_skipping: u128,
}

/// Whether a ratio is at least [`DEARER_MIN`] as it is printed.
fn is_dearer(ratio: f64) -> bool {
    (ratio * 1000.0).round() >= (DEARER_MIN * 1000.0).round()
}

impl MachineModels {
    /// Sums over the blocks of a measurement whose parts were counted; `None` for others.
    fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let width = u128::from(measurement.subgroup_width?.lanes());
        let mut sum = Self { simd16: 0, wave32: 0, wave64: 0, wave64_skipping: 0 };
        for dispatch in measurement.dispatches.iter().filter(|dispatch| !dispatch.setup) {
            for block in &dispatch.blocks {
                let (operations, parts) = (u128::from(block.operations), block.parts?);
                sum.simd16 += operations * 16 * u128::from(parts.of_16);
                sum.wave32 += operations * 32 * u128::from(parts.of_32);
                sum.wave64 += operations * width * u128::from(block.executions.0);
            }
        }
        sum.wave64_skipping = sum.wave32;
        (sum.wave64 > 0).then_some(sum)
    }

    /// A model's lane slots over those of wave32.
    pub fn over_wave32(&self, lane_slots: u128) -> Option<f64> {
        ratio(lane_slots, self.wave32)
    }
}

impl WidthCost {
    /// The work at a width.
    pub fn at(&self, width: Width) -> Option<&WidthWork> {
        self.widths.iter().find(|work| work.width == width)
    }
}

impl CostRatio {
    /// Whether the kernel does the same work at both widths.
    pub fn same_work(&self) -> bool {
        (self.work_ratio - 1.0).abs() <= WORK_DIFFERS
    }
}

/// The lane slots of a measurement; `None` where nothing was counted.
pub(super) fn lane_slots(measurement: &Measurement) -> Option<u128> {
    let width = measurement.subgroup_width?;
    let work = Work::from_measurement(measurement);
    (work.subgroup_operations > 0).then(|| work.lane_slots(width))
}

/// The launches that a run counted at two widths or more, in the order of measurement.
pub fn width_costs(run: &Run) -> Vec<WidthCost> {
    let mut launches: IndexMap<String, Vec<&Measurement>> = IndexMap::new();
    for measurement in &run.measurements {
        if measurement.status == Status::Ok && lane_slots(measurement).is_some() {
            let parameters = parameters_text(&measurement.parameters, &[]);
            let Measurement { kernel, seed, source_sha256, .. } = measurement;
            let key = format!("{kernel} {parameters} {seed} {source_sha256}");
            launches.entry(key).or_default().push(measurement);
        }
    }
    let usual = Usual::from_run(run);
    launches.into_values().filter_map(|counted| cost(run, &usual, &counted)).collect()
}

/// The cost of one launch; `None` where it was counted at one width alone.
fn cost(run: &Run, usual: &Usual<'_>, counted: &[&Measurement]) -> Option<WidthCost> {
    let mut by_width: BTreeMap<Width, &Measurement> = BTreeMap::new();
    for measurement in counted {
        let place = by_width.entry(measurement.subgroup_width?).or_insert(measurement);
        if is_simulated(run, measurement) && !is_simulated(run, place) {
            *place = measurement;
        }
    }
    let first = counted.first().filter(|_| by_width.len() > 1)?;
    let work = |(width, measurement): (&Width, &&Measurement)| WidthWork {
        width: *width,
        label: device_label(run, &measurement.device),
        simulated: is_simulated(run, measurement),
        lane_slots: lane_slots(measurement).unwrap_or(0),
        efficiency: super::counts::efficiency(
            Work::from_measurement(measurement).active_lanes_mean(),
            Some(*width),
        ),
    };
    let [narrow, wide] = WIDTHS_COMPARED.map(|width| by_width.get(&width).copied());
    Some(WidthCost {
        kernel: first.kernel.clone(),
        parameters: first.parameters.clone(),
        unusual: usual.count(&first.parameters),
        for_widths: counted.iter().all(|measurement| measurement.for_widths),
        widths: by_width.iter().map(work).collect(),
        ratio: narrow.zip(wide).and_then(|(narrow, wide)| cost_ratio(narrow, wide)),
        models: wide.and_then(MachineModels::from_measurement),
        dearest: narrow.zip(wide).and_then(|(narrow, wide)| dearest_place(narrow, wide)),
    })
}

/// Where the most of what `wide` costs more than `narrow` lies: by the innermost construct around each block.
fn dearest_place(narrow: &Measurement, wide: &Measurement) -> Option<DearestPlace> {
    type ArmPlace = (Option<bool>, u32);
    let mut more: IndexMap<ArmPlace, i128> = IndexMap::new();
    for (measurement, sign) in [(narrow, -1), (wide, 1)] {
        let width = i128::from(measurement.subgroup_width?.lanes());
        for dispatch in measurement.dispatches.iter().filter(|dispatch| !dispatch.setup) {
            for block in &dispatch.blocks {
                let around = block.flow.as_ref().and_then(|flow| flow.path.last());
                let place = around.map_or((None, block.line), |around| {
                    let looped = matches!(
                        around.part,
                        ConstructPart::LoopBody | ConstructPart::LoopContinuing
                    );
                    (Some(looped), around.line)
                });
                let slots = i128::from(block.executions.0) * i128::from(block.operations) * width;
                *more.entry(place).or_default() += sign * slots;
            }
        }
    }
    let all: i128 = more.values().filter(|slots| **slots > 0).sum();
    let ((looped, line), slots) = more.into_iter().rev().max_by_key(|(_, slots)| *slots)?;
    let share = Ratio(slots as f64 / all as f64);
    (slots > 0).then_some(DearestPlace { looped, line, share })
}

/// The cost of `wide` over that of `narrow`.
fn cost_ratio(narrow: &Measurement, wide: &Measurement) -> Option<CostRatio> {
    let cost_ratio = ratio(lane_slots(wide)?, lane_slots(narrow)?)?;
    let (range, seeds) = seed_range(narrow, wide, cost_ratio);
    Some(CostRatio {
        ratio: cost_ratio,
        range,
        seeds,
        seeds_at: seeds_at(wide),
        work_ratio: ratio(
            Work::from_measurement(wide).lane_operations,
            Work::from_measurement(narrow).lane_operations,
        )?,
    })
}

/// At how many elements other seeds were counted, where the launch has more.
fn seeds_at(measurement: &Measurement) -> Option<i64> {
    let seeds = measurement.seeds.as_ref()?;
    match seeds.parameters.get(super::SIZE) {
        Some(Value::Integer(n)) if seeds.parameters != measurement.parameters => Some(*n),
        _ => None,
    }
}

/// The least and the greatest ratio of lane slots, `after` over `before`, of all seeds that both were counted with,
/// their own among them, whose ratio is given; and how many seeds that is.
pub(super) fn seed_range(
    before: &Measurement,
    after: &Measurement,
    own_ratio: f64,
) -> ([f64; 2], usize) {
    let mut all = seed_ratios(before, after).unwrap_or_default();
    // Where the launch's own seed was counted with the others, perhaps at a smaller size, it is one of them.
    let includes_launch =
        |seeds: &Seeds| seeds.counts.iter().any(|counts| counts.seed == after.seed);
    if all.is_empty() || !after.seeds.as_ref().is_some_and(includes_launch) {
        all.push(own_ratio);
    }
    let range =
        all.iter().fold([all[0]; 2], |[low, high], ratio| [low.min(*ratio), high.max(*ratio)]);
    (range, all.len())
}

/// The ratio of each seed that both have at the same parameters; `None` where one has no seeds.
fn seed_ratios(before: &Measurement, after: &Measurement) -> Option<Vec<f64>> {
    let [left, right] = [before.seeds.as_ref()?, after.seeds.as_ref()?];
    let width = |side: &Measurement| Some(u128::from(side.subgroup_width?.lanes()));
    let widths = [width(before)?, width(after)?];
    let pair = |after: &SeedCounts| {
        let before = left.counts.iter().find(|before| before.seed == after.seed)?;
        ratio(
            u128::from(after.subgroup_operations) * widths[1],
            u128::from(before.subgroup_operations) * widths[0],
        )
    };
    (left.parameters == right.parameters).then(|| right.counts.iter().filter_map(pair).collect())
}

/// When 64 lanes cost more than 32, on these data: the answer, then the fullest axis of grain, the kernels by
/// name, and the other axes; none where nothing was counted at both widths.
pub fn width_sentences(run: &Run) -> Vec<String> {
    let costs = width_costs(run);
    let mut kernels: IndexMap<&str, Vec<(&WidthCost, CostRatio)>> = IndexMap::new();
    for (cost, ratio) in costs.iter().filter_map(|cost| Some((cost, cost.ratio?))) {
        kernels.entry(&cost.kernel).or_default().push((cost, ratio));
    }
    if kernels.is_empty() {
        return Vec::new();
    }
    let all = kernels.len();
    // What does other work at another width is no answer to what width costs.
    kernels.retain(|_, points| points.iter().all(|(_, ratio)| ratio.same_work()));
    let left_out = match all - kernels.len() {
        0 => String::new(),
        1 => "; 1 more reads the subgroup width, and does other work at 64".to_owned(),
        others => format!("; {others} more read the subgroup width, and do other work at 64"),
    };
    let dearer = |points: &Vec<(&WidthCost, CostRatio)>| {
        points.iter().any(|(_, ratio)| is_dearer(ratio.ratio))
    };
    let count = kernels.values().filter(|points| dearer(points)).count();
    let total = kernels.len();
    let most = kernels
        .values()
        .flatten()
        // Of equals the first counts.
        .rev()
        .max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio))
        .filter(|(_, ratio)| is_dearer(ratio.ratio));
    let mut sentences = Vec::new();
    let percent = text::whole_percent(Ratio(DEARER_MIN - 1.0));
    sentences.push(match most {
        None => {
            let kernels = match total {
                1 => "the one kernel".to_owned(),
                many => format!("all {many} kernels"),
            };
            format!(
                "64 lanes cost as many lane slots as 32, to within {percent}, for {kernels} with these inputs{left_out}."
            )
        }
        Some((cost, ratio)) => {
            let as_dear = |points: &&Vec<(&WidthCost, CostRatio)>| {
                points.iter().any(|(_, other)| other.ratio >= ratio.ratio - ALIKE)
            };
            let alike = match kernels.values().filter(as_dear).count() {
                0 | 1 => String::new(),
                2 => " and 1 more kernel".to_owned(),
                many => format!(" and {} more kernels", many - 1),
            };
            let kernels = match total {
                1 => "the one kernel".to_owned(),
                many => format!("{count} of {many} kernels"),
            };
            format!(
                "64 lanes cost at least {percent} more lane slots than 32 for {kernels} \
                 with these inputs (at most {} times as many, for {}{alike}): where the two halves of 64 \
                 lanes take different arms, loop for different times, or where one half is empty{left_out}.",
                text::ratio(ratio.ratio),
                launch_words(cost),
            )
        }
    });
    let kernels_named = (count > UNNAMED_MAX)
        .then(|| dearest_sentence(kernels.iter().filter(|(_, points)| dearer(points))));
    let mut grains = grain_texts(run, &kernels).into_iter();
    // What the answer hangs on comes before the names.
    sentences.extend(grains.next());
    sentences.extend(kernels_named);
    sentences.extend(grains);
    sentences
}

/// Sentences about axes of grain: of each kernel its fullest axis first, then the others; of equals the dearest.
fn grain_texts(run: &Run, kernels: &IndexMap<&str, Vec<(&WidthCost, CostRatio)>>) -> Vec<String> {
    let mut grains: Vec<(usize, GrainSentence)> = Vec::new();
    for points in kernels.values() {
        let mut of_kernel = grain_sentences(run, points);
        of_kernel.sort_by(GrainSentence::order);
        grains.extend(of_kernel.into_iter().enumerate());
    }
    grains.sort_by(|(rank, a), (other_rank, b)| rank.cmp(other_rank).then(a.order(b)));
    grains.into_iter().map(|(_, sentence)| sentence.text).collect()
}

/// Where along its axis of grain a kernel costs more at 64 lanes.
#[derive(Clone, Debug, PartialEq)]
struct GrainSentence {
    /// Whether it is of launches that were asked for, all at one size.
    is_main: bool,
    /// How many values of the axis it speaks of.
    values: usize,
    /// The greatest ratio along it.
    most: f64,
    text: String,
}

impl GrainSentence {
    /// What speaks of launches that were asked for first, then what speaks of more values; of equals the dearer.
    fn order(&self, other: &Self) -> Ordering {
        let fuller = other.values.cmp(&self.values).then(other.most.total_cmp(&self.most));
        other.is_main.cmp(&self.is_main).then(fuller)
    }
}

/// Names the kernels of launches that cost more at 64 lanes, by the dearest launch of each.
fn dearest_sentence<'a>(
    kernels: impl Iterator<Item = (&'a &'a str, &'a Vec<(&'a WidthCost, CostRatio)>)>,
) -> String {
    let dearest = |(kernel, points): (&'a &'a str, &'a Vec<(&'a WidthCost, CostRatio)>)| {
        let most = points.iter().map(|(_, ratio)| ratio.ratio.max(ratio.range[1]));
        (*kernel, most.fold(0.0, f64::max))
    };
    let mut kernels: Vec<(&str, f64)> = kernels.map(dearest).collect();
    kernels.sort_by(|a, b| b.1.total_cmp(&a.1));
    let name = |(kernel, most): &(&str, f64)| format!("{kernel} ({}×)", text::ratio(*most));
    let named: Vec<String> = kernels.iter().take(NAMED_MAX).map(name).collect();
    let others = match kernels.len() - named.len() {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    format!(
        "By kernel, at the dearest launch and seed of each, 64 lanes cost this many times as much as 32: {}{others}.",
        named.join(", ")
    )
}

/// A launch in words: its kernel's name, with the parameters other than its size.
fn launch_words(cost: &WidthCost) -> String {
    let name = cost.kernel.as_str();
    match parameters_text(&cost.parameters, &[super::names::SIZE]) {
        none if none.is_empty() => name.to_owned(),
        parameters => format!("{name} ({parameters})"),
    }
}

/// Where along its axis of grain a kernel costs more at 64 lanes, a sentence for each choice of what else
/// tells its launches apart; none where its note names no such axis.
fn grain_sentences(run: &Run, points: &[(&WidthCost, CostRatio)]) -> Vec<GrainSentence> {
    let grain = points.first().and_then(|(cost, _)| run.kernels.get(&cost.kernel)?.grain.as_ref());
    let Some(grain) = grain else { return Vec::new() };
    let mut groups: IndexMap<String, Vec<GrainPoint>> = IndexMap::new();
    for (cost, ratio) in points {
        let at = cost.parameters.get(&grain.parameter).and_then(Value::number);
        let Some(at) = at else { continue };
        let beside = grain.beside.iter().filter_map(|(name, words)| {
            let value = cost.parameters.get(name)?.to_string();
            Some(words.get(&value).cloned().unwrap_or(value))
        });
        let beside: Vec<String> = beside.collect();
        let size = cost.parameters.get(super::names::SIZE).map(ToString::to_string);
        let point = GrainPoint { at, ratio: ratio.ratio, size, is_main: !cost.for_widths };
        groups.entry(beside.join(", ")).or_default().push(point);
    }
    let groups = groups.into_iter().map(|(beside, points)| (beside, of_main_size(&points)));
    let groups = groups.filter(|(_, (along, _))| along.len() >= GRAINS_MIN);
    let sentence = |(beside, (along, is_main)): (String, (Vec<(f64, f64)>, bool))| GrainSentence {
        is_main,
        values: along.len(),
        most: along.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max),
        text: grain_sentence(grain, &beside, along),
    };
    groups.map(sentence).collect()
}

/// A launch along an axis of grain.
#[derive(Clone, Debug, PartialEq)]
struct GrainPoint {
    /// The value of the axis.
    at: f64,
    /// The cost at 64 lanes over that at 32.
    ratio: f64,
    /// The size; `None` where it has none.
    size: Option<String>,
    /// Whether it was asked for, and not counted beside to compare widths.
    is_main: bool,
}

/// Each value of an axis with its ratio, once: of the launches that were asked for, at the size that most of them
/// have; where these are too few for a sentence, the other launches fill in. And whether they are enough.
fn of_main_size(points: &[GrainPoint]) -> (Vec<(f64, f64)>, bool) {
    let asked = || points.iter().filter(|point| point.is_main).map(|point| &point.size);
    let mut counts: BTreeMap<&Option<String>, usize> = BTreeMap::new();
    for size in asked() {
        *counts.entry(size).or_default() += 1;
    }
    let size = asked().rev().max_by_key(|size| counts.get(size).copied());
    let is_first = |point: &&GrainPoint| point.is_main && Some(&point.size) == size;
    let (first, others): (Vec<&GrainPoint>, Vec<&GrainPoint>) = points.iter().partition(is_first);
    let mut along: Vec<(f64, f64)> = Vec::new();
    let mut add = |points: &[&GrainPoint]| {
        for point in points {
            if along.iter().all(|(known, _)| *known != point.at) {
                along.push((point.at, point.ratio));
            }
        }
        along.len()
    };
    let is_main = add(&first) >= GRAINS_MIN;
    if !is_main {
        add(&others);
    }
    (along, is_main)
}

/// Where a kernel costs more at 64 lanes: `along` has values of its axis, each with the ratio.
fn grain_sentence(grain: &GrainNote, beside: &str, mut along: Vec<(f64, f64)>) -> String {
    along.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (dear, others): (Vec<_>, Vec<_>) =
        along.into_iter().partition(|(_, ratio)| is_dearer(*ratio));
    let dearer: Vec<String> = dear
        .iter()
        .map(|(at, ratio)| format!("{} ({}×)", exact(*at), text::ratio(*ratio)))
        .collect();
    let others: Vec<String> = others.iter().map(|(at, _)| exact(*at)).collect();
    let (dearer, others) = (dearer.join(", "), others.join(", "));
    let GrainNote { words, of: unit, .. } = grain;
    let beside = if beside.is_empty() { String::new() } else { format!(" {beside}") };
    let begins = format!("For {}{beside},", uncapital(words));
    let percent = text::whole_percent(Ratio(DEARER_MIN - 1.0));
    match (dearer.is_empty(), others.is_empty()) {
        (true, _) => {
            format!("{begins} 64 lanes cost less than {percent} more than 32 at {unit} {others}.")
        }
        (false, true) => format!("{begins} 64 lanes cost more than 32 at {unit} {dearer}."),
        (false, false) => format!(
            "{begins} 64 lanes cost more than 32 at {unit} {dearer}, and less than {percent} more at {others}."
        ),
    }
}

#[cfg(test)]
mod tests;
