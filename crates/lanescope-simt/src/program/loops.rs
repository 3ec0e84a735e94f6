//! Loops that a driver left by itself.
//!
//! Input: a program, and its blocks' executions and lanes on a device. Output: the lines of loops that
//! more lanes came out of than took a way out, and of loops of which counts cannot tell. A driver that
//! cuts loops off after some number of iterations says nothing of it, but its lanes stand behind the
//! loop without having executed any way out. Nothing is run.
//!
//! # What counts can tell
//!
//! Every lane that enters a loop leaves it by `break`, by `return`, by `break if`, or because the
//! driver cut the loop off. The first two are statements at the end of blocks, so their lanes are
//! counted. The lanes that enter are followed from the invocations of the dispatch down: through
//! branches, where the lanes of an arm follow from its first block or from what the other arms took,
//! and into functions, where they are the lanes of the calls. Without `break if`, more lanes in than
//! out prove a cut; where the lanes that enter are not known, more lanes behind the loop than breaks do.
//!
//! No block counts who leaves by `break if`. There, and where nothing is known of who enters, a cut is
//! possible as soon as the loops of the dispatch together iterated as often as the device's limit. They
//! are taken together because drivers do so: lavapipe's limit is one of all iterations of all loops that
//! a subgroup makes, one after the other or one in the other, and so a loop of few iterations is cut off where
//! others before it used the limit up. Where it is known that no subgroup iterated so often
//! ([`LoopCounts::iterations_max`]), none was cut off.
//!
//! Counting adds its sums up in a loop of its own, behind the program's. Where that one was cut off
//! ([`LoopCounts::incomplete`]), counts are missing, and each loop may have been cut off.

use std::collections::BTreeMap;

use naga::{Expression, Function, Handle, Literal, Statement};

use super::walk::{for_each_block, for_each_construct};
use super::{Body, Node, Program, Straight};
use crate::units::BlockId;

/// What a device counted of a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct LoopCounts<'a> {
    /// Each block's executions by a subgroup, by number. Where they are estimated, give the lanes.
    pub executions: &'a [u64],
    /// Each block's active lanes, by number.
    pub lanes: &'a [u64],
    /// The invocations of the dispatch; `None` if the device worked them out.
    pub invocations: Option<u64>,
    /// After how many iterations the device leaves loops by itself; `None` if not seen to do so.
    pub limit: Option<u64>,
    /// What no subgroup's iterations of all loops together exceed; `None` if only the dispatch's are known.
    pub iterations_max: Option<u64>,
    /// Whether counts are missing, since the device left the loop in which counting adds them up.
    pub incomplete: bool,
}

/// The lines of loops that a device did not run to their end, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutLoops {
    /// More lanes came out than took a way out.
    pub certain: Vec<u32>,
    /// Loops iterated as often as the device's limit, and the counts of these do not tell.
    pub possible: Vec<u32>,
}

/// Finds the loops that were or may have been cut off.
///
/// # Panics
///
/// When there are fewer counts than blocks.
pub fn cut_off(program: &Program, counts: &LoopCounts<'_>) -> CutLoops {
    let mut found = CutLoops::default();
    let (module, structure) = (program.module(), program.structure());
    let bodies = || structure.functions.iter().chain([&structure.entry_point]);
    let mut calls = BTreeMap::new();
    bodies().for_each(|body| add_calls(body, counts.lanes, &mut calls));
    let mut iterations = Some(0_u64);
    for_each_loop(program, &mut |body, continuing| {
        let of_this = iterations_of(body, continuing, counts.executions);
        iterations = iterations.zip(of_this).map(|(all, other)| all.saturating_add(other));
    });
    let iterations = match counts.iterations_max {
        _ if counts.incomplete => None,
        Some(most) => Some(iterations.map_or(most, |all| all.min(most))),
        None => iterations,
    };
    let mut walk = |function, body, entering| {
        LoopWalk { program, function, counts, iterations, found: &mut found }.body(body, entering);
    };
    for ((handle, function), body) in module.functions.iter().zip(&structure.functions) {
        walk(function, body, Some(calls.get(&handle).copied().unwrap_or(0)));
    }
    walk(&module.entry_points[0].function, &structure.entry_point, counts.invocations);
    for lines in [&mut found.certain, &mut found.possible] {
        lines.sort_unstable();
        lines.dedup();
    }
    let certain = found.certain.clone();
    found.possible.retain(|line| !certain.contains(line));
    found
}

