//! WGSL's built-in functions.
//!
//! Input: naga's `Math` expressions. Output: C++. What `simulate` defines by a formula is that
//! formula, the rest is CUDA's function of the same name.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "`builtin::family` is total; its parts match their own"
)]

use naga::common::wgsl::TryToWgsl as _;
use naga::proc::{NameKey, TypeResolution};
use naga::{Expression, Handle, MathFunction, Span, TypeInner, VectorSize};

use super::formula::{Formula, Term};
use super::frame::TranslatedFunction;
use super::operators::{OperandShape, enclose};
use super::text::COMPONENTS;
use super::text::bare;
use super::{Result, Writer};
use crate::program::builtin::{BuiltinKind, Family, cross, family};

impl<'a> Writer<'a> {
    pub(super) fn math(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
        fun: MathFunction,
        arguments: &[Handle<Expression>],
    ) -> Result<String> {
        let span = frame.span_of(handle);
        let mut texts = Vec::new();
        for &argument in arguments {
            texts.push(bare(&self.value(frame, argument)?).to_owned());
        }
        match family(fun) {
            Family::Matrix => self.matrix_function(frame, fun, arguments[0], &texts[0]),
            Family::Outer => self.outer(frame, handle, arguments, &texts),
            Family::Packing => self.packing(fun, &texts, span),
            Family::Geometry => {
                let shape = self.shape(frame, arguments[0])?;
                self.geometry(fun, shape, &texts, span)
            }
            Family::Parts => self.fraction_and_rest(frame, handle, fun, arguments[0], &texts[0]),
            Family::Components | Family::Bits | Family::Ldexp => {
                self.write_components(frame, handle, fun, arguments, &texts)
            }
        }
    }

    /// A function that goes component by component.
    fn write_components(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
        fun: MathFunction,
        arguments: &[Handle<Expression>],
        texts: &[String],
    ) -> Result<String> {
        let span = frame.span_of(handle);
        let mut shapes = Vec::new();
        for &argument in arguments {
            shapes.push(self.shape(frame, argument)?);
        }
        let kind = shapes[0].kind;
        let Some(size) = shapes.iter().find_map(|shape| shape.size) else {
            return self.scalar(fun, kind, texts, span);
        };
        let result = self.kind_of(frame, handle)?;
        let name = wgsl_name(fun);
        self.lift(&name, (size, result), &shapes, &mut |writer, parts| {
            writer.scalar(fun, kind, parts, span)
        })?;
        Ok(format!("{name}({})", texts.join(", ")))
    }

    /// A function of scalars.
    pub(super) fn scalar(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        texts: &[String],
        span: Span,
    ) -> Result<String> {
        if kind.is_float() {
            self.float(fun, kind, texts, span)
        } else {
            self.integer(fun, kind, texts, span)
        }
    }

    fn float(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        texts: &[String],
        span: Span,
    ) -> Result<String> {
        let a = &texts[0];
        let fit =
            |text: String| if kind == BuiltinKind::F16 { format!("f16({text})") } else { text };
        let all = texts.join(", ");
        let call = |name: &str| fit(format!("{name}{}({all})", kind.suffix()));
        let wide = if kind == BuiltinKind::F64 { "f64" } else { "f32" };
        if let Some(name) = cuda_name(fun) {
            return Ok(call(name));
        }
        Ok(match fun {
            MathFunction::Clamp => {
                let (low, high, f) = (&texts[1], &texts[2], kind.suffix());
                fit(format!("fmin{f}(fmax{f}({a}, {low}), {high})"))
            }
            MathFunction::Saturate => {
                let (zero, one, f) = (float(kind, 0.0), float(kind, 1.0), kind.suffix());
                fit(format!("fmin{f}(fmax{f}({a}, {zero}), {one})"))
            }
            MathFunction::Radians => fit(format!("({} * {})", enclose(a), degree(kind, true))),
            MathFunction::Degrees => fit(format!("({} * {})", enclose(a), degree(kind, false))),
            MathFunction::Fract => {
                self.prelude.need("fract_of");
                fit(format!("fract_of({wide}({a}))"))
            }
            MathFunction::Sign => {
                self.prelude.need("sign_of");
                format!("sign_of({a})")
            }
            MathFunction::Step => {
                let (one, zero) = (kind.number(1.0), kind.number(0.0));
                format!("({} <= {} ? {one} : {zero})", enclose(a), enclose(&texts[1]))
            }
            MathFunction::Fma if kind == BuiltinKind::F16 => {
                self.prelude.need("fma_half");
                format!("fma_half({all})")
            }
            MathFunction::Fma => call("fma"),
            MathFunction::Mix => {
                self.prelude.need("mix_of");
                format!("mix_of({all})")
            }
            MathFunction::SmoothStep => {
                self.prelude.need("smooth_step_of");
                format!("smooth_step_of({all})")
            }
            MathFunction::QuantizeToF16 => {
                self.prelude.need("f16");
                format!("f32(f16({a}))")
            }
            MathFunction::Ldexp => fit(format!("ldexp{}({all})", kind.suffix())),
            _ => return Err(self.unsupported(format!("{fun:?} of {kind:?}"), span)),
        })
    }

