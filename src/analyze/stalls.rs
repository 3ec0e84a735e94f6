//! What bounds a kernel: its warps' stalls, read by rules.
//!
//! Input: hardware counters of a launch, by NVIDIA's names. Output: a [`Reading`]: which of the cases it is, and the
//! figures that decided. A published text has five cases, by the stall that is greatest: global memory, workgroup memory,
//! barriers, backpressure, and warps that are ready and not selected. Two more are needed, since most
//! arithmetic fits none of the five: dependent instructions that wait for each other, and instructions that are
//! fetched. Nothing is measured here, and a reading is a hypothesis: what is greatest need not be what
//! bounds, where several are as great.
//!
//! # The rules
//!
//! The counters say how many warps were in each state for each instruction that was issued, `selected` being the one that
//! was issued. Their sum is what a scheduler had to choose from.
//!
//! 1. Where a multiprocessor issues at least [`ISSUE_FULL`] of what its schedulers can, the issue slots are the
//!    bound, whatever else waits.
//! 2. Else the group of stalls with the most warps decides; `selected` is none.
//! 3. Another group is named beside it where it has at least [`NEAR`] of its warps.

use super::machine::find_value;
use crate::record::Counter;
use crate::units::{Ratio, text};

/// The share of issue slots from which on they are what bounds.
pub const ISSUE_FULL: f64 = 0.8;

/// The share of the greatest group from which on another is named beside it.
pub const NEAR: f64 = 0.8;

/// Schedulers of a multiprocessor, each of which issues an instruction a cycle at most: of each architecture since Volta.
const SCHEDULERS: f64 = 4.0;

/// What bounds a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bottleneck {
    /// Warps are ready, and the schedulers issue what they can.
    IssueSlots,
    /// Loads from global or local memory.
    GlobalMemory,
    /// Workgroup memory, shuffles, special functions, and what else goes through the same queue.
    WorkgroupMemory,
    /// Barriers and fences.
    Barrier,
    /// Loads and stores that no longer fit into their queue, or are waited for at the end.
    Backpressure,
    /// Instructions that wait for the result of the one before, or for a unit.
    Dependencies,
    /// Instructions that are fetched, constants that are, and branches that are resolved.
    Fetching,
}

/// The stalls of each group, by what stands in the counter's name.
const GROUPS: [(Bottleneck, &[&str]); 7] = [
    (Bottleneck::IssueSlots, &["stalled_not_selected"]),
    (Bottleneck::GlobalMemory, &["stalled_long_scoreboard"]),
    (Bottleneck::WorkgroupMemory, &["stalled_short_scoreboard", "stalled_mio_throttle"]),
    (Bottleneck::Barrier, &["stalled_barrier", "stalled_membar"]),
    (Bottleneck::Backpressure, &["stalled_drain", "stalled_lg_throttle"]),
    (
        Bottleneck::Dependencies,
        &[
            "stalled_wait",
            "stalled_math_pipe_throttle",
            "stalled_dispatch_stall",
            "stalled_sleeping",
        ],
    ),
    (
        Bottleneck::Fetching,
        &["stalled_no_instruction", "stalled_imc_miss", "stalled_branch_resolving"],
    ),
];

/// What the stalls of a launch say.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What bounds it.
    pub bottleneck: Bottleneck,
    /// What is nearly as great, greatest first.
    pub beside: Vec<Bottleneck>,
    /// The share of issue slots that were used, 1.0 being an instruction a cycle and scheduler.
    pub issued: f64,
    /// The warps of each group for each instruction issued, greatest first, and the share of all of them.
    pub warps: Vec<(Bottleneck, f64, f64)>,
}

impl Bottleneck {
    /// What bounds, as the end of "bound by".
    pub fn words(self) -> &'static str {
        match self {
            Self::IssueSlots => "issue slots: a warp is nearly always ready",
            Self::GlobalMemory => "loads from global memory",
            Self::WorkgroupMemory => "workgroup memory, shuffles or special functions",
            Self::Barrier => "barriers",
            Self::Backpressure => "loads and stores that wait for room",
            Self::Dependencies => "instructions that wait for the one before",
            Self::Fetching => "fetching instructions or resolving branches",
        }
    }

    /// Whether the published five cases have it.
    pub fn is_published(self) -> bool {
        !matches!(self, Self::Dependencies | Self::Fetching)
    }

    /// What the published text, or the case itself, asks one to try: a hypothesis.
    pub fn hint(self) -> &'static str {
        match self {
            Self::IssueSlots => "fewer instructions, or fewer that idle lanes take along",
            Self::GlobalMemory => "coalesced loads, more of them in flight, or more warps",
            Self::WorkgroupMemory => "fewer bank conflicts, or registers in its place",
            Self::Barrier => "smaller workgroups, or less between barriers that only some warps do",
            Self::Backpressure => "fewer, wider accesses",
            Self::Dependencies => "several independent chains in an invocation, or more warps",
            Self::Fetching => "shorter code, or fewer ways through it",
        }
    }
}

