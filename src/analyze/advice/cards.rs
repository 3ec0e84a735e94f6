//! Cards from trials: which changes are worth one, and what each may claim.
//!
//! Input: one device's part of a profile, with its trials. Output: [`Advice`], and sentences about the other
//! trials. How the claims are shared out says [`super`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Advice, GAIN_SHARE_MIN, Rule};
use crate::analyze::counts::ratio;
use crate::analyze::profile::DeviceProfile;
use crate::record::{
    Block, BlockTotals, Change, Dispatch, KEPT_COUNTS_MAX, Refused, Trial, WhatIf,
};
use crate::units::{Ratio, Width, grouped_text as whole};

/// A block of a dispatch, by their places.
type BlockPlace = (usize, usize);

/// One change, all dispatches of its entry point together.
struct Candidate<'a> {
    rule: Rule,
    change: Change,
    file: &'a str,
    line: u32,
    /// Where the body of the branch or loop begins, line and column.
    entered_at: Option<[u32; 2]>,
    /// Whether invocations stay in their workgroup.
    within: bool,
    /// The dispatches in which it was tried.
    dispatches: BTreeSet<usize>,
    /// What the change takes besides.
    added: i128,
    /// What it saves inside the branch or loop of its line.
    inside: i128,
    /// Subgroup operations that each block takes less; negative where it takes more.
    saved: BTreeMap<BlockPlace, i128>,
    /// Other lines whose change saves the same.
    same: Vec<u32>,
    /// Another shape of workgroups that saves the same, its line, and what it saves alone.
    same_by_shape: Option<([u32; 3], u32, i128)>,
}

impl Candidate<'_> {
    /// What it saves where nothing else is changed.
    fn alone(&self) -> i128 {
        self.saved.values().sum::<i128>() - self.added
    }

    /// What it saves beyond what is claimed of each block.
    fn beyond(&self, claimed: &BTreeMap<BlockPlace, i128>) -> i128 {
        let rest = |(place, saved): (&BlockPlace, &i128)| match *saved {
            ..0 => *saved,
            saved => (saved - claimed.get(place).copied().unwrap_or(0)).max(0),
        };
        self.saved.iter().map(rest).sum::<i128>() - self.added
    }
}

/// Subgroup operations of the launch as it is.
fn total(device: &DeviceProfile, what_if: &WhatIf) -> u128 {
    let dispatches = device.dispatches.iter().zip(&what_if.before);
    dispatches.map(|(dispatch, counts)| operations(dispatch, counts)).sum()
}

fn operations(dispatch: &Dispatch, counts: &[BlockTotals]) -> u128 {
    let blocks = dispatch.blocks.iter().zip(counts);
    blocks.map(|(block, c)| u128::from(block.operations) * u128::from(c.executions.0)).sum()
}

/// Joins the trials of each change at each line.
fn candidates<'a>(device: &DeviceProfile, what_if: &'a WhatIf) -> Vec<Candidate<'a>> {
    let mut all: Vec<Candidate<'a>> = Vec::new();
    let mut known: HashMap<_, Vec<usize>> = HashMap::new();
    for trial in &what_if.trials {
        let number = usize::try_from(trial.dispatch).unwrap_or(usize::MAX);
        let (Some(after), Some(before), Some(dispatch)) =
            (&trial.after, what_if.before.get(number), device.dispatches.get(number))
        else {
            continue;
        };
        let rule = Rule::from(trial.change);
        let entered_at = trial.construct.and_then(|number| find_entry(dispatch, number));
        let (change, file, line) = (trial.change, &*trial.file, trial.line);
        let (within, saved) = (trial.within_workgroup, BTreeMap::new());
        let (dispatches, inside, added) = (BTreeSet::new(), 0, 0);
        let fresh = Candidate {
            rule,
            change,
            file,
            line,
            entered_at,
            within,
            dispatches,
            added,
            inside,
            saved,
            same: vec![],
            same_by_shape: None,
        };
        let alike = known.entry((rule, line, file, within, entered_at)).or_default();
        // Of several on one line each is a change of its own.
        let mut places = alike.iter().copied();
        let at = match places.find(|at| !all[*at].dispatches.contains(&number)) {
            Some(at) => at,
            None => {
                all.push(fresh);
                alike.push(all.len() - 1);
                all.len() - 1
            }
        };
        for (index, ((block, then), now)) in
            dispatch.blocks.iter().zip(before).zip(after).enumerate()
        {
            let less = i128::from(then.executions.0) - i128::from(now.executions.0);
            let saved = i128::from(block.operations) * less;
            if saved != 0 {
                *all[at].saved.entry((number, index)).or_default() += saved;
            }
            let path = block.flow.as_ref().map(|flow| flow.path.as_slice()).unwrap_or_default();
            if path.iter().any(|around| around.line == line) {
                all[at].inside += saved;
            }
        }
        all[at].dispatches.insert(number);
        all[at].added += i128::from(trial.added_operations);
    }
    all
}

