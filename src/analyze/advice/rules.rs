//! The rules, one function each.
//!
//! Input: a [`Table`]. Output: [`Finding`]s. What proves what is said in [`super`]; the threshold of
//! worth is applied there too.

use std::collections::BTreeSet;

use super::Rule;
use super::table::{Construct, Row, Sums, Table};
use crate::{
    analyze::ratio,
    record::{ConditionClass, Leave, Part},
    units::{BlockId, grouped as whole},
};

/// Something that a rule found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The rule.
    pub(super) rule: Rule,
    /// The file.
    pub(super) file: String,
    /// The line.
    pub(super) line: u32,
    /// The most slots that could be saved.
    pub(super) gain: u128,
    /// Why, with the figures.
    pub(super) reason: String,
}

/// Runs every rule.
pub(super) fn findings(table: &Table) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut branches: BTreeSet<u32> = BTreeSet::new();
    for (number, construct) in &table.constructs {
        if let Some(finding) = branch(table, *number, construct) {
            branches.insert(*number);
            // `else if` is one branch of many ways: its head speaks for the rest.
            let head = construct.chain.filter(|head| branches.contains(head));
            let alike = |head: u32| {
                table.constructs[&head].enclosure.condition == construct.enclosure.condition
            };
            if !head.is_some_and(alike) {
                found.push(finding);
            }
        }
        found.extend(divergent_trip_counts(table, *number, construct));
        found.extend(early_return(table, *number, construct));
    }
    found.extend(partial_last_subgroup(table));
    found.extend(table.rows.values().filter_map(|row| barrier(table, row)));
    found
}

/// [`Rule::LaneParityBranch`] and [`Rule::DataDependentSwitch`].
fn branch(table: &Table, number: u32, construct: &Construct) -> Option<Finding> {
    let rule = match construct.enclosure.condition {
        ConditionClass::LaneParity => Rule::LaneParityBranch,
        ConditionClass::Data => Rule::DataDependentSwitch,
        ConditionClass::Uniform | ConditionClass::Invocation => return None,
    };
    let what = match construct.enclosure.part {
        Part::IfAccept | Part::IfReject => "if",
        Part::SwitchCase => "switch",
        Part::LoopBody | Part::LoopContinuing => return None,
    };
    let parent = table.rows.get(&construct.enclosure.parent?)?;
    // A way out of a loop or function is another rule's.
    let all_return = table.returned(construct) >= parent.lanes;
    let mut firsts = construct.firsts.iter().filter_map(|id| table.rows.get(id));
    let way_out = firsts.any(|row| match row.flow.leaves {
        Some(Leave::Break) => true,
        Some(Leave::Return) => !all_return,
        Some(Leave::Continue) | None => false,
    });
    if way_out || !splits(table, construct, parent) {
        return None;
    }
    let skipped = table.skipped(number, construct);
    let what_else = if skipped.is_empty() { "" } else { "; so much with what `continue` skips" };
    let sums = table.sums(&construct.inside.union(&skipped).copied().collect());
    let arms = table.arms(construct);
    let (runs, lanes) = arms.iter().fold((0, 0), |sum, arm| (sum.0 + arm.0, sum.1 + arm.1));
    let by = match rule {
        Rule::LaneParityBranch => "by the low bits of their number",
        _ => "by their data",
    };
    let reason = format!(
        "The lanes of one subgroup take different ways through this {what} {by}: {} runs of it \
         become {} runs of its arms at {} of {} lanes; {}{what_else}.",
        whole(parent.issues),
        whole(runs),
        mean(lanes, runs),
        table.width,
        packed(table, sums)
    );
    Some(finding(rule, parent, construct.enclosure.line, sums.gain, reason))
}

/// Whether the counts prove that the lanes of one run of `parent` entered a branch apart.
fn splits(table: &Table, construct: &Construct, parent: &Row) -> bool {
    let arms = table.arms(construct);
    let runs: u128 = arms.iter().map(|(issues, _)| issues).sum();
    let idle: u128 =
        arms.iter().map(|(issues, lanes)| (issues * table.width).saturating_sub(*lanes)).sum();
    idle > table.idle(parent) || runs > parent.issues
}

/// [`Rule::DivergentTripCounts`].
fn divergent_trip_counts(table: &Table, number: u32, construct: &Construct) -> Option<Finding> {
    let is_loop = matches!(construct.enclosure.part, Part::LoopBody | Part::LoopContinuing);
    if !is_loop || construct.enclosure.condition == ConditionClass::Uniform {
        return None;
    }
    let parent = table.rows.get(&construct.enclosure.parent?)?;
    let (leavings, _) = table.leavings(number, construct);
    if leavings <= parent.issues {
        return None;
    }
    let first = table.rows.get(construct.firsts.first()?)?;
    let sums = table.sums(&construct.inside);
    let reason = format!(
        "The lanes of one subgroup leave this loop at different times, in {:.1} groups on average, \
         and those that are done wait for the rest; {}.",
        ratio(leavings, parent.issues)?,
        packed(table, sums)
    );
    let line = construct.enclosure.line;
    Some(finding(Rule::DivergentTripCounts, first, line, sums.gain, reason))
}

