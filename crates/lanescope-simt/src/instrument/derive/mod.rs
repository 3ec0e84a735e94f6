//! Derived counting: few counters, from which every block's issues and lanes follow.
//!
//! Input: a [`Program`]. Output: a [`CounterPlan`] whose readings are, under maximal reconvergence, equal
//! to executed counting: [`CounterPlan::executed`] is the oracle, and tests compare the two. It makes no
//! module.
//!
//! # The rule behind it
//!
//! Lanes that come to a place at the same time come there in one issue. So it is enough to know of
//! each lane *when* it was at a place; the lanes then compare notes where they are together anyway.
//! Asking in the place itself would cost more than all the rest: lanes that leave a loop one by one
//! must be brought together in each turn for it. What "when" means depends on the place ([`ClassFlow`]):
//!
//! - [`ClassFlow::Once`]: a subgroup comes here at most once, so a lane notes that it was here, a bit. At
//!   the end the lanes with the bit are the block's lanes, and one issue if there are any. All of an
//!   entry point outside loops is like that, arms of branches included.
//! - [`ClassFlow::Turn`]: a subgroup comes here at most once in each turn of a loop. A lane has a bit for
//!   each of 32 turns and sets the one at hand: one operation where the lane is, none elsewhere. The
//!   loop runs in *stretches* of at most 32 turns, and lanes that leave it wait for the others at
//!   the end of the stretch. There the bits of all lanes are joined: as many as are set in any lane
//!   are the issues. A lane that returns leaves as one that breaks does, and returns outside.
//! - [`ClassFlow::Uniform`]: all lanes that enter a loop take the same way through it, as the text alone
//!   shows ([`uniformity`](crate::program::uniformity)). A lane counts its own visits, and any lane's
//!   count is the issues. A constant number of turns ([`trips`](crate::program::trips)) is not even
//!   counted.
//! - [`ClassFlow::Elected`]: none of these. The lanes ask which lane is elected, which is executed counting: branches
//!   of loops with barriers (stretches would move the barrier into flow that a compiler takes for
//!   divergent), and functions that are called from several places in loops.
//!
//! Blocks between which no lane can leave share counts. What goes to `else` is what came, less what
//! went to the `if`, turn by turn. The head of a loop runs once for each entry and once for each
//! turn that came to its end. A function's body starts as often as its calls are executed.
//!
//! # Registers and memory
//!
//! A place in a loop takes three private variables, another one or two. When a shader has more than
//! fit, blocks outside loops count in memory, where the leader adds to the buffer at once; if that
//! is not enough, so do the last in the text.

mod shape;

use std::collections::BTreeMap;

use super::plan::{
    Bits, CounterAction, CounterPlan, Fold, Form, Item, Loop, LoopId, Planned, Reading, Reduction,
};
use crate::program::trips::{constant_turns, leaves};
use crate::program::visit::effect;
use crate::program::walk::Exits;
use crate::program::{Body, Case, Node, Program, Straight};
use shape::{Shape, call_sites};

/// Makes the plan; at most `registers_max` private variables, the rest counts in memory. `light`
/// says that what is added at the end needs no carry.
pub(super) fn plan_derived(program: &Program, registers_max: usize, light: bool) -> CounterPlan {
    // What runs at most once is cheap to count in memory, so that comes first.
    for once_in_memory in [false, true] {
        let plan = Planner::new(program, usize::MAX, once_in_memory, light).run();
        if plan.vars <= registers_max {
            return plan;
        }
    }
    Planner::new(program, registers_max, true, light).run()
}

/// Places whose blocks have the same counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class(usize);

/// How often a subgroup comes to a place, and with which lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassFlow {
    /// At most once.
    Once,
    /// At most once in each turn of a loop.
    Turn(LoopId),
    /// With the same lanes each time, from one entry of a loop to its exit; without a loop, of one
    /// that is entered at most once.
    Uniform(Option<LoopId>),
    /// Anything.
    Elected,
}

