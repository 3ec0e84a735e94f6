//! Cards on what idle lanes do not show: addresses, atomics on one word, waits at barriers, lanes that are never
//! launched.
//!
//! Input: one device's part of a profile. Output: [`Advice`] with what the model of memory says in
//! place of operations that were saved: nothing of it was tried, and it is no machine's time.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::cards::why_refused;
use super::{Advice, Rule};
use crate::analyze::counts::ratio;
use crate::analyze::memory::{MemoryRow, MemoryView, Over, count_lanes, memory_view};
use crate::analyze::names::list_text;
use crate::analyze::profile::DeviceProfile;
use crate::record::{Change, Pattern, Refused};
use crate::units::{Ratio, Width, grouped_text as whole, text};

/// The cost over the least from which on there is a card.
const RATIO_MIN: f64 = 2.0;

/// The excess from which on there is a card, as part of all that the launch takes of the same kind.
const SHARE_MIN: f64 = 0.1;

/// The mean of lanes on one word from which on an atomic operation gets a card.
const TURNS_MIN: f64 = 4.0;

/// The wait from which on barriers get a card, as part of what subgroups do and wait.
const WAIT_MIN: f64 = 0.1;

/// The part of all lanes that no invocation fills from which on the size of workgroups gets a card where no other was
/// tried.
const EMPTY_MIN: f64 = 0.1;

/// A kind of cost.
struct CostKind {
    rule: Rule,
    of: fn(&MemoryRow) -> Option<Over>,
    unit: &'static str,
    ratio_min: f64,
    /// What is seen and what to do, by how the places lie to one another, the workgroup's size and the width.
    sentence: fn(Option<Pattern>, [u32; 3], Width) -> String,
}

fn say_scattered(pattern: Option<Pattern>, [x, y, z]: [u32; 3], width: Width) -> String {
    let apart = |bytes: u32| format!("{} bytes apart", whole(bytes.into()));
    match pattern {
        Some(Pattern::Members(bytes)) => format!(
            "Neighbouring lanes access members of structures here, {}: keep this member in an array of its own \
             (structure of arrays).",
            apart(bytes)
        ),
        Some(Pattern::Stride(bytes)) => format!(
            "Neighbouring lanes access addresses {} here: let them access neighbouring elements, by another index or \
             a transposed buffer.",
            apart(bytes)
        ),
        Some(Pattern::Data) => {
            "The index comes from data here, and neighbouring lanes access addresses that lie apart: sort or bin what \
             they work on, or load it into workgroup memory first."
                .to_owned()
        }
        Some(Pattern::Several) if y * z > 1 && x < width.lanes() => format!(
            "Neighbouring lanes access addresses that lie apart here: let them access neighbouring elements. The \
             workgroup is {x} invocations wide, so that a subgroup holds several of its rows; where the index follows \
             these rows, a wider one helps."
        ),
        Some(Pattern::Several) | None => {
            "Neighbouring lanes access addresses that lie apart here: let them access neighbouring elements.".to_owned()
        }
    }
}

fn say_banks(pattern: Option<Pattern>, [x, y, z]: [u32; 3], width: Width) -> String {
    if pattern == Some(Pattern::Data) {
        return "Lanes access different words of one bank of workgroup memory here, and the index comes from data: sort \
                what they access, or give groups of lanes copies of their own."
            .to_owned();
    }
    if let Some(Pattern::Stride(bytes) | Pattern::Members(bytes)) = pattern
        && bytes < 128
    {
        return format!(
            "Lanes access different words of one bank of workgroup memory here, {bytes} bytes from lane to lane: let \
             neighbouring lanes access neighbouring words; of a structure, keep each member in an array of its own."
        );
    }
    let rows = if pattern == Some(Pattern::Several) && y * z > 1 && x < width.lanes() {
        format!(", or make the workgroup wider than {x}")
    } else {
        String::new()
    };
    format!(
        "Lanes access different words of one bank of workgroup memory here: let the addresses of a subgroup's lanes \
         differ modulo 32 words, say by an unused element after every 32 (index i + i / 32){rows}."
    )
}

fn say_crowded(_: Option<Pattern>, _: [u32; 3], _: Width) -> String {
    "Lanes of one subgroup access the same word atomically here, one after the other: let one lane do it for all of \
     them, with what a subgroup operation joins."
        .to_owned()
}

