//! Work by dispatch and by function, and who called whom.
//!
//! Input: dispatches with their blocks. Output: a [`Frame`] for each dispatch, with the functions under it;
//! sums by function. Every figure is exact: a function stands under the function that alone calls it in
//! that dispatch; one that several call stands under the dispatch, since how its counts part among them
//! is not in the record.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::Work;
use crate::record::{Block, Dispatch};

/// A dispatch or a function, with what it called.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The dispatch's number and entry point, or the function's name.
    pub name: String,
    /// What it did itself.
    pub own: Work,
    /// The same by source line.
    pub lines: BTreeMap<u32, Work>,
    /// What it did with all that stands under it.
    pub total: Work,
    /// The functions that stand under it, the one with most subgroup operations first.
    pub children: Vec<Self>,
}

/// Sums the blocks of each function, dispatches that only set up left out; the one with most subgroup
/// operations first. Empty where the record does not say which function a block lies in.
pub fn by_function<'a>(dispatches: impl IntoIterator<Item = &'a Dispatch>) -> Vec<(String, Work)> {
    let mut sums: BTreeMap<&str, Work> = BTreeMap::new();
    let worked = dispatches.into_iter().filter(|dispatch| !dispatch.setup);
    for block in worked.flat_map(|dispatch| &dispatch.blocks) {
        let Some(flow) = &block.flow else { continue };
        let sum = sums.entry(&flow.function).or_default();
        *sum = sum.plus(Work::of_block(block));
    }
    let mut list: Vec<(String, Work)> =
        sums.into_iter().map(|(name, work)| (name.to_owned(), work)).collect();
    list.sort_by_key(|(_, work)| std::cmp::Reverse(work.subgroup_operations));
    list
}

/// A frame for each dispatch, in order.
pub fn frames(dispatches: &[Dispatch]) -> Vec<Frame> {
    dispatches.iter().enumerate().map(|(index, one)| dispatch(index, one)).collect()
}

/// A function's own blocks.
#[derive(Default)]
struct Own {
    work: Work,
    lines: BTreeMap<u32, Work>,
}

fn dispatch(index: usize, dispatch: &Dispatch) -> Frame {
    let mut own: BTreeMap<&str, Own> = BTreeMap::new();
    let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for block in &dispatch.blocks {
        let Some(flow) = &block.flow else { continue };
        let function = own.entry(&flow.function).or_default();
        function.work = function.work.plus(Work::of_block(block));
        for (line, operations) in &block.lines {
            let sum = function.lines.entry(*line).or_default();
            *sum = sum.plus(of_line(block, *operations));
        }
        for callee in &flow.calls {
            callers.entry(callee).or_default().insert(&flow.function);
        }
    }
    let under = |caller: Option<&str>| -> Vec<&str> {
        let alone = |name: &str| match callers.get(name) {
            Some(by) if by.len() == 1 => by.first().copied(),
            _ => None,
        };
        own.keys().copied().filter(|name| alone(name) == caller).collect()
    };
    let children = make(&under(None), &own, &under);
    let total = children.iter().fold(Work::default(), |sum, child| sum.plus(child.total));
    let name = format!("{} {}", index + 1, dispatch.entry_point);
    Frame { name, own: Work::default(), lines: BTreeMap::new(), total, children }
}

/// The frames of functions, with those under each. No function of WGSL calls itself, so this ends.
fn make<'a>(
    names: &[&'a str],
    own: &BTreeMap<&'a str, Own>,
    under: &dyn Fn(Option<&str>) -> Vec<&'a str>,
) -> Vec<Frame> {
    let frame = |name: &&'a str| {
        let children = make(&under(Some(name)), own, under);
        let Own { work, lines } = &own[name];
        let total = children.iter().fold(*work, |sum, child| sum.plus(child.total));
        Frame { name: (*name).to_owned(), own: *work, lines: lines.clone(), total, children }
    };
    let mut frames: Vec<Frame> = names.iter().map(frame).collect();
    frames.sort_by_key(|frame| std::cmp::Reverse(frame.total.subgroup_operations));
    frames
}

fn of_line(block: &Block, operations: u64) -> Work {
    Work {
        subgroup_operations: u128::from(operations) * u128::from(block.executions.0),
        lane_operations: u128::from(operations) * u128::from(block.lanes.0),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{BlockCode, Flow};
    use crate::units::{BlockId, Executions, Lanes};

    /// A block of a function on a line, which calls others.
    fn block(id: u32, function: &str, executions: u64, calls: &[&str]) -> Block {
        let flow = Flow {
            function: function.to_owned(),
            path: Vec::new(),
            path_shared: 0,
            after: None,
            leaves: None,
            barrier: false,
            calls: calls.iter().map(|name| (*name).to_owned()).collect(),
        };
        let code = BlockCode {
            id: BlockId(id),
            label: None,
            file: "t.wgsl".to_owned(),
            line: id + 1,
            column: 1,
            operations: 2,
            fma_operations: None,
            lines: BTreeMap::from([(id + 1, 2)]),
            flow: Some(flow),
        };
        Block {
            code: Arc::new(code),
            executions: Executions(executions),
            lanes: Lanes(executions * 16),
            histogram: None,
            parts: None,
            active_lanes_mean_expected: None,
        }
    }

    #[test]
    fn a_function_stands_under_the_one_that_alone_calls_it() {
        let dispatch = Dispatch {
            entry_point: "main".to_owned(),
            workgroups: Some([1; 3]),
            workgroup_size: [64, 1, 1],
            setup: false,
            median_ns: None,
            blocks: vec![
                block(0, "main", 1, &["far", "both"]),
                block(1, "far", 10, &["both"]),
                block(2, "both", 100, &[]),
                block(3, "main", 1000, &[]),
            ],
            line_counts: Vec::new(),
            machine_code: None,
        };
        let found = frames(std::slice::from_ref(&dispatch));
        let [frame] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((frame.name.as_str(), frame.total.subgroup_operations), ("1 main", 2222));
        let names: Vec<&str> = frame.children.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(names, ["main", "both"], "two call `both`: it stands under the dispatch");
        let main = &frame.children[0];
        assert_eq!(main.own.subgroup_operations, 2002);
        assert_eq!(main.total.subgroup_operations, 2022);
        assert_eq!(main.children[0].name, "far");
        assert_eq!(main.lines[&4].lane_operations, 32_000);
        let sums = by_function([&dispatch]);
        assert_eq!(sums[0].0, "main");
        assert_eq!(sums.iter().map(|(_, w)| w.subgroup_operations).sum::<u128>(), 2222);
    }
}