/// Where counts come from.
#[derive(Clone, Debug)]
enum CountSource {
    /// The class's bits, when somebody asks.
    Bits,
    /// A counter.
    Counter(Item),
    /// Classes' counts, added or subtracted.
    Classes(Vec<(Class, i64)>),
}

/// What is known of a class.
#[derive(Clone, Debug)]
struct Known {
    issues: CountSource,
    lanes: CountSource,
    /// Which lanes were there: once, or in each turn of a loop.
    bits: Option<(Bits, Option<LoopId>)>,
}

/// What is known of a function's calls.
#[derive(Clone, Debug, Default)]
struct Calls {
    classes: Vec<Class>,
    flow: Option<ClassFlow>,
}

/// A loop or switch around a place.
#[derive(Clone, Copy, Debug)]
enum Around {
    Switch,
    Loop {
        /// The loop, if it runs in stretches.
        stretches: Option<LoopId>,
        entered: Class,
        /// How often lanes come to the end of the body, where that is constant.
        turns: Option<u32>,
        /// Whether one single statement leaves the loop.
        one_way_out: bool,
        /// Whether all lanes leave at once.
        together: bool,
    },
}

struct Planner<'a> {
    program: &'a Program,
    /// naga's functions, by number, and the entry point's behind them.
    functions: Vec<&'a naga::Function>,
    shape: Shape,
    sites: BTreeMap<usize, usize>,
    plan: CounterPlan,
    classes: Vec<Known>,
    /// The class of each block, by number.
    blocks: Vec<Option<Class>>,
    calls: BTreeMap<usize, Calls>,
    /// Counters of bits that were asked for.
    counters: BTreeMap<(Bits, Option<LoopId>), (Item, Item)>,
    /// What `break`, or only `return`, leaves at the place at hand, innermost last.
    around: Vec<Around>,
    /// The function at hand, the entry point's number behind the others', and its next construct.
    function: usize,
    construct: usize,
    /// Variables that classes will take when they are asked for.
    reserved: usize,
    registers_max: usize,
    once_in_memory: bool,
}

impl<'a> Planner<'a> {
    fn new(program: &'a Program, registers_max: usize, once_in_memory: bool, light: bool) -> Self {
        let module = program.module();
        let functions = module.functions.iter().map(|(_, function)| function);
        let functions = functions.chain([&module.entry_points[0].function]).collect();
        Self {
            program,
            functions,
            shape: Shape::new(program),
            sites: call_sites(program),
            plan: CounterPlan { derived: true, light, ..CounterPlan::default() },
            classes: Vec::new(),
            blocks: vec![None; program.blocks().len()],
            calls: BTreeMap::new(),
            counters: BTreeMap::new(),
            around: Vec::new(),
            function: 0,
            construct: 0,
            reserved: 0,
            registers_max,
            once_in_memory,
        }
    }

    fn run(mut self) -> CounterPlan {
        let structure = self.program.structure();
        let entry = &structure.entry_point;
        self.function = structure.functions.len();
        // Every lane that is there begins the entry point: its bit is the constant 1.
        let class = self.class(CountSource::Bits, CountSource::Bits, Some((Bits::One, None)));
        self.plan.entry_point = self.function_body(entry, class, ClassFlow::Once);
        // Callers stand behind their callees, so that backwards every call is known before its function
        // is planned.
        for (index, body) in structure.functions.iter().enumerate().rev() {
            self.function = index;
            let calls = self.calls.remove(&index).unwrap_or_default();
            let planned = match (calls.classes.as_slice(), calls.flow) {
                // One call in the text: the body is as if it stood there.
                ([class], Some(flow)) if self.sites.get(&index) == Some(&1) => {
                    self.function_body(body, *class, flow)
                }
                // Lanes of several calls would share its variables: how often it starts is the sum of
                // the calls, and what is inside asks which lane is elected.
                (classes, _) => {
                    let counts: Vec<_> = classes.iter().map(|class| (*class, 1)).collect();
                    let class = self.linear(counts);
                    self.function_body(body, class, ClassFlow::Elected)
                }
            };
            self.plan.functions.push(planned);
        }
        self.plan.functions.reverse();
        let readings = (0..self.blocks.len()).map(|block| self.reading(block)).collect();
        self.plan.readings = readings;
        self.plan.place();
        self.plan
    }

