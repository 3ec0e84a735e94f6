//! Statements that are no control flow.
//!
//! Input: a statement of a basic block. Output: its C++.

use naga::proc::NameKey;
use naga::{AtomicFunction, Barrier, Expression, Function, Handle, Span, Statement, TypeInner};

use super::frame::TranslatedFunction;
use super::text::bare;
use super::{Result, Writer};
use crate::program::builtin::BuiltinKind;
use crate::program::visit::form_name;

impl<'a> Writer<'a> {
    pub(super) fn statement(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        statement: &Statement,
        span: Span,
    ) -> Result<()> {
        let line = self.line(span);
        match *statement {
            Statement::Emit(ref range) => {
                for handle in range.clone() {
                    self.emit(frame, handle)?;
                }
                Ok(())
            }
            Statement::Store { pointer, value } => self.store(frame, line, pointer, value),
            Statement::Call { function, ref arguments, result } => {
                self.call(frame, line, function, arguments, result)
            }
            Statement::ControlBarrier(flags) if flags == Barrier::SUB_GROUP => {
                let text = format!("__syncwarp({});", frame.mask);
                frame.put(line, &text);
                Ok(())
            }
            Statement::ControlBarrier(_) => {
                frame.put(line, "__syncthreads();");
                Ok(())
            }
            Statement::MemoryBarrier(_) => {
                frame.put(line, "__threadfence_block();");
                Ok(())
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                frame.put(line, "__syncthreads();");
                let text = self.load(frame, pointer)?;
                self.define(frame, line, result, &text)?;
                frame.put(line, "__syncthreads();");
                Ok(())
            }
            Statement::Atomic { pointer, fun, value, result } => {
                self.atomic(frame, line, (pointer, fun, value), result)
            }
            Statement::SubgroupBallot { result, predicate } => {
                let text = self.ballot(frame, predicate)?;
                self.define(frame, line, result, &text)
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let text = self.gather(frame, mode, argument)?;
                self.define(frame, line, result, &text)
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                let text = self.collective(frame, op, collective_op, argument)?;
                self.define(frame, line, result, &text)
            }
            Statement::Break
            | Statement::Continue
            | Statement::Return { .. }
            | Statement::Kill
            | Statement::Block(_)
            | Statement::If { .. }
            | Statement::Switch { .. }
            | Statement::Loop { .. }
            | Statement::ImageStore { .. }
            | Statement::ImageAtomic { .. }
            | Statement::RayQuery { .. }
            | Statement::RayPipelineFunction(_)
            | Statement::CooperativeStore { .. } => {
                Err(self.unsupported(format!("statement {}", form_name(statement)), frame.span))
            }
        }
    }

    /// Gives an emitted expression its variable, where it has one.
    fn emit(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<()> {
        if !frame.bake.baked.contains(&handle) {
            return Ok(());
        }
        let line = self.line(frame.function.expressions.get_span(handle));
        let text = self.value(frame, handle)?;
        let text = if frame.bake.early.contains(&handle) {
            // Its variable holds what the iteration before left: the text is asked for anew.
            let name = frame.values.remove(&handle);
            let text = self.value(frame, handle)?;
            if let Some(name) = name {
                frame.values.insert(handle, name);
            }
            text
        } else {
            text
        };
        self.define(frame, line, handle, &text)
    }

    /// Puts a value into its variable.
    fn define(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        handle: Handle<Expression>,
        text: &str,
    ) -> Result<()> {
        if frame.bake.early.contains(&handle)
            && let Some(name) = frame.values.get(&handle)
        {
            let text = format!("{name} = {};", bare(text));
            frame.put(line, &text);
            return Ok(());
        }
        let ty = self.expression_type(frame, handle)?;
        let name = self.variable_name(frame, handle);
        frame.put(line, &format!("const {ty} {name} = {};", bare(text)));
        frame.values.insert(handle, name);
        Ok(())
    }

    fn store(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    ) -> Result<()> {
        let place = self.place(frame, pointer)?;
        let value = self.value(frame, value)?;
        let value = bare(&value);
        let text = if matches!(self.pointee(frame, pointer), TypeInner::Atomic(_)) {
            self.prelude.need("store_atomic");
            format!("store_atomic({}, {value});", place.text)
        } else {
            format!("{} = {value};", place.text)
        };
        match place.guard() {
            None => frame.put(line, &text),
            Some(guard) => frame.put(line, &format!("if ({guard}) {{ {text} }}")),
        }
        Ok(())
    }

    fn call(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let name = self.name(&NameKey::Function(function));
        let mut texts = Vec::new();
        for &argument in arguments {
            let inner = frame.type_of(self.module, argument);
            let pointer =
                matches!(inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. });
            let text = if pointer {
                self.clamp_place(frame, argument)?
            } else {
                self.value(frame, argument)?
            };
            texts.push(bare(&text).to_owned());
        }
        texts.extend(self.pass_globals(&self.info[function], false)?);
        if self.tracked[function.index()] {
            texts.push(frame.mask.clone());
        }
        let text = format!("{name}({})", texts.join(", "));
        match result {
            Some(result) => self.define(frame, line, result, &text),
            None => {
                frame.put(line, &format!("{text};"));
                Ok(())
            }
        }
    }

    // Atomics