/// Where a branch's or loop's first block begins, line and column.
fn find_entry(dispatch: &Dispatch, construct: u32) -> Option<[u32; 2]> {
    let is_inside = |block: &&Block| {
        let path = block.flow.as_ref().map(|flow| flow.path.as_slice()).unwrap_or_default();
        path.iter().any(|around| around.construct == construct)
    };
    dispatch.blocks.iter().find(is_inside).map(|block| [block.line, block.column])
}

/// Makes the cards of a device, what saves most first.
pub(super) fn make_cards(device: &DeviceProfile, width: Width) -> Vec<Advice> {
    let Some(what_if) = &device.what_if else { return Vec::new() };
    let total = total(device, what_if);
    let worth = |saved: i128| {
        let share = ratio(u128::try_from(saved).unwrap_or(0), total);
        share.filter(|share| *share >= GAIN_SHARE_MIN.0)
    };
    let mut open = candidates(device, what_if);
    // What follows the order of workgroups is one schedule's figure.
    let one_schedule = device.schedule_lines();
    open.retain(|candidate| {
        worth(candidate.alone()).is_some() && !one_schedule.contains(&candidate.line)
    });
    let mut claimed: BTreeMap<BlockPlace, i128> = BTreeMap::new();
    let mut cards: Vec<(Candidate<'_>, i128)> = Vec::new();
    // What each saves beyond what is claimed: that changes with a card alone.
    let mut beyond: Vec<i128> = open.iter().map(|candidate| candidate.beyond(&claimed)).collect();
    while !open.is_empty() {
        let place = find_best(&open, &beyond);
        let (best, unclaimed) = (open.remove(place), beyond.remove(place));
        if worth(unclaimed).is_none() {
            let overlap = |(card, _): &&mut (Candidate<'_>, i128)| {
                card.saved.keys().any(|place| best.saved.contains_key(place))
            };
            if let Some((card, _)) = cards.iter_mut().find(overlap) {
                if let Change::WorkgroupShape { to, .. } = best.change {
                    card.same_by_shape = Some((to, best.line, best.alone()));
                } else {
                    card.same.push(best.line);
                }
            }
            continue;
        }
        for (place, saved) in &best.saved {
            let claim = claimed.entry(*place).or_default();
            *claim = (*claim).max(*saved);
        }
        cards.push((best, unclaimed));
        beyond = open.iter().map(|candidate| candidate.beyond(&claimed)).collect();
    }
    let places: Vec<_> = cards.iter().map(|(card, _)| (card.rule, card.file, card.line)).collect();
    let card = |(candidate, unclaimed): (Candidate<'_>, i128)| {
        let place = (candidate.rule, candidate.file, candidate.line);
        let is_shared = places.iter().filter(|other| **other == place).count() > 1;
        let entered_at = candidate.entered_at.filter(|_| is_shared);
        let alone = u128::try_from(candidate.alone()).unwrap_or(0);
        let unclaimed = u128::try_from(unclaimed).unwrap_or(0);
        Advice {
            rule: candidate.rule,
            change: Some(candidate.change),
            device: device.column.device.clone(),
            width,
            file: candidate.file.to_owned(),
            line: candidate.line,
            saved_operations: unclaimed,
            gain_share: Ratio(ratio(unclaimed, total).unwrap_or(0.0)),
            saved_alone: alone,
            modelled: None,
            modelled_at: Vec::new(),
            sentence: sentence(candidate.change, candidate.within)
                + &which(candidate.line, entered_at),
            entered_at,
            reason: reason(&candidate, width, (total, unclaimed, alone))
                + &refused_here(&candidate, what_if),
            at_widths: Vec::new(),
        }
    };
    cards.into_iter().map(card).collect()
}

/// The candidate that saves most `beyond` what is claimed. Of those that save as much within a fiftieth, another shape of
/// workgroups, which needs no sorting; else the one inside whose branch or loop most is saved, since others only go with
/// it; of equal ones the first that was tried, whose lines have most idle lanes.
fn find_best(open: &[Candidate<'_>], beyond: &[i128]) -> usize {
    let most = beyond.iter().copied().max().unwrap_or(0);
    let alike = |at: &usize| beyond[*at] * 50 >= most * 49;
    let merit = |&at: &usize| (open[at].rule == Rule::WorkgroupShape, open[at].inside);
    (0..open.len()).rev().filter(alike).max_by_key(merit).unwrap_or(0)
}

/// What to do, in a sentence.
fn sentence(change: Change, within: bool) -> String {
    let neighbours = if within { "neighbours in a workgroup" } else { "neighbours" };
    match change {
        Change::PackWhatGoesOn => {
            "Some lanes return here and the others go on: let subgroups be made of invocations that go on."
                .to_owned()
        }
        Change::OrderByBranch => format!(
            "Lanes of one subgroup take different ways here: let {neighbours} be invocations that take the \
             same way."
        ),
        Change::OrderByTripCount => format!(
            "Lanes of one subgroup leave this loop at different times: let {neighbours} be invocations that \
             stay about equally long."
        ),
        Change::SplitLoopBody => {
            "Lanes come here in different iterations of the loop: let them iterate until each has come here or is \
             done, in a loop of its own, and then take this part together."
                .to_owned()
        }
        Change::WorkgroupSize { from, to } => format!(
            "Workgroups of {from} leave the last subgroup of each partly empty: make them {to} large."
        ),
        Change::WorkgroupShape { from, to } => format!(
            "Lanes part in subgroups that are cut from workgroups of {}: make the workgroups {} large, and launch as \
             many invocations.",
            sides(from),
            sides(to)
        ),
        Change::FewerWorkgroups { from, to } => format!(
            "All invocations of the last workgroups return here at once: launch {} workgroups in place of \
             {}.",
            whole(to.into()),
            whole(from.into())
        ),
        Change::Predicate => {
            "This branch is short: let all lanes work out both ways, and choose with `select`.".to_owned()
        }
    }
}

/// `8 × 8`, with a third side where there is one.
fn sides([x, y, z]: [u32; 3]) -> String {
    if z == 1 { format!("{x} × {y}") } else { format!("{x} × {y} × {z}") }
}

/// Which of several on one line a card is about; nothing where it is the only one.
fn which(line: u32, entered_at: Option<[u32; 2]>) -> String {
    match entered_at {
        None => String::new(),
        Some([at, column]) if at == line => {
            format!(" Of several on this line it is the one whose body begins at column {column}.")
        }
        Some([at, column]) => format!(
            " Of several on this line it is the one whose body begins on line {at}, at column {column}."
        ),
    }
}

/// The figures behind a card.
fn reason(
    candidate: &Candidate<'_>,
    width: Width,
    (total, unclaimed, alone): (u128, u128, u128),
) -> String {
    let mut text = format!(
        "Tried on the simulator with {width} lanes and the same data: {} subgroup operations became {}; \
         the outputs are the same, bit for bit.",
        whole(total),
        whole(total.saturating_sub(alone))
    );
    if unclaimed < alone {
        text += &format!(
            " Of the operations saved, {} are saved by the advice above, too, and counted there.",
            whole(alone - unclaimed)
        );
    }
    if !candidate.same.is_empty() {
        let others = lines(&candidate.same).to_lowercase();
        text += &format!(
            " The changes at {others} would save some of these operations too; they are counted here only."
        );
    }
    if let Some((to, line, alone)) = candidate.same_by_shape {
        text += &format!(
            " Workgroups of {} (line {line}) alone would save {} operations, with no order of invocations.",
            sides(to),
            whole(u128::try_from(alone).unwrap_or(0))
        );
    }
    text
}

/// Why other changes at a card's line have no card, a sentence each: they were not tried, or do not count.
fn refused_here(candidate: &Candidate<'_>, what_if: &WhatIf) -> String {
    let mut told: BTreeSet<(Rule, Refused)> = BTreeSet::new();
    for trial in &what_if.trials {
        let rule = Rule::from(trial.change);
        let is_here = trial.line == candidate.line && trial.file == candidate.file;
        if let Some(why) = trial.refused.filter(|_| is_here && rule != candidate.rule) {
            told.insert((rule, why));
        }
    }
    let sentence = |(rule, why): &(Rule, Refused)| {
        format!(" There is no card for {} here: {}", rule.name(), why_refused(*why))
    };
    told.iter().map(sentence).collect()
}

/// `line 4`, or `lines 4 and 9`.
fn lines(numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let text: Vec<String> = sorted.iter().map(u32::to_string).collect();
    match text.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("Lines {} and {last}", rest.join(", ")),
        _ => format!("Line {}", text.join("")),
    }
}

/// What each change that was tried on a device saves alone.
pub(super) struct Tried<'a> {
    /// By the line of the change.
    candidates: BTreeMap<u32, Vec<Candidate<'a>>>,
    /// Subgroup operations of the launch as it is.
    total: u128,
}