const KINDS: [CostKind; 3] = [
    CostKind {
        rule: Rule::ScatteredAccess,
        of: |row| row.sectors,
        unit: "sectors of 32 bytes",
        ratio_min: RATIO_MIN,
        sentence: say_scattered,
    },
    CostKind {
        rule: Rule::BankConflict,
        of: |row| row.passes,
        unit: "passes over 32 banks of 4 bytes",
        ratio_min: RATIO_MIN,
        sentence: say_banks,
    },
    CostKind {
        rule: Rule::CrowdedAtomic,
        of: |row| row.turns,
        unit: "turns (one for each lane on the same word)",
        ratio_min: TURNS_MIN,
        sentence: say_crowded,
    },
];

/// Makes the cards: first what is the largest part too much of all that the launch takes of its kind.
pub(super) fn make_cards(device: &DeviceProfile, width: Width) -> Vec<Advice> {
    let Some(view) = memory_view(device) else { return Vec::new() };
    let one_schedule = device.schedule_lines();
    let mut cards: Vec<(f64, Advice)> = Vec::new();
    for kind in &KINDS {
        let all: u128 = view.rows.iter().filter_map(kind.of).map(|o| u128::from(o.taken)).sum();
        let mut found: IndexMap<u32, OnLine<'_>> = IndexMap::new();
        for row in &view.rows {
            let costly = (kind.of)(row).filter(|over| over.ratio >= kind.ratio_min);
            // What follows the order of workgroups is one schedule's figure.
            let Some(over) = costly.filter(|_| !one_schedule.contains(&row.line)) else { continue };
            let fresh = || OnLine { line: row.line, accesses: Vec::new() };
            found.entry(row.line).or_insert_with(fresh).accesses.push((row, over));
        }
        let share = |place: &OnLine<'_>| ratio(place.excess().into(), all).unwrap_or(0.0);
        found.retain(|_, place| share(place) >= SHARE_MIN);
        let card = |place: &OnLine<'_>| card(device, width, kind, (place, &view.made_up));
        cards.extend(found.values().map(|place| (share(place), card(place))));
    }
    let waited = view.waited.map_or(0.0, |waited| waited.0);
    cards.extend(wait(device, width, &view).map(|card| (waited, card)));
    cards.sort_by(|(share, _), (other, _)| other.total_cmp(share));
    let empty = find_empty_lanes(device, width);
    cards.into_iter().map(|(_, card)| card).chain(empty).collect()
}

/// The cards of sizes of workgroups that leave many lanes without an invocation, where no other size could be tried: a
/// size that was tried has a card of what it saved, or saves nothing.
fn find_empty_lanes(device: &DeviceProfile, width: Width) -> Vec<Advice> {
    let all: u128 = device.dispatches.iter().map(|d| count_lanes(d, width)[1]).sum();
    let mut places: BTreeMap<u32, (u128, [u32; 2], Refused)> = BTreeMap::new();
    for trial in device.what_if.iter().flat_map(|what_if| &what_if.trials) {
        let (Change::WorkgroupSize { from, to }, Some(why)) = (trial.change, trial.refused) else {
            continue;
        };
        let number = usize::try_from(trial.dispatch).unwrap_or(usize::MAX);
        let Some(dispatch) = device.dispatches.get(number) else { continue };
        places.entry(trial.line).or_insert((0, [from, to], why)).0 +=
            count_lanes(dispatch, width)[0];
    }
    let card = |(line, (empty, [from, to], why)): (u32, (u128, [u32; 2], Refused))| {
        let share = ratio(empty, all).filter(|share| *share >= EMPTY_MIN)?;
        let lanes = format!("{} of the lanes have no invocation", text::percent(Ratio(share)));
        let sentence = format!(
            "Workgroups of {from} leave the last subgroup of each partly empty: rewrite the shader for a multiple of \
             {width}, such as {to}."
        );
        let reason = format!(
            "By the size of workgroups and {width} lanes a subgroup {lanes}. What another size saves is not known, \
             since none was tried: {}",
            why_refused(why)
        );
        let place = (Rule::WorkgroupSize, line);
        Some(plain(device, width, place, sentence, reason, lanes))
    };
    places.into_iter().filter_map(card).collect()
}