    fn integer(
        &mut self,
        fun: MathFunction,
        kind: BuiltinKind,
        texts: &[String],
        span: Span,
    ) -> Result<String> {
        let a = &texts[0];
        let name = kind.name();
        let all = texts.join(", ");
        let narrow = matches!(kind, BuiltinKind::I16 | BuiltinKind::U16);
        let wide = if kind.is_signed() { "i32" } else { "u32" };
        // C++ promotes 16-bit integers, and has no minimum of two of them.
        let fit = |text: String| if narrow { format!("{name}({text})") } else { text };
        let operand = |text: &String| if narrow { format!("{wide}({text})") } else { text.clone() };
        let unsigned = format!("{}({a})", kind.to_unsigned().name());
        let of_bits = |writer: &mut Self, piece: &str, operand: &str| {
            writer.prelude.need(piece);
            format!("{name}({piece}({operand}))")
        };
        Ok(match fun {
            MathFunction::Min => fit(format!("min({}, {})", operand(a), operand(&texts[1]))),
            MathFunction::Max => fit(format!("max({}, {})", operand(a), operand(&texts[1]))),
            MathFunction::Clamp => {
                let (low, high) = (operand(&texts[1]), operand(&texts[2]));
                fit(format!("min(max({}, {low}), {high})", operand(a)))
            }
            MathFunction::Abs if kind.is_signed() => {
                self.prelude.need("abs_of");
                fit(format!("abs_of({})", operand(a)))
            }
            MathFunction::Abs => enclose(a),
            MathFunction::Sign => {
                self.prelude.need("sign_of");
                format!("sign_of({a})")
            }
            MathFunction::CountOneBits => of_bits(self, "count_ones", &unsigned),
            MathFunction::CountLeadingZeros => of_bits(self, "leading_zeros", &unsigned),
            MathFunction::CountTrailingZeros => of_bits(self, "trailing_zeros", &unsigned),
            MathFunction::ReverseBits => of_bits(self, "reverse_bits", &unsigned),
            MathFunction::FirstTrailingBit => of_bits(self, "first_trailing_bit", &unsigned),
            MathFunction::FirstLeadingBit if kind.is_signed() => {
                // The highest bit that differs from the sign.
                let bits = kind.to_unsigned().name();
                let shift = kind.bits() - 1;
                let a = enclose(a);
                of_bits(self, "first_leading_bit", &format!("{bits}({a} ^ ({a} >> {shift}))"))
            }
            MathFunction::FirstLeadingBit => of_bits(self, "first_leading_bit", &unsigned),
            MathFunction::ExtractBits => {
                self.prelude.need("extract_bits");
                format!("extract_bits({all})")
            }
            MathFunction::InsertBits => {
                self.prelude.need("insert_bits");
                format!("insert_bits({all})")
            }
            _ => return Err(self.unsupported(format!("{fun:?} of {kind:?}"), span)),
        })
    }

    // Structures of two values