/// Reads a launch's stalls; `None` if they, or the rate of issue, were not read.
pub fn read(counters: &[Counter]) -> Option<Reading> {
    let issued = find_value(counters, "sm__inst_executed.avg.per_cycle_active")? / SCHEDULERS;
    let warps = |stall: &&str| {
        let name = format!("smsp__average_warps_issue_{stall}_per_issue_active.ratio");
        find_value(counters, &name)
    };
    let mut groups = Vec::new();
    for (group, stalls) in GROUPS {
        let known: Vec<f64> = stalls.iter().filter_map(warps).collect();
        if known.is_empty() {
            return None;
        }
        groups.push((group, known.iter().sum::<f64>()));
    }
    let all: f64 = groups.iter().map(|(_, warps)| warps).sum::<f64>()
        + warps(&"stalled_selected").unwrap_or(1.0);
    groups.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let warps: Vec<(Bottleneck, f64, f64)> =
        groups.into_iter().map(|(group, warps)| (group, warps, warps / all)).collect();
    let (greatest, most, _) = *warps.first()?;
    let bottleneck = if issued >= ISSUE_FULL { Bottleneck::IssueSlots } else { greatest };
    let near = |(group, warps, _): &&(Bottleneck, f64, f64)| {
        *group != bottleneck && *warps > 0.0 && *warps >= NEAR * most
    };
    // Full issue slots leave nothing else to name.
    let beside = match bottleneck {
        Bottleneck::IssueSlots => Vec::new(),
        _ => warps.iter().filter(near).map(|(group, ..)| *group).collect(),
    };
    Some(Reading { bottleneck, beside, issued, warps })
}

impl Reading {
    /// The reading as a sentence: the case, and the figures that decided.
    pub fn sentence(&self) -> String {
        let percent = |share: f64| text::whole_percent(Ratio(share));
        let mut text = format!("Bound by {}", self.bottleneck.words());
        let beside: Vec<&str> = self.beside.iter().map(|group| group.words()).collect();
        if !beside.is_empty() {
            text += &format!(", and nearly as much by {}", beside.join(", "));
        }
        text += &format!(": {} of issue slots are used", percent(self.issued));
        let bottleneck = self.warps.iter().find(|(group, ..)| *group == self.bottleneck);
        if let Some((_, warps, share)) = bottleneck {
            let state = match self.bottleneck {
                Bottleneck::IssueSlots => "are ready and not selected",
                _ => "wait for this",
            };
            text += &format!(
                ", and for each instruction {} warps, {} of those there, {state}",
                text::lanes(*warps),
                percent(*share)
            );
        }
        if !self.bottleneck.is_published() {
            text += "; no case of the published five";
        }
        text += &format!(". To try: {}.", self.bottleneck.hint());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters: the rate of issue of a multiprocessor, then stalls by name; the others are 0.
    fn counters(rate: f64, stalls: &[(&str, f64)]) -> Vec<Counter> {
        let counter = |name: String, value| Counter {
            name,
            value,
            unit: String::new(),
            description: String::new(),
        };
        let stall_counter = |stall: &&str| {
            let value = stalls.iter().find(|(name, _)| name == stall).map_or(0.0, |(_, v)| *v);
            let name = format!("smsp__average_warps_issue_{stall}_per_issue_active.ratio");
            counter(name, value)
        };
        let all = GROUPS.iter().flat_map(|(_, stalls)| *stalls);
        let selected = counter(
            "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio".to_owned(),
            1.0,
        );
        let issued = counter("sm__inst_executed.avg.per_cycle_active".to_owned(), rate);
        all.map(stall_counter).chain([selected, issued]).collect()
    }

    #[test]
    fn each_case_is_read_from_the_stall_that_it_is_named_for() {
        for (group, stalls) in GROUPS {
            for stall in stalls {
                let reading = read(&counters(1.0, &[(stall, 5.0)])).unwrap();
                assert_eq!(reading.bottleneck, group, "{stall}");
                assert_eq!(reading.warps[0], (group, 5.0, 5.0 / 6.0));
                assert_eq!(reading.beside, []);
            }
        }
    }

    #[test]
    fn full_issue_slots_bound_whatever_waits() {
        let stalls = [("stalled_long_scoreboard", 9.0), ("stalled_not_selected", 2.0)];
        let reading = read(&counters(3.6, &stalls)).unwrap();
        assert_eq!((reading.bottleneck, reading.issued), (Bottleneck::IssueSlots, 0.9));
        let text = reading.sentence();
        assert!(
            text.starts_with("Bound by issue slots") && text.contains("90 % of issue"),
            "{text}"
        );
        // Just below, memory is.
        let reading = read(&counters(3.1, &stalls)).unwrap();
        assert_eq!(reading.bottleneck, Bottleneck::GlobalMemory);
    }

    #[test]
    fn what_is_nearly_as_great_is_named_and_arithmetic_is_no_published_case() {
        let stalls =
            [("stalled_wait", 2.0), ("stalled_barrier", 1.7), ("stalled_long_scoreboard", 1.5)];
        let reading = read(&counters(1.2, &stalls)).unwrap();
        assert_eq!(reading.bottleneck, Bottleneck::Dependencies);
        assert_eq!(reading.beside, [Bottleneck::Barrier]);
        let text = reading.sentence();
        assert!(text.contains("30 % of issue slots"), "{text}");
        assert!(text.contains("no case of the published five"), "{text}");
    }

    #[test]
    fn without_stalls_or_rate_there_is_no_reading() {
        let all = counters(1.0, &[("stalled_wait", 2.0)]);
        let without = |part: &str| -> Vec<Counter> {
            all.iter().filter(|counter| !counter.name.contains(part)).cloned().collect()
        };
        assert!(read(&all).is_some());
        assert_eq!(read(&without("sm__inst_executed")), None);
        assert_eq!(read(&without("long_scoreboard")), None);
    }
}