/// Which statements leave a construct, so that their lanes do not come out behind it.
#[derive(Clone, Copy)]
struct Leaving {
    /// Whether a `break` at this depth does.
    breaks: bool,
    /// Whether a `continue` at this depth does.
    continues: bool,
}

struct LoopWalk<'a> {
    program: &'a Program,
    function: &'a Function,
    counts: &'a LoopCounts<'a>,
    /// What no subgroup's iterations of all loops exceed; `None` where that is not known.
    iterations: Option<u64>,
    found: &'a mut CutLoops,
}

impl LoopWalk<'_> {
    /// Walks a body that so many lanes enter; `None` if that is not known.
    fn body(&mut self, body: &Body, entering: Option<u64>) {
        let mut here = entering;
        for (index, node) in body.nodes.iter().enumerate() {
            if let Node::Straight(straight) = node {
                here = Some(self.lanes(straight));
            }
            match node {
                Node::Straight(_) => {}
                Node::If { accept, reject, .. } => self.arms(&[accept, reject], here),
                Node::Switch { cases, .. } => {
                    let bodies: Vec<&Body> = cases.iter().map(|case| &case.body).collect();
                    let through = cases.iter().any(|case| case.fall_through);
                    self.arms(&bodies, here.filter(|_| !through));
                }
                Node::Loop { body: inside, continuing, break_if, span } => {
                    let behind = body.nodes.get(index + 1).and_then(first_block);
                    let behind = behind.map(|straight| self.lanes(straight));
                    let cut = self.judge(inside, continuing, *break_if, [here, behind]);
                    if let Some(certain) = cut {
                        let start = span.to_range().map_or(0, |range| range.start);
                        let line = self.program.text().location(start).line;
                        let lines = match certain {
                            true => &mut self.found.certain,
                            false => &mut self.found.possible,
                        };
                        lines.push(line);
                    }
                    self.body(inside, None);
                    self.body(continuing, None);
                }
            }
            let leaving = Leaving { breaks: true, continues: true };
            // A block that comes next says itself how many lanes it has.
            here = match body.nodes.get(index + 1) {
                None | Some(Node::Straight(_)) => None,
                Some(_) => here.map(|lanes| lanes.saturating_sub(self.leaving(node, leaving))),
            };
        }
    }

    /// Walks the arms of a branch that so many lanes reach.
    fn arms(&mut self, arms: &[&Body], reaching: Option<u64>) {
        let first = arms.iter().map(|arm| arm.nodes.first().and_then(first_block));
        let known: Vec<Option<u64>> =
            first.map(|first| first.map(|straight| self.lanes(straight))).collect();
        let rest = reaching.map(|lanes| lanes.saturating_sub(known.iter().flatten().sum()));
        let one_unknown = known.iter().filter(|lanes| lanes.is_none()).count() == 1;
        // Arms that begin with loops: where as many lanes took ways out as entered, each loop's did.
        let out: Vec<Option<u64>> = arms.iter().map(|arm| self.leaving_first_loop(arm)).collect();
        let unknown = out.iter().zip(&known).filter(|(_, lanes)| lanes.is_none());
        let all_left = unknown.map(|(out, _)| *out).sum::<Option<u64>>() == rest;
        for ((arm, lanes), out) in arms.iter().zip(known).zip(out) {
            let lanes = lanes.or(rest.filter(|_| one_unknown));
            self.body(arm, lanes.or(out.filter(|_| all_left)));
        }
    }

    /// The lanes that took a way out of the loop that a body begins with; `None` if it begins with
    /// something else, or lanes may leave by `break if`.
    fn leaving_first_loop(&self, body: &Body) -> Option<u64> {
        match body.nodes.first()? {
            Node::Loop { body, continuing, break_if: None, .. } => {
                Some(self.sum([body, continuing], Leaving { breaks: true, continues: false }))
            }
            Node::Straight(_) | Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => None,
        }
    }

    /// Whether a loop was certainly cut off (`true`) or possibly (`false`); `None` if not. The lanes
    /// are those that enter it and those of the block behind it.
    fn judge(
        &self,
        inside: &Body,
        continuing: &Body,
        break_if: Option<Handle<Expression>>,
        [entering, behind]: [Option<u64>; 2],
    ) -> Option<bool> {
        let left = |breaks| self.sum([inside, continuing], Leaving { breaks, continues: false });
        let returns = left(false);
        let breaks = left(true) - returns;
        let break_if = break_if.and_then(|condition| self.test(condition));
        if break_if == Some(Test::Always) {
            return None;
        }
        // Where counts are missing, fewer lanes than there were may seem to have left, or to have entered.
        let incomplete = self.counts.incomplete;
        if break_if.is_none() && !incomplete {
            if let Some(entering) = entering {
                return (entering > breaks + returns).then_some(true);
            }
            if let Some(behind) = behind {
                return (behind > breaks).then_some(true);
            }
        }
        if entering == Some(0) && !incomplete {
            return None;
        }
        // Whoever was in a loop that nobody left by a way out was cut off, whatever the limit.
        if break_if.is_none() && breaks + returns == 0 {
            let inside = iterations_of(inside, continuing, self.counts.executions);
            if inside.is_none_or(|iterations| iterations > 0) {
                return Some(false);
            }
            // Nobody was in it, unless the counts of those who were are missing.
            if !incomplete {
                return None;
            }
        }
        let limit = self.counts.limit?;
        self.iterations.is_none_or(|iterations| iterations >= limit).then_some(false)
    }

    /// What the condition of a `break if` says without running it; `None` if it never leaves.
    fn test(&self, condition: Handle<Expression>) -> Option<Test> {
        match self.function.expressions[condition] {
            Expression::Literal(Literal::Bool(false)) => None,
            Expression::Literal(Literal::Bool(true)) => Some(Test::Always),
            _ => Some(Test::Unknown),
        }
    }

    fn lanes(&self, straight: &Straight) -> u64 {
        self.counts.lanes[straight.block.index()]
    }

    fn sum<'b>(&self, bodies: impl IntoIterator<Item = &'b Body>, leaving: Leaving) -> u64 {
        let nodes = bodies.into_iter().flat_map(|body| &body.nodes);
        nodes.map(|node| self.leaving(node, leaving)).sum()
    }

    /// The lanes that leave a node otherwise than at its end.
    fn leaving(&self, node: &Node, leaving: Leaving) -> u64 {
        match node {
            Node::Straight(straight) => {
                let leaves = match straight.statements.last().map(|(statement, _)| statement) {
                    Some(Statement::Return { .. } | Statement::Kill) => true,
                    Some(Statement::Break) => leaving.breaks,
                    Some(Statement::Continue) => leaving.continues,
                    _ => false,
                };
                if leaves { self.lanes(straight) } else { 0 }
            }
            Node::If { accept, reject, .. } => self.sum([accept, reject], leaving),
            Node::Switch { cases, .. } => {
                let bodies = cases.iter().map(|case| &case.body);
                self.sum(bodies, Leaving { breaks: false, ..leaving })
            }
            Node::Loop { body, continuing, .. } => {
                self.sum([body, continuing], Leaving { breaks: false, continues: false })
            }
        }
    }
}

