//! A block's place in control flow, in the record's words.
//!
//! Input: what `program` found. Output: `record::Flow`. Nothing is worked out here; every variant
//! has its counterpart.

use crate::program::branch::{self, BlockFlow};
use crate::program::{BlockInfo, uniformity::Class};
use crate::record::{ConditionClass, ConstructPart, Enclosure, Flow, Leave, ShortCircuit};

/// Writes a block's flow as the record has it.
pub(in crate::run) fn to_record(info: &BlockInfo, flow: &BlockFlow) -> Flow {
    let BlockFlow { path, after, leaves, barrier, writes, calls, call_lines } = flow;
    Flow {
        function: info.function.clone(),
        path: path.iter().map(enclosure).collect(),
        path_shared: 0,
        after: *after,
        leaves: leaves.map(|leave| match leave {
            branch::Leave::Return => Leave::Return,
            branch::Leave::Break => Leave::Break,
            branch::Leave::Continue => Leave::Continue,
        }),
        barrier: *barrier,
        writes: *writes,
        calls: calls.clone(),
        call_lines: call_lines.clone(),
    }
}

fn enclosure(enclosure: &branch::Enclosure) -> Enclosure {
    let branch::Enclosure { construct, part, line, class, parent, operator } = *enclosure;
    let (part, case) = to_part(part);
    let condition = match class {
        Class::Uniform => ConditionClass::Uniform,
        Class::LaneParity => ConditionClass::LaneParity,
        Class::Invocation => ConditionClass::Invocation,
        Class::Data => ConditionClass::Data,
    };
    let operator = operator.map(|operator| match operator {
        branch::ShortCircuit::And => ShortCircuit::And,
        branch::ShortCircuit::Or => ShortCircuit::Or,
    });
    Enclosure { construct, part, case, line, condition, parent, operator }
}

/// A part of a construct and, of a `switch`, the case.
fn to_part(part: branch::BranchPart) -> (ConstructPart, u32) {
    match part {
        branch::BranchPart::IfAccept => (ConstructPart::IfAccept, 0),
        branch::BranchPart::IfReject => (ConstructPart::IfReject, 0),
        branch::BranchPart::SwitchCase(case) => (ConstructPart::SwitchCase, case),
        branch::BranchPart::LoopBody => (ConstructPart::LoopBody, 0),
        branch::BranchPart::LoopContinuing => (ConstructPart::LoopContinuing, 0),
    }
}
