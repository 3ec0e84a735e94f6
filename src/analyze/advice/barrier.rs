//! Barriers that not every invocation reaches, by their counts.
//!
//! Input: one device's part of a profile. Output: advice on each such barrier. The simulator reports
//! them as errors as well; a GPU has only its counts.
//!
//! With S invocations a workgroup, a barrier that all reach has lanes = k·S and executions =
//! k·⌈S / W⌉ for a whole k.

use std::collections::BTreeSet;

use super::{Advice, Rule};
use crate::analyze::profile::DeviceProfile;
use crate::record::{Block, ConditionClass, Dispatch, Flow, Leave};
use crate::units::{Ratio, Width, grouped_text};

/// Gives the advice on barriers, dispatch by dispatch, each line once.
pub(super) fn find_divergent_barriers(device: &DeviceProfile, width: Width) -> Vec<Advice> {
    let mut lines = BTreeSet::new();
    let mut list = Vec::new();
    for dispatch in &device.dispatches {
        for block in &dispatch.blocks {
            let Some(reason) = reason(dispatch, block, width) else { continue };
            if lines.insert((block.file.clone(), block.line)) {
                list.push(Advice {
                    rule: Rule::BarrierInDivergentFlow,
                    device: device.column.device.clone(),
                    width,
                    file: block.file.clone(),
                    line: block.line,
                    saved_operations: 0,
                    gain_share: Ratio(0.0),
                    saved_alone: 0,
                    modelled: None,
                    modelled_at: Vec::new(),
                    sentence:
                        "Not every invocation of a workgroup reaches this barrier, which WGSL \
                               forbids."
                            .to_owned(),
                    reason,
                    at_widths: Vec::new(),
                    change: None,
                    entered_at: None,
                });
            }
        }
    }
    list
}

/// Why a block's barrier is not reached by all; `None` if it is, or holds none.
fn reason(dispatch: &Dispatch, block: &Block, width: Width) -> Option<String> {
    let flow = block.flow.as_ref().filter(|flow| flow.barrier)?;
    let (executions, lanes) = (block.executions.0, block.lanes.0);
    let size: u64 = dispatch.workgroup_size.iter().map(|&n| u64::from(n)).product();
    let subgroups = size.div_ceil(u64::from(width.lanes()));
    let times = |count: u64, each: u64| u128::from(count) * u128::from(each);
    let is_whole = lanes.is_multiple_of(size) && times(lanes, subgroups) == times(executions, size);
    // First what asks for no other block.
    if executions == 0 || is_whole || !may_part(dispatch, block, flow) {
        return None;
    }
    Some(format!(
        "Not every invocation reaches the barrier here: {} lanes in {} executions, where workgroups of \
         {size} have {size} lanes in {subgroups} executions each time; what it does then is undefined, \
         and some devices never end.",
        grouped_text(lanes.into()),
        grouped_text(executions.into()),
    ))
}

/// Whether the program lets some lanes of a workgroup miss a block that others reach.
fn may_part(dispatch: &Dispatch, block: &Block, flow: &Flow) -> bool {
    let divergent =
        |other: &Flow| other.path.iter().any(|around| around.condition != ConditionClass::Uniform);
    let flows = || dispatch.blocks.iter().filter_map(|other| Some((other, other.flow.as_ref()?)));
    let returned = flows().any(|(other, exit)| {
        exit.function == flow.function
            && other.id < block.id
            && exit.leaves == Some(Leave::Return)
            && divergent(exit)
    });
    // Whoever calls the function, however far up, may be in a branch.
    let mut known = BTreeSet::from([flow.function.as_str()]);
    let mut open = vec![flow.function.as_str()];
    let mut called_apart = false;
    while let Some(name) = open.pop() {
        for (_, caller) in
            flows().filter(|(_, caller)| caller.calls.iter().any(|call| call == name))
        {
            called_apart |= divergent(caller);
            if known.insert(&caller.function) {
                open.push(&caller.function);
            }
        }
    }
    divergent(flow) || returned || called_apart
}
