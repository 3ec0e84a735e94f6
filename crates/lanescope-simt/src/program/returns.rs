//! Implicit returns put back to where the source has them: at a function's end.
//!
//! Input: a module as naga's front end made it. Output: the same module, where the `return` that the
//! front end adds to every way through a last `if` or `switch` is one `return` after it. A written
//! `return` stays. It changes no result of any program.
//!
//! Left as it is, `if index < n { … }` at a kernel's end would have an `else` arm that nobody wrote:
//! a block of its own, whose lanes would be counted on somebody else's line, and the lanes that ran
//! the arm would seem to return early.

#![warn(clippy::wildcard_enum_match_arm)]

use naga::{Block, Module, Span, Statement};

/// Moves the implicit returns of all functions without a result.
pub(super) fn merge_implicit(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    for function in functions.chain(entries).filter(|function| function.result.is_none()) {
        let body = &mut function.body;
        let ends_in_one = body.last().is_some_and(|last| matches!(last, Statement::Return { .. }));
        if !ends_in_one && strip(body) {
            body.push(Statement::Return { value: None }, Span::default());
        }
    }
}

/// Removes implicit returns from the ends of all ways through a body; whether there was one.
fn strip(body: &mut Block) -> bool {
    let implicit = matches!(body.last(), Some(Statement::Return { value: None }))
        && body.span_iter().last().is_some_and(|(_, span)| !span.is_defined());
    if implicit {
        body.cull(body.len() - 1..);
        return true;
    }
    // What else holds bodies is a loop, whose end is not the function's.
    if let Some(Statement::Block(inner)) = body.last_mut() {
        strip(inner)
    } else if let Some(Statement::If { condition: _, accept, reject }) = body.last_mut() {
        let accepted = strip(accept);
        strip(reject) || accepted
    } else if let Some(Statement::Switch { selector: _, cases }) = body.last_mut() {
        let mut found = false;
        for case in cases.iter_mut().filter(|case| !case.fall_through) {
            found |= strip(&mut case.body);
        }
        found
    } else {
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{Overrides, Parsed};

    /// How the blocks of `body` leave, in the order of blocks, as `line leaves path`.
    fn blocks(body: &str) -> Vec<String> {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> v: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{
{body}
}}"
        );
        let program = Parsed::new("t.wgsl", &text).unwrap();
        let program = program.resolve("main", &Overrides::new()).unwrap();
        let flows = program.flows();
        let blocks = program.blocks().iter().zip(&flows);
        blocks
            .map(|(block, flow)| {
                let lines: Vec<String> =
                    block.lines.iter().map(|(line, ops)| format!("{line}:{ops}")).collect();
                format!("{} {:?} depth {}", lines.join(" "), flow.leaves, flow.path.len())
            })
            .collect()
    }

    #[test]
    fn a_last_if_has_no_arm_that_nobody_wrote() {
        assert_eq!(
            blocks("if i < 7u {\nv[i] = 1u;\n}"),
            ["3:1 None depth 0", "4:2 None depth 1", " None depth 0"]
        );
    }

    #[test]
    fn a_written_return_stays() {
        assert_eq!(
            blocks("if i < 7u {\nv[i] = 1u;\nreturn;\n}"),
            ["3:1 None depth 0", "4:2 Some(Return) depth 1", " None depth 0"]
        );
        // Every way has one: nothing follows.
        assert_eq!(
            blocks("if i < 7u {\nreturn;\n} else {\nreturn;\n}"),
            ["3:1 None depth 0", " Some(Return) depth 1", " Some(Return) depth 1"]
        );
    }

    #[test]
    fn switches_and_blocks_at_the_end_are_searched() {
        let body = "switch i {\ncase 0u: { v[i] = 1u; }\ncase 1u: { if i == 2u { return; } }\n\
                    default: { { if i < 9u { v[i] = 2u; } } }\n}";
        let leaves: Vec<String> = blocks(body);
        assert_eq!(leaves.iter().filter(|block| block.contains("Return")).count(), 1, "{leaves:?}");
        assert!(leaves.last().unwrap().ends_with("None depth 0"), "{leaves:?}");
    }
}
