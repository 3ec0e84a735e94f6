//! What would have come out, had the launch been another: tried on the simulator, not estimated, but for `select`,
//! which is worked out.
//!
//! Input: a launch, a width, a limit of time. Output: [`WhatIf`]: for each change that could save
//! anything, the counts of the changed dispatch on the same data, or why it could not be tried. It
//! knows nothing of records' other parts, and judges no saving.
//!
//! # What is tried
//!
//! A first run notes how often each invocation executes each block (`history`). From that follow
//! the candidates (`causes`): the branches and loops at whose blocks most lanes are idle, if there
//! are subgroups whose lanes differ there. For each, invocations are sorted by what they did there, lanes
//! are given to them in that order ([`Arrangement`]), and the dispatch is run again. The program is the
//! same, and so must the outputs be: where they are not, the trial is refused.
//!
//! Where barriers or workgroup memory hold invocations in their workgroups, they change places inside it.
//! A branch in a loop's body is tried as if the body were split there ([`Postponed`](crate::simulate::Postponed)): lanes
//! come to it in iterations of their own, and take it together.
//!
//! Besides: workgroups of another size, where the size is no multiple of the width (other multiples in one dimension
//! put the same invocations into the same subgroups, so that none saves anything); workgroups of another shape with as
//! many invocations, where the grid has rows and lanes part; fewer workgroups, where the last ones return at once.
//!
//! # What is worked out
//!
//! Both arms of a short branch for all lanes (`select`) is not run, since the program would be another. Its counts follow
//! from those of the first run: each arm is executed by every subgroup that reaches the branch, with all lanes that
//! reach it. No arm had more executions before, so that `select` saves no subgroup operation: it never has a card, and
//! a remark says so. What a machine saves by it is the branch itself, which counts 0.

mod causes;
mod history;

use std::time::Duration;

use causes::{Cause, totals};
use history::History;

use super::clock::Stopwatch;
use super::launched::{programs, size_line};
use super::shapes::shapes;
use super::simulator::{Changed, Dispatched, SimulatorRunner};
use super::{RunError, RunErrorKind};
use crate::kernel::limits::WORKGROUPS_PER_DIMENSION_MAX;
use crate::kernel::{Launch, Workgroups};
use crate::program::{Fixed, Program};
use crate::record::{BlockTotals, Change, KEPT_COUNTS_MAX, Refused, Trial, WhatIf};
use crate::simulate::Arrangement;
use crate::units::{Nanoseconds, Width};

/// The least time that trials may take where the profile itself took less.
pub const TIME_MIN: Duration = Duration::from_secs(2);

/// Counters of the first run, invocations times blocks, at most: 256 MiB.
const COUNTERS_MAX: u64 = 1 << 26;

/// Operations of all subgroups over which nothing is tried unless everything is asked for.
const STEPS_MAX: u64 = 1 << 27;

/// The sizes of workgroups that are tried.
const SIZES: [u32; 4] = [32, 64, 128, 256];

/// Sizes take about as much where the dearer one takes a fiftieth more at most.
const SIZES_ALIKE: u128 = 50;

/// The width that workgroups fill whose size is chosen among equal ones: that of AMD's wider wavefronts.
const WIDTH_FILLED: Width = Width::W64;

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Everything.
    Everything,
    /// What takes so long at most, and as much again for the last trial.
    Time(Duration),
    /// What takes so many operations of subgroups at most, and as many again for the last trial: the
    /// same on every machine.
    Operations(u64),
}

/// Tries what could save subgroup operations of a launch at a width, within a budget.
///
/// # Errors
///
/// As counting the launch on the simulator.
pub fn try_changes(
    launch: &Launch,
    width: Width,
    steps_max: u64,
    budget: Budget,
) -> Result<WhatIf, RunError> {
    try_changes_showing(launch, width, steps_max, budget, &mut |_, _| {})
}

