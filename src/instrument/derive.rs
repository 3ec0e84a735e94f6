//! Derived counting: few counters, from which every block's issues and lanes follow.
//!
//! Input: a [`Program`]. Output: a [`Plan`] whose readings are, under maximal reconvergence, equal
//! to executed counting: [`Plan::executed`] is the oracle, and tests compare the two. It makes no
//! module.
//!
//! # The rule behind it
//!
//! Let the lanes that execute a place be, time after time, masks m₁, m₂, … . Where each mask holds
//! the next (*nested* masks), the lanes of the last have been there every time, so that the greatest
//! number of visits of any lane is the number of issues. One private counter then gives lanes, as
//! its sum, and issues, as its greatest value. Everything below is about knowing where masks are
//! nested, and over what stretch of time (*window*):
//!
//! - A place that a subgroup comes to at most once is nested ([`Flow::Once`]): all of an entry
//!   point outside loops, arms of branches included.
//! - In a loop, lanes leave by `break`, the loop's own end or `return`, and do not come back before
//!   the loop is done: the body outside branches is nested over one run of the loop
//!   ([`Flow::Nested`]), and so is `continuing`, where lanes that took `continue` rejoin. A loop
//!   that is entered once needs no window of its own. Another one folds at its exit: the greatest
//!   count of its lanes is added outside, and the count is zero again.
//! - An arm of a branch in a loop is not nested: even lanes may take it in even turns and odd lanes
//!   in odd ones. There the lanes in front of the branch vote (`subgroupAny(condition)`), and the
//!   vote is counted in front, where masks are nested.
//! - An arm that leaves a loop is come to once by each lane: it notes in which turn, and outside the
//!   loop the different turns are counted, as many as the arm was executed. The loop itself is left
//!   as cheap as it was.
//! - Where neither holds ([`Flow::Led`]: branches inside arms in loops, what follows a `continue`,
//!   bodies of functions called from several places or in loops, loops inside those that are left by
//!   `return`), the lanes ask who leads them, once a body; the leader alone adds.
//!
//! Blocks between which no lane can leave share counts. The head of a loop without `break if` runs
//! once for each entry and once for each turn that came to its end. A function's body starts as
//! often as its calls are executed. What goes to `else` is what came, less what went to the `if`.

use std::collections::BTreeMap;

use naga::{Statement, SwitchValue};

use super::plan::{Act, Form, Item, Lead, Plan, Planned, Reading, Reduction, Var, Vote};
use crate::program::{Body, Case, Node, Program, Straight};

/// The most arms of a switch that the lanes in front of it vote on.
const VOTED_ARMS_MAX: usize = 4;

/// Makes the plan; at most `registers_max` private variables, the rest counts in memory.
pub(super) fn derived(program: &Program, registers_max: usize) -> Plan {
    // What runs at most once is cheap to count in memory, so that comes first.
    for once_in_memory in [false, true] {
        let planner = Planner::new(program, usize::MAX, once_in_memory).run(program);
        if planner.vars <= registers_max {
            return planner;
        }
    }
    Planner::new(program, registers_max, true).run(program)
}

/// Places whose blocks have the same counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class(usize);

/// A run of a loop that is not entered once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window(usize);

/// How the masks of a place follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// A subgroup comes here at most once.
    Once,
    /// Nested over a window; over the whole launch without one.
    Nested(Option<Window>),
    /// Anything; the leader of this mask is noted.
    Led(Lead),
}

/// Where counts come from.
#[derive(Clone, Debug)]
enum Source {
    /// Not known yet.
    Open,
    /// A counter.
    Counter(Item),
    /// Classes' counts, added or subtracted.
    Classes(Vec<(Class, i64)>),
}

/// The ways in which lanes leave a body or node other than at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Exits {
    breaks: bool,
    continues: bool,
    returns: bool,
    /// Whether some lanes may come to the end.
    falls: bool,
}

impl Exits {
    const THROUGH: Self = Self { breaks: false, continues: false, returns: false, falls: true };

    fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    /// One or the other.
    fn or(self, other: Self) -> Self {
        Self {
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
            falls: self.falls || other.falls,
        }
    }
}

/// How lanes leave a body.
fn exits(body: &Body) -> Exits {
    let mut all = Exits::THROUGH;
    for node in &body.nodes {
        let next = node_exits(node);
        all = Exits { falls: all.falls && next.falls, ..all.or(next) };
    }
    all
}

/// How lanes leave a node.
fn node_exits(node: &Node) -> Exits {
    match node {
        Node::Straight(straight) => match straight.statements.last() {
            Some((Statement::Break, _)) => Exits { breaks: true, ..Exits::default() },
            Some((Statement::Continue, _)) => Exits { continues: true, ..Exits::default() },
            Some((Statement::Return { .. } | Statement::Kill, _)) => {
                Exits { returns: true, ..Exits::default() }
            }
            _ => Exits::THROUGH,
        },
        Node::If { accept, reject, .. } => exits(accept).or(exits(reject)),
        Node::Switch { cases, .. } => {
            let all = cases.iter().map(|case| exits(&case.body));
            let all = all.fold(Exits::default(), Exits::or);
            // A `break` in a switch leaves the switch only.
            Exits { breaks: false, falls: all.falls || all.breaks, ..all }
        }
        Node::Loop { body, continuing, break_if, .. } => {
            let inside = exits(body).or(exits(continuing));
            let falls = inside.breaks || break_if.is_some();
            Exits { breaks: false, continues: false, returns: inside.returns, falls }
        }
    }
}

/// A window: what is folded at the loop's exit, and how masks are there.
#[derive(Clone, Debug)]
struct Outside {
    flow: Flow,
    folds: Vec<Act>,
}

/// What is known of a function's calls.
#[derive(Clone, Debug, Default)]
struct Calls {
    classes: Vec<Class>,
    once: bool,
}

/// A loop or switch around a place.
#[derive(Clone, Copy, Debug)]
enum Around {
    Switch,
    Loop {
        /// Its place in [`Plan::turns`].
        turn: usize,
        /// Over what its masks are nested, if they are.
        inside: Option<Flow>,
    },
}

#[derive(Debug)]
struct Planner {
    plan: Plan,
    classes: Vec<(Source, Source)>,
    windows: Vec<Outside>,
    /// The class of each block, by number.
    blocks: Vec<Option<Class>>,
    calls: BTreeMap<usize, Calls>,
    /// Leaders noted in the function at hand, and whether anybody needs them.
    leads: Vec<bool>,
    /// What `break`, or only `return`, leaves at the place at hand, innermost last.
    around: Vec<Around>,
    /// Variables that count the executions of a class by each lane, in its loop, by class.
    counters: BTreeMap<usize, Var>,
    registers_max: usize,
    once_in_memory: bool,
}

impl Planner {
    fn new(program: &Program, registers_max: usize, once_in_memory: bool) -> Self {
        Self {
            plan: Plan { derived: true, ..Plan::default() },
            classes: Vec::new(),
            windows: Vec::new(),
            blocks: vec![None; program.blocks().len()],
            calls: BTreeMap::new(),
            leads: Vec::new(),
            around: Vec::new(),
            counters: BTreeMap::new(),
            registers_max,
            once_in_memory,
        }
    }

