//! What an instrumented module counts where, as data.
//!
//! Input: a [`Program`]. Output: a [`Plan`]: private variables, actions at places of the bodies,
//! and for each block how its issues and lanes follow from the counters. It makes no module.

use std::collections::BTreeMap;

use naga::{Expression, Handle, SwitchValue};

use crate::program::{Body, Node, Program};
use crate::units::BlockId;

/// A private variable of 32 bits, one for each invocation, zero at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Var(pub(super) usize);

/// A function's variable that says whether this lane led the subgroup at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lead(pub(super) usize);

/// A counter of 64 bits in the buffer, striped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item(pub(super) u32);

/// How the lanes' values of a variable become what is added to its counter at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// The sum over the subgroup.
    Sum,
    /// The greatest of the subgroup.
    Max,
    /// How many different values there are, zero aside.
    Distinct,
    /// How many lanes have another value than zero.
    Present,
}

/// What a subgroup finds out about a branch before it branches.
#[derive(Clone, Debug)]
pub(super) enum Vote {
    /// Some lane has `true`.
    Any(Handle<Expression>),
    /// Some lane has `false`.
    NotAll(Handle<Expression>),
    /// Some lane's selector is one of these.
    Equal(Handle<Expression>, Vec<SwitchValue>),
    /// Some lane's selector is none of these.
    Other(Handle<Expression>, Vec<SwitchValue>),
}

/// A piece of counting.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Each lane adds one to its variable.
    Step(Var),
    /// The lanes ask who leads them: executed counting, one issue and each its own lane.
    Executed {
        /// Issues: only the leader adds.
        issues: Var,
        /// Lanes: each adds.
        lanes: Var,
    },
    /// The leader adds to memory at once: counter `first` on. What it adds depends on the layout.
    Memory {
        /// The first of the block's counters.
        first: Item,
    },
    /// Notes who leads the lanes that are here.
    Lead(Lead),
    /// The leader noted before adds one.
    Led(Var, Lead),
    /// The lanes in front of a branch vote on it.
    Vote {
        /// What is voted on.
        vote: Vote,
        /// Each lane, or only the leader noted before, adds one here where the vote says yes.
        issues: Var,
        /// Who adds to `issues`, if not all.
        lead: Option<Lead>,
        /// Each lane whose own answer is yes adds one here.
        lanes: Option<Var>,
    },
    /// A lane leaves a loop: it notes in which turn, counted from one.
    Mark {
        /// Where.
        into: Var,
        /// Which of [`Plan::turns`] counts the loop's turns.
        turn: usize,
    },
    /// Zero again.
    Clear(Var),
    /// A loop is done: what its count comes to goes on to the variable outside, and its count is
    /// zero again.
    Fold {
        /// The loop's own variable.
        from: Var,
        /// The greatest count, or how many different turns were noted.
        reduction: Reduction,
        /// Where each lane's own count goes too: the count, or one where a turn was noted.
        lanes: Option<Var>,
        /// Where the result goes.
        into: Var,
        /// Who adds it: all, or the leader noted before.
        lead: Option<Lead>,
    },
}

/// The actions of a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Planned {
    /// Actions before each node, and a last entry for those at the end.
    pub(super) before: Vec<Vec<Act>>,
    /// For each node its bodies: accept and reject, the cases, or body and continuing.
    pub(super) nested: Vec<Vec<Self>>,
}

impl Planned {
    /// No actions, in the shape of `body`.
    pub(super) fn empty(body: &Body) -> Self {
        let nested = |node: &Node| match node {
            Node::Straight(_) => Vec::new(),
            Node::If { accept, reject, .. } => vec![Self::empty(accept), Self::empty(reject)],
            Node::Switch { cases, .. } => {
                cases.iter().map(|case| Self::empty(&case.body)).collect()
            }
            Node::Loop { body, continuing, .. } => {
                vec![Self::empty(body), Self::empty(continuing)]
            }
        };
        Self {
            before: vec![Vec::new(); body.nodes.len() + 1],
            nested: body.nodes.iter().map(nested).collect(),
        }
    }
}

/// A sum of counters with factors.
pub(super) type Form = BTreeMap<Item, i64>;

/// How a block's counts are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// So many counters from `first` on are the bins of the histogram.
    Bins {
        /// The counter of one active lane.
        first: Item,
        /// Bins.
        count: u32,
    },
    /// Issues and lanes are sums of counters.
    Sums {
        /// Issues.
        issues: Form,
        /// Lanes.
        lanes: Form,
    },
}

/// What is counted where.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// How many private variables there are.
    pub(super) vars: usize,
    /// Which variable is added to which counter at the end, and how.
    pub(super) flushed: Vec<(Var, Reduction, Item)>,
    /// How many counters there are.
    pub(super) items: u32,
    /// Actions of each function, in the module's order.
    pub(super) functions: Vec<Planned>,
    /// Actions of the entry point.
    pub(super) entry_point: Planned,
    /// Variables that count the turns of a loop in which lanes are, for [`Act::Mark`].
    pub(super) turns: Vec<Option<Var>>,
    /// How many leaders are noted in each function, the entry point's last.
    pub(super) leads: Vec<usize>,
    /// How each block is read, by number.
    pub(super) readings: Vec<Reading>,
    /// Whether any block's counts are derived: then the flush may count on reconvergence.
    pub(super) derived: bool,
}

