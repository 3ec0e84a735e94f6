//! The tree of a dispatch's calls.
//!
//! Input: a dispatch. Output: frames of its functions: as a simulator counted them, else as they follow from
//! the blocks that call. A record that contradicts itself is read as one that holds no calls.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::counts::Work;
use crate::record::{Block, Dispatch, Flow};

/// A dispatch or a function, with what it called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallFrame {
    /// The dispatch's number and entry point, or the function's name; of a function that is called from
    /// several places with the line of the call.
    pub name: String,
    /// The function and where it is called from; nothing for a dispatch.
    pub call: Option<Site>,
    /// What it did itself.
    pub own: Work,
    /// The same by source line.
    pub lines: BTreeMap<u32, Work>,
    /// What it did with all that stands under it.
    pub total: Work,
    /// The functions that stand under it, the one with most subgroup operations first.
    pub children: Vec<Self>,
}

/// A function and a place from which it is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The function.
    pub function: String,
    /// From where.
    pub from: CalledFrom,
}

/// From where a function is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CalledFrom {
    /// It is an entry point, or no more is known than that it has one caller.
    One,
    /// One of several places: the caller, the line, and which of the calls of that line it is, from 0; a line
    /// of 0 is not known.
    Of(String, u32, u32),
    /// So many places, which are not told apart: a device counts a block once for all that call it.
    Together(usize),
}

impl std::fmt::Display for CalledFrom {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One => formatter.write_str("one place"),
            Self::Of(caller, 0, nth) => write!(formatter, "{caller}, call {}", nth + 1),
            Self::Of(caller, line, 0) => write!(formatter, "{caller}, line {line}"),
            Self::Of(caller, line, nth) => {
                write!(formatter, "{caller}, line {line}, call {}", nth + 1)
            }
            Self::Together(places) => {
                write!(formatter, "{places} places; a simulator tells them apart")
            }
        }
    }
}

/// The most frames that one function may have; with more it stands under the dispatch.
const FRAMES_MAX: usize = 512;

/// The deepest calls; deeper ones stand under the dispatch.
const DEPTH_MAX: usize = 256;

/// The frames of a dispatch's functions, the one with most subgroup operations first.
pub(super) fn frames(dispatch: &Dispatch) -> Vec<CallFrame> {
    counted_frames(dispatch).unwrap_or_else(|| Derived::new(dispatch).frames())
}

/// What a function did itself: sums over blocks with such executions and lanes.
fn sum_lines<'a>(
    blocks: impl Iterator<Item = (&'a Block, [u64; 2])>,
) -> (Work, BTreeMap<u32, Work>) {
    let (mut sum, mut lines) = (Work::default(), BTreeMap::<u32, Work>::new());
    let work = |operations: u64, [executions, lanes]: [u64; 2]| Work {
        subgroup_operations: u128::from(operations) * u128::from(executions),
        lane_operations: u128::from(operations) * u128::from(lanes),
    };
    for (block, counts) in blocks {
        sum = sum.plus(work(block.operations, counts));
        for (line, operations) in &block.lines {
            let line = lines.entry(*line).or_default();
            *line = line.plus(work(*operations, counts));
        }
    }
    (sum, lines)
}

fn frame(
    site: Site,
    (work, lines): (Work, BTreeMap<u32, Work>),
    mut below: Vec<CallFrame>,
) -> CallFrame {
    below.sort_by_key(|frame| std::cmp::Reverse(frame.total.subgroup_operations));
    let name = match &site.from {
        CalledFrom::One | CalledFrom::Together(_) => site.function.clone(),
        CalledFrom::Of(_, 0, nth) => format!("{} (call {})", site.function, nth + 1),
        CalledFrom::Of(_, line, 0) => format!("{} (line {line})", site.function),
        CalledFrom::Of(_, line, nth) => {
            format!("{} (line {line}, call {})", site.function, nth + 1)
        }
    };
    CallFrame {
        name,
        call: Some(site),
        own: work,
        lines,
        total: below.iter().fold(work, |sum, child| sum.plus(child.total)),
        children: below,
    }
}