    fn run(mut self, program: &Program) -> Plan {
        let structure = program.structure();
        let entry = &structure.entry_point;
        let mut planned = Planned::empty(entry);
        let class = self.measured(Flow::Once, &mut planned.before[0]);
        self.body(entry, &mut planned, class, Flow::Once);
        self.finish_function(&mut planned);
        self.plan.entry_point = planned;
        let entry_leads = self.plan.leads.pop().unwrap_or_default();

        // Callers stand behind their callees.
        for (index, body) in structure.functions.iter().enumerate().rev() {
            let calls = self.calls.remove(&index).unwrap_or_default();
            let mut planned = Planned::empty(body);
            let counts: Vec<(Class, i64)> = calls.classes.iter().map(|class| (*class, 1)).collect();
            let class = self.class(Source::Classes(counts.clone()), Source::Classes(counts));
            let flow = if calls.classes.len() == 1 && calls.once {
                Flow::Once
            } else {
                self.led(&mut planned.before[0])
            };
            self.body(body, &mut planned, class, flow);
            self.finish_function(&mut planned);
            self.plan.functions.push(planned);
        }
        self.plan.functions.reverse();
        self.plan.leads.reverse();
        self.plan.leads.push(entry_leads);
        let readings = (0..self.blocks.len()).map(|block| self.reading(block)).collect();
        self.plan.readings = readings;
        self.plan
    }

    /// Takes out the leaders that nobody needs.
    fn finish_function(&mut self, planned: &mut Planned) {
        fn clean(planned: &mut Planned, needed: &[bool]) {
            for acts in &mut planned.before {
                acts.retain(|act| !matches!(act, Act::Lead(lead) if !needed[lead.0]));
            }
            for inner in planned.nested.iter_mut().flatten() {
                clean(inner, needed);
            }
        }
        let needed = std::mem::take(&mut self.leads);
        clean(planned, &needed);
        self.plan.leads.push(needed.len());
    }

