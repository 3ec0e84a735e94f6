//! Walks the tree of a function, and gives each block its class.
//!
//! Input: a body, with class and flow of its beginning. Output: classes of its blocks, and what is to
//! be done before and behind each node. Where counts come from is the planner's to say.

use super::{Around, Class, ClassFlow, CountSource, Planner};
use crate::instrument::plan::{Bits, CounterAction, Loop, Planned};
use crate::program::exits::Exits;
use crate::program::trips::{constant_trip_count, leaves};
use crate::program::visit::effect;
use crate::program::{Body, Case, Node, Straight};

impl Planner<'_> {
    /// Plans a body that starts with the counts of `class`; gives class and flow of its end.
    pub(super) fn body(
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
                    if node.exits().any() {
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
        let left = node.exits();
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
        let stays = |index: &usize| there(arms[*index].0) && arms[*index].0.exits().falls;
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
        if !arm.exits().only_breaks() {
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
            // The loop keeps a bit for the iteration in which a lane left, and there is no other way out.
            ClassFlow::Iteration(_) => bits.map(|(bits, level)| self.of_bits(bits, level)),
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
        let exits: Vec<Exits> = arms.iter().map(|(body, _)| body.exits()).collect();
        // One arm's lanes all leave and the other's all stay: those behind are those that stayed.
        let gone = (0..2).find(|arm| exits[*arm].any() && !exits[*arm].falls)?;
        if exits[1 - gone].any() {
            return None;
        }
        let iterations = match self.around.last() {
            Some(Around::Loop { iterations: Some(iterations), entered, .. })
                if exits[gone].only_breaks() =>
            {
                Some((*entered, i64::from(*iterations)))
            }
            _ => None,
        };
        let rest = self.rest(front, &[classes[gone]?], flow);
        let Some(iterations) = iterations else { return rest };
        // The one exit of a loop of constant length.
        let bits = rest.and_then(|rest| self.classes[rest.0].bits.clone());
        let source = || CountSource::Classes(vec![iterations]);
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
        let iterations = constant_trip_count(
            self.program.module(),
            self.functions[self.function],
            outer,
            index,
            outermost,
        );
        let left = body.exits();
        let together = iterations.is_some()
            || (self.shape.is_uniform(self.function, construct) && !left.returns);
        // A copy of the number: the survey looks ahead, and the walk over the body counts again.
        let survey = self.shape.survey(self.function, body, &mut self.construct.clone());
        let once = flow == ClassFlow::Once;
        let mut stretches = None;
        // Three kinds of loops: all lanes take the same way through (count visits), there is a barrier
        // inside (elect a lane: a stretch would move it), or neither (a bit for each iteration).
        let inside = if together && (survey.barrier || !survey.parts) {
            match flow {
                ClassFlow::Once => ClassFlow::Uniform(None),
                ClassFlow::Uniform(base) => ClassFlow::Uniform(base),
                // It may be entered again with other lanes: what they counted is folded at its end.
                ClassFlow::Iteration(_) | ClassFlow::Elected => {
                    let id = self.new_loop(Loop::default());
                    planned.before[index + 1].push(CounterAction::Fold(id));
                    ClassFlow::Uniform(Some(id))
                }
            }
        } else if survey.barrier {
            ClassFlow::Elected
        } else {
            // Without a way out but the loop's end, no lane needs to note the iteration in which it left.
            let left = leaves(body, true) > 0;
            let (bit, left) = (self.plan.var(), left.then(|| self.plan.var()));
            let notes = left.into_iter().collect();
            let id = self.new_loop(Loop { bit: Some(bit), left, notes, folds: Vec::new(), once });
            planned.stretches[index] = Some(id);
            stretches = Some(id);
            ClassFlow::Iteration(id)
        };
        self.around.push(Around::Loop {
            stretches,
            entered,
            iterations,
            one_way_out: break_if.is_none() && leaves(body, true) == 1,
            together,
        });
        let [in_body, in_continuing] = planned.nested[index].as_mut_slice() else { return };
        self.plan_loop(node, [in_body, in_continuing], inside, left);
        self.around.pop();
        debug_assert_eq!(self.construct, construct + node.constructs());
    }

    /// Plans body and `continuing` of the innermost loop around.
    fn plan_loop(
        &mut self,
        node: &Node,
        [in_body, in_continuing]: [&mut Planned; 2],
        flow: ClassFlow,
        left: Exits,
    ) {
        let Node::Loop { body, continuing, break_if, .. } = node else { return };
        let Some(Around::Loop { stretches, entered, iterations, .. }) = self.around.last().copied()
        else {
            return;
        };
        let times = |factor: u32| CountSource::Classes(vec![(entered, i64::from(factor))]);
        let begun = stretches.map(|id| (Bits::Iterations(id), Some(id)));
        // Those that come to the end of the body.
        let mut acts = Vec::new();
        let done = |planner: &Self| {
            let id = stretches?;
            let bits = Bits::Iterations(id);
            let left = planner.plan.loops[id.0].left;
            Some((left.map_or(bits.clone(), |left| bits.and_not(&Bits::Var(left))), Some(id)))
        };
        let (head, iteration) = if let Some(iterations) = iterations {
            // Every lane comes to the head once more than to the end, to find that it is done.
            // The counts follow from the entry's; the bits go along for arms inside that are derived
            // from them.
            let bits = done(self);
            let head = self.class(times(iterations + 1), times(iterations + 1), begun);
            (head, self.class(times(iterations), times(iterations), bits))
        } else if let (Some((bits, level)), Some((end, _))) = (begun, done(self)) {
            let head = self.of_bits(bits.clone(), level);
            (head, if end == bits { head } else { self.of_bits(end, level) })
        } else if !left.any() {
            // Nobody leaves from inside the body: whoever begins an iteration ends it.
            let head = self.count_class(flow, &mut in_body.before[0]);
            (head, head)
        } else {
            let iteration = self.count_class(flow, &mut acts);
            // The head is what entered and what came round, where all that comes to the end goes
            // round.
            let head = if break_if.is_none() {
                self.linear(vec![(entered, 1), (iteration, 1)])
            } else {
                self.count_class(flow, &mut in_body.before[0])
            };
            (head, iteration)
        };
        self.body(body, in_body, head, flow);
        in_continuing.before[0].append(&mut acts);
        self.body(continuing, in_continuing, iteration, flow);
    }
}

/// Whether a case of a switch is one of its own, rather than another selector of the next.
fn is_arm(case: &Case) -> bool {
    !case.body.nodes.is_empty() || !case.fall_through
}
