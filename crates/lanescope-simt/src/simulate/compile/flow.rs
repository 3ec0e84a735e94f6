//! Control flow: bodies, branches, loops, switches and calls.
//!
//! Input: the trees of `program::structure`. Output: instructions that move lanes between the
//! active mask and mask slots. The structure is static, so each construct has slots of its own and
//! there is no stack at run time. Invariant: code is reached with at least one active lane, or at a
//! label where waiting lanes join; where none is left it jumps to the exit of its body.

use naga::{Expression, Function, Handle, Span, SwitchValue};

use super::statement::count_uses;
use super::{
    CALLS_MAX, CodeBuilder, CompiledFunction, Fixed, Limit, Result, Returns, Value, VariablePlace,
    index,
};
use crate::program::visit::Jump;
use crate::program::walk::for_each_block;
use crate::program::{Body, Case, Location, Node, Straight};
use crate::simulate::op::{Op, Reg, Slot};
use crate::units::BlockId;

impl<'a> CodeBuilder<'a> {
    /// Compiles the entry point.
    pub(super) fn entry_point(&mut self) -> Result<()> {
        let program = self.program;
        let function = &program.entry_point().function;
        let body = &program.structure().entry_point;
        let mut arguments = Vec::new();
        for argument in &function.arguments {
            arguments.push(Value::Slots(self.entry_argument(argument)?));
        }
        let info = program.info().get_entry_point(0);
        let number = program.structure().functions.len();
        let name = &program.entry_point().name;
        let entered = self.called.enter(number, name, Location { line: 1, column: 1 });
        self.inline((function, number), info, body, arguments, Vec::new())?;
        self.called.leave(entered);
        self.push(Op::End)
    }

    /// The registers of an entry point's argument: built-in values, in a structure perhaps.
    fn entry_argument(&mut self, argument: &naga::FunctionArgument) -> Result<Vec<Reg>> {
        let mut parts = Vec::new();
        let types = &self.module.types;
        match (&argument.binding, &types[argument.ty].inner) {
            (&None, naga::TypeInner::Struct { members, .. }) => {
                parts.extend(members.iter().map(|member| (member.ty, &member.binding)));
            }
            (binding, _) => parts.push((argument.ty, binding)),
        }
        let mut registers = Vec::new();
        for (ty, binding) in parts {
            let &Some(naga::Binding::BuiltIn(builtin)) = binding else {
                return Err(self.unsupported("an argument with a location".into(), Span::UNDEFINED));
            };
            let count = self.slots_of(&types[ty].inner, Span::UNDEFINED)?;
            for component in 0..count {
                let component = u8::try_from(component).unwrap_or(u8::MAX);
                if !crate::simulate::schedule::knows(builtin) {
                    let what = format!("the built-in value {builtin:?}");
                    return Err(self.unsupported(what, Span::UNDEFINED));
                }
                registers.push(self.fixed_register(Fixed::Builtin(builtin, component))?);
            }
        }
        Ok(registers)
    }

    /// Compiles a function's body where it is called.
    fn inline(
        &mut self,
        (function, number): (&'a Function, usize),
        info: &'a naga::valid::FunctionInfo,
        body: &Body,
        arguments: Vec<Value>,
        result: Vec<Reg>,
    ) -> Result<()> {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            return Err(self.limit(Limit::Calls { max: CALLS_MAX }));
        }
        let slots = self.slots;
        let exit = self.label();
        let returns = if returns_last(body) {
            Returns::Last
        } else {
            let slot = self.slot()?;
            self.push(Op::Clear { slot })?;
            Returns::Slot(slot)
        };
        let mut frame = CompiledFunction {
            function,
            number,
            info,
            values: vec![None; function.expressions.len()],
            uses: count_uses(function, body),
            aliases: Vec::new(),
            locals: Vec::new(),
            arguments,
            result,
            returns,
            breaks: Vec::new(),
            continues: Vec::new(),
            span: Span::UNDEFINED,
            exit,
        };
        self.locals(&mut frame)?;
        self.body(&mut frame, body)?;
        self.place_label(exit);
        if let Returns::Slot(slot) = returns {
            // Every lane that came in has returned by here, so nobody jumps.
            let target = self.label();
            self.push(Op::Join { slot, target })?;
            self.place_label(target);
        }
        self.slots = slots;
        self.calls -= 1;
        Ok(())
    }

