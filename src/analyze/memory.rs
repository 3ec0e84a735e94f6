//! What accesses to memory cost in a model, waits at barriers, and data races.
//!
//! Input: one device's part of a profile, with what a simulator saw of memory. Output: typed rows,
//! and sentences. The model is of no particular machine ([`MemoryUse`]); what to do about it is
//! `advice`'s matter.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::counts::ratio;
use super::names::list_text;
use super::profile::{DeviceProfile, Profile};
use crate::record::{
    AccessCost, BarrierWait, Cost, DataRace, Dispatch, MemoryUse, Pattern, Touching,
};
use crate::units::{Ratio, Width, grouped_text, text};

/// One line's accesses to one memory, all dispatches together.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRow {
    /// The line, from 1.
    pub line: u32,
    /// The buffer; nothing for the workgroup's memory.
    pub buffer: Option<String>,
    /// What the accesses do.
    pub does: Touching,
    /// Access instructions of subgroups.
    pub executions: u64,
    /// Mean lanes of one.
    pub lanes_mean: f64,
    /// Sectors of 32 bytes that it touched, over the fewest; of buffers.
    pub sectors: Option<Over>,
    /// Cache lines of 128 bytes, over the fewest; of buffers.
    pub cache_lines: Option<Over>,
    /// Passes over 32 banks, over the fewest; of workgroup memory.
    pub passes: Option<Over>,
    /// Turns of atomic operations, over the fewest.
    pub turns: Option<Over>,
    /// How the places that neighbouring lanes access lie to one another, where it is so in every dispatch.
    pub pattern: Option<Pattern>,
}

/// A cost beside the least that it could be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Over {
    /// The cost.
    pub taken: u64,
    /// What it is more than the least.
    pub excess: u64,
    /// The cost over the least.
    pub ratio: f64,
}

impl Over {
    fn new(cost: Cost) -> Option<Self> {
        let Cost { taken, min } = cost;
        let ratio = ratio(taken.into(), min.into())?;
        Some(Self { taken, excess: taken.saturating_sub(min), ratio })
    }
}

/// What the model says of a device's launch.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryView {
    /// By line.
    pub rows: Vec<MemoryRow>,
    /// What subgroups wait at the barriers of each line.
    pub waits: Vec<BarrierWait>,
    /// What all of them wait, as part of what the watched workgroups did and waited; `None` if
    /// there are no barriers.
    pub waited: Option<Ratio>,
    /// Lanes of subgroups that no invocation fills, as part of all lanes launched.
    pub never_launched: Option<Ratio>,
    /// The same of each entry point that has any, with the invocations of a workgroup; of launches of several entry
    /// points.
    pub never_launched_by: Vec<(String, u64, Ratio)>,
    /// The lines of the sizes of workgroups that leave lanes empty.
    pub size_lines: BTreeSet<u32>,
    /// The lines whose indices follow contents that were made up, each with its buffers.
    pub made_up: BTreeMap<u32, Vec<String>>,
    /// Workgroups that were watched, and all of them.
    pub workgroups: [u64; 2],
}

/// Adds up costs, where both are there.
fn add(sum: &mut Option<Cost>, part: Option<Cost>) {
    if let Some(part) = part {
        let known = sum.get_or_insert(Cost { taken: 0, min: 0 });
        known.taken += part.taken;
        known.min += part.min;
    }
}

