//! Derived counting: few counters, from which every block's executions and lanes follow.
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
//! must be brought together in each iteration for it. What "when" means depends on the place ([`ClassFlow`]):
//!
//! - [`ClassFlow::Once`]: a subgroup comes here at most once, so a lane notes that it was here, a bit. At
//!   the end the lanes with the bit are the block's lanes, and one issue if there are any. All of an
//!   entry point outside loops is like that, arms of branches included.
//! - [`ClassFlow::Iteration`]: a subgroup comes here at most once in each iteration of a loop. A lane has a bit for
//!   each of 32 iterations and sets the one at hand: one operation where the lane is, none elsewhere. The
//!   loop runs in *stretches* of at most 32 iterations, and lanes that leave it wait for the others at
//!   the end of the stretch. There the bits of all lanes are joined: as many as are set in any lane
//!   are the executions. A lane that returns leaves as one that breaks does, and returns outside.
//! - [`ClassFlow::Uniform`]: all lanes that enter a loop take the same way through it, as the text alone
//!   shows ([`uniformity`](crate::program::uniformity)). A lane counts its own visits, and any lane's
//!   count is the executions. A constant trip count ([`trips`](crate::program::trips)) is not even
//!   counted.
//! - [`ClassFlow::Elected`]: none of these. The lanes ask which lane is elected, which is executed counting: branches
//!   of loops with barriers (stretches would move the barrier into flow that a compiler takes for
//!   divergent), and functions that are called from several places in loops.
//!
//! Blocks between which no lane can leave share counts. What goes to `else` is what came, less what
//! went to the `if`, iteration by iteration. The head of a loop runs once for each entry and once for each
//! iteration that came to its end. A function's body starts as often as its calls are executed.
//!
//! # Registers and memory
//!
//! A place in a loop takes three private variables, another one or two. When a shader has more than
//! fit, blocks outside loops count in memory, where the leader adds to the buffer at once; if that
//! is not enough, so do the last in the text.

mod shape;
mod walk;

use std::collections::BTreeMap;

use super::plan::{
    Bits, CounterAction, CounterPlan, Fold, Form, Item, Loop, LoopId, Planned, Reading, Reduction,
};
use crate::program::{Body, Program};
use shape::{ProgramShape, call_sites};

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
    /// At most once in each iteration of a loop.
    Iteration(LoopId),
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
    executions: CountSource,
    lanes: CountSource,
    /// Which lanes were there: once, or in each iteration of a loop.
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
        iterations: Option<u32>,
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
    shape: ProgramShape,
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
            shape: ProgramShape::new(program),
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
        let (mut executions, mut lanes) = (Form::new(), Form::new());
        if let Some(class) = self.blocks[block] {
            self.expand(class, true, 1, &mut executions);
            self.expand(class, false, 1, &mut lanes);
        }
        executions.retain(|_, factor| *factor != 0);
        lanes.retain(|_, factor| *factor != 0);
        Reading::Sums { executions, lanes }
    }

    /// Adds `factor` times a class's counts to a form.
    fn expand(&mut self, class: Class, executions: bool, factor: i64, form: &mut Form) {
        // Only here are bits turned into counters: a class that no block's counts need costs nothing.
        let known = &self.classes[class.0];
        let source = if executions { &known.executions } else { &known.lanes };
        match source.clone() {
            CountSource::Bits => {
                let Some((bits, level)) = known.bits.clone() else { return };
                let (of_executions, of_lanes) = self.count_bits(bits, level);
                *form.entry(if executions { of_executions } else { of_lanes }).or_default() +=
                    factor;
            }
            CountSource::Counter(item) => *form.entry(item).or_default() += factor,
            CountSource::Classes(parts) => {
                for (part, times) in parts {
                    self.expand(part, executions, factor * times, form);
                }
            }
        }
    }

    /// The counters of executions and lanes of bits.
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
                let (executions, lanes) = (self.plan.var(), self.plan.var());
                let around = &mut self.plan.loops[id.0];
                around.folds.push(Fold { from: bits.clone(), executions, lanes });
                // Where all add, all have the same.
                let reduction = if around.once { Reduction::Max } else { Reduction::Sum };
                (
                    self.plan.flush(Bits::Var(executions), reduction),
                    self.plan.flush(Bits::Var(lanes), Reduction::Sum),
                )
            }
        };
        self.counters.insert((bits, level), counters);
        counters
    }

    fn class(
        &mut self,
        executions: CountSource,
        lanes: CountSource,
        bits: Option<(Bits, Option<LoopId>)>,
    ) -> Class {
        self.classes.push(Known { executions, lanes, bits });
        Class(self.classes.len() - 1)
    }

    /// A class of known bits.
    fn of_bits(&mut self, bits: Bits, level: Option<LoopId>) -> Class {
        // Bits of a loop's iterations are folded into two counters, when somebody asks for them.
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
            ClassFlow::Iteration(_) | ClassFlow::Uniform(_) => 3,
            ClassFlow::Elected => 2,
        };
        if self.full(takes) || (self.once_in_memory && flow == ClassFlow::Once) {
            let first = self.plan.counters(2);
            acts.push(CounterAction::Memory { first });
            let (executions, lanes) = (first, Item(first.0 + 1));
            return self.class(CountSource::Counter(executions), CountSource::Counter(lanes), None);
        }
        let var = self.plan.var();
        let (executions, lanes) = match flow {
            ClassFlow::Once => {
                acts.push(CounterAction::Note(var, None));
                return self.of_bits(Bits::Var(var), None);
            }
            ClassFlow::Iteration(id) => {
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
                acts.push(CounterAction::Executed { executions: var, lanes });
                (
                    self.plan.flush(Bits::Var(var), Reduction::Sum),
                    self.plan.flush(Bits::Var(lanes), Reduction::Sum),
                )
            }
        };
        self.class(CountSource::Counter(executions), CountSource::Counter(lanes), None)
    }

    /// The class of those that came with `front` and are not in `others`, if it follows.
    fn rest(&mut self, front: Class, others: &[Class], flow: ClassFlow) -> Option<Class> {
        match flow {
            ClassFlow::Once | ClassFlow::Iteration(_) => {
                let (mut bits, level) = self.classes[front.0].bits.clone()?;
                for other in others {
                    let (less, owner) = self.classes[other.0].bits.as_ref()?;
                    // Iterations of another loop are no iterations of this one.
                    if *owner != level {
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

    fn new_loop(&mut self, new: Loop) -> LoopId {
        self.plan.loops.push(new);
        LoopId(self.plan.loops.len() - 1)
    }
}
