//! What an instrumented module counts where, as data.
//!
//! Input: a [`Program`]. Output: a [`CounterPlan`]: private variables, actions at places of the bodies,
//! and for each block how its executions and lanes follow from the counters. It makes no module.

use std::collections::BTreeMap;

use crate::program::{Body, Node, Program};
use crate::units::BlockId;

/// A private variable of 32 bits, one for each invocation, zero at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Var(pub(super) usize);

/// A loop that counting changes, by its place in [`CounterPlan::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoopId(pub(super) usize);

/// A counter in the buffer, striped, by its place in [`CounterPlan::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item(pub(super) u32);

/// How a counter lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterKind {
    /// Two words, low and high: whoever adds to the low one carries.
    Carried,
    /// Two words whose sum is the first and 2^16 times the second: nobody carries, because so few
    /// are added, each below 2^16, that neither word can wrap.
    Halves,
    /// One word that cannot wrap.
    Single,
}

impl CounterKind {
    /// Words that it takes.
    pub(super) fn words(self) -> u32 {
        match self {
            Self::Carried | Self::Halves => 2,
            Self::Single => 1,
        }
    }
}

/// Thirty-two truths of a lane, one for each iteration of a stretch of a loop, or only the lowest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bits {
    /// The lowest: a lane that runs the entry point has run it.
    One,
    /// Those of a variable.
    Var(Var),
    /// The iterations of this stretch that the lane has begun.
    Iterations(LoopId),
    /// Those of the first that the second lacks.
    AndNot(Box<Self>, Box<Self>),
}

impl Bits {
    /// Those of `self` that `other` lacks.
    pub(super) fn and_not(&self, other: &Self) -> Self {
        Self::AndNot(Box::new(self.clone()), Box::new(other.clone()))
    }
}

/// How the lanes' values become what is added to a counter at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// The sum over the subgroup.
    Sum,
    /// The greatest of the subgroup.
    Max,
    /// How many lanes have another value than zero.
    Lanes,
    /// One if a lane has another value than zero.
    Any,
}

/// A piece of counting.
#[derive(Clone, Debug)]
pub(super) enum CounterAction {
    /// Each lane notes that it was here: in which iteration of a stretch of a loop, else just that.
    Note(Var, Option<LoopId>),
    /// Each lane adds one to its variable.
    Step(Var),
    /// The lanes ask which lane is elected: executed counting, one issue and each its own lane.
    Executed {
        /// Executions: only the leader adds.
        executions: Var,
        /// Lanes: each adds.
        lanes: Var,
    },
    /// The leader adds to memory at once: counter `first` on. What it adds depends on the layout.
    Memory {
        /// The first of the block's counters.
        first: Item,
    },
    /// A loop that all its lanes leave together is done: what its variables count goes outside.
    Fold(LoopId),
}

/// What a loop's end, or the end of a stretch of it, hands on.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    /// [`Loop::bit`] is there: the iterations in which a lane executed the place. Else a variable that
    /// counts executions, the same for all the loop's lanes; it becomes zero.
    pub(super) from: Bits,
    /// Where executions by the subgroup are added: by the leader, or by all where the loop is
    /// entered once.
    pub(super) executions: Var,
    /// Where each lane's own are added.
    pub(super) lanes: Var,
}

/// A loop whose counts are handed on when it, or a stretch of it, is done.
#[derive(Clone, Debug, Default)]
pub(super) struct Loop {
    /// The loop runs in stretches of at most 32 iterations: the iteration at hand as a single bit, and after
    /// a stretch the bit behind the last iteration that the lane has begun.
    pub(super) bit: Option<Var>,
    /// The iteration in which the lane left by `break` or `return`.
    pub(super) left: Option<Var>,
    /// Variables that start from zero in each stretch.
    pub(super) notes: Vec<Var>,
    /// What is handed on.
    pub(super) folds: Vec<Fold>,
    /// Whether a subgroup enters it at most once.
    pub(super) once: bool,
}

/// The actions of a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Planned {
    /// Actions before each node, and a last entry for those at the end.
    pub(super) before: Vec<Vec<CounterAction>>,
    /// For each node its bodies: accept and reject, the cases, or body and continuing.
    pub(super) nested: Vec<Vec<Self>>,
    /// For each node that is a loop in stretches, which.
    pub(super) stretches: Vec<Option<LoopId>>,
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
            stretches: vec![None; body.nodes.len()],
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
    /// Executions and lanes are sums of counters.
    Sums {
        /// Executions.
        executions: Form,
        /// Lanes.
        lanes: Form,
    },
}