    fn function_body(&mut self, body: &Body, class: Class, flow: ClassFlow) -> Planned {
        self.construct = 0;
        let mut planned = Planned::empty(body);
        self.body(body, &mut planned, class, flow);
        planned
    }

    fn reading(&mut self, block: usize) -> Reading {
        let (mut issues, mut lanes) = (Form::new(), Form::new());
        if let Some(class) = self.blocks[block] {
            self.expand(class, true, 1, &mut issues);
            self.expand(class, false, 1, &mut lanes);
        }
        issues.retain(|_, factor| *factor != 0);
        lanes.retain(|_, factor| *factor != 0);
        Reading::Sums { issues, lanes }
    }

    /// Adds `factor` times a class's counts to a form.
    fn expand(&mut self, class: Class, issues: bool, factor: i64, form: &mut Form) {
        // Only here are bits turned into counters: a class that no block's counts need costs nothing.
        let known = &self.classes[class.0];
        let source = if issues { &known.issues } else { &known.lanes };
        match source.clone() {
            CountSource::Bits => {
                let Some((bits, level)) = known.bits.clone() else { return };
                let (of_issues, of_lanes) = self.count_bits(bits, level);
                *form.entry(if issues { of_issues } else { of_lanes }).or_default() += factor;
            }
            CountSource::Counter(item) => *form.entry(item).or_default() += factor,
            CountSource::Classes(parts) => {
                for (part, times) in parts {
                    self.expand(part, issues, factor * times, form);
                }
            }
        }
    }

    /// The counters of issues and lanes of bits.
    fn count_bits(&mut self, bits: Bits, level: Option<LoopId>) -> (Item, Item) {
        if let Some(counters) = self.counters.get(&(bits.clone(), level)) {
            return *counters;
        }
        let counters = match level {
            // Once at most: executed if any lane has the bit, with as many lanes as have it.
            None => (
                self.plan.flush(bits.clone(), Reduction::Any),
                self.plan.flush(bits.clone(), Reduction::Lanes),
            ),
            Some(id) => {
                let (issues, lanes) = (self.plan.var(), self.plan.var());
                let around = &mut self.plan.loops[id.0];
                around.folds.push(Fold { from: bits.clone(), issues, lanes });
                // Where all add, all have the same.
                let reduction = if around.once { Reduction::Max } else { Reduction::Sum };
                (
                    self.plan.flush(Bits::Var(issues), reduction),
                    self.plan.flush(Bits::Var(lanes), Reduction::Sum),
                )
            }
        };
        self.counters.insert((bits, level), counters);
        counters
    }

    fn class(
        &mut self,
        issues: CountSource,
        lanes: CountSource,
        bits: Option<(Bits, Option<LoopId>)>,
    ) -> Class {
        self.classes.push(Known { issues, lanes, bits });
        Class(self.classes.len() - 1)
    }

    /// A class of known bits.
    fn of_bits(&mut self, bits: Bits, level: Option<LoopId>) -> Class {
        // Bits of a loop's turns are folded into two counters, when somebody asks for them.
        if level.is_some() {
            self.reserved += 2;
        }
        self.class(CountSource::Bits, CountSource::Bits, Some((bits, level)))
    }

    /// A class whose counts are others' sums.
    fn linear(&mut self, counts: Vec<(Class, i64)>) -> Class {
        self.class(CountSource::Classes(counts.clone()), CountSource::Classes(counts), None)
    }

    /// Whether there is no room for more private variables.
    fn full(&self, more: usize) -> bool {
        (self.plan.vars + self.reserved).saturating_add(more) > self.registers_max
    }