    /// `modf` and `frexp`.
    fn fraction_and_rest(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
        fun: MathFunction,
        operand: Handle<Expression>,
        text: &str,
    ) -> Result<String> {
        let span = frame.span_of(handle);
        let shape = self.shape(frame, operand)?;
        let TypeResolution::Handle(ty) = frame.info[handle].ty else {
            return Err(self.unsupported(format!("{fun:?} without its structure"), span));
        };
        let module = self.module;
        let TypeInner::Struct { ref members, .. } = module.types[ty].inner else {
            return Err(self.unsupported(format!("{fun:?} without its structure"), span));
        };
        let scalar =
            |index: usize| members.get(index).and_then(|m| module.types[m.ty].inner.scalar());
        let kinds = [scalar(0).and_then(BuiltinKind::new), scalar(1).and_then(BuiltinKind::new)];
        let [Some(first), Some(second)] = kinds else {
            return Err(self.unsupported(format!("{fun:?} without its structure"), span));
        };
        let modf = fun == MathFunction::Modf;
        let wide = if shape.kind == BuiltinKind::F64 { "f64" } else { "f32" };
        let fraction = if modf { "modf_fract" } else { "frexp_fract" };
        let suffix = shape.kind.suffix();
        let rest = if modf { format!("trunc{suffix}") } else { "frexp_power".to_owned() };
        self.prelude.need(fraction);
        if !modf {
            self.prelude.need("frexp_power");
        }
        let part = |name: &str, kind: BuiltinKind, text: &str| {
            format!("{}({name}({wide}({text})))", kind.name())
        };
        let values = match shape.size {
            None => [part(fraction, first, text), part(&rest, second, text)],
            Some(size) => {
                let names = if modf { ["modf_f", "modf_w"] } else { ["frexp_f", "frexp_e"] };
                for (name, (piece, kind)) in
                    names.into_iter().zip([(fraction, first), (&rest, second)])
                {
                    self.lift(name, (size, kind), &[shape], &mut |_, parts| {
                        Ok(part(piece, kind, &parts[0]))
                    })?;
                }
                names.map(|name| format!("{name}({text})"))
            }
        };
        let [first, second] = [0, 1].map(|index| self.name(&NameKey::StructMember(ty, index)));
        let name = self.type_name(ty, span)?;
        Ok(format!("{name}{{.{first} = {}, .{second} = {}}}", values[0], values[1]))
    }

    // Geometry

