//! Work by dispatch, by function and by call, and who called whom.
//!
//! Input: dispatches with their blocks. Output: a [`CallFrame`] for each dispatch, with the functions under it;
//! sums by function and by call site. Every figure is exact. Where a function is called from several places,
//! a simulator has counted each way by itself. Of other devices it follows from the counts of the blocks that
//! call, where every block of the function is executed by exactly the lanes that call it; else the function
//! stands under the dispatch, since how its counts part among its callers is not in the record.

pub(super) mod calls;

use std::collections::BTreeMap;

use calls::{CallFrame, CalledFrom, Site};

use super::counts::Work;
use crate::record::Dispatch;

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
    sort_by_work(sums.into_iter().map(|(name, work)| (name.to_owned(), work)))
}

/// Sums over each place from which a function is called that is called from several, with all that is done
/// in the call; dispatches that only set up left out. The place with most subgroup operations first.
pub fn by_call_site<'a>(dispatches: impl IntoIterator<Item = &'a Dispatch>) -> Vec<(Site, Work)> {
    fn add(frame: &CallFrame, sums: &mut BTreeMap<Site, Work>) {
        let several = |site: &&Site| site.from != CalledFrom::One;
        if let Some(site) = frame.call.as_ref().filter(several) {
            let sum = sums.entry(site.clone()).or_default();
            *sum = sum.plus(frame.total);
        }
        frame.children.iter().for_each(|child| add(child, sums));
    }
    let mut sums = BTreeMap::new();
    for dispatch in dispatches.into_iter().filter(|dispatch| !dispatch.setup) {
        calls::frames(dispatch).iter().for_each(|frame| add(frame, &mut sums));
    }
    sort_by_work(sums)
}

fn sort_by_work<K>(sums: impl IntoIterator<Item = (K, Work)>) -> Vec<(K, Work)> {
    let mut list: Vec<(K, Work)> = sums.into_iter().collect();
    list.sort_by_key(|(_, work)| std::cmp::Reverse(work.subgroup_operations));
    list
}