    /// A class that is counted where it is executed.
    fn count_class(&mut self, flow: ClassFlow, acts: &mut Vec<CounterAction>) -> Class {
        // Variables at most: a place in a loop takes its own and, when somebody asks for its counts, two
        // to fold it into.
        let takes = match flow {
            ClassFlow::Once => 1,
            ClassFlow::Turn(_) | ClassFlow::Uniform(_) => 3,
            ClassFlow::Elected => 2,
        };
        if self.full(takes) || (self.once_in_memory && flow == ClassFlow::Once) {
            let first = self.plan.counters(2);
            acts.push(CounterAction::Memory { first });
            let (issues, lanes) = (first, Item(first.0 + 1));
            return self.class(CountSource::Counter(issues), CountSource::Counter(lanes), None);
        }
        let var = self.plan.var();
        let (issues, lanes) = match flow {
            ClassFlow::Once => {
                acts.push(CounterAction::Note(var, None));
                return self.of_bits(Bits::Var(var), None);
            }
            ClassFlow::Turn(id) => {
                acts.push(CounterAction::Note(var, Some(id)));
                self.plan.loops[id.0].notes.push(var);
                return self.of_bits(Bits::Var(var), Some(id));
            }
            // All lanes that are there step together: the most that any counted is how often.
            ClassFlow::Uniform(None) => {
                acts.push(CounterAction::Step(var));
                (
                    self.plan.flush(Bits::Var(var), Reduction::Max),
                    self.plan.flush(Bits::Var(var), Reduction::Sum),
                )
            }
            ClassFlow::Uniform(Some(id)) => {
                acts.push(CounterAction::Step(var));
                self.count_bits(Bits::Var(var), Some(id))
            }
            ClassFlow::Elected => {
                let lanes = self.plan.var();
                acts.push(CounterAction::Executed { issues: var, lanes });
                (
                    self.plan.flush(Bits::Var(var), Reduction::Sum),
                    self.plan.flush(Bits::Var(lanes), Reduction::Sum),
                )
            }
        };
        self.class(CountSource::Counter(issues), CountSource::Counter(lanes), None)
    }

    /// The class of those that came with `front` and are not in `others`, if it follows.
    fn rest(&mut self, front: Class, others: &[Class], flow: ClassFlow) -> Option<Class> {
        match flow {
            ClassFlow::Once | ClassFlow::Turn(_) => {
                let (mut bits, level) = self.classes[front.0].bits.clone()?;
                for other in others {
                    let (less, of) = self.classes[other.0].bits.as_ref()?;
                    // Turns of another loop are no turns of this one.
                    if *of != level {
                        return None;
                    }
                    bits = bits.and_not(less);
                }
                Some(self.of_bits(bits, level))
            }
            // The same lanes each time: an execution goes to one arm or to another, never to both.
            ClassFlow::Uniform(_) => {
                let mut counts = vec![(front, 1)];
                counts.extend(others.iter().map(|other| (*other, -1)));
                Some(self.linear(counts))
            }
            ClassFlow::Elected => None,
        }
    }

    /// The next construct's number; the caller walks what is inside.
    fn next_construct(&mut self) -> usize {
        self.construct += 1;
        self.construct - 1
    }

    /// Plans a body that starts with the counts of `class`; gives class and flow of its end.
    fn body(
        &mut self,
        body: &Body,
        planned: &mut Planned,
        mut class: Class,
        mut flow: ClassFlow,
    ) -> (Class, ClassFlow) {
        for (index, node) in body.nodes.iter().enumerate() {
            match node {
                Node::Straight(straight) => self.straight(straight, class, flow),
                Node::If { .. } | Node::Switch { .. } => {
                    (class, flow) = self.branch(node, index, planned, class, flow);
                }
                Node::Loop { .. } => {
                    self.repeat(body, index, planned, class, flow);
                    if Exits::of_node(node).any() {
                        // Some may have returned.
                        flow = if matches!(flow, ClassFlow::Uniform(_)) {
                            ClassFlow::Elected
                        } else {
                            flow
                        };
                        class = self.count_class(flow, &mut planned.before[index + 1]);
                    }
                }
            }
        }
        (class, flow)
    }