/// [`Rule::EarlyReturn`].
fn early_return(table: &Table, number: u32, construct: &Construct) -> Option<Finding> {
    let is_loop = matches!(construct.enclosure.part, Part::LoopBody | Part::LoopContinuing);
    if is_loop || construct.enclosure.condition == ConditionClass::Uniform {
        return None;
    }
    let directly = |row: &&Row| {
        row.flow.leaves == Some(Leave::Return)
            && row.flow.path.last().is_some_and(|around| around.construct == number)
    };
    let inside = || construct.inside.iter().filter_map(|id| table.rows.get(id));
    let returning = inside().find(directly)?;
    let parent = table.rows.get(&construct.enclosure.parent?)?;
    let returned = table.returned(construct);
    // Where all return there is nothing that goes on without them: a branch like any other.
    if returned >= parent.lanes {
        return None;
    }
    let next = table.rows.values().find(|row| row.flow.after == Some(number));
    let left_idle = next.is_some_and(|next| table.idle(next) > table.idle(parent));
    if !left_idle && !splits(table, construct, parent) {
        return None;
    }
    // What runs after it: later blocks of the function, and the loops around, which come again.
    let last = construct.inside.last()?;
    let loops: BTreeSet<u32> = returning
        .flow
        .path
        .iter()
        .filter(|around| matches!(around.part, Part::LoopBody | Part::LoopContinuing))
        .map(|around| around.construct)
        .collect();
    let affected: BTreeSet<BlockId> = table
        .rows
        .values()
        .filter(|row| row.flow.function == returning.flow.function)
        .filter(|row| {
            row.block.id > *last
                || construct.inside.contains(&row.block.id)
                || row.flow.path.iter().any(|around| loops.contains(&around.construct))
        })
        .map(|row| row.block.id)
        .collect();
    let sums = table.sums(&affected);
    let reason = format!(
        "Of {} lanes that come here {} return, and subgroups go on without them; this branch and \
         what runs after it take {}.",
        whole(parent.lanes),
        whole(returned),
        packed(table, sums)
    );
    Some(finding(Rule::EarlyReturn, returning, construct.enclosure.line, sums.gain, reason))
}

/// [`Rule::PartialLastSubgroup`].
fn partial_last_subgroup(table: &Table) -> Option<Finding> {
    let rest = table.workgroup % table.width;
    if rest == 0 {
        return None;
    }
    let entry = |row: &&Row| row.flow.function == table.entry_point && row.flow.path.is_empty();
    let first = table.rows.values().find(entry)?;
    if table.idle(first) == 0 {
        return None;
    }
    let subgroups = table.workgroup.div_ceil(table.width);
    // A subgroup comes to a block outside loops at most once, unless a called function has it.
    let partial_max = first.issues.div_ceil(subgroups);
    let once = |row: &Row| {
        let within = |part| matches!(part, Part::LoopBody | Part::LoopContinuing);
        row.flow.function == table.entry_point
            && row.block.id >= first.block.id
            && !row.flow.path.iter().any(|around| within(around.part))
    };
    // Only partial subgroups can gain, and each of their issues has at most `rest` lanes. Merged to
    // full ones, W / rest at a time, they run at least as often as one of them on average.
    let gain = |row: &Row| {
        let all = table.removable(row);
        row.histogram.as_ref().map_or(all, |bins| {
            let short: u128 =
                (1u128..).zip(bins).filter(|(lanes, _)| *lanes <= rest).map(|(_, n)| n).sum();
            let short = if once(row) { short.min(partial_max) } else { short };
            all.min(u128::from(row.block.ops) * (short * (table.width - rest) / table.width))
        })
    };
    let active = mean(first.lanes, first.issues);
    let takes = if subgroups == 1 {
        format!("one subgroup of {} lanes and leaves {} empty", table.width, table.width - rest)
    } else {
        format!("{subgroups} subgroups of {} lanes, of which the last has {rest}", table.width)
    };
    let reason = format!(
        "A workgroup of {} invocations takes {takes}: at its first line {active} of {} lanes are \
         active.",
        table.workgroup, table.width
    );
    let gain = table.rows.values().map(gain).sum();
    Some(finding(Rule::PartialLastSubgroup, first, first.block.line, gain, reason))
}

/// [`Rule::BarrierInDivergentFlow`].
fn barrier(table: &Table, row: &Row) -> Option<Finding> {
    if !row.flow.barrier || row.issues == 0 {
        return None;
    }
    let divergent = |other: &Row| {
        other.flow.path.iter().any(|around| around.condition != ConditionClass::Uniform)
    };
    let returned = |other: &Row| {
        other.flow.function == row.flow.function
            && other.block.id < row.block.id
            && other.flow.leaves == Some(Leave::Return)
            && divergent(other)
    };
    let apart =
        || table.entered_apart(&row.flow.function, &divergent) || table.rows.values().any(returned);
    if !divergent(row) && !apart() {
        return None;
    }
    let subgroups = table.workgroup.div_ceil(table.width);
    let whole_workgroups = row.lanes.is_multiple_of(table.workgroup)
        && row.lanes * subgroups == row.issues * table.workgroup;
    if whole_workgroups {
        return None;
    }
    let reason = format!(
        "Not every invocation reaches the barrier here: {} lanes in {} issues, where workgroups of \
         {} have {} lanes in {} issues each time; what it does then is undefined, and some devices \
         never end.",
        whole(row.lanes),
        whole(row.issues),
        table.workgroup,
        table.workgroup,
        subgroups
    );
    let gain = table.removable(row);
    Some(finding(Rule::BarrierInDivergentFlow, row, row.block.line, gain, reason))
}

fn finding(rule: Rule, row: &Row, line: u32, gain: u128, reason: String) -> Finding {
    Finding { rule, file: row.block.file.clone(), line, gain, reason }
}

/// What the blocks take now, and with lanes packed.
fn packed(table: &Table, sums: Sums) -> String {
    format!(
        "{} issue slots at {} of {} lanes, {} if their lanes were packed",
        whole(sums.slots),
        mean(sums.lanes, sums.slots),
        table.width,
        whole(sums.slots - sums.gain)
    )
}

fn mean(lanes: u128, issues: u128) -> String {
    ratio(lanes, issues).map_or("–".to_owned(), |mean| format!("{mean:.1}"))
}