impl Plan {
    /// A new variable.
    pub(super) fn var(&mut self) -> Var {
        self.vars += 1;
        Var(self.vars - 1)
    }

    /// New counters; gives the first.
    pub(super) fn counters(&mut self, count: u32) -> Item {
        self.items += count;
        Item(self.items - count)
    }

    /// A new counter that a variable is added to at the end.
    pub(super) fn flush(&mut self, var: Var, reduction: Reduction) -> Item {
        let item = self.counters(1);
        self.flushed.push((var, reduction, item));
        item
    }

    /// Executed counting of every block, in registers for at most `registers_max` blocks, those in
    /// the deepest loops, and the others in memory.
    pub(super) fn executed(program: &Program, registers_max: usize) -> Self {
        let blocks = program.blocks().len();
        let mut order: Vec<(u32, BlockId)> =
            loop_depths(program).into_iter().map(|(id, depth)| (depth, id)).collect();
        order.sort_by_key(|(depth, id)| (std::cmp::Reverse(*depth), *id));
        let mut plan = Self::default();
        let mut acts: Vec<Option<Act>> = vec![None; blocks];
        let one = |item| Form::from([(item, 1)]);
        let none = Reading::Sums { issues: Form::new(), lanes: Form::new() };
        plan.readings = vec![none; blocks];
        for (rank, (_, id)) in order.into_iter().enumerate() {
            let (act, issues, lanes) = if rank < registers_max {
                let (issues, lanes) = (plan.var(), plan.var());
                let items = [issues, lanes].map(|var| plan.flush(var, Reduction::Sum));
                (Act::Executed { issues, lanes }, items[0], items[1])
            } else {
                let first = plan.counters(2);
                (Act::Memory { first }, first, Item(first.0 + 1))
            };
            acts[id.index()] = Some(act);
            plan.readings[id.index()] = Reading::Sums { issues: one(issues), lanes: one(lanes) };
        }
        plan.each_block(program, &acts);
        plan
    }

    /// The histogram of every block, in memory, in bins of 1 … `bins` lanes.
    pub(super) fn histograms(program: &Program, bins: u32) -> Self {
        let mut plan = Self::default();
        let mut acts = Vec::new();
        for _ in program.blocks() {
            let first = plan.counters(bins);
            acts.push(Some(Act::Memory { first }));
            plan.readings.push(Reading::Bins { first, count: bins });
        }
        plan.each_block(program, &acts);
        plan
    }

    /// Puts an action before each block, by number.
    pub(super) fn each_block(&mut self, program: &Program, acts: &[Option<Act>]) {
        fn fill(body: &Body, planned: &mut Planned, acts: &[Option<Act>]) {
            for (index, node) in body.nodes.iter().enumerate() {
                if let Node::Straight(straight) = node {
                    planned.before[index].extend(acts[straight.block.index()].clone());
                }
                for (inner, planned) in bodies(node).zip(&mut planned.nested[index]) {
                    fill(inner, planned, acts);
                }
            }
        }
        let planned = |body: &Body| {
            let mut planned = Planned::empty(body);
            fill(body, &mut planned, acts);
            planned
        };
        let structure = program.structure();
        self.functions = structure.functions.iter().map(planned).collect();
        self.entry_point = planned(&structure.entry_point);
        self.leads = vec![0; structure.functions.len() + 1];
    }
}

/// The bodies inside a node, in [`Planned::nested`]'s order.
pub(super) fn bodies(node: &Node) -> Box<dyn Iterator<Item = &Body> + '_> {
    match node {
        Node::Straight(_) => Box::new(std::iter::empty()),
        Node::If { accept, reject, .. } => Box::new([accept, reject].into_iter()),
        Node::Switch { cases, .. } => Box::new(cases.iter().map(|case| &case.body)),
        Node::Loop { body, continuing, .. } => Box::new([body, continuing].into_iter()),
    }
}

/// The number of loops around each block, within its function.
fn loop_depths(program: &Program) -> BTreeMap<BlockId, u32> {
    fn walk(body: &Body, depth: u32, depths: &mut BTreeMap<BlockId, u32>) {
        for node in &body.nodes {
            if let Node::Straight(straight) = node {
                depths.insert(straight.block, depth);
            }
            let inside = depth + u32::from(matches!(node, Node::Loop { .. }));
            for inner in bodies(node) {
                walk(inner, inside, depths);
            }
        }
    }
    let mut depths = BTreeMap::new();
    let structure = program.structure();
    for body in structure.functions.iter().chain([&structure.entry_point]) {
        walk(body, 0, &mut depths);
    }
    depths
}