/// Tries as [`try_changes`] does, and shows each trial as it is made, with which invocation each lane was
/// in it where that was changed.
///
/// # Errors
///
/// As [`try_changes`].
pub fn try_changes_showing(
    launch: &Launch,
    width: Width,
    steps_max: u64,
    budget: Budget,
    show: &mut dyn FnMut(&Trial, Option<&Arrangement>),
) -> Result<WhatIf, RunError> {
    let simulator = SimulatorRunner::new(width, steps_max);
    check_size(&simulator, launch, budget)?;
    let programs = programs(launch)?;
    let mut memory = simulator.memory(launch)?;
    let time_max_ns = match budget {
        Budget::Time(limit) => Some(Nanoseconds(limit.as_secs_f64() * 1e9)),
        Budget::Everything | Budget::Operations(_) => None,
    };
    let mut what_if = WhatIf { time_max_ns, ..WhatIf::default() };
    let clock = Stopwatch::start();
    let (mut spent, mut kept) = (0, 0);
    for (number, program) in (0..).zip(programs.iter()) {
        let dispatched = simulator.arrange_dispatches(launch, number, &memory)?;
        let mut workshop = Workshop {
            simulator: &simulator,
            launch,
            program,
            number,
            dispatched,
            budget: (budget, clock),
            spent,
            kept,
            added: 0,
            construct: None,
            found: WhatIf::default(),
            show: &mut *show,
        };
        memory = workshop.run(memory)?;
        (spent, kept) = (workshop.spent, workshop.kept);
        what_if.before.append(&mut workshop.found.before);
        what_if.trials.append(&mut workshop.found.trials);
        what_if.untried += workshop.found.untried;
        what_if.untried_lines.append(&mut workshop.found.untried_lines);
    }
    Ok(what_if)
}

/// Refuses a launch whose first run alone may take longer than a budget allows.
fn check_size(
    simulator: &SimulatorRunner,
    launch: &Launch,
    budget: Budget,
) -> Result<(), RunError> {
    let steps_max = match budget {
        Budget::Everything => return Ok(()),
        Budget::Time(_) => STEPS_MAX,
        Budget::Operations(operations) => operations.min(STEPS_MAX),
    };
    if simulator.steps(launch, 2)? <= steps_max {
        return Ok(());
    }
    let message = "the simulator would take long for a launch of this size";
    Err(RunError::new(RunErrorKind::Unsupported, message))
}

/// One dispatch, and what was tried of it.
struct Workshop<'a> {
    simulator: &'a SimulatorRunner,
    launch: &'a Launch,
    program: &'a Program,
    number: usize,
    dispatched: Dispatched,
    budget: (Budget, Stopwatch),
    /// Operations of subgroups in all runs so far.
    spent: u64,
    /// Counts of blocks that are kept of all trials so far.
    kept: usize,
    /// Operations that the last change takes besides its counts.
    added: u64,
    /// The branch or loop that is changed.
    construct: Option<u32>,
    found: WhatIf,
    show: &'a mut dyn FnMut(&Trial, Option<&Arrangement>),
}

/// Orders that were tried, with what came out.
type Orders = Vec<(Vec<u64>, Vec<BlockTotals>, Option<Refused>)>;

/// Buffers before a dispatch and after it, as bytes by name.
type Contents = super::simulator::Contents;

