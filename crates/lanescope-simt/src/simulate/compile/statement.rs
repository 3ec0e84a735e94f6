//! Statements that are no control flow.
//!
//! Input: a statement of a basic block. Output: its instructions. Each subgroup operation, atomic
//! and barrier is compiled here.

use naga::{
    AtomicFunction, Barrier, CollectiveOperation, Direction, Expression, Function, GatherMode,
    Handle, ScalarKind, Statement, SubgroupOperation, TypeInner,
};

use super::scalars::{Fold, fold};
use super::shape::PlaceRoot;
use super::{CodeBuilder, CompiledFunction, Result, Value, VariablePlace, index};
use crate::program::operands::of_statement;
use crate::program::visit::form_name;
use crate::program::{Body, Node};
use crate::simulate::op::{AtomicOp, Change, Combination, Op, Reg, Scan, Shuffle, Touch};
use crate::simulate::scalar;

impl<'a> CodeBuilder<'a> {
    pub(super) fn statement(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        statement: &Statement,
    ) -> Result<()> {
        match *statement {
            Statement::Emit(ref range) => {
                for handle in range.clone() {
                    self.emit(frame, handle)?;
                }
                Ok(())
            }
            Statement::Break => {
                let slot = frame.breaks.last().copied();
                self.leave(frame, slot)
            }
            Statement::Continue => {
                let slot = frame.continues.last().copied();
                self.leave(frame, slot)
            }
            Statement::Return { value } => self.return_from(frame, value),
            Statement::Store { pointer, value } => self.store(frame, pointer, value),
            Statement::Call { function, ref arguments, result } => {
                self.call(frame, function, arguments, result)
            }
            Statement::ControlBarrier(flags) => self.barrier(frame, flags),
            // Accesses happen in program order already, and nothing is cached.
            Statement::MemoryBarrier(_) => Ok(()),
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.uniform_load(frame, pointer, result)
            }
            Statement::Atomic { pointer, fun, value, result } => {
                self.atomic(frame, pointer, fun, value, result)
            }
            Statement::SubgroupBallot { result, predicate } => {
                let predicate = match predicate {
                    Some(predicate) => self.slots(frame, predicate)?[0],
                    None => self.word(1)?,
                };
                let dst = self.fresh(4)?;
                self.push(Op::Ballot { dst, predicate })?;
                self.define(frame, result, (dst..dst + 4).collect());
                Ok(())
            }
            Statement::SubgroupGather { mode, argument, result } => {
                self.gather(frame, mode, argument, result)
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.collective(frame, op, collective_op, argument, result)
            }
            Statement::ImageStore { image, coordinate, array_index, value } => {
                self.texture_store(frame, image, (coordinate, array_index), value)
            }
            Statement::ImageAtomic { image, coordinate, array_index, fun, value } => {
                self.texture_atomic(frame, image, (coordinate, array_index), fun, value)
            }
            Statement::Kill
            | Statement::Block(_)
            | Statement::If { .. }
            | Statement::Switch { .. }
            | Statement::Loop { .. }
            | Statement::RayQuery { .. }
            | Statement::RayPipelineFunction(_)
            | Statement::CooperativeStore { .. } => {
                let name = form_name(statement);
                Err(self.unsupported(format!("the statement {name}"), frame.span))
            }
        }
    }

    /// Says what an expression's registers are.
    pub(super) fn define(
        &self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
        slots: Vec<Reg>,
    ) {
        if slots.iter().any(|&slot| self.variable[usize::from(slot)]) {
            frame.aliases.push(handle);
        }
        frame.values[handle.index()] = Some(Value::Slots(slots));
    }

    fn store(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    ) -> Result<()> {
        let place = self.place(frame, pointer)?;
        let mut value = self.slots(frame, value)?;
        let span = frame.span;
        match (place.root, place.dynamic) {
            (PlaceRoot::Registers(_), None) => {
                let targets = self.load(&place, span)?;
                let touched = |slot: Reg| targets.contains(&slot);
                self.settle_those(frame, touched)?;
                if value.iter().any(|slot| targets.contains(slot)) {
                    // `v = v.yx`: read everything before writing anything.
                    value = self.copy_variables(value)?;
                }
                for (register, source) in targets.into_iter().zip(value) {
                    self.push(Op::Store(register, source))?;
                }
                Ok(())
            }
            (PlaceRoot::Registers(_), Some(_)) => {
                let inner = self.inner(place.shape);
                let _ = inner;
                self.settle(frame)?;
                self.write(&place, &value, span)
            }
            (PlaceRoot::Memory(_), _) => self.write(&place, &value, span),
        }
    }

    // Barriers

    fn barrier(&mut self, frame: &mut CompiledFunction<'a>, flags: Barrier) -> Result<()> {
        let site = self.site(frame.span);
        let workgroup = flags.contains(Barrier::WORK_GROUP);
        let storage = flags.contains(Barrier::STORAGE);
        if flags == Barrier::SUB_GROUP {
            // The lanes of a strand go together anyway, and a barrier orders no other strand's. By
            // WGSL's words it orders both memories.
            return self.push(Op::SubgroupBarrier { site, workgroup: true, storage: true });
        }
        self.barriers = true;
        self.push(Op::Barrier { site, workgroup, storage })
    }

    fn uniform_load(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        pointer: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let place = self.place(frame, pointer)?;
        let site = self.site(frame.span);
        self.barriers = true;
        let barrier = Op::Barrier { site, workgroup: true, storage: false };
        self.push(barrier)?;
        if let Some(offset) = place.dynamic {
            let key = index(self.ops.len());
            self.push(Op::CheckUniform { offset, key, site })?;
        }
        let follow = self.follow(frame, result, frame.span)?;
        let value = self.load_followed(&place, frame.span, follow)?;
        self.push(barrier)?;
        self.define(frame, result, value);
        Ok(())
    }

    // Atomics

    fn atomic(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        pointer: Handle<Expression>,
        fun: AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let place = self.place(frame, pointer)?;
        let TypeInner::Atomic(scalar) = self.inner(place.shape) else {
            return Err(self.unsupported("an atomic operation on no atomic".into(), frame.span));
        };
        let value = self.slots(frame, value)?[0];
        let mut compare = None;
        if let AtomicFunction::Exchange { compare: Some(expected) } = fun {
            compare = Some(self.slots(frame, expected)?[0]);
        }
        let change = self.change(frame, fun, scalar)?;
        let (mut at, dynamic) = self.atomic_at(&place, frame.span)?;
        let used = result.is_some_and(|result| frame.uses[result.index()] > 0);
        let touch = if used { Touch::Write } else { touch(fun, scalar) };
        let combination = combination(fun, scalar);
        let mut old = None;
        if let Some(result) = result {
            at.follow = self.follow(frame, result, frame.span)?;
            let count = usize::from(scalar.width == 8) + 1 + usize::from(compare.is_some());
            let first = self.fresh(count)?;
            self.define(frame, result, (first..).take(count).collect());
            old = Some(first);
        }
        self.atomics.push(AtomicOp { at, change, value, compare, result: old, touch, combination });
        let with = index(self.atomics.len() - 1);
        self.push(Op::Atomic { dynamic, with })
    }

    pub(super) fn change(
        &self,
        frame: &CompiledFunction<'a>,
        fun: AtomicFunction,
        scalar: naga::Scalar,
    ) -> Result<Change> {
        let operation = match fun {
            AtomicFunction::Add => SubgroupOperation::Add,
            AtomicFunction::And => SubgroupOperation::And,
            AtomicFunction::ExclusiveOr => SubgroupOperation::Xor,
            AtomicFunction::InclusiveOr => SubgroupOperation::Or,
            AtomicFunction::Min => SubgroupOperation::Min,
            AtomicFunction::Max => SubgroupOperation::Max,
            AtomicFunction::Exchange { .. } if scalar.width == 8 => {
                return Ok(Change::Wide(scalar::long_second));
            }
            AtomicFunction::Exchange { .. } => return Ok(Change::Word(scalar::second)),
            AtomicFunction::Subtract => {
                return Ok(match (scalar.kind, scalar.width) {
                    (ScalarKind::Float, 8) => Change::Wide(scalar::double::sub),
                    (ScalarKind::Float, _) => Change::Word(scalar::single::sub),
                    (_, 8) => Change::Wide(scalar::long_sub),
                    _ => Change::Word(scalar::sub),
                });
            }
        };
        match fold(operation, scalar) {
            Some(Fold::Word(f, _)) => Ok(Change::Word(f)),
            Some(Fold::Wide(f, _)) => Ok(Change::Wide(f)),
            None => Err(self.unsupported(format!("atomic {fun:?} of {scalar:?}"), frame.span)),
        }
    }

    // Subgroup operations

    fn gather(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        mode: GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let value = self.slots(frame, argument)?;
        let (mode, index) = match mode {
            GatherMode::BroadcastFirst => (Shuffle::First, self.word(0)?),
            GatherMode::Broadcast(index) | GatherMode::Shuffle(index) => {
                (Shuffle::Lane, self.slots(frame, index)?[0])
            }
            GatherMode::ShuffleDown(delta) => (Shuffle::Down, self.slots(frame, delta)?[0]),
            GatherMode::ShuffleUp(delta) => (Shuffle::Up, self.slots(frame, delta)?[0]),
            GatherMode::ShuffleXor(mask) => (Shuffle::Xor, self.slots(frame, mask)?[0]),
            GatherMode::QuadBroadcast(index) => (Shuffle::Quad, self.slots(frame, index)?[0]),
            GatherMode::QuadSwap(direction) => {
                let mask = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                (Shuffle::Xor, self.word(mask)?)
            }
        };
        let src = self.in_a_row(&value)?;
        let dst = self.fresh(value.len())?;
        let count = u16::try_from(value.len()).unwrap_or(u16::MAX);
        let site = self.site(frame.span);
        self.push(Op::Shuffle { mode, dst, src, index, count, site })?;
        self.define(frame, result, (dst..dst + count).collect());
        Ok(())
    }

    fn collective(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        operation: SubgroupOperation,
        scan: CollectiveOperation,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let scalar = self.scalar_type(frame, argument)?;
        let value = self.slots(frame, argument)?;
        let scan = match scan {
            CollectiveOperation::Reduce => Scan::Reduce,
            CollectiveOperation::InclusiveScan => Scan::Inclusive,
            CollectiveOperation::ExclusiveScan => Scan::Exclusive,
        };
        let mut slots = Vec::new();
        match fold(operation, scalar) {
            Some(Fold::Word(fold, identity)) => {
                let identity = self.word(identity)?;
                for src in value {
                    let dst = self.fresh(1)?;
                    self.push(Op::Collective { fold, dst, src, identity, scan })?;
                    slots.push(dst);
                }
            }
            Some(Fold::Wide(fold, identity)) => {
                let identity = self.wide(identity)?[0];
                for pair in value.chunks(2) {
                    let (src, dst) = (pair[0], self.fresh(2)?);
                    self.push(Op::CollectiveWide { fold, dst, src, identity, scan })?;
                    slots.extend([dst, dst + 1]);
                }
            }
            None => {
                let what = format!("subgroup {operation:?} of {scalar:?}");
                return Err(self.unsupported(what, frame.span));
            }
        }
        self.define(frame, result, slots);
        Ok(())
    }

    /// The place that a pointer expression names.
    pub(super) fn place(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<VariablePlace> {
        let value = self.value(frame, handle)?;
        self.note_use(frame, handle);
        match value {
            Value::Place(place) => Ok(place),
            Value::Slots(_) | Value::Texture(_) | Value::Sampler(_) => {
                Err(self.unsupported("a value used as a pointer".to_owned(), frame.span))
            }
        }
    }
}