    /// The sum of products from the first to the last: `dot`.
    fn declare_dot(&mut self, size: VectorSize, kind: BuiltinKind, span: Span) -> Result<()> {
        let vector = OperandShape { size: Some(size), kind }.name();
        let signature = format!("{} dot({vector} a, {vector} b)", kind.name());
        if self.prelude.has(&signature) {
            return Ok(());
        }
        let mut sum: Option<String> = None;
        for part in &COMPONENTS[..size as usize] {
            let (a, b) = (format!("a.{part}"), format!("b.{part}"));
            let product = self.binary_scalar(naga::BinaryOperator::Multiply, kind, &a, &b, span)?;
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    self.binary_scalar(naga::BinaryOperator::Add, kind, &sum, &product, span)?
                }
            });
        }
        let sum = sum.unwrap_or_default();
        self.prelude.lift(signature, &format!("    return {};\n", bare(&sum)));
        Ok(())
    }

    fn declare_length(&mut self, size: VectorSize, kind: BuiltinKind, span: Span) -> Result<()> {
        self.declare_dot(size, kind, span)?;
        let vector = OperandShape { size: Some(size), kind }.name();
        let (name, root) = (kind.name(), format!("sqrt{}", kind.suffix()));
        let body = format!("    return {name}({root}(dot(a, a)));\n");
        self.prelude.lift(format!("{name} length({vector} a)"), &body);
        Ok(())
    }

    /// Declares an operator on vectors, one of which may be a scalar.
    fn declare_operator(
        &mut self,
        op: naga::BinaryOperator,
        shapes: [OperandShape; 2],
        span: Span,
    ) -> Result<()> {
        let Some(size) = shapes[0].size.or(shapes[1].size) else { return Ok(()) };
        let kind = shapes[0].kind;
        let name = format!("operator{}", naga::back::binary_operation_str(op));
        self.lift(&name, (size, kind), &shapes, &mut |writer, parts| {
            writer.binary_scalar(op, kind, &parts[0], &parts[1], span)
        })
    }

    #[expect(clippy::too_many_lines, reason = "a formula a function")]
    fn geometry(
        &mut self,
        fun: MathFunction,
        shape: OperandShape,
        texts: &[String],
        span: Span,
    ) -> Result<String> {
        use naga::BinaryOperator::{Divide, Multiply, Subtract};
        let kind = shape.kind;
        let scalar = OperandShape { size: None, kind };
        let all = texts.join(", ");
        let Some(size) = shape.size else {
            let f = kind.suffix();
            return match fun {
                MathFunction::Length => Ok(format!("{}(fabs{f}({all}))", kind.name())),
                MathFunction::Distance => {
                    let (a, b) = (enclose(&texts[0]), enclose(&texts[1]));
                    Ok(format!("{}(fabs{f}({a} - {b}))", kind.name()))
                }
                _ => Err(self.unsupported(format!("{fun:?} of a scalar"), span)),
            };
        };
        let vector = shape.name();
        let (zero, one, two) = (kind.number(0.0), kind.number(1.0), kind.number(2.0));
        let name = wgsl_name(fun);
        let (signature, body) = match fun {
            MathFunction::Dot => {
                self.declare_dot(size, kind, span)?;
                return Ok(format!("dot({all})"));
            }
            MathFunction::Length => {
                self.declare_length(size, kind, span)?;
                return Ok(format!("length({all})"));
            }
            MathFunction::Distance => {
                self.declare_length(size, kind, span)?;
                self.declare_operator(Subtract, [shape, shape], span)?;
                let signature = format!("{} distance({vector} a, {vector} b)", kind.name());
                (signature, "    return length(a - b);\n".to_owned())
            }
            MathFunction::Normalize => {
                self.declare_length(size, kind, span)?;
                self.declare_operator(Divide, [shape, scalar], span)?;
                let signature = format!("{vector} normalize({vector} a)");
                (signature, "    return a / length(a);\n".to_owned())
            }
            MathFunction::Cross => {
                let terms = |name: &str| {
                    [0, 1, 2].map(|index| Term::atom(format!("{name}.{}", COMPONENTS[index])))
                };
                let Ok(parts) = cross(&mut Formula, &terms("a"), &terms("b"));
                let parts = parts.map(|part| part.text).join(", ");
                let signature = format!("{vector} cross({vector} a, {vector} b)");
                (signature, format!("    return {{{parts}}};\n"))
            }
            MathFunction::FaceForward => {
                self.declare_dot(size, kind, span)?;
                let minus: Vec<String> =
                    COMPONENTS[..size as usize].iter().map(|part| format!("-a.{part}")).collect();
                let signature = format!("{vector} {name}({vector} a, {vector} b, {vector} c)");
                let minus = minus.join(", ");
                (signature, format!("    return dot(b, c) < {zero} ? a : {vector}{{{minus}}};\n"))
            }
            MathFunction::Reflect => {
                self.declare_dot(size, kind, span)?;
                self.declare_operator(Multiply, [scalar, shape], span)?;
                self.declare_operator(Subtract, [shape, shape], span)?;
                let signature = format!("{vector} reflect({vector} a, {vector} b)");
                (signature, format!("    return a - ({two} * dot(b, a)) * b;\n"))
            }
            MathFunction::Refract => {
                self.declare_dot(size, kind, span)?;
                self.declare_operator(Multiply, [scalar, shape], span)?;
                self.declare_operator(Subtract, [shape, shape], span)?;
                let number = kind.name();
                let root = format!("{number}(sqrt{}(k))", kind.suffix());
                let signature = format!("{vector} refract({vector} a, {vector} b, {number} c)");
                let body = format!(
                    "    const {number} d = dot(b, a);\n    \
                     const {number} k = {one} - c * c * ({one} - d * d);\n    \
                     if (k < {zero}) {{ return {{}}; }}\n    \
                     return c * a - (c * d + {root}) * b;\n"
                );
                (signature, body)
            }
            _ => return Err(self.unsupported(format!("{fun:?}"), span)),
        };
        self.prelude.lift(signature, &body);
        Ok(format!("{name}({all})"))
    }

    // Packing

    fn packing(&mut self, fun: MathFunction, texts: &[String], span: Span) -> Result<String> {
        let all = texts.join(", ");
        let piece = match fun {
            MathFunction::Dot4I8Packed => {
                return Ok(format!("__dp4a(i32({}), i32({}), 0)", texts[0], texts[1]));
            }
            MathFunction::Dot4U8Packed => return Ok(format!("__dp4a({all}, 0u)")),
            MathFunction::Pack4x8snorm => "pack_snorm8",
            MathFunction::Pack4x8unorm => "pack_unorm8",
            MathFunction::Pack2x16snorm => "pack_snorm16",
            MathFunction::Pack2x16unorm => "pack_unorm16",
            MathFunction::Pack2x16float => "pack_half",
            MathFunction::Pack4xI8 | MathFunction::Pack4xU8 => "pack_bytes",
            MathFunction::Pack4xI8Clamp | MathFunction::Pack4xU8Clamp => "pack_bytes_clamped",
            MathFunction::Unpack4x8snorm => "unpack_snorm8",
            MathFunction::Unpack4x8unorm => "unpack_unorm8",
            MathFunction::Unpack2x16snorm => "unpack_snorm16",
            MathFunction::Unpack2x16unorm => "unpack_unorm16",
            MathFunction::Unpack2x16float => "unpack_half",
            MathFunction::Unpack4xI8 => "unpack_bytes_signed",
            MathFunction::Unpack4xU8 => "unpack_bytes",
            _ => return Err(self.unsupported(format!("{fun:?}"), span)),
        };
        self.prelude.need(piece);
        Ok(format!("{piece}({all})"))
    }
}

