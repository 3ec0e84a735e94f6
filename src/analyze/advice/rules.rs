//! The rules, one function each.
//!
//! Input: a [`AdviceTable`]. Output: [`RuleFinding`]s. What proves what is said in [`super`]; the threshold of
//! worth is applied there too.

use std::collections::BTreeSet;

use super::Rule;
use super::table::{AdviceConstruct, AdviceCount, AdviceRow, AdviceTable, BlockReach, Sums};
use crate::{
    analyze::counts::ratio,
    record::{ConditionClass, ConstructPart, Leave},
    units::{BlockId, grouped_text as whole},
};

/// Something that a rule found.
#[derive(Clone, Debug)]
pub(super) struct RuleFinding {
    /// The rule.
    pub(super) rule: Rule,
    /// The file.
    pub(super) file: String,
    /// The line.
    pub(super) line: u32,
    /// The most subgroup operations that could be saved.
    pub(super) gain: u128,
    /// Why, with the figures.
    pub(super) reason: String,
}

/// Runs every rule.
pub(super) fn findings(table: &AdviceTable) -> Vec<RuleFinding> {
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

/// [`Rule::LaneParityBranch`], [`Rule::BranchByInvocation`] and [`Rule::DataDependentSwitch`].
fn branch(table: &AdviceTable, number: u32, construct: &AdviceConstruct) -> Option<RuleFinding> {
    let rule = match construct.enclosure.condition {
        ConditionClass::LaneParity => Rule::LaneParityBranch,
        ConditionClass::Data => Rule::DataDependentSwitch,
        ConditionClass::Invocation => Rule::BranchByInvocation,
        ConditionClass::Uniform => return None,
    };
    let what = match construct.enclosure.part {
        ConstructPart::IfAccept | ConstructPart::IfReject => "if",
        ConstructPart::SwitchCase => "switch",
        ConstructPart::LoopBody | ConstructPart::LoopContinuing => return None,
    };
    let parent = table.rows.get(&construct.enclosure.parent?)?;
    // A way out of a loop or function is another rule's.
    let all_return = table.count_returning_lanes(construct) >= parent.lanes;
    let mut firsts = construct.firsts.iter().filter_map(|id| table.rows.get(id));
    let way_out = firsts.any(|row| match row.flow.leaves {
        Some(Leave::Break) => true,
        Some(Leave::Return) => !all_return,
        Some(Leave::Continue) | None => false,
    });
    if way_out || !splits(table, construct, parent) {
        return None;
    }
    let skipped = table.skipped_blocks(number, construct);
    let what_else = if skipped.is_empty() { "" } else { "; so much with what `continue` skips" };
    let sums = unsplit(table, number, construct, parent, &skipped);
    let by = match rule {
        Rule::LaneParityBranch => "by a remainder or low bits of what they make of their number",
        Rule::BranchByInvocation => "by their number",
        _ => "by their data",
    };
    let reason = format!(
        "The lanes of one subgroup take different ways through this {what} {by}: {} runs of it \
         become {}; {} subgroup operations at {} of {} lanes, {} if it split none{what_else}.",
        whole(parent.executions),
        runs_of_arms(table, construct),
        whole(sums.subgroup_operations),
        mean(sums.lanes, sums.subgroup_operations),
        table.width,
        whole(sums.subgroup_operations - sums.gain)
    );
    Some(finding(rule, parent, construct.enclosure.line, sums.gain, reason))
}

/// How many runs of its arms a branch has, and with how many lanes.
fn runs_of_arms(table: &AdviceTable, construct: &AdviceConstruct) -> String {
    let arms = table.arms(construct);
    let known = arms.values().flatten();
    let (runs, lanes) = known.fold((0, 0), |sum, arm| (sum.0 + arm.0, sum.1 + arm.1));
    if arms.values().any(Option::is_none) {
        return format!("at least {} runs of its arms", whole(runs));
    }
    format!("{} runs of its arms at {} of {} lanes", whole(runs), mean(lanes, runs), table.width)
}

/// What a branch's blocks take, and the most of it that its own split costs: the runs in front of it
/// keep their lanes, and what splits lanes further inside goes on doing so.
fn unsplit(
    table: &AdviceTable,
    number: u32,
    construct: &AdviceConstruct,
    parent: &AdviceRow,
    skipped: &BTreeSet<BlockId>,
) -> Sums {
    let fullest = table.fullest(parent);
    let arms = table.arms(construct);
    let kept = |row: &AdviceRow, count: AdviceCount| {
        match count.reach {
            BlockReach::Shared => return 0,
            BlockReach::Called => return count.lanes.div_ceil(fullest),
            BlockReach::Direct => {}
        }
        let least = if loops_around(row) > loops_around(parent) {
            count.lanes.div_ceil(fullest)
        } else {
            table.fewest(parent, count.lanes)
        };
        if !construct.inside.contains(&row.block.id) || !split_further(table, number, row) {
            return least;
        }
        match arms.get(&construct.way(row)) {
            Some(Some((runs, lanes))) if *runs > 0 => {
                let fewest = table.fewest(parent, *lanes);
                least.max((count.executions * fewest).div_ceil(*runs))
            }
            _ => least,
        }
    };
    table.sums_kept(&construct.inside.union(skipped).copied().collect(), kept)
}

/// How many loops of its function are around a block.
fn loops_around(row: &AdviceRow) -> usize {
    let within = |part| matches!(part, ConstructPart::LoopBody | ConstructPart::LoopContinuing);
    row.flow.path.iter().filter(|around| within(around.part)).count()
}

/// Whether a construct between a branch and a block inside may split lanes too, `else if`s that the
/// branch speaks for left out.
fn split_further(table: &AdviceTable, branch: u32, row: &AdviceRow) -> bool {
    let path = row.flow.path.iter();
    let mut inner = path.skip_while(|around| around.construct != branch);
    let Some(head) = inner.next() else { return false };
    let mut spoken_for = branch;
    inner.any(|around| {
        let chain = table.constructs[&around.construct].chain;
        if chain == Some(spoken_for) && around.condition == head.condition {
            spoken_for = around.construct;
            return false;
        }
        around.condition != ConditionClass::Uniform
    })
}

/// Whether the counts prove that the lanes of one run of `parent` entered a branch apart. Arms whose
/// runs are not known are left out: that makes both sums smaller.
fn splits(table: &AdviceTable, construct: &AdviceConstruct, parent: &AdviceRow) -> bool {
    let arms = table.arms(construct);
    let known = || arms.values().flatten();
    let runs: u128 = known().map(|(executions, _)| executions).sum();
    let idle: u128 =
        known().map(|(executions, lanes)| (executions * table.width).saturating_sub(*lanes)).sum();
    idle > table.idle(parent) || runs > parent.executions
}

/// [`Rule::DivergentTripCounts`].
fn divergent_trip_counts(
    table: &AdviceTable,
    number: u32,
    construct: &AdviceConstruct,
) -> Option<RuleFinding> {
    let is_loop =
        matches!(construct.enclosure.part, ConstructPart::LoopBody | ConstructPart::LoopContinuing);
    if !is_loop || construct.enclosure.condition == ConditionClass::Uniform {
        return None;
    }
    let entered = table.count_entries(construct)?;
    let leavings = table.leavings(number, construct);
    if leavings <= entered {
        return None;
    }
    let first = table.rows.get(construct.firsts.first()?)?;
    // In its first iteration a loop has all lanes that enter it: no run has more than the fullest
    // issue of its first block, and lanes that nobody sent in are not the loop's to fill.
    let is_head = construct.inside.first() == Some(&first.block.id);
    let fullest = if is_head { table.fullest(first) } else { table.width };
    let sums = table.sums_kept(&construct.inside, |_, count| match count.reach {
        BlockReach::Direct | BlockReach::Called => count.lanes.div_ceil(fullest),
        BlockReach::Shared => 0,
    });
    let reason = format!(
        "The lanes of one subgroup leave this loop at different times, in {:.1} groups on average, \
         and those that are done wait for the rest; {} subgroup operations at {} of {} lanes, {} if none \
         waited.",
        ratio(leavings, entered)?,
        whole(sums.subgroup_operations),
        mean(sums.lanes, sums.subgroup_operations),
        table.width,
        whole(sums.subgroup_operations - sums.gain)
    );
    let line = construct.enclosure.line;
    Some(finding(Rule::DivergentTripCounts, first, line, sums.gain, reason))
}

/// [`Rule::EarlyReturn`].
fn early_return(
    table: &AdviceTable,
    number: u32,
    construct: &AdviceConstruct,
) -> Option<RuleFinding> {
    let is_loop =
        matches!(construct.enclosure.part, ConstructPart::LoopBody | ConstructPart::LoopContinuing);
    if is_loop || construct.enclosure.condition == ConditionClass::Uniform {
        return None;
    }
    let directly = |row: &&AdviceRow| {
        row.flow.leaves == Some(Leave::Return)
            && row.flow.path.last().is_some_and(|around| around.construct == number)
    };
    let inside = || construct.inside.iter().filter_map(|id| table.rows.get(id));
    let returning = inside().find(directly)?;
    let parent = table.rows.get(&construct.enclosure.parent?)?;
    let returned = table.count_returning_lanes(construct);
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
        .filter(|around| {
            matches!(around.part, ConstructPart::LoopBody | ConstructPart::LoopContinuing)
        })
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
        packing_text(table, sums)
    );
    Some(finding(Rule::EarlyReturn, returning, construct.enclosure.line, sums.gain, reason))
}