/// The accesses of one line that cost more than they must: one card says all of them.
struct OnLine<'a> {
    line: u32,
    accesses: Vec<(&'a MemoryRow, Over)>,
}

impl OnLine<'_> {
    /// The pattern of the access of most excess.
    fn pattern(&self) -> Option<Pattern> {
        let most = self.accesses.iter().max_by_key(|(_, over)| over.excess);
        most.and_then(|(row, _)| row.pattern)
    }

    fn excess(&self) -> u64 {
        self.accesses.iter().map(|(_, over)| over.excess).sum()
    }

    /// What all of them take over the least that they could.
    fn ratio(&self) -> f64 {
        let taken: u64 = self.accesses.iter().map(|(_, over)| over.taken).sum();
        ratio(taken.into(), (taken - self.excess()).into()).unwrap_or(0.0)
    }
}

fn card(
    device: &DeviceProfile,
    width: Width,
    kind: &CostKind,
    (place, made_up): (&OnLine<'_>, &BTreeMap<u32, Vec<String>>),
) -> Advice {
    let reasons = place.accesses.iter().map(|(row, over)| {
        format!(
            "the {}s of {} take {} {}, {} times as many as they must ({} lanes an access; {} accesses \
             of subgroups)",
            row.does.name(),
            row.memory(),
            whole(over.taken.into()),
            kind.unit,
            text::ratio(over.ratio),
            text::lanes(row.lanes_mean),
            whole(row.executions.into())
        )
    });
    let reasons: Vec<String> = reasons.collect();
    let mut reason = format!("In a model of no particular machine {}.", reasons.join("; "));
    let mut modelled =
        format!("{} times the {} needed", text::ratio(place.ratio()), short(kind.rule));
    if let Some(buffers) = made_up.get(&place.line) {
        reason += &format!(
            " An index here follows contents of {} that were made up: other data may give another figure.",
            list_text(buffers)
        );
        modelled += ", of generated data";
    }
    let size = device.dispatches.first().map_or([1; 3], |dispatch| dispatch.workgroup_size);
    let sentence = (kind.sentence)(place.pattern(), size, width);
    plain(device, width, (kind.rule, place.line), sentence, reason, modelled)
}

/// The unit's first word.
fn short(rule: Rule) -> &'static str {
    match rule {
        Rule::BankConflict => "passes",
        Rule::CrowdedAtomic => "turns",
        _ => "sectors",
    }
}

/// The card of the barrier at which most is waited.
fn wait(device: &DeviceProfile, width: Width, view: &MemoryView) -> Option<Advice> {
    let Ratio(waited) = view.waited.filter(|waited| waited.0 >= WAIT_MIN)?;
    // From the first line on that follows the order of workgroups, waits are one schedule's figures.
    let first = device.schedule_lines().first().copied().unwrap_or(u32::MAX);
    let known = view.waits.iter().filter(|wait| wait.line < first);
    let worst = known.max_by_key(|wait| wait.waited_operations)?;
    let share = ratio(worst.waited_operations.into(), worst.operations.into())?;
    let reason = format!(
        "In a model of no particular machine a workgroup takes from one barrier to the next as long as \
         its subgroup with most operations: the others wait {} of that here, {} at all barriers \
         together. Idle lanes do not show it, since a subgroup that waits whole executes nothing.",
        text::percent(Ratio(share)),
        text::percent(Ratio(waited))
    );
    let sentence = "Whole subgroups wait here for others of their workgroup: give all of them work between \
                    barriers, or use fewer invocations a workgroup.";
    let modelled = format!("{} of subgroups' time", text::percent(Ratio(share)));
    let place = (Rule::WaitAtBarrier, worst.line);
    Some(plain(device, width, place, sentence.to_owned(), reason, modelled))
}

fn plain(
    device: &DeviceProfile,
    width: Width,
    (rule, line): (Rule, u32),
    sentence: String,
    reason: String,
    modelled: String,
) -> Advice {
    let mut blocks = device.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
    Advice {
        rule,
        device: device.column.device.clone(),
        width,
        file: blocks.next().map(|block| block.file.clone()).unwrap_or_default(),
        line,
        saved_operations: 0,
        gain_share: Ratio(0.0),
        saved_alone: 0,
        modelled: Some(modelled),
        modelled_at: Vec::new(),
        sentence,
        reason,
        at_widths: Vec::new(),
        change: None,
        entered_at: None,
    }
}
