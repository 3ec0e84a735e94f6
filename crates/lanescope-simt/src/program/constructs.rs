//! Which forms of control flow a program uses.
//!
//! Input: the trees of a program's bodies. Output: a set of [`Construct`]s, over the entry point and
//! every function that it reaches. Whether a device brings lanes together again after each form is
//! asked elsewhere. Nothing is changed.
//!
//! An `if` that does nothing but leave the loop around it (`if (done) { break; }`, a `for`'s
//! condition) is the loop's own end, and no branch. A function that is called in a loop has its
//! branches and loops in that loop, and one that is called in a case its subgroup operations in that case.

use std::collections::BTreeSet;

use naga::SwitchValue;

use super::parsed::Program;
use super::structure::{Body, Node, Straight};
use super::visit::{Jump, Meeting, effect};

/// A form of control flow after which lanes must reconverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// An `if`.
    Branch,
    /// An `if` in an arm of another branch.
    NestedBranch,
    /// A `return` in a branch, outside loops.
    EarlyReturn,
    /// A loop.
    Loop,
    /// A loop in another.
    NestedLoop,
    /// An `if` in a loop that does more than leave it.
    BranchInLoop,
    /// Something done by the lanes that are about to `break`, before they do.
    WorkBeforeBreak,
    /// `continue`.
    Continue,
    /// A `return` in a loop.
    ReturnInLoop,
    /// `break if`.
    BreakIf,
    /// A call.
    Call,
    /// A loop in a function that is called.
    LoopInCall,
    /// A `switch`.
    Switch,
    /// A `switch` in a loop.
    SwitchInLoop,
    /// A `switch` in which several selectors, or a selector and the default, share a case.
    SwitchSharedCase,
    /// A subgroup operation in a case that several values may lead to: one of several selectors, or
    /// the default.
    SubgroupInSharedCase,
}

impl Construct {
    /// Every construct.
    pub const ALL: [Self; 16] = [
        Self::Branch,
        Self::NestedBranch,
        Self::EarlyReturn,
        Self::Loop,
        Self::NestedLoop,
        Self::BranchInLoop,
        Self::WorkBeforeBreak,
        Self::Continue,
        Self::ReturnInLoop,
        Self::BreakIf,
        Self::Call,
        Self::LoopInCall,
        Self::Switch,
        Self::SwitchInLoop,
        Self::SwitchSharedCase,
        Self::SubgroupInSharedCase,
    ];

    /// Its word in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::NestedBranch => "nested_branch",
            Self::EarlyReturn => "early_return",
            Self::Loop => "loop",
            Self::NestedLoop => "nested_loop",
            Self::BranchInLoop => "branch_in_loop",
            Self::WorkBeforeBreak => "work_before_break",
            Self::Continue => "continue",
            Self::ReturnInLoop => "return_in_loop",
            Self::BreakIf => "break_if",
            Self::Call => "call",
            Self::LoopInCall => "loop_in_call",
            Self::Switch => "switch",
            Self::SwitchInLoop => "switch_in_loop",
            Self::SwitchSharedCase => "switch_shared_case",
            Self::SubgroupInSharedCase => "subgroup_in_shared_case",
        }
    }
}

/// The constructs that a program uses.
fn find_constructs(program: &Program) -> BTreeSet<Construct> {
    let structure = program.structure();
    let mut found = ConstructSearch {
        constructs: BTreeSet::new(),
        called: vec![None; structure.functions.len()],
    };
    let entry = LoopPlace { function: false, called_in_loop: false, ..LoopPlace::default() };
    found.body(&structure.entry_point, entry);
    // Callers stand behind their callees.
    for (index, body) in structure.functions.iter().enumerate().rev() {
        if let Some(called) = found.called[index] {
            let place = LoopPlace {
                function: true,
                called_in_loop: called.in_loop,
                in_shared_case: called.in_shared_case,
                ..LoopPlace::default()
            };
            found.body(body, place);
        }
    }
    found.constructs
}

/// Where a body lies.
#[derive(Clone, Copy, Debug, Default)]
struct LoopPlace {
    /// Whether in a function, not in the entry point.
    function: bool,
    /// Whether some call of the function lies in a loop.
    called_in_loop: bool,
    /// Whether in a loop of the function's own.
    in_loop: bool,
    /// Whether in an arm.
    in_branch: bool,
    /// Whether `break` leaves a switch.
    in_switch: bool,
    /// Whether in a case that several values may lead to, or called from one.
    in_shared_case: bool,
}