/// Makes the view of a device; `None` if nobody looked at its memory.
pub fn memory_view(device: &DeviceProfile) -> Option<MemoryView> {
    let MemoryUse { dispatches } = device.memory.as_ref()?;
    let mut all: BTreeMap<(u32, &Option<String>, Touching), AccessCost> = BTreeMap::new();
    let mut waits: BTreeMap<u32, BarrierWait> = BTreeMap::new();
    for dispatch in dispatches {
        for access in &dispatch.accesses {
            let sum = all.entry((access.line, &access.buffer, access.does)).or_insert_with(|| {
                AccessCost {
                    executions: 0,
                    lanes: 0,
                    sectors: None,
                    cache_lines: None,
                    passes: None,
                    turns: None,
                    ..access.clone()
                }
            });
            sum.executions += access.executions;
            sum.lanes += access.lanes;
            add(&mut sum.sectors, access.sectors);
            add(&mut sum.cache_lines, access.cache_lines);
            add(&mut sum.passes, access.passes);
            add(&mut sum.turns, access.turns);
            sum.pattern = sum.pattern.filter(|pattern| access.pattern == Some(*pattern));
        }
        for wait in &dispatch.waits {
            let empty = BarrierWait { barriers: 0, waited_operations: 0, operations: 0, ..*wait };
            let sum = waits.entry(wait.line).or_insert(empty);
            sum.barriers += wait.barriers;
            sum.waited_operations += wait.waited_operations;
            sum.operations += wait.operations;
        }
    }
    let rows = all.into_values().map(|sum| MemoryRow {
        line: sum.line,
        lanes_mean: ratio(sum.lanes.into(), sum.executions.into()).unwrap_or(0.0),
        executions: sum.executions,
        does: sum.does,
        sectors: sum.sectors.and_then(Over::new),
        cache_lines: sum.cache_lines.and_then(Over::new),
        passes: sum.passes.and_then(Over::new),
        turns: sum.turns.and_then(Over::new),
        pattern: sum.pattern,
        buffer: sum.buffer,
    });
    let [waited, operations] = waits.values().fold([0, 0], |[waited, operations], wait| {
        [waited + u128::from(wait.waited_operations), operations + u128::from(wait.operations)]
    });
    Some(MemoryView {
        rows: rows.collect(),
        waits: waits.into_values().collect(),
        waited: ratio(waited, operations).map(Ratio),
        never_launched: never_launched(&device.dispatches.iter().collect::<Vec<_>>(), device),
        never_launched_by: never_launched_by(device),
        size_lines: dispatches
            .iter()
            .filter(|dispatch| dispatch.lanes_never_launched.is_some_and(|lanes| lanes > 0))
            .filter_map(|dispatch| dispatch.size_line)
            .collect(),
        made_up: made_up_indices(device),
        workgroups: [
            dispatches.iter().map(|dispatch| dispatch.workgroups_watched).sum(),
            dispatches.iter().map(|dispatch| dispatch.workgroups).sum(),
        ],
    })
}

/// The lines whose indices follow contents that were made up, each with its buffers.
fn made_up_indices(device: &DeviceProfile) -> BTreeMap<u32, Vec<String>> {
    let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for part in &device.made_up {
        for line in &part.indices {
            let buffers = lines.entry(*line).or_default();
            if !buffers.contains(&part.buffer) {
                buffers.push(part.buffer.clone());
            }
        }
    }
    lines
}

/// `line 4`, or `lines 4, 9`.
fn lines_text(lines: &BTreeSet<u32>) -> String {
    let line = if lines.len() == 1 { "line" } else { "lines" };
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    format!("{line} {}", numbers.join(", "))
}

/// The lanes that no invocation fills, since workgroups are no multiple of the width.
fn never_launched(dispatches: &[&Dispatch], device: &DeviceProfile) -> Option<Ratio> {
    let width = device.column.width?;
    let [empty, all] = dispatches.iter().fold([0, 0], |[empty, all], dispatch| {
        let [here, lanes] = count_lanes(dispatch, width);
        [empty + here, all + lanes]
    });
    ratio(empty, all).map(Ratio)
}

/// The lanes of a dispatch's subgroups that no invocation fills, and all of them.
pub(super) fn count_lanes(dispatch: &Dispatch, width: Width) -> [u128; 2] {
    let product = |sides: [u32; 3]| sides.iter().map(|&side| u128::from(side)).product();
    let size: u128 = product(dispatch.workgroup_size);
    let groups: u128 = dispatch.workgroups.map_or(0, product);
    let lanes = size.next_multiple_of(u128::from(width.lanes()).max(1));
    [(lanes - size) * groups, lanes * groups]
}