/// [`Rule::PartialLastSubgroup`].
fn partial_last_subgroup(table: &AdviceTable) -> Option<RuleFinding> {
    let rest = table.workgroup % table.width;
    if rest == 0 {
        return None;
    }
    let entry =
        |row: &&AdviceRow| row.flow.function == table.entry_point && row.flow.path.is_empty();
    let first = table.rows.values().find(entry)?;
    if table.idle(first) == 0 {
        return None;
    }
    let subgroups = table.workgroup.div_ceil(table.width);
    // Merged to full ones, W / rest at a time, partial subgroups run at least as often as one of them
    // does on average.
    let partial = first.executions.div_ceil(subgroups);
    let saved = partial - (partial * rest).div_ceil(table.width);
    let partial_executions = table.partial_executions(partial, rest);
    let gain = |row: &AdviceRow| {
        let executions = partial_executions[&row.block.id] * saved / partial;
        table.removable(row).min(u128::from(row.block.operations) * executions)
    };
    let active = mean(first.lanes, first.executions);
    let takes = if subgroups == 1 {
        format!("one subgroup of {} lanes and leaves {} empty", table.width, table.width - rest)
    } else {
        format!("{subgroups} subgroups of {} lanes, of which the last has {rest}", table.width)
    };
    let loops = table.rows.values().any(|row| gain(row) > 0 && loops_around(row) > 0);
    let shares = if loops && subgroups > 1 {
        "; it is taken to turn in loops as often as the others"
    } else {
        ""
    };
    let reason = format!(
        "A workgroup of {} invocations takes {takes}: at its first line {active} of {} lanes are \
         active{shares}.",
        table.workgroup, table.width
    );
    let gain = table.rows.values().map(gain).sum();
    Some(finding(Rule::PartialLastSubgroup, first, first.block.line, gain, reason))
}

