//! The one total match over naga's statements: what each does, said once.
//!
//! Input: a statement, or a block of naga's with all that is inside it. Output: the [`Effect`] of
//! each. A pass asks for the parts of an effect that it needs; the interpreter's compiler and the
//! CUDA back end alone list the statements again, since they make another thing of each
//! (`tests/architecture` finds who else does). A statement that is new in naga is a compile error
//! here. Nothing is changed, and nothing is worked out.
//! [`walk`](super::walk) goes over the trees of numbered blocks.

#![warn(clippy::wildcard_enum_match_arm)]

use std::fmt::Debug;

use naga::{
    AtomicFunction, Barrier, Block, Expression, Function, GatherMode, Handle, Range,
    RayPipelineFunction, RayQueryFunction, Statement, SwitchCase,
};

/// What one statement does.
#[derive(Clone, Debug, Default)]
pub struct Effect<'a> {
    /// The bodies that it holds, where it is control flow.
    pub control: Option<Control<'a>>,
    /// The expressions that it works out here, where it is an `Emit`.
    pub emits: Option<&'a Range<Expression>>,
    /// The expressions that it names, in naga's order, each as often as it is named: values that it
    /// takes and pointers that it goes through. Those that emitted expressions name are not among
    /// them, nor those of statements inside it.
    pub reads: Vec<Handle<Expression>>,
    /// The memory that it changes through a pointer of its own function.
    pub writes: Option<Write>,
    /// The function that it calls; through arguments that are pointers the callee may change more.
    pub calls: Option<Call<'a>>,
    /// The expression that is its result.
    pub result: Option<Handle<Expression>>,
    /// How the lanes that execute it leave.
    pub leaves: Option<Jump>,
    /// Whom its lanes meet.
    pub synchronises: Option<Meeting>,
}

impl Effect<'_> {
    /// The expressions that have a value once it is executed.
    pub fn defines(&self) -> impl Iterator<Item = Handle<Expression>> + use<> {
        self.emits.cloned().into_iter().flatten().chain(self.result)
    }
}

/// The bodies that a statement holds, and what chooses between them.
#[derive(Clone, Copy, Debug)]
pub enum Control<'a> {
    /// Statements in a scope of their own, executed once.
    Block(&'a Block),
    /// A two-way branch.
    If {
        /// The boolean that chooses.
        condition: Handle<Expression>,
        /// What the lanes with `true` run.
        accept: &'a Block,
        /// What the others run.
        reject: &'a Block,
    },
    /// A branch of many ways.
    Switch {
        /// The integer that chooses.
        selector: Handle<Expression>,
        /// The cases in the source's order.
        cases: &'a [SwitchCase],
    },
    /// A loop.
    Loop {
        /// The part in which `continue` may stand.
        body: &'a Block,
        /// The part that runs after it.
        continuing: &'a Block,
        /// Leaves the loop after `continuing` where true.
        break_if: Option<Handle<Expression>>,
    },
}

/// A change of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub pointer: Handle<Expression>,
    /// What.
    pub what: Written,
}

/// What stands in memory after a change of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A value.
    Value(Handle<Expression>),
    /// What an atomic operation made of the old value and its operand.
    Updated,
    /// Something that no expression names; the pointer may be held beyond the statement.
    Unknown,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The callee.
    pub function: Handle<Function>,
    /// Its arguments.
    pub arguments: &'a [Handle<Expression>],
}

/// A statement by which lanes leave a body before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// Out of the loop or switch around.
    Break,
    /// To the `continuing` of the loop around.
    Continue,
    /// Out of the function, with its result.
    Return(Option<Handle<Expression>>),
    /// Out of the program; no compute shader has it.
    Kill,
}

/// Lanes that meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// A barrier at which lanes wait for those of the workgroup or of the subgroup.
    Barrier(Barrier),
    /// A barrier that orders memory and at which nobody waits.
    MemoryOrder(Barrier),
    /// `workgroupUniformLoad`: a load between two barriers of the workgroup.
    UniformLoad,
    /// A subgroup operation: the active lanes of a subgroup exchange values.
    Subgroup,
}