/// The same of each of several entry points, and the invocations of a workgroup; those without left out.
fn never_launched_by(device: &DeviceProfile) -> Vec<(String, u64, Ratio)> {
    let mut entries: IndexMap<(&str, u64), Vec<&Dispatch>> = IndexMap::new();
    for dispatch in &device.dispatches {
        let size = dispatch.workgroup_size.iter().map(|&side| u64::from(side)).product();
        entries.entry((dispatch.entry_point.as_str(), size)).or_default().push(dispatch);
    }
    if entries.len() < 2 {
        return Vec::new();
    }
    let share = |((name, size), dispatches): ((&str, u64), Vec<&Dispatch>)| {
        let empty = never_launched(&dispatches, device).filter(|empty| empty.0 > 0.0)?;
        Some((name.to_owned(), size, empty))
    };
    entries.into_iter().filter_map(share).collect()
}

impl MemoryRow {
    /// Whether it takes more than it must of anything.
    pub fn is_costly(&self) -> bool {
        let costs = [self.sectors, self.cache_lines, self.passes, self.turns];
        costs.into_iter().flatten().any(|over| over.excess > 0)
    }

    /// The memory in words: the buffer, or `workgroup memory`.
    pub fn memory(&self) -> &str {
        self.buffer.as_deref().unwrap_or("workgroup memory")
    }
}

impl MemoryView {
    /// The lines of accesses whose indices follow contents that were made up, and their buffers, in words; `None` if
    /// no index does.
    fn generated(&self) -> Option<(String, String)> {
        let mut lines: BTreeSet<u32> = BTreeSet::new();
        let mut buffers: Vec<&str> = Vec::new();
        for (line, names) in &self.made_up {
            if self.rows.iter().any(|row| row.line == *line) {
                lines.insert(*line);
                for name in names.iter().map(String::as_str) {
                    if !buffers.contains(&name) {
                        buffers.push(name);
                    }
                }
            }
        }
        (!lines.is_empty()).then(|| (lines_text(&lines), list_text(&buffers)))
    }

    /// Whether what some access takes is of data that were made up.
    pub fn is_generated(&self) -> bool {
        self.generated().is_some()
    }

    /// What is not a row of the table, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let mut found = Vec::new();
        let [watched, all] = self.workgroups;
        if watched < all {
            found.push(format!(
                "{} of {} workgroups {}.",
                grouped_text(watched.into()),
                grouped_text(all.into()),
                if watched == 1 {
                    "was watched, the first one"
                } else {
                    "were watched, the first ones"
                }
            ));
        }
        if let Some(waited) = self.waited {
            let lines: BTreeSet<u32> = self.waits.iter().map(|wait| wait.line).collect();
            found.push(format!(
                "Whole subgroups wait for others of their workgroup at barriers ({}) for {} of the \
                 time that the longest of each takes, in operations.",
                lines_text(&lines),
                text::percent(waited)
            ));
        }
        if let Some(empty) = self.never_launched.filter(|empty| empty.0 > 0.0) {
            let parts = self.never_launched_by.iter().map(|(name, size, empty)| {
                format!("`{name}`, {size} invocations each: {}", text::percent(*empty))
            });
            let parts = parts.collect::<Vec<_>>().join("; ");
            let parts = if parts.is_empty() { parts } else { format!(" ({parts})") };
            let place = match self.size_lines.is_empty() {
                true => String::new(),
                false => format!(" ({})", lines_text(&self.size_lines)),
            };
            found.push(format!(
                "{} of the lanes have no invocation: workgroups{place} are no multiple of the width{parts}.",
                text::percent(empty)
            ));
        }
        if let Some((lines, buffers)) = self.generated() {
            found.push(format!(
                "Indices on {lines} follow contents of {buffers} that were made up: what these accesses take is of \
                 generated data."
            ));
        }
        found
    }
}

