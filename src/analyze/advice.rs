//! What could be done about wasted lanes: plain advice that the counts support.
//!
//! Input: one device's part of a profile. Output: [`Advice`], the largest possible gain first. A
//! rule needs two things: a program that allows the cause (from the blocks' recorded flow), and
//! counts that prove it happened. Where either is missing, nothing is said; records without flow
//! get no advice.
//!
//! # The largest possible gain
//!
//! A block that ran `lanes` lanes needs at least ⌈lanes / W⌉ executions, whoever packs them and however.
//! So no change that keeps each lane's work can save more than **operations · (executions − ⌈lanes / W⌉)** subgroup operations
//! of it. A rule's gain is the sum of that over the blocks that its cause can touch, called
//! functions included; the rest of a loop's body where the cause is a `continue`; what runs later
//! where it is a `return`. It is a bound, not a forecast: what else keeps lanes idle in those blocks is
//! in it, what the change itself costs is not, and the gains of several pieces of advice overlap.
//! What a branch costs is bounded by its own split: the runs in front of it keep their lanes, so that
//! an arm with L lanes needs as many runs as the fullest of those that have L lanes together. Where
//! loops or branches inside it split lanes further, merging its runs is taken to save of their executions
//! the part that it saves of its runs: true where the runs with few lanes do not turn more often. A
//! loop is not charged with lanes that nobody sent into it: its blocks are packed to its fullest run.
//!
//! For partial subgroups of r lanes it is tighter too: only executions with at most r lanes can be theirs,
//! and merging them to full ones, W / r at a time, saves at most the part 1 − r / W of those. Outside
//! loops there are no more of those executions than calls by partial subgroups, one a workgroup in the
//! entry point; a loop's executions are taken to belong to the runs that enter it in equal parts.
//!
//! Gains below [`GAIN_SHARE_MIN`] of all subgroup operations are not worth a line.
//!
//! # What counts as proof
//!
//! Let P be a block whose lanes are exactly those that reach a construct, and idle(b) = executions·W −
//! lanes.
//!
//! - *A branch splits subgroups*: without a split, each run of an arm has the lanes of a run of P,
//!   and no run of P gives two, so that Σ idle(first blocks of the arms) ≤ idle(P) and
//!   Σ executions of them ≤ executions(P). A larger sum of either proves a split.
//!   An arm that starts with a loop has no such block; then its runs are those of the loop's head
//!   less those of the block that goes round. Where that is not known either the arm is left out.
//! - *Lanes leave a loop at different times*: without that, each run of P leaves by one run of one
//!   `break` or `return`. More runs of those than of P prove it; at the start of an arm, where there
//!   is no P, more than runs of the head less those of the block that goes round.
//! - *A return leaves lanes idle*: a split at its condition does; so does idle(after) > idle(P),
//!   since without a split the runs of the block after it are runs of P with the same lanes.
//! - *A barrier is not reached by all*: with S invocations a workgroup, a barrier that all reach has
//!   lanes = k·S and executions = k·⌈S / W⌉ for a whole k.
//!
//! Where no block shows these counts, or lanes leave a loop by `break if` alone, nothing is proved and
//! nothing said.
//!
//! The first three take it that lanes reconverge where the source does; a device that
//! fails at that is found by the self-test.

mod rule;
mod rules;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::counts::ratio;
use super::profile::{DeviceProfile, Profile};
use crate::units::{Ratio, Width};
pub use rule::Rule;
use table::AdviceTable;

/// The least gain, as part of all subgroup operations, that is worth advice; correctness is always.
pub const GAIN_SHARE_MIN: Ratio = Ratio(0.01);

/// A piece of advice for one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The rule.
    pub rule: Rule,
    /// The device's id.
    pub device: String,
    /// The width at which it holds, in lanes.
    pub width: Width,
    /// The file.
    pub file: String,
    /// The line of the condition, of the loop, of the barrier or of the entry point's first
    /// operation; from 1.
    pub line: u32,
    /// The most subgroup operations that could be saved.
    pub saved_operations: u128,
    /// The same as part of all subgroup operations of the device's launch.
    pub gain_share: Ratio,
    /// Why, with the figures.
    pub reason: String,
}

/// Gives the advice for one device, the largest gain first; barriers before all else.
pub fn advice(device: &DeviceProfile) -> Vec<Advice> {
    let Some(width) = device.column.width else { return Vec::new() };
    let total = device.column.work.subgroup_operations;
    // What another order of workgroups may change is no ground for advice.
    let one_schedule = device.schedule_lines();
    let mut found: BTreeMap<(Rule, String, u32), Advice> = BTreeMap::new();
    for table in AdviceTable::build_all(device, width) {
        for finding in rules::findings(&table) {
            let Some(share) = ratio(finding.gain, total) else { continue };
            if one_schedule.contains(&finding.line) && finding.rule != Rule::BarrierInDivergentFlow
            {
                continue;
            }
            if share < GAIN_SHARE_MIN.0 && finding.rule != Rule::BarrierInDivergentFlow {
                continue;
            }
            let key = (finding.rule, finding.file.clone(), finding.line);
            // Two causes on one line, or the same line in two entry points: the larger is shown.
            let better = |known: &Advice| known.saved_operations >= finding.gain;
            if found.get(&key).is_some_and(better) {
                continue;
            }
            let advice = Advice {
                rule: finding.rule,
                device: device.column.device.clone(),
                width,
                file: finding.file,
                line: finding.line,
                saved_operations: finding.gain,
                gain_share: Ratio(share),
                reason: finding.reason,
            };
            found.insert(key, advice);
        }
    }
    let mut list: Vec<Advice> = found.into_values().collect();
    let barrier = |advice: &Advice| advice.rule == Rule::BarrierInDivergentFlow;
    list.sort_by(|a, b| {
        barrier(b).cmp(&barrier(a)).then(b.saved_operations.cmp(&a.saved_operations))
    });
    list
}

/// Gives the advice for every device of a profile, device by device.
pub fn advice_of(profile: &Profile) -> Vec<Advice> {
    profile.devices.iter().flat_map(advice).collect()
}