impl<'a> Tried<'a> {
    /// `None` where nothing was tried.
    pub(super) fn on(device: &'a DeviceProfile) -> Option<Self> {
        let what_if = device.what_if.as_ref()?;
        let mut by_line: BTreeMap<u32, Vec<Candidate<'a>>> = BTreeMap::new();
        for candidate in candidates(device, what_if) {
            by_line.entry(candidate.line).or_default().push(candidate);
        }
        Some(Self { candidates: by_line, total: total(device, what_if) })
    }

    /// What the change of a card saves, as part of all subgroup operations; `None` if it was not tried here.
    pub(super) fn find_share_alone(&self, card: &Advice) -> Option<Ratio> {
        let candidate = self.candidates.get(&card.line)?.iter().find(|candidate| {
            // Another size or shape of workgroups is another change.
            let is_other_size = match (candidate.change, card.change) {
                (
                    Change::WorkgroupSize { to, .. },
                    Some(Change::WorkgroupSize { to: other, .. }),
                ) => to != other,
                (
                    Change::WorkgroupShape { to, .. },
                    Some(Change::WorkgroupShape { to: other, .. }),
                ) => to != other,
                _ => false,
            };
            let is_same_place =
                card.entered_at.is_none_or(|entered_at| candidate.entered_at == Some(entered_at));
            candidate.rule == card.rule && is_same_place && !is_other_size
        })?;
        let saved = u128::try_from(candidate.alone()).unwrap_or(0);
        ratio(saved, self.total).map(Ratio)
    }
}