    /// Gives local variables registers and their first values.
    fn locals(&mut self, frame: &mut CompiledFunction<'a>) -> Result<()> {
        for (handle, local) in frame.function.local_variables.iter() {
            let span = frame.function.local_variables.get_span(handle);
            let place = self.variable(local.ty, span)?;
            let base = self.load(&place, span)?;
            frame.locals.push(place);
            match local.init {
                None => {
                    if let Some(&first) = base.first() {
                        self.initialise(first, local.ty, span)?;
                    }
                }
                Some(init) => {
                    let value = self.constant(&frame.function.expressions, init, span)?;
                    for (register, source) in base.into_iter().zip(value) {
                        self.push(Op::Copy(register, source))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Compiles a body whose temporaries end with it.
    fn body(&mut self, frame: &mut CompiledFunction<'a>, body: &Body) -> Result<()> {
        let (top, slots, aliases) = (self.top, self.slots, frame.aliases.len());
        self.nodes(frame, body)?;
        self.top = top;
        self.slots = slots;
        frame.aliases.truncate(aliases);
        Ok(())
    }

    fn nodes(&mut self, frame: &mut CompiledFunction<'a>, body: &Body) -> Result<()> {
        for node in &body.nodes {
            match node {
                Node::Straight(straight) => self.straight(frame, straight)?,
                Node::If { condition, accept, reject, span } => {
                    frame.span = *span;
                    self.branch(frame, *condition, accept, reject)?;
                }
                Node::Switch { selector, cases, span } => {
                    frame.span = *span;
                    self.switch(frame, *selector, cases)?;
                }
                Node::Loop { body, continuing, break_if, span } => {
                    frame.span = *span;
                    self.repeat(frame, body, continuing, *break_if, *span)?;
                }
            }
        }
        Ok(())
    }

    /// Compiles a body with another exit.
    fn body_to(&mut self, frame: &mut CompiledFunction<'a>, body: &Body, exit: u32) -> Result<()> {
        let outer = std::mem::replace(&mut frame.exit, exit);
        self.body(frame, body)?;
        frame.exit = outer;
        Ok(())
    }

    // If

    fn branch(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        condition: Handle<Expression>,
        accept: &Body,
        reject: &Body,
    ) -> Result<()> {
        let condition = self.slots(frame, condition)?[0];
        self.settle(frame)?;
        let exit = frame.exit;
        let alone = match (lone_break(accept), lone_break(reject)) {
            (Some(block), None) if reject.nodes.is_empty() => Some((block, false)),
            (None, Some(block)) if accept.nodes.is_empty() => Some((block, true)),
            _ => None,
        };
        if let (Some((block, invert)), Some(&slot)) = (alone, frame.breaks.last()) {
            let copy = self.called.copy(block);
            return self.push(Op::BreakIf { condition, slot, invert, copy, target: exit });
        }
        let invert = accept.nodes.is_empty();
        let splits = self.loops > 0;
        let (first, second) = if invert { (reject, None) } else { (accept, Some(reject)) };
        let second = second.filter(|body| !body.nodes.is_empty());
        if first.nodes.is_empty() {
            return Ok(());
        }
        if let Some(postponed) = self.postponed.filter(|_| self.gathers)
            && let Some(accepted) = is_accepting(accept, reject, postponed.arm)
        {
            let invert = accepted == postponed.others;
            self.push(Op::Postpone { condition, invert })?;
        }
        let slots = self.slots;
        let slot = self.slot()?;
        let join = self.label();
        match second {
            None => {
                self.push(Op::If { condition, slot, invert, splits, target: join })?;
                self.body_to(frame, first, join)?;
            }
            Some(second) => {
                let other = self.label();
                self.push(Op::If { condition, slot, invert, splits, target: other })?;
                self.body_to(frame, first, other)?;
                self.place_label(other);
                self.push(Op::Else { slot, target: join })?;
                self.body_to(frame, second, join)?;
            }
        }
        self.place_label(join);
        self.push(Op::Join { slot, target: exit })?;
        self.slots = slots;
        Ok(())
    }

    // Switch

    fn switch(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        selector: Handle<Expression>,
        cases: &[Case],
    ) -> Result<()> {
        let selector = self.slots(frame, selector)?[0];
        self.settle(frame)?;
        let slots = self.slots;
        let (rest, exits) = (self.slot()?, self.slot()?);
        self.push(Op::Switch { rest, exits })?;
        // Empty cases that fall through share the arm of what follows.
        let mut arms = Vec::new();
        let mut arm: Option<Slot> = None;
        for case in cases {
            let slot = match arm {
                Some(slot) => slot,
                None => {
                    let slot = self.slot()?;
                    self.push(Op::Clear { slot })?;
                    slot
                }
            };
            arms.push(slot);
            arm = (case.body.nodes.is_empty() && case.fall_through).then_some(slot);
        }
        self.select(selector, cases, &arms, rest)?;
        if self.loops > 0
            && let (Some(&first), Some(&last)) = (arms.first(), arms.last())
        {
            self.push(Op::SwitchSplit { first, arms: last - first + 1 })?;
        }
        frame.breaks.push(exits);
        let end = self.label();
        let mut labels: Vec<u32> = cases.iter().map(|_| self.label()).collect();
        labels.push(end);
        for (number, case) in cases.iter().enumerate() {
            let (label, next) = (labels[number], labels[number + 1]);
            self.place_label(label);
            let shared = arms.get(number + 1) == Some(&arms[number]);
            if shared {
                continue;
            }
            self.push(Op::CaseBegin { slot: arms[number], target: next })?;
            self.body_to(frame, &case.body, next)?;
            if !case.fall_through {
                self.push(Op::Leave { slot: exits, target: next })?;
            }
        }
        frame.breaks.pop();
        self.place_label(end);
        self.push(Op::Join { slot: exits, target: frame.exit })?;
        self.slots = slots;
        Ok(())
    }

    /// Sends each lane to the arm that its selector names.
    fn select(&mut self, selector: Reg, cases: &[Case], arms: &[Slot], rest: Slot) -> Result<()> {
        let mut default = None;
        for (case, &slot) in cases.iter().zip(arms) {
            let value = match case.value {
                SwitchValue::I32(value) => self.word(value.cast_unsigned())?,
                SwitchValue::U32(value) => self.word(value)?,
                SwitchValue::Default => {
                    default = Some(slot);
                    continue;
                }
            };
            self.push(Op::Case { selector, value, rest, slot })?;
        }
        match default {
            Some(slot) => self.push(Op::CaseDefault { rest, slot }),
            None => Ok(()),
        }
    }

    // Loop

    fn repeat(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        body: &Body,
        continuing: &Body,
        break_if: Option<Handle<Expression>>,
        span: Span,
    ) -> Result<()> {
        self.settle(frame)?;
        let (slots, top, aliases) = (self.slots, self.top, frame.aliases.len());
        let (exits, continued) = (self.slot()?, self.slot()?);
        let (head, end) = (self.label(), self.label());
        let continues = body.exits().continues;
        let gathers = self.postponed.is_some_and(|postponed| waits_in(body, postponed.arm));
        self.push(Op::LoopBegin { exits })?;
        if gathers {
            self.push(Op::LoopGather)?;
        }
        self.place_label(head);
        let next = if continues { self.label() } else { end };
        if continues {
            self.push(Op::LoopHead { continued })?;
        }
        self.loops += 1;
        let gathered = std::mem::replace(&mut self.gathers, gathers);
        frame.breaks.push(exits);
        frame.continues.push(continued);
        // What the body emits can be used in `continuing`: one scope for both.
        let outer = std::mem::replace(&mut frame.exit, next);
        self.nodes(frame, body)?;
        self.settle(frame)?;
        frame.exit = end;
        if continues {
            self.place_label(next);
            self.push(Op::Join { slot: continued, target: end })?;
        }
        self.gathers = false;
        self.nodes(frame, continuing)?;
        self.gathers = gathered;
        let site = self.site(span);
        match break_if {
            Some(condition) => {
                let condition = self.slots(frame, condition)?[0];
                self.push(Op::LoopBackUnless { condition, exits, head, site })?;
            }
            None => self.push(Op::LoopBack { head, site })?,
        }
        frame.exit = outer;
        frame.breaks.pop();
        frame.continues.pop();
        self.loops -= 1;
        self.place_label(end);
        self.push(if gathers {
            Op::LoopMeet { exits, target: outer }
        } else {
            Op::LoopEnd { exits, target: outer }
        })?;
        (self.slots, self.top) = (slots, top);
        frame.aliases.truncate(aliases);
        Ok(())
    }

    // Call

    pub(super) fn call(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        callee: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let program = self.program;
        let function = &program.module().functions[callee];
        let mut values = Vec::new();
        for &argument in arguments {
            let value = self.value(frame, argument)?;
            // The callee may change the variable whose value this is.
            let value = match value {
                Value::Slots(slots) => Value::Slots(self.copy_variables(slots)?),
                other @ (Value::Place(_) | Value::Texture(_) | Value::Sampler(_)) => other,
            };
            self.note_use(frame, argument);
            values.push(value);
        }
        self.settle(frame)?;
        let mut registers = Vec::new();
        if let Some(ref returned) = function.result {
            let count = self.slots_of(&program.module().types[returned.ty].inner, frame.span)?;
            let first = self.fresh(count)?;
            registers.extend((first..).take(count));
        }
        let top = self.top;
        let info = &program.info()[callee];
        let body = &program.structure().functions[callee.index()];
        let name = function.name.as_deref().unwrap_or_default();
        let entered = self.called.enter(callee.index(), name, self.location(frame.span));
        self.inline((function, callee.index()), info, body, values, registers.clone())?;
        self.called.leave(entered);
        self.top = top;
        if let Some(result) = result {
            frame.values[result.index()] = Some(Value::Slots(registers));
        }
        Ok(())
    }

    // Break, Continue, Return

    pub(super) fn leave(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        slot: Option<Slot>,
    ) -> Result<()> {
        self.settle(frame)?;
        let Some(slot) = slot else {
            return Err(self.unsupported("a jump out of nothing".to_owned(), frame.span));
        };
        self.push(Op::Leave { slot, target: frame.exit })
    }

    pub(super) fn return_from(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        value: Option<Handle<Expression>>,
    ) -> Result<()> {
        if let Some(value) = value {
            let value = self.slots(frame, value)?;
            for (register, source) in frame.result.clone().into_iter().zip(value) {
                self.push(match frame.returns {
                    Returns::Last => Op::Copy(register, source),
                    Returns::Slot(_) => Op::Store(register, source),
                })?;
            }
        }
        match frame.returns {
            Returns::Last => Ok(()),
            Returns::Slot(slot) => self.leave(frame, Some(slot)),
        }
    }

    // Variables whose registers are used as values

    /// Copies the values that are variables' registers and still needed: control flow follows.
    pub(super) fn settle(&mut self, frame: &mut CompiledFunction<'a>) -> Result<()> {
        self.settle_those(frame, |_| true)
    }

    /// Copies those values of which `touched` says that a register is about to change.
    pub(super) fn settle_those(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        touched: impl Fn(Reg) -> bool,
    ) -> Result<()> {
        let mut kept = Vec::new();
        for handle in std::mem::take(&mut frame.aliases) {
            if frame.uses[handle.index()] == 0 {
                continue;
            }
            let Some(Value::Slots(slots)) = frame.values[handle.index()].clone() else { continue };
            if slots.iter().any(|&slot| self.variable[usize::from(slot)] && touched(slot)) {
                let owned = self.copy_variables(slots)?;
                frame.values[handle.index()] = Some(Value::Slots(owned));
            } else {
                kept.push(handle);
            }
        }
        frame.aliases = kept;
        Ok(())
    }

    /// Copies those of the registers that belong to variables.
    pub(super) fn copy_variables(&mut self, mut slots: Vec<Reg>) -> Result<Vec<Reg>> {
        if slots.iter().any(|&slot| self.variable[usize::from(slot)]) {
            // All of them, so that the halves of 64-bit scalars stay together.
            let first = self.fresh(slots.len())?;
            for (register, slot) in (first..).zip(&mut slots) {
                self.push(Op::Copy(register, *slot))?;
                *slot = register;
            }
        }
        Ok(slots)
    }

    pub(super) fn straight(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        straight: &Straight,
    ) -> Result<()> {
        let ops = self.program.blocks()[straight.block.index()].ops;
        let ops = index(usize::try_from(ops).unwrap_or(usize::MAX));
        let copy = self.called.copy(straight.block);
        self.push(Op::Block { copy, ops })?;
        for (statement, span) in &straight.statements {
            if span.is_defined() {
                frame.span = *span;
            }
            self.statement(frame, statement)?;
        }
        Ok(())
    }

    /// The place of a local variable.
    pub(super) fn local(
        frame: &CompiledFunction<'a>,
        handle: Handle<naga::LocalVariable>,
    ) -> VariablePlace {
        frame.locals[handle.index()].clone()
    }
}

/// The block of a body that is nothing but a `break`.
fn lone_break(body: &Body) -> Option<BlockId> {
    let [Node::Straight(straight)] = body.nodes.as_slice() else { return None };
    let lone = straight.statements.len() == 1 && straight.jump() == Some(Jump::Break);
    lone.then_some(straight.block)
}

/// Whether the arm that begins with a block is the accepting one of a branch; `None` if it is neither.
fn is_accepting(accept: &Body, reject: &Body, arm: BlockId) -> Option<bool> {
    let begins = |body: &Body| {
        let mut first = None;
        for_each_block(body, &mut |straight| first = first.or(Some(straight.block)));
        first == Some(arm)
    };
    if begins(accept) { Some(true) } else { begins(reject).then_some(false) }
}

/// Whether a branch with such an arm lies in a loop's body, and in no loop inside it.
fn waits_in(body: &Body, arm: BlockId) -> bool {
    body.nodes.iter().any(|node| match node {
        Node::Straight(_) | Node::Loop { .. } => false,
        Node::If { accept, reject, .. } => {
            is_accepting(accept, reject, arm).is_some()
                || waits_in(accept, arm)
                || waits_in(reject, arm)
        }
        Node::Switch { cases, .. } => cases.iter().any(|case| waits_in(&case.body, arm)),
    })
}

/// Whether a function returns only at its very end.
fn returns_last(body: &Body) -> bool {
    let is_return = |straight: &Straight| matches!(straight.jump(), Some(Jump::Return(_)));
    let mut returns = 0;
    for_each_block(body, &mut |straight| returns += usize::from(is_return(straight)));
    let last = match body.nodes.last() {
        Some(Node::Straight(straight)) => is_return(straight),
        Some(Node::If { .. } | Node::Switch { .. } | Node::Loop { .. }) | None => false,
    };
    returns == usize::from(last)
}