    fn straight(&mut self, straight: &Straight, class: Class, flow: ClassFlow) {
        self.blocks[straight.block.index()] = Some(class);
        for (statement, _) in &straight.statements {
            if let Some(call) = effect(statement).calls {
                let calls = self.calls.entry(call.function.index()).or_default();
                calls.classes.push(class);
                calls.flow = Some(flow);
            }
        }
    }

    /// Plans a branch; gives class and flow behind it.
    fn branch(
        &mut self,
        node: &Node,
        index: usize,
        planned: &mut Planned,
        class: Class,
        flow: ClassFlow,
    ) -> (Class, ClassFlow) {
        // All that is inside, this construct too.
        let number = self.construct;
        let end = number + node.constructs();
        let parts = (number..end).any(|inner| !self.shape.is_uniform(self.function, inner));
        let construct = self.next_construct();
        let uniform = self.shape.is_uniform(self.function, construct);
        // Where lanes part, an arm no longer has the same lanes each time.
        // Bits need no such care: they say of each lane where it was.
        let inside = match flow {
            ClassFlow::Uniform(_) if !uniform => ClassFlow::Elected,
            other => other,
        };
        let nested = &mut planned.nested[index];
        let (arms, exclusive): (Vec<(&Body, bool)>, bool) = match node {
            Node::If { accept, reject, .. } => (vec![(accept, true), (reject, true)], true),
            Node::Switch { cases, .. } => {
                self.around.push(Around::Switch);
                let falls = |case: &Case| case.fall_through && !case.body.nodes.is_empty();
                let arms = cases.iter().map(|case| (&case.body, is_arm(case))).collect();
                (arms, !cases.iter().any(falls))
            }
            Node::Straight(_) | Node::Loop { .. } => (Vec::new(), true),
        };
        // With a case that falls through, lanes may come to an arm by two ways.
        let classes = self.arms((&arms, exclusive), nested, class, inside);
        if matches!(node, Node::Switch { .. }) {
            self.around.pop();
        }
        self.construct = end;
        let left = Exits::of_node(node);
        // No lane can leave from inside: those that came to the branch are those behind it, and nothing
        // is counted anew.
        if !left.any() {
            return (class, flow);
        }
        let behind = match flow {
            ClassFlow::Uniform(_) if parts => ClassFlow::Elected,
            other => other,
        };
        let next = self.behind_exits(node, &arms, &classes, class, behind);
        let next = next.unwrap_or_else(|| {
            let acts = &mut planned.before[index + 1];
            self.count_class(behind, acts)
        });
        (next, behind)
    }

    /// Plans the arms of a branch; gives their classes. The one that is cheapest to know from the
    /// others is not counted.
    fn arms(
        &mut self,
        (arms, exclusive): (&[(&Body, bool)], bool),
        nested: &mut [Planned],
        front: Class,
        flow: ClassFlow,
    ) -> Vec<Option<Class>> {
        let first_construct = self.construct;
        let mut classes = vec![None; arms.len()];
        // Lanes go to one of the arms each, and none goes past them.
        let complete = exclusive && arms.iter().all(|(body, real)| !real || !body.nodes.is_empty());
        let there = |body: &Body| !body.nodes.is_empty();
        let stays = |index: &usize| there(arms[*index].0) && Exits::of_body(arms[*index].0).falls;
        // The arm that is not counted had better be one whose lanes come to its end: the class of an
        // arm that leaves is asked for again behind the branch.
        let last = (0..arms.len()).rev().find(stays);
        let last = last.or_else(|| (0..arms.len()).rev().find(|index| there(arms[*index].0)));
        let counts: Vec<usize> =
            (0..arms.len()).filter(|index| !complete || Some(*index) != last).collect();
        // Arms are planned out of the text's order, but constructs are numbered in it.
        let starts: Vec<usize> = arms
            .iter()
            .scan(first_construct, |next, (body, _)| {
                let start = *next;
                *next += body.nodes.iter().map(Node::constructs).sum::<usize>();
                Some(start)
            })
            .collect();
        for index in counts.into_iter().chain(last.filter(|_| complete)) {
            let (body, _) = arms[index];
            if body.nodes.is_empty() {
                continue;
            }
            let mut acts = Vec::new();
            let others: Vec<Class> = classes.iter().flatten().copied().collect();
            let derived = if complete && Some(index) == last {
                self.rest(front, &others, flow)
            } else {
                self.way_out(body, flow)
            };
            let class = derived.unwrap_or_else(|| self.count_class(flow, &mut acts));
            classes[index] = Some(class);
            nested[index].before[0].append(&mut acts);
            self.construct = starts[index];
            self.body(body, &mut nested[index], class, flow);
        }
        classes
    }