impl Workshop<'_> {
    /// Runs the dispatch as it is and with each change, all on the buffers of `before`; gives the buffers
    /// that it leaves as it is.
    fn run(&mut self, before: Contents) -> Result<Contents, RunError> {
        let size: u32 = self.program.workgroup_size().iter().product();
        let groups: u64 = self.dispatched.workgroups.iter().map(|&n| u64::from(n)).product();
        let counters = groups * u64::from(size) * self.program.blocks().len() as u64;
        let mut history = History::new(size, self.program.blocks().len(), self.dispatched.width);
        let followed = counters <= COUNTERS_MAX;
        let (outcome, after) = self.simulator.run_dispatch(
            self.launch,
            self.program,
            &self.dispatched,
            &before,
            Changed::Nothing,
            followed.then_some(&mut history),
        )?;
        self.spent = self.spent.saturating_add(outcome.steps);
        self.found.before.push(totals(&outcome));
        let fixed = self.program.find_fixed();
        let refused = [
            (!outcome.depends_on_schedule.is_empty(), Refused::Exchange),
            // Before what allows an order inside a workgroup.
            (fixed.contains(&Fixed::Subgroup), Refused::SubgroupOperations),
            (fixed.contains(&Fixed::Barrier), Refused::Barriers),
            (fixed.contains(&Fixed::WorkgroupMemory), Refused::WorkgroupMemory),
            (!followed, Refused::Invocations),
        ];
        let refused = refused.into_iter().find_map(|(holds, why)| holds.then_some(why));
        let (program, flows) = (self.program, self.program.flows());
        let causes = causes::find_causes(program, &flows, &outcome, self.dispatched.width);
        let total = causes::operations(self.program, &totals(&outcome));
        let mut worth: Vec<&Cause> =
            causes.iter().filter(|cause| cause.bound * 100 >= total && total > 0).collect();
        // First what parts many subgroups: a single lane that leaves has all that follows as its bound.
        worth.sort_by_cached_key(|cause| {
            let (parted, all) = history.count_parted(&cause.keys);
            std::cmp::Reverse(cause.bound * u128::from(parted) / u128::from(all.max(1)))
        });
        if followed && refused != Some(Refused::Exchange) {
            self.fewer_workgroups(&history, &causes, groups, &fixed, (&before, &after))?;
        }
        self.workgroup_size(refused, &fixed, groups, (&before, &after))?;
        let mut orders = Orders::new();
        let lanes_part = !worth.is_empty();
        for cause in worth {
            if self.is_full() {
                self.put_off(cause.line);
                continue;
            }
            self.construct = Some(cause.construct);
            if let Some(predicated) = causes::predicate((program, &flows), cause, &outcome) {
                self.push(Change::Predicate, cause.line, Some(predicated), None);
            }
            self.order(cause, refused, &history, &mut orders, (&before, &after))?;
            let kept = [Refused::Exchange, Refused::SubgroupOperations];
            if refused.is_none_or(|why| !kept.contains(&why)) {
                self.split(cause, (&before, &after))?;
            }
        }
        self.construct = None;
        if lanes_part {
            self.workgroup_shape(refused, &fixed, (&before, &after))?;
        }
        Ok(after)
    }

    /// Orders invocations by what they do at a cause: inside their workgroups, where those hold them.
    fn order(
        &mut self,
        cause: &Cause,
        refused: Option<Refused>,
        history: &History,
        orders: &mut Orders,
        contents: (&Contents, &Contents),
    ) -> Result<(), RunError> {
        let within = matches!(refused, Some(Refused::Barriers | Refused::WorkgroupMemory));
        if refused.is_some() && !within {
            self.push(cause.change, cause.line, None, refused);
            return Ok(());
        }
        let Some(order) = history.order_by(&cause.keys, within) else { return Ok(()) };
        let size: u32 = self.program.workgroup_size().iter().product();
        let arrangement = Arrangement::new(order.clone(), size);
        let known = orders.iter().find(|(other, ..)| *other == order);
        let (counts, why) = match known {
            Some((_, counts, why)) => (counts.clone(), *why),
            None if self.is_over() => {
                self.put_off(cause.line);
                return Ok(());
            }
            None => {
                let (counts, why) = self.attempt(Changed::Arranged(&arrangement), contents)?;
                orders.push((order, counts.clone(), why));
                (counts, why)
            }
        };
        let change = (cause.change, cause.line, within);
        self.note(change, Some(counts), why, Some(&arrangement));
        Ok(())
    }

    /// Splits the body of the loop around a cause there, where that may be.
    fn split(&mut self, cause: &Cause, contents: (&Contents, &Contents)) -> Result<(), RunError> {
        let Some(postponed) = cause.postponed else { return Ok(()) };
        if self.is_over() {
            self.put_off(cause.line);
            return Ok(());
        }
        let (counts, why) = self.attempt(Changed::Postponed(postponed), contents)?;
        self.push(Change::SplitLoopBody, cause.line, Some(counts), why);
        Ok(())
    }

    /// Notes a change that is not tried, since the budget is used up.
    fn put_off(&mut self, line: u32) {
        self.found.untried += 1;
        self.found.untried_lines.push(line);
    }

    /// Whether as many counts are kept as may be.
    fn is_full(&self) -> bool {
        self.budget.0 != Budget::Everything && self.kept >= KEPT_COUNTS_MAX
    }

    fn is_over(&self) -> bool {
        match self.budget {
            (Budget::Everything, _) => false,
            (Budget::Time(limit), clock) => clock.elapsed().is_some_and(|time| time >= limit),
            (Budget::Operations(limit), _) => self.spent >= limit,
        }
    }

    /// Runs the dispatch with a change: its counts, and why they do not count, where they do not.
    fn attempt(
        &mut self,
        changed: Changed<'_>,
        (before, after): (&Contents, &Contents),
    ) -> Result<(Vec<BlockTotals>, Option<Refused>), RunError> {
        let ran = self.simulator.run_dispatch::<History>(
            self.launch,
            self.program,
            &self.dispatched,
            before,
            changed,
            None,
        );
        match ran {
            Ok((outcome, other)) => {
                self.spent = self.spent.saturating_add(outcome.steps);
                self.added = outcome.split_operations;
                let refused = (other != *after).then_some(Refused::Outputs);
                Ok((totals(&outcome), refused))
            }
            // Invocations that wait for one another may wait for ever in another order.
            Err(error) if error.kind == RunErrorKind::StepLimit => {
                Ok((Vec::new(), Some(Refused::Outputs)))
            }
            Err(error) => Err(error),
        }
    }

    /// Notes a trial, or why it was not made.
    fn push(
        &mut self,
        change: Change,
        line: u32,
        after: Option<Vec<BlockTotals>>,
        refused: Option<Refused>,
    ) {
        self.note((change, line, false), after, refused, None);
    }

    /// Notes a trial in an arrangement, inside workgroups or not.
    fn note(
        &mut self,
        (change, line, within_workgroup): (Change, u32, bool),
        after: Option<Vec<BlockTotals>>,
        refused: Option<Refused>,
        arrangement: Option<&Arrangement>,
    ) {
        let trial = Trial {
            change,
            dispatch: u32::try_from(self.number).unwrap_or(u32::MAX),
            file: self.program.text().file().to_owned(),
            line,
            construct: self.construct,
            after: after.filter(|_| refused.is_none()),
            added_operations: std::mem::take(&mut self.added),
            within_workgroup,
            refused,
        };
        (self.show)(&trial, arrangement);
        self.kept += trial.after.as_ref().map_or(0, Vec::len);
        self.found.trials.push(trial);
    }

    /// Leaves out the last workgroups, where all their invocations return at one place at once; not by a condition
    /// that follows generated contents, which no host knows.
    fn fewer_workgroups(
        &mut self,
        history: &History,
        causes: &[Cause],
        groups: u64,
        fixed: &std::collections::BTreeSet<Fixed>,
        contents: (&Contents, &Contents),
    ) -> Result<(), RunError> {
        let [_, y, z] = self.dispatched.workgroups;
        let deciding = self.program.find_deciding();
        let generated = self.launch.seeded().filter_map(|name| deciding.get(name));
        let lines: std::collections::BTreeSet<u32> =
            generated.flat_map(|buffer| buffer.conditions.iter().copied()).collect();
        let returns = causes.iter().filter(|cause| cause.change == Change::PackWhatGoesOn);
        let returns = returns.filter(|cause| !lines.contains(&cause.line));
        let kept = returns.filter_map(|cause| {
            let kept = history.groups_before_all_leave(groups, cause.leaves_at?);
            (kept < groups).then_some((kept.max(1), cause.line))
        });
        let Some((kept, line)) = kept.min() else { return Ok(()) };
        if y * z != 1 || kept >= groups {
            return Ok(());
        }
        let change = Change::FewerWorkgroups { from: groups, to: kept };
        if fixed.contains(&Fixed::WorkgroupCount) {
            self.push(change, line, None, Some(Refused::WorkgroupCount));
            return Ok(());
        }
        let size: u32 = self.program.workgroup_size().iter().product();
        let order = (0..kept * u64::from(size)).collect();
        let arrangement = Arrangement::new(order, size);
        let (counts, why) = self.attempt(Changed::Arranged(&arrangement), contents)?;
        self.note((change, line, false), Some(counts), why, Some(&arrangement));
        Ok(())
    }

    /// Gives workgroups other sizes, where theirs is no multiple of the width: the one that takes least, or about as
    /// much and fills wider subgroups too.
    fn workgroup_size(
        &mut self,
        refused: Option<Refused>,
        fixed: &std::collections::BTreeSet<Fixed>,
        groups: u64,
        contents: (&Contents, &Contents),
    ) -> Result<(), RunError> {
        let [x, y, z] = self.program.workgroup_size();
        let width = self.dispatched.width.lanes();
        if (x * y * z).is_multiple_of(width) {
            return Ok(());
        }
        let line = size_line(self.program);
        let place = fixed.contains(&Fixed::Workgroup);
        let count = fixed.contains(&Fixed::WorkgroupCount);
        let refused = refused
            .filter(|why| *why != Refused::Invocations)
            .or(place.then_some(Refused::PlaceInWorkgroup))
            .or((y * z != 1).then_some(Refused::SeveralDimensions))
            .or(count.then_some(Refused::WorkgroupCount));
        let next = (x * y * z).next_multiple_of(width);
        if refused.is_some() {
            let change = Change::WorkgroupSize { from: x * y * z, to: next };
            self.push(change, line, None, refused);
            return Ok(());
        }
        let mut tried: Vec<(u128, u32, Vec<BlockTotals>, Arrangement)> = Vec::new();
        for size in SIZES.into_iter().chain([next]).filter(|size| size.is_multiple_of(width)) {
            let order = (0..groups * u64::from(x)).collect();
            let arrangement = Arrangement::new(order, size);
            let (counts, why) = self.attempt(Changed::Arranged(&arrangement), contents)?;
            if why.is_none() {
                let operations = causes::operations(self.program, &counts);
                tried.push((operations, size, counts, arrangement));
            }
        }
        let least = tried.iter().map(|(operations, ..)| *operations).min().unwrap_or(0);
        tried.retain(|(operations, ..)| operations * SIZES_ALIKE <= least * (SIZES_ALIKE + 1));
        // Of sizes that take about as much one that fills wider subgroups too, and the nearest to what it was.
        tried.sort_by_key(|(operations, size, ..)| {
            (!size.is_multiple_of(WIDTH_FILLED.lanes()), size.abs_diff(x), *operations)
        });
        if let Some((_, to, counts, arrangement)) = tried.into_iter().next() {
            let change = (Change::WorkgroupSize { from: x, to }, line, false);
            self.note(change, Some(counts), None, Some(&arrangement));
        }
        Ok(())
    }

    /// Gives workgroups other sides, where the grid has rows: the shape that takes least, or of those that take about as
    /// much the one with the longest rows.
    fn workgroup_shape(
        &mut self,
        refused: Option<Refused>,
        fixed: &std::collections::BTreeSet<Fixed>,
        contents: (&Contents, &Contents),
    ) -> Result<(), RunError> {
        let from = self.program.workgroup_size();
        let others = other_shapes(from, &self.dispatched);
        let launch = self.launch;
        let dispatch = &launch.dispatches[self.number];
        // Whoever writes the counts of an indirect dispatch works them out from the shape.
        let (Workgroups::Direct(_), Some(&first)) = (&dispatch.workgroups, others.first()) else {
            return Ok(());
        };
        let line = size_line(self.program);
        let alike = launch.dispatches.iter().filter(|o| o.entry_point == dispatch.entry_point);
        let refused = refused
            .or(fixed.contains(&Fixed::Workgroup).then_some(Refused::PlaceInWorkgroup))
            .or(fixed.contains(&Fixed::WorkgroupCount).then_some(Refused::WorkgroupCount))
            .or((alike.count() > 1).then_some(Refused::SeveralDispatches));
        if refused.is_some() {
            self.push(Change::WorkgroupShape { from, to: first }, line, None, refused);
            return Ok(());
        }
        let mut tried: Vec<(u128, [u32; 3], Vec<BlockTotals>, Arrangement)> = Vec::new();
        let mut why_not = None;
        for to in others {
            if self.is_over() || self.is_full() {
                self.put_off(line);
                break;
            }
            let order = order_in_shape(self.dispatched.workgroups, from, to);
            let arrangement = Arrangement::new(order, from.iter().product());
            let (counts, why) = self.attempt(Changed::Arranged(&arrangement), contents)?;
            if why.is_none() {
                let operations = causes::operations(self.program, &counts);
                tried.push((operations, to, counts, arrangement));
            }
            why_not = why.map(|why| (to, why)).or(why_not);
        }
        let least = tried.iter().map(|(operations, ..)| *operations).min().unwrap_or(0);
        tried.retain(|(operations, ..)| operations * SIZES_ALIKE <= least * (SIZES_ALIKE + 1));
        match (tried.into_iter().max_by_key(|(_, to, ..)| to[0]), why_not) {
            (Some((_, to, counts, arrangement)), _) => {
                let change = (Change::WorkgroupShape { from, to }, line, false);
                self.note(change, Some(counts), None, Some(&arrangement));
            }
            (None, Some((to, why))) => {
                self.push(Change::WorkgroupShape { from, to }, line, None, Some(why));
            }
            (None, None) => {}
        }
        Ok(())
    }
}