/// What a statement does.
pub fn effect(statement: &Statement) -> Effect<'_> {
    use Statement as S;
    let none = Effect::default();
    match *statement {
        S::Emit(ref range) => Effect { emits: Some(range), ..none },
        S::Block(ref block) => Effect { control: Some(Control::Block(block)), ..none },
        S::If { condition, ref accept, ref reject } => {
            let control = Some(Control::If { condition, accept, reject });
            Effect { control, reads: vec![condition], ..none }
        }
        S::Switch { selector, ref cases } => {
            let control = Some(Control::Switch { selector, cases });
            Effect { control, reads: vec![selector], ..none }
        }
        S::Loop { ref body, ref continuing, break_if } => {
            let control = Some(Control::Loop { body, continuing, break_if });
            Effect { control, reads: Vec::from_iter(break_if), ..none }
        }
        S::Break => Effect { leaves: Some(Jump::Break), ..none },
        S::Continue => Effect { leaves: Some(Jump::Continue), ..none },
        S::Return { value } => {
            Effect { leaves: Some(Jump::Return(value)), reads: Vec::from_iter(value), ..none }
        }
        S::Kill => Effect { leaves: Some(Jump::Kill), ..none },
        S::ControlBarrier(flags) => meets(Meeting::Barrier(flags)),
        S::MemoryBarrier(flags) => meets(Meeting::MemoryOrder(flags)),
        S::Store { pointer, value } => {
            let writes = Some(Write { pointer, what: Written::Value(value) });
            Effect { writes, reads: vec![pointer, value], ..none }
        }
        S::ImageStore { image, coordinate, array_index, value } => {
            let at = [image, coordinate].into_iter().chain(array_index);
            Effect { reads: at.chain([value]).collect(), ..none }
        }
        S::Atomic { pointer, ref fun, value, result } => {
            let writes = Some(Write { pointer, what: Written::Updated });
            let reads = [pointer, value].into_iter().chain(compared_value(fun)).collect();
            Effect { writes, reads, result, ..none }
        }
        S::ImageAtomic { image, coordinate, array_index, ref fun, value } => {
            let at = [image, coordinate].into_iter().chain(array_index);
            Effect { reads: at.chain([value]).chain(compared_value(fun)).collect(), ..none }
        }
        S::WorkGroupUniformLoad { pointer, result } => {
            Effect { reads: vec![pointer], result: Some(result), ..meets(Meeting::UniformLoad) }
        }
        S::Call { function, ref arguments, result } => {
            let calls = Some(Call { function, arguments });
            Effect { calls, reads: arguments.clone(), result, ..none }
        }
        S::RayQuery { query, ref fun } => ray_query(query, fun),
        S::RayPipelineFunction(RayPipelineFunction::TraceRay {
            acceleration_structure,
            descriptor,
            payload,
        }) => Effect {
            reads: vec![acceleration_structure, descriptor, payload],
            ..hands_over(payload)
        },
        S::SubgroupBallot { result, predicate } => exchange(Vec::from_iter(predicate), result),
        S::SubgroupGather { mode, argument, result } => {
            exchange([argument].into_iter().chain(index_of(mode)).collect(), result)
        }
        S::SubgroupCollectiveOperation { op: _, collective_op: _, argument, result } => {
            exchange(vec![argument], result)
        }
        S::CooperativeStore { target, ref data } => {
            Effect { reads: vec![target, data.pointer, data.stride], ..hands_over(data.pointer) }
        }
    }
}

/// What naga calls the form of a statement or an expression, for messages: `Kill`, `Derivative`.
pub fn form_name(form: &impl Debug) -> String {
    let text = format!("{form:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

fn meets(meeting: Meeting) -> Effect<'static> {
    Effect { synchronises: Some(meeting), ..Effect::default() }
}

/// A subgroup operation on some values.
fn exchange(reads: Vec<Handle<Expression>>, result: Handle<Expression>) -> Effect<'static> {
    Effect { reads, result: Some(result), ..meets(Meeting::Subgroup) }
}

/// A pointer that goes somewhere where it is not followed.
fn hands_over(pointer: Handle<Expression>) -> Effect<'static> {
    Effect { writes: Some(Write { pointer, what: Written::Unknown }), ..Effect::default() }
}

fn ray_query(query: Handle<Expression>, fun: &RayQueryFunction) -> Effect<'static> {
    let (taken, result) = match *fun {
        RayQueryFunction::Initialize { acceleration_structure, descriptor } => {
            (vec![query, acceleration_structure, descriptor], None)
        }
        RayQueryFunction::Proceed { result } => (vec![query], Some(result)),
        RayQueryFunction::GenerateIntersection { hit_t } => (vec![query, hit_t], None),
        RayQueryFunction::ConfirmIntersection | RayQueryFunction::Terminate => (vec![query], None),
    };
    Effect { reads: taken, result, ..hands_over(query) }
}

/// What an atomic operation compares with.
fn compared_value(fun: &AtomicFunction) -> Option<Handle<Expression>> {
    match *fun {
        AtomicFunction::Exchange { compare } => compare,
        AtomicFunction::Add
        | AtomicFunction::Subtract
        | AtomicFunction::And
        | AtomicFunction::ExclusiveOr
        | AtomicFunction::InclusiveOr
        | AtomicFunction::Min
        | AtomicFunction::Max => None,
    }
}

/// The lane, or distance between lanes, that a value is fetched over.
fn index_of(mode: GatherMode) -> Option<Handle<Expression>> {
    match mode {
        GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => None,
        GatherMode::Broadcast(index)
        | GatherMode::Shuffle(index)
        | GatherMode::ShuffleDown(index)
        | GatherMode::ShuffleUp(index)
        | GatherMode::ShuffleXor(index)
        | GatherMode::QuadBroadcast(index) => Some(index),
    }
}

/// Shows the effect of every statement of a block of naga's, those inside others after them.
pub fn for_each_effect(block: &Block, see: &mut dyn FnMut(&Effect<'_>)) {
    for statement in block {
        let effect = effect(statement);
        see(&effect);
        match effect.control {
            None => {}
            Some(Control::Block(inner)) => for_each_effect(inner, see),
            Some(Control::If { accept, reject, .. }) => {
                for_each_effect(accept, see);
                for_each_effect(reject, see);
            }
            Some(Control::Switch { cases, .. }) => {
                cases.iter().for_each(|case| for_each_effect(&case.body, see));
            }
            Some(Control::Loop { body, continuing, .. }) => {
                for_each_effect(body, see);
                for_each_effect(continuing, see);
            }
        }
    }
}