/// Where the calls of a function lie.
#[derive(Clone, Copy, Debug, Default)]
struct Called {
    /// Whether some of them lies in a loop.
    in_loop: bool,
    /// Whether some of them lies in a case that several values may lead to.
    in_shared_case: bool,
}

struct ConstructSearch {
    constructs: BTreeSet<Construct>,
    /// For each function: `None` if it is not called.
    called: Vec<Option<Called>>,
}

impl ConstructSearch {
    fn body(&mut self, body: &Body, place: LoopPlace) {
        let repeated = place.in_loop || place.called_in_loop;
        for (index, node) in body.nodes.iter().enumerate() {
            match node {
                Node::Straight(straight) => self.straight(straight, index > 0, place),
                Node::If { accept, reject, .. } => {
                    if !(place.in_loop && !place.in_switch && only_leaves(accept, reject)) {
                        self.add(Construct::Branch, true);
                        self.add(Construct::NestedBranch, place.in_branch);
                        self.add(Construct::BranchInLoop, repeated);
                    }
                    let inside = LoopPlace { in_branch: true, ..place };
                    self.body(accept, inside);
                    self.body(reject, inside);
                }
                Node::Switch { cases, .. } => {
                    self.add(Construct::Switch, true);
                    self.add(Construct::SwitchInLoop, repeated);
                    let shared = cases.iter().any(|case| case.fall_through);
                    self.add(Construct::SwitchSharedCase, shared);
                    let mut entered = false;
                    for case in cases {
                        // Selectors that share a case fall through to it; any number may lead to a default.
                        let default = case.value == SwitchValue::Default;
                        let several = default || entered || case.fall_through;
                        entered = case.fall_through;
                        let inside = LoopPlace {
                            in_branch: true,
                            in_switch: true,
                            in_shared_case: place.in_shared_case || several,
                            ..place
                        };
                        self.body(&case.body, inside);
                    }
                }
                Node::Loop { body, continuing, break_if, .. } => {
                    self.add(Construct::Loop, true);
                    self.add(Construct::NestedLoop, repeated);
                    self.add(Construct::LoopInCall, place.function);
                    self.add(Construct::BreakIf, break_if.is_some());
                    // What nests branches is a branch in the same iteration.
                    let inside =
                        LoopPlace { in_loop: true, in_branch: false, in_switch: false, ..place };
                    self.body(body, inside);
                    self.body(continuing, inside);
                }
            }
        }
    }

    /// A block: how its lanes leave, and whom it calls; `behind` says that something stands before it
    /// in its body.
    fn straight(&mut self, straight: &Straight, behind: bool, place: LoopPlace) {
        for (statement, _) in &straight.statements {
            let does = effect(statement);
            let exchanges = does.synchronises == Some(Meeting::Subgroup);
            self.add(Construct::SubgroupInSharedCase, exchanges && place.in_shared_case);
            if let Some(call) = does.calls {
                self.constructs.insert(Construct::Call);
                let called = self.called[call.function.index()].get_or_insert_default();
                called.in_loop |= place.in_loop || place.called_in_loop;
                called.in_shared_case |= place.in_shared_case;
            }
        }
        let work = behind || straight.statements.len() > 1;
        match straight.jump() {
            Some(Jump::Break) => {
                self.add(Construct::WorkBeforeBreak, work && !place.in_switch);
            }
            Some(Jump::Continue) => self.add(Construct::Continue, true),
            Some(Jump::Return(_) | Jump::Kill) => {
                self.add(Construct::ReturnInLoop, place.in_loop);
                self.add(Construct::EarlyReturn, place.in_branch && !place.in_loop);
            }
            None => {}
        }
    }

    fn add(&mut self, construct: Construct, used: bool) {
        if used {
            self.constructs.insert(construct);
        }
    }
}

/// Whether one arm is `break` and the other is empty.
fn only_leaves(accept: &Body, reject: &Body) -> bool {
    let leaves = |body: &Body| match &body.nodes[..] {
        [Node::Straight(straight)] => {
            straight.statements.len() == 1 && straight.jump() == Some(Jump::Break)
        }
        _ => false,
    };
    (leaves(accept) && reject.nodes.is_empty()) || (leaves(reject) && accept.nodes.is_empty())
}