/// The shapes of as many invocations that cut a grid with rows into workgroups, and into other subgroups than it is cut
/// into: rows that whole subgroups lie in are one cut, however long they are.
fn other_shapes(from: [u32; 3], dispatched: &Dispatched) -> Vec<[u32; 3]> {
    let grid = dispatched.workgroups;
    let extent = [0, 1, 2].map(|axis| u64::from(grid[axis]) * u64::from(from[axis]));
    if extent.contains(&0) || extent[1] == 1 {
        return Vec::new();
    }
    let fits = |shape: &[u32; 3]| {
        extent.iter().zip(shape).all(|(extent, side)| {
            let side = u64::from(*side);
            let groups_max = u64::from(WORKGROUPS_PER_DIMENSION_MAX);
            extent.is_multiple_of(side) && extent / side <= groups_max
        })
    };
    let whole = |shape: &[u32; 3]| shape[0].is_multiple_of(dispatched.width.lanes());
    let mut cut_in_rows = whole(&from);
    let mut others = shapes(from, true);
    others.retain(|shape| {
        let is_other = *shape != from && fits(shape) && !(whole(shape) && cut_in_rows);
        cut_in_rows |= is_other && whole(shape);
        is_other
    });
    others
}

/// The invocations of a grid in workgroups of the shape `to`, by their numbers in workgroups of the shape `from`.
fn order_in_shape(grid: [u32; 3], from: [u32; 3], to: [u32; 3]) -> Vec<u64> {
    let [grid, from, to] = [grid, from, to].map(|sides| sides.map(u64::from));
    let number = |sides: [u64; 3], [x, y, z]: [u64; 3]| (z * sides[1] + y) * sides[0] + x;
    let place = |sides: [u64; 3], number: u64| {
        [number % sides[0], number / sides[0] % sides[1], number / sides[0] / sides[1]]
    };
    let others = [0, 1, 2].map(|axis| grid[axis] * from[axis] / to[axis]);
    let size: u64 = to.iter().product();
    let all = others.iter().product::<u64>() * size;
    let renumber = |new: u64| {
        let (group, local) = (place(others, new / size), place(to, new % size));
        let id = [0, 1, 2].map(|axis| group[axis] * to[axis] + local[axis]);
        let group = [0, 1, 2].map(|axis| id[axis] / from[axis]);
        let local = [0, 1, 2].map(|axis| id[axis] % from[axis]);
        number(grid, group) * size + number(from, local)
    };
    (0..all).map(renumber).collect()
}

#[cfg(test)]
mod tests;
