//! Operators and conversions.
//!
//! Input: operands. Output: C++. Scalars are written in place; for vectors an operator or function is
//! declared that does the same to each component.

use naga::{
    BinaryOperator, Expression, Handle, RelationalFunction, Scalar, ScalarKind, Span, TypeInner,
    UnaryOperator, VectorSize,
};

use super::frame::TranslatedFunction;
use super::text::COMPONENTS;
use super::text::bare;
use super::text::negate;
use super::{Result, Writer};
use crate::program::builtin::BuiltinKind;

/// The names of declared functions' parameters.
const PARAMETERS: [&str; 4] = ["a", "b", "c", "d"];

/// A type of a declared function's parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandShape {
    pub(super) size: Option<VectorSize>,
    pub(super) kind: BuiltinKind,
}

impl OperandShape {
    pub(super) fn name(self) -> String {
        match self.size {
            Some(size) => format!("vec{}<{}>", size as u32, self.kind.name()),
            None => self.kind.name().to_owned(),
        }
    }
}

impl<'a> Writer<'a> {
    /// The shape of a scalar or vector expression.
    pub(super) fn shape(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<OperandShape> {
        Ok(OperandShape { size: self.size_of(frame, handle), kind: self.kind_of(frame, handle)? })
    }

    /// Declares `name` over vectors of `size`, by what `each` makes of components; a scalar among
    /// the parameters goes with each.
    pub(super) fn lift(
        &mut self,
        name: &str,
        (size, result): (VectorSize, BuiltinKind),
        parameters: &[OperandShape],
        each: &mut dyn FnMut(&mut Self, &[String]) -> Result<String>,
    ) -> Result<()> {
        let declared: Vec<String> = parameters
            .iter()
            .zip(PARAMETERS)
            .map(|(shape, name)| format!("{} {name}", shape.name()))
            .collect();
        let result = OperandShape { size: Some(size), kind: result };
        let signature = format!("{} {name}({})", result.name(), declared.join(", "));
        if self.prelude.has(&signature) {
            return Ok(());
        }
        self.prelude.need(&format!("vec{}", size as u32));
        let mut parts = Vec::new();
        for component in &COMPONENTS[..size as usize] {
            let texts: Vec<String> = parameters
                .iter()
                .zip(PARAMETERS)
                .map(|(shape, name)| match shape.size {
                    Some(_) => format!("{name}.{component}"),
                    None => name.to_owned(),
                })
                .collect();
            parts.push(bare(&each(self, &texts)?).to_owned());
        }
        self.prelude.lift(signature, &format!("    return {{{}}};\n", parts.join(", ")));
        Ok(())
    }

    // Unary operators

    pub(super) fn unary(
        &mut self,
        frame: &TranslatedFunction<'a>,
        op: UnaryOperator,
        operand: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(operand);
        let text = self.value(frame, operand)?;
        if let TypeInner::Matrix { .. } = *frame.type_of(self.module, operand) {
            return self.negate_matrix(frame, operand, &text);
        }
        let shape = self.shape(frame, operand)?;
        let Some(size) = shape.size else {
            return unary(op, shape.kind, &text)
                .ok_or_else(|| self.unsupported(format!("{op:?} of {:?}", shape.kind), span));
        };
        let symbol = match op {
            UnaryOperator::Negate => "-",
            UnaryOperator::LogicalNot => "!",
            UnaryOperator::BitwiseNot => "~",
        };
        let name = format!("operator{symbol}");
        self.lift(&name, (size, shape.kind), &[shape], &mut |writer, parts| {
            unary(op, shape.kind, &parts[0])
                .ok_or_else(|| writer.unsupported(format!("{op:?} of {:?}", shape.kind), span))
        })?;
        Ok(format!("({symbol}{text})"))
    }

    // Binary operators

    pub(super) fn binary(
        &mut self,
        frame: &TranslatedFunction<'a>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(left);
        let (a, b) = (self.value(frame, left)?, self.value(frame, right)?);
        let matrix =
            |handle| matches!(frame.type_of(self.module, handle), TypeInner::Matrix { .. });
        if matrix(left) || matrix(right) {
            return self.matrix_binary(frame, op, left, right, (&a, &b));
        }
        let shapes = [self.shape(frame, left)?, self.shape(frame, right)?];
        let kind = shapes[0].kind;
        let symbol = naga::back::binary_operation_str(op);
        let Some(size) = shapes[0].size.or(shapes[1].size) else {
            // A divisor that is no zero needs no care.
            return self.binary_scalar(op, kind, &a, &b, span);
        };
        let result = if compares(op) { BuiltinKind::Bool } else { kind };
        let name = format!("operator{symbol}");
        self.lift(&name, (size, result), &shapes, &mut |writer, parts| {
            writer.binary_scalar(op, kind, &parts[0], &parts[1], span)
        })?;
        Ok(format!("({a} {symbol} {b})"))
    }

    /// An operator on scalars.
    pub(super) fn binary_scalar(
        &mut self,
        op: BinaryOperator,
        kind: BuiltinKind,
        a: &str,
        b: &str,
        span: Span,
    ) -> Result<String> {
        let symbol = naga::back::binary_operation_str(op);
        let plain = format!("({a} {symbol} {b})");
        let text = match op {
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => match kind
            {
                BuiltinKind::F16
                | BuiltinKind::F32
                | BuiltinKind::F64
                | BuiltinKind::U32
                | BuiltinKind::U64 => Some(plain),
                BuiltinKind::I32 | BuiltinKind::I64 | BuiltinKind::I16 | BuiltinKind::U16 => {
                    let wide = kind.wide().name();
                    let (a, b) = (bare(a), bare(b));
                    Some(format!("{}({wide}({a}) {symbol} {wide}({b}))", kind.name()))
                }
                BuiltinKind::Bool => None,
            },
            BinaryOperator::Divide if kind.is_float() => Some(plain),
            BinaryOperator::Modulo if kind.is_float() => {
                let call = format!("fmod{}({}, {})", kind.suffix(), bare(a), bare(b));
                Some(if kind == BuiltinKind::F16 { format!("f16({call})") } else { call })
            }
            BinaryOperator::Divide | BinaryOperator::Modulo if kind.is_int() => {
                let divides = op == BinaryOperator::Divide;
                Some(self.divide(divides, kind, bare(a), bare(b)))
            }
            BinaryOperator::And | BinaryOperator::ExclusiveOr | BinaryOperator::InclusiveOr => {
                match kind {
                    BuiltinKind::U32 | BuiltinKind::U64 | BuiltinKind::I32 | BuiltinKind::I64 => {
                        Some(plain)
                    }
                    BuiltinKind::I16 | BuiltinKind::U16 | BuiltinKind::Bool => {
                        Some(format!("{}{plain}", kind.name()))
                    }
                    BuiltinKind::F16 | BuiltinKind::F32 | BuiltinKind::F64 => None,
                }
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight if kind.is_int() => {
                Some(shift(op, kind, a, b))
            }
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr if kind == BuiltinKind::Bool => {
                Some(plain)
            }
            BinaryOperator::Equal | BinaryOperator::NotEqual => Some(plain),
            BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
                if kind != BuiltinKind::Bool =>
            {
                Some(plain)
            }
            BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => None,
        };
        text.ok_or_else(|| self.unsupported(format!("{op:?} of {kind:?}"), span))
    }

    /// A quotient or remainder of integers.
    fn divide(&mut self, divides: bool, kind: BuiltinKind, a: &str, b: &str) -> String {
        let name = if divides { "divide" } else { "remainder_of" };
        let symbol = if divides { "/" } else { "%" };
        // Unsigned by a literal that is not zero: nothing can go wrong.
        let digits = b.strip_suffix("u").unwrap_or("");
        if kind == BuiltinKind::U32
            && digits.bytes().all(|b| b.is_ascii_digit())
            && digits.parse() != Ok(0_u32)
            && !digits.is_empty()
        {
            return format!("({} {symbol} {b})", enclose(a));
        }
        self.prelude.need(name);
        match kind {
            BuiltinKind::I16 | BuiltinKind::U16 => {
                let wide = if kind == BuiltinKind::I16 { "i32" } else { "u32" };
                format!("{}({name}({wide}({a}), {wide}({b})))", kind.name())
            }
            BuiltinKind::F16
            | BuiltinKind::F32
            | BuiltinKind::F64
            | BuiltinKind::I32
            | BuiltinKind::U32
            | BuiltinKind::I64
            | BuiltinKind::U64
            | BuiltinKind::Bool => format!("{name}({a}, {b})"),
        }
    }

    // Select

    pub(super) fn select(
        &mut self,
        frame: &TranslatedFunction<'a>,
        condition: Handle<Expression>,
        accept: Handle<Expression>,
        reject: Handle<Expression>,
    ) -> Result<String> {
        let texts =
            [self.value(frame, condition)?, self.value(frame, accept)?, self.value(frame, reject)?];
        let [asked, yes, no] = &texts;
        let Some(size) = self.size_of(frame, condition) else {
            return Ok(format!("({asked} ? {yes} : {no})"));
        };
        let values = self.shape(frame, accept)?;
        let condition = OperandShape { size: Some(size), kind: BuiltinKind::Bool };
        self.lift("select", (size, values.kind), &[values, values, condition], &mut |_, parts| {
            Ok(format!("({} ? {} : {})", parts[2], parts[1], parts[0]))
        })?;
        Ok(format!("select({}, {}, {})", bare(no), bare(yes), bare(asked)))
    }

    // Relational functions

    pub(super) fn relational(
        &mut self,
        frame: &TranslatedFunction<'a>,
        fun: RelationalFunction,
        argument: Handle<Expression>,
    ) -> Result<String> {
        let text = self.value(frame, argument)?;
        let shape = self.shape(frame, argument)?;
        let name = match fun {
            RelationalFunction::All => "all",
            RelationalFunction::Any => "any",
            RelationalFunction::IsNan => "isNan",
            RelationalFunction::IsInf => "isInf",
        };
        match (fun, shape.size) {
            (RelationalFunction::All | RelationalFunction::Any, None) => Ok(text),
            (RelationalFunction::All | RelationalFunction::Any, Some(size)) => {
                let symbol = if fun == RelationalFunction::All { " && " } else { " || " };
                let parts: Vec<String> =
                    COMPONENTS[..size as usize].iter().map(|part| format!("a.{part}")).collect();
                let body = format!("    return {};\n", parts.join(symbol));
                self.prelude.lift(format!("bool {name}({} a)", shape.name()), &body);
                Ok(format!("{name}({})", bare(&text)))
            }
            (RelationalFunction::IsNan | RelationalFunction::IsInf, size) => {
                let call = if fun == RelationalFunction::IsNan { "isnan" } else { "isinf" };
                let wide = if shape.kind == BuiltinKind::F64 { "f64" } else { "f32" };
                let Some(size) = size else {
                    return Ok(format!("bool({call}({wide}({})))", bare(&text)));
                };
                self.lift(name, (size, BuiltinKind::Bool), &[shape], &mut |_, parts| {
                    Ok(format!("bool({call}({wide}({})))", parts[0]))
                })?;
                Ok(format!("{name}({})", bare(&text)))
            }
        }
    }

    // Conversions

    pub(super) fn cast(
        &mut self,
        frame: &TranslatedFunction<'a>,
        operand: Handle<Expression>,
        kind: ScalarKind,
        convert: Option<u8>,
    ) -> Result<String> {
        let span = frame.span_of(operand);
        let text = self.value(frame, operand)?;
        let from = self.scalar_of(frame, operand)?;
        let to = Scalar { kind, width: convert.unwrap_or(from.width) };
        let (source, target) = (self.kind(from, span)?, self.kind(to, span)?);
        if source == target {
            return Ok(text);
        }
        if let TypeInner::Matrix { .. } = *frame.type_of(self.module, operand) {
            return self.matrix_cast(frame, operand, (source, target), &text);
        }
        let convert_scalar = move |writer: &mut Self, text: &str| {
            if convert.is_some() {
                Ok(writer.convert(source, target, text))
            } else {
                bitcast(source, target, text)
                    .ok_or_else(|| writer.unsupported(format!("{source:?} as {target:?}"), span))
            }
        };
        let shape = self.shape(frame, operand)?;
        let Some(size) = shape.size else { return convert_scalar(self, bare(&text)) };
        let verb = if convert.is_some() { "convert" } else { "bitcast" };
        let name = format!("{verb}_to_{}", target.name());
        self.lift(&name, (size, target), &[shape], &mut |writer, parts| {
            convert_scalar(writer, &parts[0])
        })?;
        Ok(format!("{name}({})", bare(&text)))
    }

    /// A scalar converted to another type.
    pub(super) fn convert(
        &mut self,
        source: BuiltinKind,
        target: BuiltinKind,
        text: &str,
    ) -> String {
        let name = target.name();
        if source.is_float() && target.is_int() {
            let mut text = text.to_owned();
            if source == BuiltinKind::F16 {
                self.prelude.need("finite_half");
                text = format!("finite_half({text})");
            }
            if target.bits() == 16 {
                self.prelude.need("short_of");
                return format!("{name}_of(f32({text}))");
            }
            self.prelude.need(&format!("{name}_of"));
            return format!("{name}_of({text})");
        }
        if target == BuiltinKind::Bool {
            return format!("({} != {})", enclose(text), source.zero());
        }
        if target == BuiltinKind::F16 && source != BuiltinKind::F32 {
            // To f32 first; a 64-bit float rounds twice, as most hardware does.
            return format!("f16(f32({text}))");
        }
        format!("{name}({text})")
    }
}

/// An operand that another operator may stand beside.
pub(super) fn enclose(text: &str) -> String {
    let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
    if simple || bare(text) != text { text.to_owned() } else { format!("({text})") }
}

fn unary(op: UnaryOperator, kind: BuiltinKind, text: &str) -> Option<String> {
    Some(match (op, kind) {
        (UnaryOperator::Negate, BuiltinKind::F16 | BuiltinKind::F32 | BuiltinKind::F64) => {
            format!("(-{})", enclose(text))
        }
        (UnaryOperator::Negate, BuiltinKind::I16 | BuiltinKind::I32 | BuiltinKind::I64) => {
            let wide = kind.wide();
            format!("{}({} - {}({}))", kind.name(), wide.zero(), wide.name(), bare(text))
        }
        (UnaryOperator::LogicalNot, BuiltinKind::Bool) => negate(text),
        (UnaryOperator::BitwiseNot, BuiltinKind::I16 | BuiltinKind::U16) => {
            format!("{}(~{})", kind.name(), enclose(text))
        }
        (
            UnaryOperator::BitwiseNot,
            BuiltinKind::I32 | BuiltinKind::U32 | BuiltinKind::I64 | BuiltinKind::U64,
        ) => {
            format!("(~{})", enclose(text))
        }
        (UnaryOperator::Negate | UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, _) => {
            return None;
        }
    })
}

/// A shift: by the amount modulo the width.
fn shift(op: BinaryOperator, kind: BuiltinKind, a: &str, b: &str) -> String {
    let most = kind.bits() - 1;
    let digits = b.strip_suffix('u').and_then(|digits| digits.parse::<u32>().ok());
    let amount = match digits {
        Some(amount) => format!("{}u", amount & most),
        None => format!("({b} & {most}u)"),
    };
    let name = kind.name();
    match (op, kind) {
        (BinaryOperator::ShiftLeft, BuiltinKind::I32 | BuiltinKind::I64) => {
            format!("{name}({}({}) << {amount})", kind.wide().name(), bare(a))
        }
        (BinaryOperator::ShiftLeft, BuiltinKind::I16 | BuiltinKind::U16) => {
            format!("{name}(u32({}) << {amount})", bare(a))
        }
        (BinaryOperator::ShiftLeft, _) => format!("({a} << {amount})"),
        (_, BuiltinKind::I16 | BuiltinKind::U16) => format!("{name}({a} >> {amount})"),
        _ => format!("({a} >> {amount})"),
    }
}

/// Whether an operator gives a boolean.
fn compares(op: BinaryOperator) -> bool {
    match op {
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::LessEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterEqual => true,
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::And
        | BinaryOperator::ExclusiveOr
        | BinaryOperator::InclusiveOr
        | BinaryOperator::LogicalAnd
        | BinaryOperator::LogicalOr
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight => false,
    }
}

/// A scalar's bits as another type of the same width.
fn bitcast(source: BuiltinKind, target: BuiltinKind, text: &str) -> Option<String> {
    if source.bits() != target.bits() {
        return None;
    }
    Some(match (source, target) {
        (BuiltinKind::F32, BuiltinKind::I32) => format!("__float_as_int({text})"),
        (BuiltinKind::F32, BuiltinKind::U32) => format!("__float_as_uint({text})"),
        (BuiltinKind::I32, BuiltinKind::F32) => format!("__int_as_float({text})"),
        (BuiltinKind::U32, BuiltinKind::F32) => format!("__uint_as_float({text})"),
        (BuiltinKind::F64, BuiltinKind::I64 | BuiltinKind::U64) => {
            format!("{}(__double_as_longlong({text}))", target.name())
        }
        (BuiltinKind::I64 | BuiltinKind::U64, BuiltinKind::F64) => {
            format!("__longlong_as_double(i64({text}))")
        }
        (BuiltinKind::F16, BuiltinKind::I16 | BuiltinKind::U16) => {
            format!("{}({}.bits)", target.name(), enclose(text))
        }
        (BuiltinKind::I16 | BuiltinKind::U16, BuiltinKind::F16) => {
            format!("f16_of_bits(u16({text}))")
        }
        _ if source.is_int() && target.is_int() => format!("{}({text})", target.name()),
        _ => return None,
    })
}