/// A data race in a sentence.
fn race_sentence(race: &DataRace) -> String {
    let [first, second] = race.sides;
    let does = |writes: bool| if writes { "writes" } else { "reads" };
    let memory = match &race.buffer {
        Some(buffer) => format!("`{buffer}`"),
        None => "workgroup memory".to_owned(),
    };
    let lines = if first.line == second.line {
        format!("line {}: one invocation {} what another {}", first.line, does(second.writes), {
            does(first.writes)
        })
    } else {
        format!(
            "line {} {} what line {} {}",
            second.line,
            does(second.writes),
            first.line,
            does(first.writes)
        )
    };
    let example = if first.workgroup == second.workgroup {
        format!(
            "invocations {} and {} of workgroup {}",
            first.invocation, second.invocation, first.workgroup
        )
    } else {
        format!(
            "invocation {} of workgroup {} and invocation {} of workgroup {}, between which no barrier \
             helps",
            first.invocation, first.workgroup, second.invocation, second.workgroup
        )
    };
    let equal = if race.equal_values {
        "; both wrote the same value each time, which GPUs carry out as meant, though WGSL does not \
         promise it"
    } else {
        ""
    };
    format!(
        "data race in {memory}, {lines}, with no barrier or atomic operation between (byte {}: \
         {example}; seen {} {}{equal})",
        race.offset_bytes,
        grouped_text(race.count.into()),
        if race.count == 1 { "time" } else { "times" }
    )
}

/// A race's sentence, whether both sides write one value, and the devices that found it.
type FoundRace<'a> = (String, bool, Vec<&'a str>);

impl Profile {
    /// The data races, a sentence each with the devices that found it; those between lines that both write the same
    /// value come last, and behind all how many more there are.
    pub fn races(&self) -> Vec<String> {
        let mut found: IndexMap<(String, u32, u32), FoundRace<'_>> = IndexMap::new();
        for device in &self.devices {
            let dispatches = device.memory.iter().flat_map(|memory| &memory.dispatches);
            for race in dispatches.flat_map(|dispatch| &dispatch.races) {
                let mut lines = race.sides.map(|side| side.line);
                lines.sort_unstable();
                let key = (race.buffer.clone().unwrap_or_default(), lines[0], lines[1]);
                let fresh = || (race_sentence(race), race.equal_values, Vec::new());
                let (_, _, devices) = found.entry(key).or_insert_with(fresh);
                if devices.last() != Some(&&*device.column.device) {
                    devices.push(&device.column.device);
                }
            }
        }
        let mut all: Vec<_> = found.into_values().collect();
        all.sort_by_key(|(_, equal, _)| *equal);
        let told =
            all.into_iter().map(|(text, _, devices)| format!("{text} ({})", devices.join(", ")));
        told.chain(self.devices.iter().filter_map(races_unlisted)).collect()
    }
}

/// How many pairs of lines race on a device that its record does not list; nothing where it lists all.
fn races_unlisted(device: &DeviceProfile) -> Option<String> {
    let dispatches = device.memory.iter().flat_map(|memory| &memory.dispatches);
    let unlisted: Vec<u64> = dispatches
        .filter_map(|dispatch| dispatch.races_unlisted)
        .filter(|more| *more > 0)
        .collect();
    let more = unlisted.iter().copied().fold(0, u64::saturating_add);
    let what = match more {
        0 => return None,
        1 => "pair of lines races",
        _ => "pairs of lines race",
    };
    let each = if unlisted.len() > 1 { ", those of each dispatch counted" } else { "" };
    let device = &device.column.device;
    Some(format!(
        "{} more {what}, of which each line is named above{each} ({device})",
        grouped_text(more.into())
    ))
}

#[cfg(test)]
mod tests;