    fn reading(&self, block: usize) -> Reading {
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
    fn expand(&self, class: Class, issues: bool, factor: i64, form: &mut Form) {
        let (of_issues, of_lanes) = &self.classes[class.0];
        match if issues { of_issues } else { of_lanes } {
            Source::Open => {}
            Source::Counter(item) => *form.entry(*item).or_default() += factor,
            Source::Classes(parts) => {
                for (part, times) in parts {
                    self.expand(*part, issues, factor * times, form);
                }
            }
        }
    }

    fn class(&mut self, issues: Source, lanes: Source) -> Class {
        self.classes.push((issues, lanes));
        Class(self.classes.len() - 1)
    }

    /// A leader noted here, for whoever needs it.
    fn led(&mut self, acts: &mut Vec<Act>) -> Flow {
        let lead = Lead(self.leads.len());
        self.leads.push(false);
        acts.push(Act::Lead(lead));
        Flow::Led(lead)
    }

    /// Whether there is no room for more private variables.
    fn full(&self, more: usize) -> bool {
        self.plan.vars.saturating_add(more) > self.registers_max
    }

    /// A variable in which issues are counted at a place, its counter, and who adds.
    fn issues(&mut self, flow: Flow) -> (Var, Item, Option<Lead>) {
        let var = self.plan.var();
        match flow {
            Flow::Once | Flow::Nested(None) => (var, self.plan.flush(var, Reduction::Max), None),
            Flow::Nested(Some(window)) => {
                let (into, item, lead) = self.issues(self.windows[window.0].flow);
                let reduction = Reduction::Max;
                let fold = Act::Fold { from: var, reduction, lanes: None, into, lead };
                self.windows[window.0].folds.push(fold);
                (var, item, None)
            }
            Flow::Led(lead) => {
                self.leads[lead.0] = true;
                (var, self.plan.flush(var, Reduction::Sum), Some(lead))
            }
        }
    }

    /// A class that is counted where it is executed.
    fn measured(&mut self, flow: Flow, acts: &mut Vec<Act>) -> Class {
        if self.full(2) || (self.once_in_memory && flow == Flow::Once) {
            let first = self.plan.counters(2);
            acts.push(Act::Memory { first });
            return self.class(Source::Counter(first), Source::Counter(Item(first.0 + 1)));
        }
        let (var, issues, lead) = self.issues(flow);
        let lanes = match (flow, lead) {
            (_, Some(lead)) => {
                let lanes = self.plan.var();
                acts.extend([Act::Led(var, lead), Act::Step(lanes)]);
                self.plan.flush(lanes, Reduction::Sum)
            }
            (Flow::Nested(Some(window)), None) => {
                let all = self.plan.var();
                if let Some(Act::Fold { lanes, .. }) = self.windows[window.0].folds.last_mut() {
                    *lanes = Some(all);
                }
                acts.push(Act::Step(var));
                self.plan.flush(all, Reduction::Sum)
            }
            (Flow::Once | Flow::Nested(None) | Flow::Led(_), None) => {
                acts.push(Act::Step(var));
                self.plan.flush(var, Reduction::Sum)
            }
        };
        let class = self.class(Source::Counter(issues), Source::Counter(lanes));
        if lead.is_none() {
            self.counters.insert(class.0, var);
        }
        class
    }

    /// A class whose issues the lanes in front vote on. Its lanes count themselves, or are what
    /// came less what went elsewhere.
    fn voted(
        &mut self,
        vote: Vote,
        front: Flow,
        before: &mut Vec<Act>,
        lanes: Option<Vec<(Class, i64)>>,
    ) -> Class {
        let (issues, item, lead) = self.issues(front);
        let (lanes, source) = match lanes {
            Some(classes) => (None, Source::Classes(classes)),
            None => {
                let lanes = self.plan.var();
                (Some(lanes), Source::Counter(self.plan.flush(lanes, Reduction::Sum)))
            }
        };
        before.push(Act::Vote { vote, issues, lead, lanes });
        self.class(Source::Counter(item), source)
    }

    /// The loop that lanes leave for good by such exits from here, where its turns tell when.
    fn left_loop(&self, out: Exits) -> Option<(usize, Option<Window>)> {
        if out.falls || out.continues {
            return None;
        }
        let around = match self.around.last() {
            Some(Around::Switch) if !out.breaks => {
                self.around.iter().rev().find(|around| matches!(around, Around::Loop { .. }))
            }
            other => other,
        };
        match around {
            Some(Around::Loop { turn, inside: Some(Flow::Nested(window)) }) => {
                Some((*turn, *window))
            }
            _ => None,
        }
    }

    /// A class of an arm that leaves a loop.
    fn marked(&mut self, turn: usize, window: Option<Window>, acts: &mut Vec<Act>) -> Class {
        let mark = self.plan.var();
        acts.push(Act::Mark { into: mark, turn });
        let (issues, lanes) = match window {
            None => (
                self.plan.flush(mark, Reduction::Distinct),
                self.plan.flush(mark, Reduction::Present),
            ),
            Some(window) => {
                let (into, item, lead) = self.issues(self.windows[window.0].flow);
                let lanes = self.plan.var();
                let reduction = Reduction::Distinct;
                let fold = Act::Fold { from: mark, reduction, lanes: Some(lanes), into, lead };
                self.windows[window.0].folds.push(fold);
                (item, self.plan.flush(lanes, Reduction::Sum))
            }
        };
        self.class(Source::Counter(issues), Source::Counter(lanes))
    }

    /// Plans a body that starts with the counts of `class`; gives class and flow of its end.
    fn body(
        &mut self,
        body: &Body,
        planned: &mut Planned,
        mut class: Class,
        mut flow: Flow,
    ) -> (Class, Flow) {
        for (index, node) in body.nodes.iter().enumerate() {
            let (before, after) = planned.before.split_at_mut(index + 1);
            let (before, after) = (&mut before[index], &mut after[0]);
            let nested = &mut planned.nested[index];
            match node {
                Node::Straight(straight) => {
                    self.straight(straight, class, flow);
                    continue;
                }
                Node::If { condition, accept, reject, .. } => {
                    let arms =
                        [(accept, Vote::Any(*condition)), (reject, Vote::NotAll(*condition))];
                    let mut accepted = None;
                    for (arm, (body, vote)) in nested.iter_mut().zip(arms) {
                        if body.nodes.is_empty() {
                            continue;
                        }
                        // What does not go one way goes the other.
                        let rest = accepted.map(|accepted| vec![(class, 1), (accepted, -1)]);
                        accepted = Some(self.arm(body, arm, Some(vote), flow, before, rest));
                    }
                }
                Node::Switch { selector, cases, .. } => {
                    self.switch(*selector, cases, nested, flow, before);
                }
                Node::Loop { .. } => self.repeat(node, nested, class, flow, after),
            }
            let left = node_exits(node);
            if left.any() {
                (class, flow) = self.after(node, left, flow, before, after);
            }
        }
        (class, flow)
    }

    fn straight(&mut self, straight: &Straight, class: Class, flow: Flow) {
        self.blocks[straight.block.index()] = Some(class);
        for (statement, _) in &straight.statements {
            if let Statement::Call { function, .. } = statement {
                let calls = self.calls.entry(function.index()).or_default();
                calls.classes.push(class);
                calls.once = flow == Flow::Once;
            }
        }
    }

    /// Plans an arm of a branch; gives its class.
    fn arm(
        &mut self,
        body: &Body,
        planned: &mut Planned,
        vote: Option<Vote>,
        front: Flow,
        before: &mut Vec<Act>,
        lanes: Option<Vec<(Class, i64)>>,
    ) -> Class {
        let mut acts = Vec::new();
        let leaves = self.left_loop(exits(body)).filter(|_| !self.full(2));
        let (class, flow) = match (front, vote) {
            (Flow::Once, _) => (self.measured(Flow::Once, &mut acts), Flow::Once),
            (Flow::Nested(_) | Flow::Led(_), _) if leaves.is_some() => {
                let (turn, window) = leaves.unwrap_or_default();
                let flow = self.led(&mut acts);
                (self.marked(turn, window, &mut acts), flow)
            }
            (Flow::Nested(_) | Flow::Led(_), Some(vote)) => {
                let flow = self.led(&mut acts);
                let class = if self.full(2) {
                    self.measured(flow, &mut acts)
                } else {
                    self.voted(vote, front, before, lanes)
                };
                (class, flow)
            }
            (Flow::Nested(_) | Flow::Led(_), None) => {
                let flow = self.led(&mut acts);
                (self.measured(flow, &mut acts), flow)
            }
        };
        planned.before[0].append(&mut acts);
        self.body(body, planned, class, flow);
        class
    }

    fn switch(
        &mut self,
        selector: naga::Handle<naga::Expression>,
        cases: &[Case],
        nested: &mut [Planned],
        flow: Flow,
        before: &mut Vec<Act>,
    ) {
        let mut listed = Vec::new();
        let mut group = Vec::new();
        let mut groups = Vec::new();
        for case in cases {
            match case.value {
                SwitchValue::Default => {}
                value @ (SwitchValue::I32(_) | SwitchValue::U32(_)) => listed.push(value),
            }
            group.push(case.value);
            let empty = case.body.nodes.is_empty();
            groups.push(if empty && case.fall_through {
                Vec::new()
            } else {
                std::mem::take(&mut group)
            });
        }
        // Lanes that come from the case before are not in the vote.
        let falls = |case: &Case| case.fall_through && !case.body.nodes.is_empty();
        let arms = cases.iter().filter(|case| !case.body.nodes.is_empty()).count();
        let votes = arms <= VOTED_ARMS_MAX && !cases.iter().any(falls);
        self.around.push(Around::Switch);
        for ((case, values), planned) in cases.iter().zip(groups).zip(nested) {
            if case.body.nodes.is_empty() {
                continue;
            }
            let vote = if values.contains(&SwitchValue::Default) {
                let others = listed.iter().filter(|value| !values.contains(value));
                Vote::Other(selector, others.copied().collect())
            } else {
                Vote::Equal(selector, values)
            };
            self.arm(&case.body, planned, votes.then_some(vote), flow, before, None);
        }
        self.around.pop();
    }

    fn repeat(
        &mut self,
        node: &Node,
        nested: &mut [Planned],
        entered: Class,
        flow: Flow,
        after: &mut Vec<Act>,
    ) {
        let (Node::Loop { body, continuing, break_if, .. }, [in_body, in_continuing]) =
            (node, nested)
        else {
            return;
        };
        let left = exits(body);
        let (inside, window) = match flow {
            Flow::Once => (Some(Flow::Nested(None)), None),
            // Lanes that return do not pass the exit, where counts are folded.
            Flow::Nested(_) | Flow::Led(_) if left.returns => (None, None),
            Flow::Nested(_) | Flow::Led(_) => {
                let window = Window(self.windows.len());
                self.windows.push(Outside { flow, folds: Vec::new() });
                (Some(Flow::Nested(Some(window))), Some(window))
            }
        };
        let mut acts = Vec::new();
        let head_flow = inside.unwrap_or_else(|| self.led(&mut acts));
        // The head is what entered and what came round, where all that comes to the end goes round.
        let relates = break_if.is_none() && left.any();
        let head = if relates {
            self.class(Source::Open, Source::Open)
        } else {
            self.measured(head_flow, &mut acts)
        };
        in_body.before[0].append(&mut acts);
        let number = self.plan.turns.len();
        self.plan.turns.push(None);
        self.around.push(Around::Loop { turn: number, inside });
        let (end, _) = self.body(body, in_body, head, head_flow);
        self.around.pop();
        let turn = if !left.any() {
            Some(head)
        } else if left.continues {
            None
        } else if left.falls {
            Some(end)
        } else {
            // Nobody comes to the end.
            Some(self.class(Source::Classes(Vec::new()), Source::Classes(Vec::new())))
        };
        let mut acts = Vec::new();
        let flow = inside.unwrap_or_else(|| self.led(&mut acts));
        let turn = turn.unwrap_or_else(|| self.measured(flow, &mut acts));
        self.plan.turns[number] = Some(self.turn_counter(turn, window, &mut acts));
        in_continuing.before[0].append(&mut acts);
        self.body(continuing, in_continuing, turn, flow);
        if relates {
            let sum = || Source::Classes(vec![(entered, 1), (turn, 1)]);
            self.classes[head.0] = (sum(), sum());
        }
        if let Some(window) = window {
            after.append(&mut self.windows[window.0].folds);
        }
    }

    /// The variable that counts the turns of a loop: that of the class that comes round, where it
    /// has one of its own, else a new one.
    fn turn_counter(&mut self, turn: Class, window: Option<Window>, acts: &mut Vec<Act>) -> Var {
        if let Some(var) = self.counters.get(&turn.0) {
            return *var;
        }
        let var = self.plan.var();
        acts.push(Act::Step(var));
        if let Some(window) = window {
            // Nobody needs what it comes to, but it starts from zero again.
            self.windows[window.0].folds.push(Act::Clear(var));
        }
        var
    }

    /// Class and flow behind a node that some lanes left otherwise than at its end.
    fn after(
        &mut self,
        node: &Node,
        left: Exits,
        flow: Flow,
        before: &mut Vec<Act>,
        after: &mut Vec<Act>,
    ) -> (Class, Flow) {
        let nested = match flow {
            Flow::Once => true,
            Flow::Nested(_) => !left.continues,
            Flow::Led(_) => false,
        };
        if nested {
            return (self.measured(flow, after), flow);
        }
        let behind = self.led(after);
        // `if c { …; continue; }`: who goes on is who has not c.
        let rest = match node {
            Node::If { condition, accept, reject, .. } => {
                match (exits(accept).falls, exits(reject).falls) {
                    (false, true) if !exits(reject).any() => Some(Vote::NotAll(*condition)),
                    (true, false) if !exits(accept).any() => Some(Vote::Any(*condition)),
                    _ => None,
                }
            }
            Node::Straight(_) | Node::Switch { .. } | Node::Loop { .. } => None,
        };
        let next = match rest {
            Some(vote) if !self.full(2) => self.voted(vote, flow, before, None),
            _ => self.measured(behind, after),
        };
        (next, behind)
    }
}