/// The tree that a simulator counted; `None` if there is none, or where it is not that of the blocks.
fn counted_frames(dispatch: &Dispatch) -> Option<Vec<CallFrame>> {
    let calls = &dispatch.calls;
    if calls.is_empty() || !agrees(dispatch) {
        return None;
    }
    // The places from which each function is called, in the order of the text.
    let mut places: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
    let place = |index: usize| {
        let call = &calls[index];
        let caller = &calls[call.caller?].function;
        Some((caller.as_str(), call.line.unwrap_or(0), call.column.unwrap_or(0)))
    };
    for (index, call) in calls.iter().enumerate() {
        places.entry(&call.function).or_default().insert(place(index));
    }
    let site = |index: usize| {
        let call = &calls[index];
        let all = &places[call.function.as_str()];
        let from = match place(index).filter(|_| all.len() > 1) {
            None => CalledFrom::One,
            Some((caller, line, column)) => {
                let before = all
                    .iter()
                    .flatten()
                    .filter(|(other, at, from)| (*other, *at) == (caller, line) && *from < column);
                let nth = u32::try_from(before.count()).unwrap_or(u32::MAX);
                CalledFrom::Of(caller.to_owned(), line, nth)
            }
        };
        Site { function: call.function.clone(), from }
    };
    let mut below: Vec<Vec<CallFrame>> = vec![Vec::new(); calls.len()];
    let mut roots = Vec::new();
    // A call stands behind its caller.
    for (index, call) in calls.iter().enumerate().rev() {
        let blocks = call.blocks.iter().filter_map(|counts| {
            let block = dispatch.blocks.get(counts.block.index())?;
            Some((block, [counts.executions.0, counts.lanes.0]))
        });
        let made = frame(site(index), sum_lines(blocks), std::mem::take(&mut below[index]));
        match call.caller {
            Some(caller) => below[caller].push(made),
            None => roots.push(made),
        }
    }
    roots.sort_by_key(|frame| std::cmp::Reverse(frame.total.subgroup_operations));
    Some(roots)
}

/// Whether the calls are a tree that is not too deep, and their counts those of the blocks.
fn agrees(dispatch: &Dispatch) -> bool {
    let mut depths: Vec<usize> = Vec::new();
    for call in &dispatch.calls {
        let above = call.caller.map_or(Some(0), |caller| depths.get(caller).copied());
        let Some(depth) = above.filter(|depth| *depth < DEPTH_MAX) else { return false };
        depths.push(depth + 1);
    }
    let mut sums = vec![[0_u128; 2]; dispatch.blocks.len()];
    for counts in dispatch.calls.iter().flat_map(|call| &call.blocks) {
        let Some(sum) = sums.get_mut(counts.block.index()) else { return false };
        *sum = [sum[0] + u128::from(counts.executions.0), sum[1] + u128::from(counts.lanes.0)];
    }
    let same = |(block, sum): (&Block, &[u128; 2])| {
        *sum == [u128::from(block.executions.0), u128::from(block.lanes.0)]
    };
    dispatch.blocks.iter().zip(&sums).all(same)
}

/// A call in the text: the block that calls, the line (0 where it is not known), and which of the calls of
/// this function in that line it is.
#[derive(Clone, Copy)]
struct CallPlace<'a> {
    caller: &'a str,
    block: &'a Block,
    line: u32,
    nth: u32,
}

/// Where a function's frames stand.
#[derive(Clone, Copy, PartialEq)]
enum Standing {
    /// Under the dispatch, with all its counts.
    Dispatch,
    /// Under its one caller, with all its counts.
    Caller,
    /// Under each of its calls, so many in all, with what the calling block was executed.
    Calls(usize),
}

/// The tree as it follows from the blocks.
struct Derived<'a> {
    blocks: BTreeMap<&'a str, Vec<&'a Block>>,
    places: BTreeMap<&'a str, Vec<CallPlace<'a>>>,
    /// With how deep they stand.
    standing: BTreeMap<&'a str, (Standing, usize)>,
}

impl<'a> Derived<'a> {
    fn new(dispatch: &'a Dispatch) -> Self {
        let mut found =
            Self { blocks: BTreeMap::new(), places: BTreeMap::new(), standing: BTreeMap::new() };
        let flows = |block: &'a Block| Some((block, block.flow.as_ref()?));
        for (block, flow) in dispatch.blocks.iter().filter_map(flows) {
            found.blocks.entry(&flow.function).or_default().push(block);
            found.add_places(block, flow);
        }
        let names: Vec<&str> = found.blocks.keys().copied().collect();
        for name in names {
            found.stand(name, &mut Vec::new());
        }
        found
    }

    fn add_places(&mut self, block: &'a Block, flow: &'a Flow) {
        for (index, callee) in flow.calls.iter().enumerate() {
            let line = flow.call_lines.get(index).copied().unwrap_or(0);
            let places = self.places.entry(callee).or_default();
            let same = |place: &&CallPlace<'_>| place.caller == flow.function && place.line == line;
            let nth = u32::try_from(places.iter().filter(same).count()).unwrap_or(u32::MAX);
            places.push(CallPlace { caller: &flow.function, block, line, nth });
        }
    }