/// What is known of a `break if` that may leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    /// It leaves after the first iteration.
    Always,
    /// It depends.
    Unknown,
}

/// The block that a node is.
fn first_block(node: &Node) -> Option<&Straight> {
    match node {
        Node::Straight(straight) => Some(straight),
        Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => None,
    }
}

/// Adds the lanes that call each function from a body.
fn add_calls(body: &Body, lanes: &[u64], calls: &mut BTreeMap<Handle<Function>, u64>) {
    for_each_block(body, &mut |straight| {
        for (statement, _) in &straight.statements {
            if let Statement::Call { function, .. } = statement {
                *calls.entry(*function).or_insert(0) += lanes[straight.block.index()];
            }
        }
    });
}

impl Program {
    /// The block that every invocation comes to first, and once; nothing where the entry point begins with a branch
    /// or a loop.
    pub fn first_block(&self) -> Option<BlockId> {
        let first = self.structure().entry_point.nodes.first().and_then(first_block);
        first.map(|straight| straight.block)
    }
}

/// The blocks that each iteration of a program's loops comes to, one a loop; `None` where a loop has none.
pub fn heads(program: &Program) -> Option<Vec<BlockId>> {
    let mut heads = Some(Vec::new());
    for_each_loop(program, &mut |body, _| {
        heads = heads.take().zip(head(body)).map(|(mut heads, block)| {
            heads.push(block);
            heads
        });
    });
    heads
}