/// [`Rule::BarrierInDivergentFlow`].
fn barrier(table: &AdviceTable, row: &AdviceRow) -> Option<RuleFinding> {
    if !row.flow.barrier || row.executions == 0 {
        return None;
    }
    let divergent = |other: &AdviceRow| {
        other.flow.path.iter().any(|around| around.condition != ConditionClass::Uniform)
    };
    let returned = |other: &AdviceRow| {
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
        && row.lanes * subgroups == row.executions * table.workgroup;
    if whole_workgroups {
        return None;
    }
    let reason = format!(
        "Not every invocation reaches the barrier here: {} lanes in {} executions, where workgroups of \
         {} have {} lanes in {} executions each time; what it does then is undefined, and some devices \
         never end.",
        whole(row.lanes),
        whole(row.executions),
        table.workgroup,
        table.workgroup,
        subgroups
    );
    let gain = table.removable(row);
    Some(finding(Rule::BarrierInDivergentFlow, row, row.block.line, gain, reason))
}

fn finding(rule: Rule, row: &AdviceRow, line: u32, gain: u128, reason: String) -> RuleFinding {
    RuleFinding { rule, file: row.block.file.clone(), line, gain, reason }
}

/// What the blocks take now, and with lanes packed.
fn packing_text(table: &AdviceTable, sums: Sums) -> String {
    format!(
        "{} subgroup operations at {} of {} lanes, {} if their lanes were packed",
        whole(sums.subgroup_operations),
        mean(sums.lanes, sums.subgroup_operations),
        table.width,
        whole(sums.subgroup_operations - sums.gain)
    )
}

fn mean(lanes: u128, executions: u128) -> String {
    ratio(lanes, executions).map_or("–".to_owned(), |mean| format!("{mean:.1}"))
}