    /// The class of an arm that is the one way out of the loop around it, if it follows.
    fn way_out(&mut self, arm: &Body, flow: ClassFlow) -> Option<Class> {
        let Some(Around::Loop { stretches, entered, one_way_out: true, together, .. }) =
            self.around.last().copied()
        else {
            return None;
        };
        if !Exits::of_body(arm).only_breaks() {
            return None;
        }
        let left = stretches.and_then(|id| Some((self.plan.loops[id.0].left?, id)));
        let bits = left.map(|(var, id)| (Bits::Var(var), Some(id)));
        match flow {
            // All lanes leave here, at once: as often as the loop was entered, with the same lanes. So
            // the counts are the entry's, and need no counter.
            _ if together => {
                let source = || CountSource::Classes(vec![(entered, 1)]);
                Some(self.class(source(), source(), bits))
            }
            // The loop keeps a bit for the turn in which a lane left, and there is no other way out.
            ClassFlow::Turn(_) => bits.map(|(bits, level)| self.of_bits(bits, level)),
            ClassFlow::Once | ClassFlow::Uniform(_) | ClassFlow::Elected => None,
        }
    }

    /// The class behind a branch that some lanes left otherwise than at its end, if it follows.
    fn behind_exits(
        &mut self,
        node: &Node,
        arms: &[(&Body, bool)],
        classes: &[Option<Class>],
        front: Class,
        flow: ClassFlow,
    ) -> Option<Class> {
        // A switch has `break`s of its own, which leave nothing but the switch: it is counted anew.
        let Node::If { .. } = node else { return None };
        let of: Vec<Exits> = arms.iter().map(|(body, _)| Exits::of_body(body)).collect();
        // One arm's lanes all leave and the other's all stay: those behind are those that stayed.
        let gone = (0..2).find(|arm| of[*arm].any() && !of[*arm].falls)?;
        if of[1 - gone].any() {
            return None;
        }
        let turns = match self.around.last() {
            Some(Around::Loop { turns: Some(turns), entered, .. }) if of[gone].only_breaks() => {
                Some((*entered, i64::from(*turns)))
            }
            _ => None,
        };
        let rest = self.rest(front, &[classes[gone]?], flow);
        let Some(turns) = turns else { return rest };
        // The one exit of a loop of constant length.
        let bits = rest.and_then(|rest| self.classes[rest.0].bits.clone());
        let source = || CountSource::Classes(vec![turns]);
        Some(self.class(source(), source(), bits))
    }