impl Program {
    /// The forms of control flow that the entry point and the functions that it reaches use.
    pub fn constructs(&self) -> BTreeSet<Construct> {
        find_constructs(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Construct::*;
    use super::*;
    use crate::program::{Overrides, Parsed};

    fn constructs(functions: &str, body: &str) -> Vec<Construct> {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n{functions}
             @compute @workgroup_size(64)
             fn main(@builtin(local_invocation_index) i: u32) {{ var s = i; {body} o[i] = s; }}"
        );
        let program = Parsed::new("t.wgsl", &text).unwrap().resolve("main", &Overrides::new());
        program.unwrap().constructs().into_iter().collect()
    }

    #[test]
    fn each_form_is_found_and_no_other() {
        let check = |body: &str, expected: &[Construct]| {
            assert_eq!(constructs("", body), expected, "{body}");
        };
        check("s += 1u;", &[]);
        check("s = select(s, 1u, i > 2u);", &[]);
        check("if (i > 2u) { s += 1u; }", &[Branch]);
        check("if (i > 2u) { if (s > 1u) { s += 1u; } }", &[Branch, NestedBranch]);
        check("if (i > 2u && s > 1u) { s += 1u; }", &[Branch]);
        check("if (i > 2u) { return; }", &[Branch, EarlyReturn]);
        check("for (var k = 0u; k < i; k++) { s += k; }", &[Loop]);
        check("while (true) { if (s > 9u) { break; } s += 1u; }", &[Loop]);
        check(
            "loop { s += 1u; if (s > 9u) { s = 2u; break; } }",
            &[Branch, Loop, BranchInLoop, WorkBeforeBreak],
        );
        check("loop { s += 1u; continuing { break if s > 9u; } }", &[Loop, BreakIf]);
        check(
            "loop { s += 1u; if (s > 9u) { return; } }",
            &[Branch, Loop, BranchInLoop, ReturnInLoop],
        );
        check(
            "for (var k = 0u; k < i; k++) { if (k == 3u) { continue; } s += k; }",
            &[Branch, Loop, BranchInLoop, Continue],
        );
        check(
            "for (var k = 0u; k < i; k++) { for (var l = 0u; l < k; l++) { s += l; } }",
            &[Loop, NestedLoop],
        );
        check("switch i { case 1u { s = 2u; } default { s = 3u; } }", &[Switch]);
        check("switch i { case 1u, 2u { s = 2u; } default {} }", &[Switch, SwitchSharedCase]);
        check("switch i { case 1u, default { s = 2u; } }", &[Switch, SwitchSharedCase]);
        check(
            "for (var k = 0u; k < i; k++) { switch k { case 1u { s = 2u; break; } default {} } }",
            &[Loop, Switch, SwitchInLoop],
        );
    }

    #[test]
    fn subgroup_operations_are_told_in_cases_that_several_values_lead_to() {
        let in_shared = |functions: &str, body: &str| {
            constructs(functions, body).contains(&SubgroupInSharedCase)
        };
        for case in ["1u, 2u", "1u, default", "default, 2u"] {
            let default = if case.contains("default") { "" } else { "default {}" };
            let body = format!("switch i {{ case {case} {{ s += subgroupAdd(i); }} {default} }}");
            assert!(in_shared("", &body), "{body}");
        }
        let one_selector =
            "switch i { case 1u { s += subgroupAdd(i); } case 2u, 3u { s += 1u; } default {} }";
        assert!(!in_shared("", one_selector));
        let behind = "switch i { case 2u, 3u { s += 1u; } default {} } s += subgroupAdd(i);";
        assert!(!in_shared("", behind));
        assert!(in_shared("", "switch i { case 1u {} default { s += subgroupAdd(i); } }"));
        let deeper = "switch i { case 1u {} default { for (var k = 0u; k < i; k++) {
            switch k { case 1u { if subgroupAny(i > 3u) { s += 1u; } } default {} } } } }";
        assert!(in_shared("", deeper));
        let functions = "fn f(x: u32) -> u32 { return subgroupBroadcastFirst(x); }
            fn g(x: u32) -> u32 { return f(x) + 1u; }";
        assert!(in_shared(functions, "switch i { case 1u, 2u { s = g(i); } default {} }"));
        assert!(!in_shared(functions, "switch i { case 1u { s = g(i); } default {} } s += f(i);"));
    }

    #[test]
    fn a_function_lies_where_it_is_called() {
        let f = "fn f(x: u32) -> u32 { if (x > 3u) { return 1u; } return x; }";
        assert_eq!(constructs(f, "s = f(i);"), [Branch, EarlyReturn, Call]);
        let looped = "for (var k = 0u; k < i; k++) { s += f(k); }";
        assert_eq!(constructs(f, looped), [Branch, EarlyReturn, Loop, BranchInLoop, Call]);
        let g = "fn g(x: u32) -> u32 { var y = x; while (y > 3u) { y /= 2u; } return y; }";
        assert_eq!(constructs(g, "s = g(i);"), [Loop, Call, LoopInCall]);
        assert_eq!(constructs(g, "s += 1u;"), [], "what is not called does not count");
    }
}