/// WGSL's name of a function.
pub(super) fn wgsl_name(fun: MathFunction) -> String {
    fun.try_to_wgsl().map_or_else(|| format!("{fun:?}").to_lowercase(), str::to_owned)
}

/// A number in the kind that a function of halves is computed in.
fn float(kind: BuiltinKind, value: f64) -> String {
    if kind == BuiltinKind::F16 { BuiltinKind::F32.number(value) } else { kind.number(value) }
}

/// What degrees are multiplied by to get radians, or the other way, as Rust has it.
fn degree(kind: BuiltinKind, to_radians: bool) -> String {
    let value =
        if to_radians { std::f64::consts::PI / 180.0 } else { 180.0 / std::f64::consts::PI };
    let single = if to_radians { std::f32::consts::PI / 180.0 } else { 57.295_78_f32 };
    if kind == BuiltinKind::F64 { format!("{value:?}") } else { format!("{single:?}f") }
}

/// CUDA's name of a function of floats without its suffix, where it has one.
fn cuda_name(fun: MathFunction) -> Option<&'static str> {
    Some(match fun {
        MathFunction::Abs => "fabs",
        MathFunction::Min => "fmin",
        MathFunction::Max => "fmax",
        MathFunction::Cos => "cos",
        MathFunction::Cosh => "cosh",
        MathFunction::Sin => "sin",
        MathFunction::Sinh => "sinh",
        MathFunction::Tan => "tan",
        MathFunction::Tanh => "tanh",
        MathFunction::Acos => "acos",
        MathFunction::Asin => "asin",
        MathFunction::Atan => "atan",
        MathFunction::Atan2 => "atan2",
        MathFunction::Asinh => "asinh",
        MathFunction::Acosh => "acosh",
        MathFunction::Atanh => "atanh",
        MathFunction::Ceil => "ceil",
        MathFunction::Floor => "floor",
        MathFunction::Round => "rint",
        MathFunction::Trunc => "trunc",
        MathFunction::Exp => "exp",
        MathFunction::Exp2 => "exp2",
        MathFunction::Log => "log",
        MathFunction::Log2 => "log2",
        MathFunction::Pow => "pow",
        MathFunction::Sqrt => "sqrt",
        MathFunction::InverseSqrt => "rsqrt",
        _ => return None,
    })
}