/// What else was tried on a device, or could not be, a sentence each.
pub fn remarks(device: &DeviceProfile) -> Vec<String> {
    let Some(what_if) = &device.what_if else { return Vec::new() };
    let total = total(device, what_if);
    let mut found = Vec::new();
    let mut refused: BTreeMap<Refused, Vec<u32>> = BTreeMap::new();
    let mut in_vain: BTreeMap<(Rule, bool), Vec<u32>> = BTreeMap::new();
    for Trial { line, refused: why, .. } in &what_if.trials {
        if let Some(why) = why {
            refused.entry(*why).or_default().push(*line);
        }
    }
    for candidate in candidates(device, what_if) {
        let saved = u128::try_from(candidate.alone()).unwrap_or(0);
        if ratio(saved, total).is_none_or(|share| share < GAIN_SHARE_MIN.0) {
            in_vain.entry((candidate.rule, candidate.within)).or_default().push(candidate.line);
        }
    }
    for ((rule, within), numbers) in in_vain {
        let what = match (rule, within) {
            (Rule::Select, _) => {
                "`select` in place of the short branch (an `if`, `&&` or `||`) saves no subgroup operation"
            }
            (_, true) => {
                "tried inside workgroups, to which barriers or memory tie invocations, and it saves less \
                 than 1 %"
            }
            _ => "tried, and it saves less than 1 %",
        };
        found.push(format!("{}: {}: {what}.", lines(&numbers), rule.name()));
    }
    for (why, numbers) in refused {
        found.push(format!("{}: {}", lines(&numbers), why_refused(why)));
    }
    if what_if.untried > 0 {
        let changes = what_if.untried;
        let known = Some(&what_if.untried_lines).filter(|lines| !lines.is_empty());
        let limit = match what_if.time_max_ns {
            _ if what_if.kept_counts() >= KEPT_COUNTS_MAX => {
                "with so many blocks, counts of no more trials are kept".to_owned()
            }
            Some(limit) => format!("trials on this device have {limit}, which had passed"),
            None => "what trials may take was used up".to_owned(),
        };
        found.push(format!(
            "{changes} more {} not tried{}: {limit}.",
            if changes == 1 { "change was" } else { "changes were" },
            known.map_or_else(String::new, |known| format!(" ({})", lines(known).to_lowercase()))
        ));
    }
    found
}