/// A frame for each dispatch, in order.
pub fn frames(dispatches: &[Dispatch]) -> Vec<CallFrame> {
    let frame = |(index, dispatch): (usize, &Dispatch)| {
        let children = calls::frames(dispatch);
        CallFrame {
            name: format!("{} {}", index + 1, dispatch.entry_point),
            call: None,
            own: Work::default(),
            lines: BTreeMap::new(),
            total: children.iter().fold(Work::default(), |sum, child| sum.plus(child.total)),
            children,
        }
    };
    dispatches.iter().enumerate().map(frame).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{
        Block, BlockCode, Call, CallBlock, ConditionClass, ConstructPart, Enclosure, Flow,
    };
    use crate::units::{BlockId, Executions, Lanes};

    /// A block of a function on a line, which calls others; in a branch where `inside` says it.
    fn block_of(id: u32, function: &str, executions: u64, calls: &[&str], inside: bool) -> Block {
        let branch = Enclosure {
            construct: 0,
            part: ConstructPart::IfAccept,
            case: 0,
            line: id,
            condition: ConditionClass::Data,
            parent: None,
            operator: None,
        };
        let flow = Flow {
            function: function.to_owned(),
            path: Vec::from_iter(inside.then_some(branch)),
            path_shared: 0,
            after: None,
            leaves: None,
            barrier: false,
            writes: false,
            calls: calls.iter().map(|name| (*name).to_owned()).collect(),
            call_lines: vec![id + 1; calls.len()],
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

    fn block(id: u32, function: &str, executions: u64, calls: &[&str]) -> Block {
        block_of(id, function, executions, calls, false)
    }

    fn dispatch(blocks: Vec<Block>, calls: Vec<Call>) -> Dispatch {
        Dispatch {
            entry_point: "main".to_owned(),
            workgroups: Some([1; 3]),
            workgroup_size: [64, 1, 1],
            setup: false,
            median_ns: None,
            ci95_ns: None,
            blocks,
            calls,
            line_counts: Vec::new(),
            machine_code: None,
        }
    }

    /// The frames of one dispatch as `name:own operations`, those under one in brackets.
    fn drawn(dispatch: &Dispatch) -> String {
        fn draw(frames: &[CallFrame]) -> String {
            let draw_frame = |frame: &CallFrame| {
                let operations = frame.own.subgroup_operations;
                let below = draw(&frame.children);
                let below = if below.is_empty() { below } else { format!("[{below}]") };
                format!("{}:{operations}{below}", frame.name)
            };
            frames.iter().map(draw_frame).collect::<Vec<_>>().join(" ")
        }
        let found = frames(std::slice::from_ref(dispatch));
        let whole: u128 =
            dispatch.blocks.iter().map(|b| Work::of_block(b).subgroup_operations).sum();
        assert_eq!(found[0].total.subgroup_operations, whole, "nothing is lost or counted twice");
        draw(&found[0].children)
    }

    #[test]
    fn a_function_stands_under_the_one_that_alone_calls_it() {
        // What `both` does in its branch is not known by caller.
        let dispatched = dispatch(
            vec![
                block(0, "main", 1, &["far", "both"]),
                block(1, "far", 10, &["both"]),
                block_of(2, "both", 100, &[], true),
                block(3, "main", 1000, &[]),
            ],
            Vec::new(),
        );
        assert_eq!(drawn(&dispatched), "main:2002[far:20] both:200");
        let found = frames(std::slice::from_ref(&dispatched));
        assert_eq!(found[0].name, "1 main");
        assert_eq!(found[0].children[0].lines[&4].lane_operations, 32_000);
        let sums = by_function([&dispatched]);
        assert_eq!(sums[0].0, "main");
        assert_eq!(sums.iter().map(|(_, w)| w.subgroup_operations).sum::<u128>(), 2222);
        let sites = by_call_site([&dispatched]);
        let [(site, _)] = sites.as_slice() else { panic!("{sites:?}") };
        assert_eq!(site.from.to_string(), "2 places; a simulator tells them apart");
    }

    #[test]
    fn a_function_without_branches_is_told_apart_by_the_blocks_that_call_it() {
        let dispatched = dispatch(
            vec![
                block(0, "main", 3, &["near", "near", "far"]),
                block(1, "main", 40, &["near"]),
                block(2, "far", 3, &["near"]),
                block(3, "near", 49, &["deep"]),
                block(4, "deep", 49, &[]),
            ],
            Vec::new(),
        );
        let drawing = "main:86[near (line 2):80[deep:80] far:6[near (line 3):6[deep:6]] near (line \
                       1):6[deep:6] near (line 1, call 2):6[deep:6]]";
        assert_eq!(drawn(&dispatched), drawing);
        // Sums that do not agree are another device's doing, and nothing is made of them.
        let mut late = dispatched.clone();
        late.blocks[3].executions = Executions(50);
        assert_eq!(drawn(&late), "near:100[deep:98] main:86[far:6]");
    }

    #[test]
    fn ways_that_were_counted_are_shown_as_they_were() {
        let call = |function: &str, from: Option<(usize, u32)>, block: u32, executions: u64| Call {
            function: function.to_owned(),
            caller: from.map(|(caller, _)| caller),
            line: from.map(|(_, line)| line),
            column: from.map(|_| 5),
            blocks: vec![CallBlock {
                block: BlockId(block),
                executions: Executions(executions),
                lanes: Lanes(executions * 16),
            }],
        };
        let dispatched = dispatch(
            vec![block(0, "main", 1, &["near", "near"]), block_of(1, "near", 9, &[], true)],
            vec![
                call("main", None, 0, 1),
                call("near", Some((0, 7)), 1, 2),
                call("near", Some((0, 8)), 1, 7),
            ],
        );
        assert_eq!(drawn(&dispatched), "main:2[near (line 8):14 near (line 7):4]");
        let sites = by_call_site([&dispatched]);
        let names: Vec<String> = sites.iter().map(|(site, _)| site.from.to_string()).collect();
        assert_eq!(names, ["main, line 8", "main, line 7"]);
        // A record that contradicts itself is read as one without them.
        let mut wrong = dispatched.clone();
        wrong.calls[2].caller = Some(2);
        assert_eq!(drawn(&wrong), "near:18 main:2");
        let mut wrong = dispatched.clone();
        wrong.calls[2].blocks[0].executions = Executions(8);
        assert_eq!(drawn(&wrong), "near:18 main:2");
    }

    #[test]
    fn calls_that_go_in_a_circle_end() {
        let dispatched = dispatch(
            vec![block(0, "a", 1, &["b"]), block(1, "b", 1, &["a"]), block(2, "c", 1, &["c", "c"])],
            Vec::new(),
        );
        let found = frames(std::slice::from_ref(&dispatched));
        assert_eq!(found[0].total.subgroup_operations, 6);
    }
}