/// What an atomic operation whose old value nobody uses does with its word.
pub(super) fn touch(fun: AtomicFunction, scalar: naga::Scalar) -> Touch {
    match combination(fun, scalar) {
        Combination::Commutes(number) => Touch::Joint(number),
        Combination::Overwrites | Combination::Compares | Combination::Rounds => Touch::Write,
    }
}

/// What several atomic operations on one word leave in it.
fn combination(fun: AtomicFunction, scalar: naga::Scalar) -> Combination {
    match fun {
        AtomicFunction::Exchange { compare: None } => Combination::Overwrites,
        AtomicFunction::Exchange { compare: Some(_) } => Combination::Compares,
        // Sums of floats round by their order.
        _ if scalar.kind == ScalarKind::Float => Combination::Rounds,
        AtomicFunction::Add | AtomicFunction::Subtract => Combination::Commutes(0),
        AtomicFunction::And => Combination::Commutes(1),
        AtomicFunction::ExclusiveOr => Combination::Commutes(2),
        AtomicFunction::InclusiveOr => Combination::Commutes(3),
        AtomicFunction::Min => Combination::Commutes(4),
        AtomicFunction::Max => Combination::Commutes(5),
    }
}

/// How often each expression of a function is used, by what is executed.
pub(super) fn count_uses(function: &Function, body: &Body) -> Vec<u32> {
    let mut uses = vec![0; function.expressions.len()];
    body_uses(function, body, &mut |handle| uses[handle.index()] += 1);
    uses
}

fn body_uses(function: &Function, body: &Body, seen: &mut dyn FnMut(Handle<Expression>)) {
    for node in &body.nodes {
        match *node {
            Node::Straight(ref straight) => {
                for (statement, _) in &straight.statements {
                    of_statement(&function.expressions, statement, seen);
                }
            }
            Node::If { condition, ref accept, ref reject, .. } => {
                seen(condition);
                body_uses(function, accept, seen);
                body_uses(function, reject, seen);
            }
            Node::Switch { selector, ref cases, .. } => {
                seen(selector);
                for case in cases {
                    body_uses(function, &case.body, seen);
                }
            }
            Node::Loop { ref body, ref continuing, break_if, .. } => {
                body_uses(function, body, seen);
                body_uses(function, continuing, seen);
                break_if.into_iter().for_each(&mut *seen);
            }
        }
    }
}