    /// Finds where a function's frames stand; `open` are those that are being asked about: no function of
    /// WGSL calls itself, but a record may say so.
    /// `None` if it is one of those, or they are too many.
    fn stand(&mut self, name: &'a str, open: &mut Vec<&'a str>) -> Option<(Standing, usize)> {
        if let Some(known) = self.standing.get(name) {
            return Some(*known);
        }
        if open.contains(&name) || open.len() == DEPTH_MAX {
            return None;
        }
        open.push(name);
        let places = self.places.get(name).cloned().unwrap_or_default();
        let (mut frames, mut above) = (0_usize, 0);
        for place in &places {
            let (more, depth) = match self.stand(place.caller, open) {
                Some((Standing::Dispatch | Standing::Caller, depth)) => (1, depth),
                Some((Standing::Calls(frames), depth)) => (frames, depth),
                None => (usize::MAX, 0),
            };
            (frames, above) = (frames.saturating_add(more), above.max(depth));
        }
        open.pop();
        let found = match frames {
            1 if above < DEPTH_MAX => (Standing::Caller, above + 1),
            2..=FRAMES_MAX if above < DEPTH_MAX && self.follows(name, &places) => {
                (Standing::Calls(frames), above + 1)
            }
            _ => (Standing::Dispatch, 1),
        };
        self.standing.insert(name, found);
        Some(found)
    }

    /// Whether each block of a function is executed by the lanes that call it, all of them: none lies in a
    /// branch, and the sums over the calling blocks are the block's own.
    fn follows(&self, name: &str, places: &[CallPlace<'_>]) -> bool {
        let add = |sum: [u128; 2], place: &CallPlace<'_>| {
            let Block { executions, lanes, .. } = place.block;
            [sum[0] + u128::from(executions.0), sum[1] + u128::from(lanes.0)]
        };
        let called = places.iter().fold([0; 2], add);
        let executed = self.blocks[name].iter().filter(|block| block.executions.0 > 0);
        executed.into_iter().all(|block| {
            let outside = block.flow.as_ref().is_some_and(|flow| flow.path.is_empty());
            outside && called == [u128::from(block.executions.0), u128::from(block.lanes.0)]
        })
    }

    fn frames(&self) -> Vec<CallFrame> {
        let roots = self.blocks.keys().filter(|name| self.standing[*name].0 == Standing::Dispatch);
        let mut frames: Vec<CallFrame> = roots
            .map(|name| {
                let from = match self.places.get(name).map_or(0, Vec::len) {
                    0 | 1 => CalledFrom::One,
                    places => CalledFrom::Together(places),
                };
                self.frame(name, from, None)
            })
            .collect();
        frames.sort_by_key(|frame| std::cmp::Reverse(frame.total.subgroup_operations));
        frames
    }

    /// The frame of a function, whose blocks that are executed at all have `counts`; their own where there are
    /// none.
    fn frame(&self, name: &'a str, from: CalledFrom, counts: Option<[u64; 2]>) -> CallFrame {
        let counts_of = |block: &Block| match counts {
            Some(_) if block.executions.0 == 0 => [0; 2],
            Some(counts) => counts,
            None => [block.executions.0, block.lanes.0],
        };
        let mut below = Vec::new();
        for block in &self.blocks[name] {
            for (callee, place) in self.calls_of(block) {
                match self.standing[callee].0 {
                    Standing::Dispatch => {}
                    Standing::Caller => below.push(self.frame(callee, CalledFrom::One, None)),
                    Standing::Calls(_) => {
                        let several = self.places[callee].len() > 1;
                        let from = CalledFrom::Of(name.to_owned(), place.line, place.nth);
                        let from = if several { from } else { CalledFrom::One };
                        below.push(self.frame(callee, from, Some(counts_of(block))));
                    }
                }
            }
        }
        let blocks = self.blocks[name].iter().map(|block| (*block, counts_of(block)));
        frame(Site { function: name.to_owned(), from }, sum_lines(blocks), below)
    }

    /// The calls of a block, of functions that have blocks.
    fn calls_of(&self, block: &'a Block) -> Vec<(&'a str, CallPlace<'a>)> {
        let mut calls = Vec::new();
        let callees: BTreeSet<&str> =
            block.flow.iter().flat_map(|flow| &flow.calls).map(String::as_str).collect();
        for callee in callees.into_iter().filter(|callee| self.blocks.contains_key(callee)) {
            let places =
                self.places[callee].iter().filter(|place| std::ptr::eq(place.block, block));
            calls.extend(places.map(|place| (callee, *place)));
        }
        calls
    }
}