/// What is counted where.
#[derive(Clone, Debug, Default)]
pub(super) struct CounterPlan {
    /// How many private variables there are.
    pub(super) vars: usize,
    /// What is added to which counter at the end, and how.
    pub(super) flushed: Vec<(Bits, Reduction, Item)>,
    /// The counters.
    pub(super) items: Vec<CounterKind>,
    /// The first word of each counter, once [`CounterPlan::place`] has placed them.
    pub(super) words: Vec<u32>,
    /// Actions of each function, in the module's order.
    pub(super) functions: Vec<Planned>,
    /// Actions of the entry point.
    pub(super) entry_point: Planned,
    /// The loops that counting changes.
    pub(super) loops: Vec<Loop>,
    /// How each block is read, by number.
    pub(super) readings: Vec<Reading>,
    /// Whether any block's counts are derived: then the flush may count on reconvergence.
    pub(super) derived: bool,
    /// Whether so few invocations share a stripe that what is added at the end needs no carry.
    pub(super) light: bool,
}

impl CounterPlan {
    /// A new variable.
    pub(super) fn var(&mut self) -> Var {
        self.vars += 1;
        Var(self.vars - 1)
    }

    /// New counters that carry; gives the first.
    pub(super) fn counters(&mut self, count: u32) -> Item {
        let first = self.items.len();
        self.items.resize(first + count as usize, CounterKind::Carried);
        Item(u32::try_from(first).unwrap_or(u32::MAX))
    }

    /// A new counter to which something is added at the end.
    pub(super) fn flush(&mut self, value: Bits, reduction: Reduction) -> Item {
        let item = self.counters(1);
        if self.light {
            self.items[item.0 as usize] = match reduction {
                Reduction::Sum | Reduction::Max => CounterKind::Halves,
                Reduction::Lanes | Reduction::Any => CounterKind::Single,
            };
        }
        self.flushed.push((value, reduction, item));
        item
    }

    /// Gives each counter its words: first those that are added to at the end, in that order.
    pub(super) fn place(&mut self) {
        let mut next = 0;
        self.words = vec![u32::MAX; self.items.len()];
        let flushed = self.flushed.iter().map(|(_, _, item)| item.0 as usize);
        for item in flushed.chain(0..self.items.len()) {
            if self.words[item] == u32::MAX {
                self.words[item] = next;
                next += self.items[item].words();
            }
        }
    }

    /// The first word of a counter.
    pub(super) fn word(&self, item: Item) -> u32 {
        self.words[item.0 as usize]
    }

    /// Words that all counters take.
    pub(super) fn size(&self) -> u32 {
        self.items.iter().map(|kind| kind.words()).sum()
    }

    /// Executed counting of every block, in registers for at most `registers_max` blocks, those in
    /// the deepest loops, and the others in memory.
    ///
    /// What is in registers is added at the end in a loop, which a driver that leaves loops by itself may leave, too.
    /// The block that every invocation comes to first is added last: where its lanes are all there, so is the rest.
    pub(super) fn executed(program: &Program, registers_max: usize) -> Self {
        let blocks = program.blocks().len();
        let mut order: Vec<(u32, BlockId)> =
            loop_depths(program).into_iter().map(|(id, depth)| (depth, id)).collect();
        order.sort_by_key(|(depth, id)| (std::cmp::Reverse(*depth), *id));
        let first = program.first_block();
        if let Some(at) = order.iter().position(|(_, id)| Some(*id) == first) {
            let block = order.remove(at);
            // The last of those in registers.
            order.insert(order.len().min(registers_max.saturating_sub(1)), block);
        }
        let mut plan = Self::default();
        let mut acts: Vec<Option<CounterAction>> = vec![None; blocks];
        let form_of = |item| Form::from([(item, 1)]);
        let none = Reading::Sums { executions: Form::new(), lanes: Form::new() };
        plan.readings = vec![none; blocks];
        for (rank, (_, id)) in order.into_iter().enumerate() {
            let (act, executions, lanes) = if rank < registers_max {
                let (executions, lanes) = (plan.var(), plan.var());
                let mut sum = |var| plan.flush(Bits::Var(var), Reduction::Sum);
                let items = [sum(executions), sum(lanes)];
                (CounterAction::Executed { executions, lanes }, items[0], items[1])
            } else {
                let first = plan.counters(2);
                (CounterAction::Memory { first }, first, Item(first.0 + 1))
            };
            acts[id.index()] = Some(act);
            plan.readings[id.index()] =
                Reading::Sums { executions: form_of(executions), lanes: form_of(lanes) };
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
            acts.push(Some(CounterAction::Memory { first }));
            plan.readings.push(Reading::Bins { first, count: bins });
        }
        plan.each_block(program, &acts);
        plan
    }

    /// Puts an action before each block, by number.
    pub(super) fn each_block(&mut self, program: &Program, acts: &[Option<CounterAction>]) {
        fn fill(body: &Body, planned: &mut Planned, acts: &[Option<CounterAction>]) {
            for (index, node) in body.nodes.iter().enumerate() {
                if let Node::Straight(straight) = node {
                    planned.before[index].extend(acts[straight.block.index()].clone());
                }
                for (inner, planned) in node.bodies().zip(&mut planned.nested[index]) {
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
        self.place();
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
            for inner in node.bodies() {
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