    fn repeat(
        &mut self,
        outer: &Body,
        index: usize,
        planned: &mut Planned,
        entered: Class,
        flow: ClassFlow,
    ) {
        let node = &outer.nodes[index];
        let Node::Loop { body, break_if, .. } = node else { return };
        let construct = self.next_construct();
        let outermost = !self.around.iter().any(|around| matches!(around, Around::Loop { .. }));
        let turns = constant_turns(
            self.program.module(),
            self.functions[self.function],
            outer,
            index,
            outermost,
        );
        let left = Exits::of_body(body);
        let together =
            turns.is_some() || (self.shape.is_uniform(self.function, construct) && !left.returns);
        // A copy of the number: the survey looks ahead, and the walk over the body counts again.
        let survey = self.shape.survey(self.function, body, &mut self.construct.clone());
        let once = flow == ClassFlow::Once;
        let mut stretches = None;
        // Three kinds of loops: all lanes take the same way through (count visits), there is a barrier
        // inside (elect a lane: a stretch would move it), or neither (a bit for each turn).
        let inside = if together && (survey.barrier || !survey.parts) {
            match flow {
                ClassFlow::Once => ClassFlow::Uniform(None),
                ClassFlow::Uniform(base) => ClassFlow::Uniform(base),
                // It may be entered again with other lanes: what they counted is folded at its end.
                ClassFlow::Turn(_) | ClassFlow::Elected => {
                    let id = self.new_loop(Loop::default());
                    planned.before[index + 1].push(CounterAction::Fold(id));
                    ClassFlow::Uniform(Some(id))
                }
            }
        } else if survey.barrier {
            ClassFlow::Elected
        } else {
            // Without a way out but the loop's end, no lane needs to note the turn in which it left.
            let left = leaves(body, true) > 0;
            let (bit, left) = (self.plan.var(), left.then(|| self.plan.var()));
            let notes = left.into_iter().collect();
            let id = self.new_loop(Loop { bit: Some(bit), left, notes, folds: Vec::new(), once });
            planned.stretches[index] = Some(id);
            stretches = Some(id);
            ClassFlow::Turn(id)
        };
        self.around.push(Around::Loop {
            stretches,
            entered,
            turns,
            one_way_out: break_if.is_none() && leaves(body, true) == 1,
            together,
        });
        let [in_body, in_continuing] = planned.nested[index].as_mut_slice() else { return };
        self.turns(node, [in_body, in_continuing], inside, left);
        self.around.pop();
        debug_assert_eq!(self.construct, construct + node.constructs());
    }

    /// Plans body and `continuing` of the innermost loop around.
    fn turns(
        &mut self,
        node: &Node,
        [in_body, in_continuing]: [&mut Planned; 2],
        flow: ClassFlow,
        left: Exits,
    ) {
        let Node::Loop { body, continuing, break_if, .. } = node else { return };
        let Some(Around::Loop { stretches, entered, turns, .. }) = self.around.last().copied()
        else {
            return;
        };
        let times = |factor: u32| CountSource::Classes(vec![(entered, i64::from(factor))]);
        let begun = stretches.map(|id| (Bits::Turns(id), Some(id)));
        // Those that come to the end of the body.
        let mut acts = Vec::new();
        let done = |planner: &Self| {
            let id = stretches?;
            let bits = Bits::Turns(id);
            let left = planner.plan.loops[id.0].left;
            Some((left.map_or(bits.clone(), |left| bits.and_not(&Bits::Var(left))), Some(id)))
        };
        let (head, turn) = if let Some(turns) = turns {
            // Every lane comes to the head once more than to the end, to find that it is done.
            // The counts follow from the entry's; the bits go along for arms inside that are derived
            // from them.
            let bits = done(self);
            let head = self.class(times(turns + 1), times(turns + 1), begun);
            (head, self.class(times(turns), times(turns), bits))
        } else if let (Some((bits, level)), Some((end, _))) = (begun, done(self)) {
            let head = self.of_bits(bits.clone(), level);
            (head, if end == bits { head } else { self.of_bits(end, level) })
        } else if !left.any() {
            // Nobody leaves from inside the body: whoever begins a turn ends it.
            let head = self.count_class(flow, &mut in_body.before[0]);
            (head, head)
        } else {
            let turn = self.count_class(flow, &mut acts);
            // The head is what entered and what came round, where all that comes to the end goes
            // round.
            let head = if break_if.is_none() {
                self.linear(vec![(entered, 1), (turn, 1)])
            } else {
                self.count_class(flow, &mut in_body.before[0])
            };
            (head, turn)
        };
        self.body(body, in_body, head, flow);
        in_continuing.before[0].append(&mut acts);
        self.body(continuing, in_continuing, turn, flow);
    }

    fn new_loop(&mut self, new: Loop) -> LoopId {
        self.plan.loops.push(new);
        LoopId(self.plan.loops.len() - 1)
    }
}

/// Whether a case of a switch is one of its own, rather than another selector of the next.
fn is_arm(case: &Case) -> bool {
    !case.body.nodes.is_empty() || !case.fall_through
}
