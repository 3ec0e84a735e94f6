//! Loops that a driver left by itself.
//!
//! Input: a program and its blocks' lanes. Output: the places of loops that more lanes came out of
//! than took a way out. A driver that cuts loops off after some number of turns says nothing of it,
//! but its lanes stand behind the loop without having executed any `break`. Nothing is run.

use naga::Statement;

use super::{Body, Node, Program};

/// The lines of loops that were cut off; `lanes` holds each block's active lanes, by number.
///
/// Only loops without `return` and `break if` are looked at, where a block before or after has the
/// lanes that entered.
pub fn cut_off(program: &Program, lanes: &[u64]) -> Vec<u32> {
    let structure = program.structure();
    let mut look = Look { program, lanes, lines: Vec::new() };
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        look.body(body);
    }
    look.lines.sort_unstable();
    look.lines.dedup();
    look.lines
}

struct Look<'a> {
    program: &'a Program,
    lanes: &'a [u64],
    lines: Vec<u32>,
}

impl Look<'_> {
    fn body(&mut self, body: &Body) {
        for (index, node) in body.nodes.iter().enumerate() {
            match node {
                Node::Straight(_) => {}
                Node::If { accept, reject, .. } => {
                    self.body(accept);
                    self.body(reject);
                }
                Node::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.body(&case.body));
                }
                Node::Loop { body: inside, continuing, break_if, span } => {
                    self.body(inside);
                    self.body(continuing);
                    let behind = body.nodes.get(index + 1).and_then(block_lanes);
                    let came_out = behind.map(|block| self.lanes[block]);
                    let took_a_way = self.breaks(inside, true);
                    if let (None, Some(came_out), Some(took_a_way)) =
                        (break_if, came_out, took_a_way)
                        && took_a_way < came_out
                    {
                        let start = span.to_range().map_or(0, |range| range.start);
                        self.lines.push(self.program.text().location(start).line);
                    }
                }
            }
        }
    }

    /// The lanes that executed a `break` of the loop whose body this is; nothing where lanes return.
    fn breaks(&self, body: &Body, own: bool) -> Option<u64> {
        let mut sum = 0;
        for node in &body.nodes {
            sum += match node {
                Node::Straight(straight) => match straight.statements.last() {
                    Some((Statement::Break, _)) if own => self.lanes[straight.block.index()],
                    Some((Statement::Return { .. } | Statement::Kill, _)) => return None,
                    _ => 0,
                },
                Node::If { accept, reject, .. } => {
                    self.breaks(accept, own)? + self.breaks(reject, own)?
                }
                Node::Switch { cases, .. } => {
                    let mut inside = 0;
                    for case in cases {
                        inside += self.breaks(&case.body, false)?;
                    }
                    inside
                }
                Node::Loop { body, continuing, .. } => {
                    self.breaks(body, false)? + self.breaks(continuing, false)?
                }
            };
        }
        Some(sum)
    }
}

/// The block that a node is.
fn block_lanes(node: &Node) -> Option<usize> {
    match node {
        Node::Straight(straight) => Some(straight.block.index()),
        Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    const TEXT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    var x = i;
    for (var k = 0u; k < 100000u; k++) {
        if x == 77u { break; }
        x += 3u;
    }
    o[i] = x;
}";

    #[test]
    fn lanes_behind_a_loop_that_left_no_way_out_are_noticed() {
        let program =
            Parsed::new("t.wgsl", TEXT).unwrap().resolve("main", &Overrides::new()).unwrap();
        let breaks = |statements: &[(Statement, naga::Span)]| {
            matches!(statements.last(), Some((Statement::Break, _)))
        };
        let mut exits = Vec::new();
        fn walk<'a>(body: &'a Body, found: &mut impl FnMut(&'a crate::program::Straight)) {
            for node in &body.nodes {
                match node {
                    Node::Straight(straight) => found(straight),
                    Node::If { accept, reject, .. } => {
                        walk(accept, found);
                        walk(reject, found);
                    }
                    Node::Switch { .. } => {}
                    Node::Loop { body, continuing, .. } => {
                        walk(body, found);
                        walk(continuing, found);
                    }
                }
            }
        }
        walk(&program.structure().entry_point, &mut |straight| {
            if breaks(&straight.statements) {
                exits.push(straight.block.index());
            }
        });
        assert_eq!(exits.len(), 2);
        let mut lanes = vec![8; program.blocks().len()];
        lanes[exits[0]] = 5;
        lanes[exits[1]] = 3;
        assert!(cut_off(&program, &lanes).is_empty());
        lanes[exits[0]] = 0;
        assert_eq!(cut_off(&program, &lanes), [4]);
    }
}