    fn atomic(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        (pointer, fun, value): (Handle<Expression>, AtomicFunction, Handle<Expression>),
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let span = frame.span_of(pointer);
        let &TypeInner::Atomic(scalar) = self.pointee(frame, pointer) else {
            return Err(self.unsupported("an atomic operation on no atomic", span));
        };
        let kind = self.kind(scalar, span)?;
        let place = self.place(frame, pointer)?;
        let value = self.value(frame, value)?;
        let value = bare(&value);
        let guard = place.guard();
        let address = match place.text.strip_prefix("(*").and_then(|rest| rest.strip_suffix(')')) {
            Some(pointer) => pointer.to_owned(),
            None => format!("&{}", place.text),
        };
        if let AtomicFunction::Exchange { compare: Some(compare) } = fun {
            let compare = self.value(frame, compare)?;
            return self.compare_exchange(
                frame,
                line,
                (kind, &address, guard.as_deref()),
                (bare(&compare), value),
                result,
            );
        }
        let call = match call(fun, kind) {
            Some(call) => call,
            None => return Err(self.unsupported(format!("atomic {fun:?} of {kind:?}"), span)),
        };
        if kind == BuiltinKind::I64 {
            self.prelude.need("atomic_long");
        }
        let value = match (fun, kind) {
            (AtomicFunction::Subtract, BuiltinKind::F32 | BuiltinKind::F64) => {
                format!("-({value})")
            }
            (AtomicFunction::Subtract, BuiltinKind::I64) => format!("i64(0ull - u64({value}))"),
            (AtomicFunction::Subtract, BuiltinKind::U64) => format!("0ull - ({value})"),
            _ => value.to_owned(),
        };
        let text = format!("{call}({address}, {value})");
        let used = result.filter(|result| frame.info[*result].ref_count > 0);
        match (used, guard) {
            (Some(result), None) => self.define(frame, line, result, &text),
            (Some(result), Some(guard)) => {
                let text = format!("{guard} ? {text} : {}", kind.zero());
                self.define(frame, line, result, &text)
            }
            (None, None) => {
                frame.put(line, &format!("{text};"));
                Ok(())
            }
            (None, Some(guard)) => {
                frame.put(line, &format!("if ({guard}) {{ {text}; }}"));
                Ok(())
            }
        }
    }

    /// `atomicCompareExchangeWeak`: a structure of the old value and whether it was replaced.
    fn compare_exchange(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        (kind, address, guard): (BuiltinKind, &str, Option<&str>),
        (compare, value): (&str, &str),
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        if !kind.is_int() || kind.bits() < 32 {
            return Err(self.unsupported(format!("atomic exchange of {kind:?}"), frame.span));
        }
        if kind == BuiltinKind::I64 {
            self.prelude.need("atomic_long");
        }
        let call = format!("atomicCAS({address}, {compare}, {value})");
        let Some(result) = result else {
            let text = match guard {
                Some(guard) => format!("if ({guard}) {{ {call}; }}"),
                None => format!("{call};"),
            };
            frame.put(line, &text);
            return Ok(());
        };
        let span = frame.span_of(result);
        let naga::proc::TypeResolution::Handle(ty) = frame.info[result].ty else {
            return Err(self.unsupported("a result without its structure", span));
        };
        let old = self.namer.call("old");
        let (text, replaced) = match guard {
            Some(guard) => (
                format!("{guard} ? {call} : {}", kind.zero()),
                format!("{guard} && {old} == {compare}"),
            ),
            None => (call, format!("{old} == {compare}")),
        };
        frame.put(line, &format!("const {} {old} = {text};", kind.name()));
        let [first, second] = [0, 1].map(|index| self.name(&NameKey::StructMember(ty, index)));
        let name = self.type_name(ty, span)?;
        let text = format!("{name}{{.{first} = {old}, .{second} = {replaced}}}");
        self.define(frame, line, result, &text)
    }
}

/// CUDA's function for an atomic operation, where there is one.
fn call(fun: AtomicFunction, kind: BuiltinKind) -> Option<&'static str> {
    let word = matches!(kind, BuiltinKind::I32 | BuiltinKind::U32);
    let int = word || matches!(kind, BuiltinKind::I64 | BuiltinKind::U64);
    let float = matches!(kind, BuiltinKind::F32 | BuiltinKind::F64);
    Some(match fun {
        AtomicFunction::Add if int || float => "atomicAdd",
        AtomicFunction::Subtract if word => "atomicSub",
        AtomicFunction::Subtract if int || float => "atomicAdd",
        AtomicFunction::And if int => "atomicAnd",
        AtomicFunction::ExclusiveOr if int => "atomicXor",
        AtomicFunction::InclusiveOr if int => "atomicOr",
        AtomicFunction::Min if int => "atomicMin",
        AtomicFunction::Max if int => "atomicMax",
        AtomicFunction::Exchange { compare: None } if int || kind == BuiltinKind::F32 => {
            "atomicExch"
        }
        AtomicFunction::Add
        | AtomicFunction::Subtract
        | AtomicFunction::And
        | AtomicFunction::ExclusiveOr
        | AtomicFunction::InclusiveOr
        | AtomicFunction::Min
        | AtomicFunction::Max
        | AtomicFunction::Exchange { .. } => return None,
    })
}