/// Shows the body and the `continuing` of every loop of a program.
fn for_each_loop(program: &Program, see: &mut dyn FnMut(&Body, &Body)) {
    let structure = program.structure();
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        for_each_construct(body, &mut |node| {
            if let Node::Loop { body, continuing, .. } = node {
                see(body, continuing);
            }
        });
    }
}

/// A block that every iteration of a loop comes to.
fn head(inside: &Body) -> Option<BlockId> {
    let reached = inside.nodes.iter().scan(true, |goes_on, node| {
        let here = goes_on.then_some(node);
        *goes_on &= !node.exits().any();
        here
    });
    reached.filter_map(first_block).next().map(|straight| straight.block)
}

/// The iterations of a loop, summed over subgroups: the executions of a block that every iteration
/// comes to, or that every iteration but the last of each entry does; `None` where there is none.
fn iterations_of(inside: &Body, continuing: &Body, executions: &[u64]) -> Option<u64> {
    let executed = |block: BlockId| executions[block.index()];
    let end = continuing.nodes.first().and_then(first_block).map(|straight| straight.block);
    head(inside).map(executed).or_else(|| end.map(|block| executed(block).saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};
    use crate::simulate::{Compiled, Config, Fma, Memory, Reconvergence, Schedule};
    use crate::units::Width;

    const LIMIT: u64 = 1000;

    fn program(text: &str) -> Program {
        let text = format!("@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n{text}");
        Parsed::new("t.wgsl", &text).unwrap().resolve("main", &Overrides::new()).unwrap()
    }

    fn judge(program: &Program, executions: &[u64], lanes: &[u64]) -> CutLoops {
        let (limit, invocations) = (Some(LIMIT), Some(16));
        let counts = LoopCounts {
            executions,
            lanes,
            invocations,
            limit,
            iterations_max: None,
            incomplete: false,
        };
        cut_off(program, &counts)
    }

    /// The counts of the simulator, which leaves no loop by itself.
    fn counts(program: &Program) -> (Vec<u64>, Vec<u64>) {
        let config = Config {
            width: Width::new(8).unwrap(),
            reconvergence: Reconvergence::Maximal,
            fma: Fma::Fused,
            steps_max: 1 << 28,
            operations_max: u64::MAX,
            schedule: Schedule::InOrder,
            strict: false,
            threads: Some(1),
            zero_workgroup_memory: true,
        };
        let mut memory = Memory::new();
        memory.bind(0, 0, &[0; 64]);
        let outcome = Compiled::new(program).unwrap().run([2, 1, 1], &mut memory, &config).unwrap();
        outcome.blocks.iter().map(|block| (block.executions.0, block.lanes.0)).unzip()
    }

    /// A program of which each way out of a loop has lanes that a driver could lose.
    const FORMS: [(&str, u32); 7] = [
        ("@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            for (var k = 0u; k < 2000u; k++) { if k == 1500u + i.x { break; } o[i.x] = k; }
         }", 3),
        ("@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            for (var k = 0u; k < 2000u; k++) { if k == 1999u { o[i.x] = k; return; } }
         }", 3),
        ("fn f(n: u32) -> u32 { var k = 0u; loop { k += 1u; if k >= n { return k; } } return 0u; }
         @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            o[i.x] = f(2000u) + f(1999u);
         }", 2),
        ("@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            if (i.x % 2u) == 1u { for (var k = 0u; k < 2000u; k++) { o[i.x] = k; } }
            else { while o[i.x] < 1500u { o[i.x] += 1u; } }
         }", 3),
        ("@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            switch i.x % 3u {
                case 0u: { if i.x > 5u { return; } loop { o[i.x] += 1u; if o[i.x] > 1200u { break; } } }
                case 1u: { o[i.x] = 1u; }
                default: { o[i.x] = 2u; }
            }
         }", 4),
        ("@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            for (var k = 0u; k < 3u; k++) {
                for (var m = 0u; m < 1100u; m++) { if (m % 2u) == 0u { continue; } o[i.x] = m; }
            }
         }", 4),
        ("@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            var k = 0u;
            loop { switch k { case 1100u: { return; } default: { k += 1u; } } o[i.x] = k; }
         }", 4),
    ];

    #[test]
    fn whole_loops_are_not_flagged_and_lanes_that_took_no_way_out_are() {
        for (text, line) in FORMS {
            let program = program(text);
            let (executions, lanes) = counts(&program);
            assert_eq!(judge(&program, &executions, &lanes), CutLoops::default(), "{text}");
            // A driver that leaves the loop early never comes to one of the ways out.
            let jumps = |straight: &Straight| {
                matches!(
                    straight.statements.last(),
                    Some((Statement::Break | Statement::Return { .. }, _))
                )
            };
            let mut lost = lanes.clone();
            let mut zeroed = 0;
            let bodies = program.structure().functions.iter();
            for body in bodies.chain([&program.structure().entry_point]) {
                for_each_straight(body, false, &mut |straight, in_loop| {
                    if in_loop && jumps(straight) {
                        lost[straight.block.index()] = 0;
                        zeroed += 1;
                    }
                });
            }
            assert!(zeroed > 0, "{text}");
            let cut = judge(&program, &executions, &lost);
            let flagged = [cut.certain.clone(), cut.possible.clone()].concat();
            assert!(flagged.contains(&line), "{text}: {cut:?}");
        }
    }

    fn for_each_straight<'a>(
        body: &'a Body,
        in_loop: bool,
        visit: &mut impl FnMut(&'a Straight, bool),
    ) {
        for node in &body.nodes {
            match node {
                Node::Straight(straight) => visit(straight, in_loop),
                Node::If { accept, reject, .. } => {
                    for_each_straight(accept, in_loop, visit);
                    for_each_straight(reject, in_loop, visit);
                }
                Node::Switch { cases, .. } => {
                    cases.iter().for_each(|case| for_each_straight(&case.body, in_loop, visit));
                }
                Node::Loop { body, continuing, .. } => {
                    for_each_straight(body, true, visit);
                    for_each_straight(continuing, true, visit);
                }
            }
        }
    }

    #[test]
    fn a_loop_left_by_break_if_is_possibly_cut_where_it_ran_as_often_as_the_limit() {
        let text = |n: u32| {
            format!(
                "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {{
                    var k = 0u;
                    loop {{ k += 1u; continuing {{ break if k >= {n}u; }} }}
                    o[i.x] = k;
                 }}"
            )
        };
        for (n, possible) in [(300, vec![]), (1000, vec![4]), (5000, vec![4])] {
            let program = program(&text(n));
            let (executions, lanes) = counts(&program);
            let expected = CutLoops { certain: vec![], possible };
            assert_eq!(judge(&program, &executions, &lanes), expected, "{n}");
        }
        // Many subgroups that iterate a little are none that iterates often.
        let program = program(&text(5000));
        let (executions, lanes) = counts(&program);
        for (most, possible) in [(LIMIT - 1, vec![]), (LIMIT, vec![4])] {
            let (limit, invocations) = (Some(LIMIT), Some(16));
            let counts = LoopCounts {
                executions: &executions,
                lanes: &lanes,
                invocations,
                limit,
                iterations_max: Some(most),
                incomplete: false,
            };
            let expected = CutLoops { certain: vec![], possible };
            assert_eq!(cut_off(&program, &counts), expected, "{most}");
            // Where sums are missing, what was iterated is not known.
            let counts = LoopCounts { incomplete: true, ..counts };
            let expected = CutLoops { certain: vec![], possible: vec![4] };
            assert_eq!(cut_off(&program, &counts), expected, "{most}");
        }
    }

    #[test]
    fn a_loop_whose_counts_are_all_missing_may_be_cut_off() {
        // One lane of 16 loops, and whoever executes it with others leaves no counts at all.
        let program = program(
            "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
                var k = 0u;
                if i.x == 3u {
                    while k < 70000u { k += 1u; }
                }
                o[i.x] = k;
             }",
        );
        let first = program.first_block().unwrap().index();
        let idle = vec![0; program.blocks().len()];
        let judged = |begun: u64, incomplete: bool| {
            let mut lanes = idle.clone();
            lanes[first] = begun;
            let counts = LoopCounts {
                executions: &lanes,
                lanes: &lanes,
                invocations: Some(16),
                limit: Some(LIMIT),
                iterations_max: Some(0),
                incomplete,
            };
            cut_off(&program, &counts)
        };
        assert_eq!(judged(16, false), CutLoops::default());
        assert_eq!(judged(8, true), CutLoops { certain: vec![], possible: vec![5] });
    }

    #[test]
    fn iterations_of_loops_one_after_the_other_and_one_in_the_other_are_taken_together() {
        let after = |n: u32| {
            format!(
                "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {{
                    var k = 0u;
                    loop {{ k += 1u; continuing {{ break if k >= {n}u; }} }}
                    loop {{ k -= 1u; continuing {{ break if k == 0u; }} }}
                    o[i.x] = k;
                 }}"
            )
        };
        let within = |n: u32| {
            format!(
                "fn turns(n: u32) -> u32 {{
                    var k = 0u;
                    loop {{ k += 1u; continuing {{ break if k >= n; }} }}
                    return k;
                 }}
                 @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {{
                    for (var k = 0u; k < {n}u; k++) {{ o[i.x] += turns(k); }}
                 }}"
            )
        };
        let cases = [
            (after(200), vec![]),
            (after(300), vec![4, 5]),
            // Two subgroups, each of the sum from 1 to n - 1, and the outer loop's n + 1.
            (within(20), vec![]),
            (within(32), vec![4]),
        ];
        for (text, possible) in cases {
            let program = program(&text);
            let (executions, lanes) = counts(&program);
            let expected = CutLoops { certain: vec![], possible };
            assert_eq!(judge(&program, &executions, &lanes), expected, "{text}");
        }
    }

    #[test]
    fn a_loop_that_begins_with_a_jump_is_counted_at_its_end_or_not_at_all() {
        let text = |continuing: &str| {
            format!(
                "override skip = true;
                @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {{
                    loop {{
                        if skip {{ continue; }}
                        o[i.x] += 1u;
                        continuing {{ {continuing} break if o[i.x] > 2000u; }}
                    }}
                 }}"
            )
        };
        let program = program(&text("o[i.x] += 1u;"));
        let (executions, lanes) = counts(&program);
        let expected = CutLoops { certain: vec![], possible: vec![4] };
        assert_eq!(judge(&program, &executions, &lanes), expected);
    }

    #[test]
    fn a_loop_without_a_way_out_that_ended_was_cut() {
        let text = "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) {
            if i.x < 20u { loop { continuing { break if false; } } }
            loop { o[i.x] += 1u; continuing { break if false; } }
        }";
        let program = program(text);
        let blocks = program.blocks().len();
        for limit in [None, Some(LIMIT)] {
            let (executions, lanes) = (vec![2; blocks], vec![16; blocks]);
            let counts = LoopCounts {
                executions: &executions,
                lanes: &lanes,
                invocations: Some(16),
                limit,
                iterations_max: None,
                incomplete: false,
            };
            // Who took the arm is not counted: it has no block.
            let expected = CutLoops { certain: vec![4], possible: vec![3] };
            assert_eq!(cut_off(&program, &counts), expected);
        }
    }
}