/// What was looked at on a device, in a sentence.
pub fn looked_at(device: &DeviceProfile) -> String {
    let mut parts = Vec::new();
    if let Some(what_if) = &device.what_if {
        let tried = what_if.trials.iter().filter(|trial| trial.after.is_some()).count();
        let changes = if tried == 1 { "change" } else { "changes" };
        parts.push(format!("branches and loops in which lanes part ({tried} {changes} tried)"));
        parts.push("the size and number of workgroups".to_owned());
    }
    if let Some(memory) = &device.memory {
        let accesses: usize =
            memory.dispatches.iter().map(|dispatch| dispatch.accesses.len()).sum();
        let noun = if accesses == 1 { "access" } else { "accesses" };
        parts.push(format!(
            "sectors, banks and atomics of {accesses} {noun} to memory, waits at barriers and data races"
        ));
    }
    if parts.is_empty() {
        "Looked at: barriers that not every invocation reaches.".to_owned()
    } else {
        format!("Looked at: {}.", parts.join("; "))
    }
}

/// Why a change was not tried, or does not count, as the end of a sentence that begins with lines.
pub(super) fn why_refused(why: Refused) -> &'static str {
    match why {
        Refused::Barriers => {
            "lanes part, but invocations cannot change places: barriers tie them to their workgroup."
        }
        Refused::WorkgroupMemory => {
            "lanes part, but invocations cannot change places: they share workgroup memory."
        }
        Refused::SubgroupOperations => {
            "lanes part, but invocations cannot change places: subgroup operations join neighbours."
        }
        Refused::PlaceInWorkgroup => {
            "workgroups cannot have another size or shape: the shader uses places in the workgroup."
        }
        Refused::SeveralDimensions => {
            "no other size of workgroup was tried: theirs has several dimensions, and each tile of other sides is \
             another order of the work."
        }
        Refused::SeveralDispatches => {
            "no other shape of workgroups was tried: several dispatches have this entry point, and would have it too."
        }
        Refused::WorkgroupCount => {
            "another number of workgroups was not tried: the shader uses their number."
        }
        Refused::Exchange => {
            "not tried: workgroups, or subgroups of one, read what others write in the same dispatch."
        }
        Refused::Outputs => {
            "tried, but the outputs changed: what an invocation does depends on which ran before it."
        }
        Refused::Invocations => "not tried: there are too many invocations to follow each.",
    }
}
