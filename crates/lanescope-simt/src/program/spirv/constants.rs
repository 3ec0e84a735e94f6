//! Specialisation constants: given values, frozen, and what is worked out from them folded.
//!
//! Input: a module's instructions and values by name or by number. Output: the module with constants in
//! their place, so that array sizes and workgroup sizes that depend on them are numbers, and the list of
//! what may be given a value. naga's front end has overrides for the simplest of them alone.
//!
//! `OpSpecConstantOp` is worked out as the specification says for each operation, on integers of up to
//! 64 bits and booleans, component by component for vectors.

use std::collections::BTreeMap;

use spirv::{Decoration, Op};

use super::words::{Broken, Instruction, Instructions, Type};

/// A specialisation constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Special {
    /// Its number.
    pub(super) number: u32,
    /// Its name, or one made of its number.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: Type,
}

/// What a constant holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A boolean.
    Bool(bool),
    /// The bits of a number, those above its width 0.
    Bits(u64),
    /// The values of components.
    Composite(Vec<Self>),
    /// Zero, of whatever type.
    Null,
}

/// Why a value cannot be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// The module is broken.
    Broken(Broken),
    /// A constant is worked out by an operation that is not known here.
    Operation(Op, Option<super::words::FilePlace>),
}

impl From<Broken> for Unfit {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// The constants that a module lets be given a value.
pub(super) fn specials(
    module: &Instructions,
    types: &BTreeMap<u32, Type>,
    names: &BTreeMap<u32, String>,
) -> Vec<Special> {
    let numbers = numbers(module);
    let constants = module.list.iter().take_while(|i| i.op != Op::Function).filter(|i| {
        matches!(i.op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse)
    });
    let mut found: Vec<Special> = constants
        .filter_map(|instruction| {
            let number = *numbers.get(&instruction.word(1))?;
            let name = names.get(&instruction.word(1)).filter(|name| !name.is_empty()).cloned();
            let name = name.unwrap_or_else(|| format!("constant_{number}"));
            Some(Special { number, name, ty: types.get(&instruction.word(0))?.clone() })
        })
        .collect();
    // Workgroup sizes have names of their own in no language.
    let twice: Vec<bool> = found
        .iter()
        .map(|constant| found.iter().filter(|other| other.name == constant.name).count() > 1)
        .collect();
    for (constant, twice) in found.iter_mut().zip(twice) {
        if twice {
            constant.name = format!("{}_{}", constant.name, constant.number);
        }
    }
    found
}

/// The numbers of specialisation constants, by id.
fn numbers(module: &Instructions) -> BTreeMap<u32, u32> {
    let decorated = module.list.iter().filter(|i| {
        i.op == Op::Decorate && i.word(1) == Decoration::SpecId as u32 && i.words.len() == 3
    });
    decorated.map(|i| (i.word(0), i.word(2))).collect()
}

/// Freezes every specialisation constant at the value that its number has, or at its own; gives the value
/// of every constant.
///
/// # Errors
///
/// Where a constant is worked out in a way that is not known here.
pub(super) fn freeze(
    module: &mut Instructions,
    types: &BTreeMap<u32, Type>,
    given: &BTreeMap<u32, f64>,
) -> Result<BTreeMap<u32, Value>, Unfit> {
    let numbers = numbers(module);
    let mut values: BTreeMap<u32, Value> = BTreeMap::new();
    let mut kept = Vec::with_capacity(module.list.len());
    let mut in_functions = false;
    for mut instruction in std::mem::take(&mut module.list) {
        in_functions |= instruction.op == Op::Function;
        if in_functions {
            kept.push(instruction);
            continue;
        }
        let (ty, id) = (instruction.word(0), instruction.word(1));
        let chosen = numbers.get(&id).and_then(|number| given.get(number)).copied();
        let value = match value_of(&instruction, chosen, types, &values)? {
            ConstantValue::Value(value) => value,
            ConstantValue::TooLarge => {
                instruction.op = Op::ConstantComposite;
                kept.push(instruction);
                continue;
            }
            ConstantValue::None => {
                let special = instruction.op == Op::Decorate
                    && instruction.word(1) == Decoration::SpecId as u32;
                if !special {
                    kept.push(instruction);
                }
                continue;
            }
        };
        let plain = match instruction.op {
            Op::SpecConstant => Some(Op::Constant),
            Op::SpecConstantComposite => Some(Op::ConstantComposite),
            Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstantOp => None,
            same => Some(same),
        };
        match plain {
            Some(op) => {
                instruction.op = op;
                if let Value::Bits(bits) = &value {
                    instruction.words = vec![ty, id];
                    instruction.words.extend(words_of(*bits, types.get(&ty)));
                }
                kept.push(instruction);
            }
            None => {
                let place = instruction.place;
                write(module, types, &mut kept, (ty, id, &value))?;
                if let Some(last) = kept.last_mut() {
                    last.place = place;
                }
            }
        }
        values.insert(id, value);
    }
    module.list = kept;
    Ok(values)
}

/// What an instruction holds.
enum ConstantValue {
    /// A value.
    Value(Value),
    /// More than is looked at.
    TooLarge,
    /// It is no constant.
    None,
}

/// The value of a constant, where `chosen` is given in place of its own.
fn value_of(
    instruction: &Instruction,
    chosen: Option<f64>,
    types: &BTreeMap<u32, Type>,
    values: &BTreeMap<u32, Value>,
) -> Result<ConstantValue, Unfit> {
    let ty = instruction.word(0);
    Ok(ConstantValue::Value(match instruction.op {
        Op::ConstantTrue | Op::SpecConstantTrue => Value::Bool(chosen.is_none_or(|v| v != 0.0)),
        Op::ConstantFalse | Op::SpecConstantFalse => Value::Bool(chosen.is_some_and(|v| v != 0.0)),
        Op::Constant | Op::SpecConstant => {
            let literal = u64::from(instruction.word(2)) | u64::from(instruction.word(3)) << 32;
            Value::Bits(match (chosen, types.get(&ty)) {
                (Some(value), Some(ty)) => bits_of(value, ty),
                _ => literal,
            })
        }
        Op::ConstantComposite | Op::SpecConstantComposite => {
            let parts = instruction.words.get(2..).unwrap_or_default();
            let sizes = parts.iter().map(|id| values.get(id).map_or(COMPOSITE_MAX, size));
            if sizes.fold(0, usize::saturating_add) > COMPOSITE_MAX {
                return Ok(ConstantValue::TooLarge);
            }
            let part = |id: &u32| values.get(id).cloned().unwrap_or(Value::Null);
            Value::Composite(parts.iter().map(part).collect())
        }
        Op::ConstantNull => Value::Null,
        Op::SpecConstantOp => {
            let op = Op::from_u32(instruction.word(2)).unwrap_or(Op::Nop);
            let operands = instruction.words.get(3..).unwrap_or_default();
            let worked = work_out(op, ty, operands, values, types);
            worked.ok_or(Unfit::Operation(op, instruction.place))?
        }
        _ => return Ok(ConstantValue::None),
    }))
}

/// The most numbers in a constant whose value is looked at: what a composite refers to twice is held
/// twice, and so on.
const COMPOSITE_MAX: usize = 4096;

fn size(value: &Value) -> usize {
    match value {
        Value::Composite(parts) => parts.iter().map(size).fold(1, usize::saturating_add),
        Value::Bool(_) | Value::Bits(_) | Value::Null => 1,
    }
}

/// Writes a constant, its components before it.
fn write(
    module: &mut Instructions,
    types: &BTreeMap<u32, Type>,
    kept: &mut Vec<Instruction>,
    (ty, id, value): (u32, u32, &Value),
) -> Result<(), Broken> {
    let instruction = match value {
        Value::Bool(true) => Instruction::new(Op::ConstantTrue, vec![ty, id]),
        Value::Bool(false) => Instruction::new(Op::ConstantFalse, vec![ty, id]),
        Value::Null => Instruction::new(Op::ConstantNull, vec![ty, id]),
        Value::Bits(bits) => {
            let mut words = vec![ty, id];
            words.extend(words_of(*bits, types.get(&ty)));
            Instruction::new(Op::Constant, words)
        }
        Value::Composite(parts) => {
            let mut words = vec![ty, id];
            for (index, part) in parts.iter().enumerate() {
                let base = match types.get(&ty) {
                    Some(Type::Vector { base, .. } | Type::Array { base, .. }) => Some(*base),
                    Some(Type::Matrix { base, .. }) => Some(*base),
                    Some(Type::Struct(members)) => members.get(index).copied(),
                    _ => None,
                };
                let base =
                    base.ok_or_else(|| Broken(format!("the constant %{id} has no parts")))?;
                let made = module.fresh()?;
                write(module, types, kept, (base, made, part))?;
                words.push(made);
            }
            Instruction::new(Op::ConstantComposite, words)
        }
    };
    kept.push(instruction);
    Ok(())
}

/// The words of a number.
fn words_of(bits: u64, ty: Option<&Type>) -> Vec<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "the halves of 64 bits")]
    let (low, high) = (bits as u32, (bits >> 32) as u32);
    match ty {
        Some(Type::Int { width: 64, .. } | Type::Float { width: 64 }) => vec![low, high],
        _ => vec![low],
    }
}

/// The bits of a value in a type: of floats the nearest, of integers the whole number.
fn bits_of(value: f64, ty: &Type) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest number of that type is meant")]
    #[expect(clippy::cast_sign_loss, reason = "the sign was asked for")]
    match ty {
        Type::Float { width: 64 } => value.to_bits(),
        Type::Float { width: 16 } => half::f16::from_f64(value).to_bits().into(),
        Type::Float { .. } => u64::from((value as f32).to_bits()),
        Type::Int { width, .. } if value < 0.0 => truncate((value as i64) as u64, *width),
        Type::Int { width, .. } => truncate(value as u64, *width),
        _ => u64::from(value != 0.0),
    }
}

/// The lowest bits of a number.
fn truncate(bits: u64, width: u32) -> u64 {
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

/// A number with its sign.
#[expect(clippy::cast_possible_wrap, reason = "the bits of two's complement")]
fn sign_extend(bits: u64, width: u32) -> i64 {
    let empty = 64 - width.clamp(1, 64);
    (bits << empty) as i64 >> empty
}

/// What an operation gives on constants; `None` if it is not known here.
pub(super) fn work_out(
    op: Op,
    result: u32,
    operands: &[u32],
    values: &BTreeMap<u32, Value>,
    types: &BTreeMap<u32, Type>,
) -> Option<Value> {
    let value = |index: usize| operands.get(index).and_then(|id| values.get(id)).cloned();
    match op {
        Op::CompositeExtract => {
            let mut at = value(0)?;
            for index in operands.get(1..)? {
                at = match at {
                    Value::Composite(parts) => parts.get(*index as usize)?.clone(),
                    Value::Null => Value::Null,
                    Value::Bool(_) | Value::Bits(_) => return None,
                };
            }
            Some(at)
        }
        Op::CompositeInsert if operands.len() == 3 => {
            let Value::Composite(mut parts) = value(1)? else { return None };
            *parts.get_mut(operands[2] as usize)? = value(0)?;
            Some(Value::Composite(parts))
        }
        Op::VectorShuffle => {
            let (Value::Composite(mut parts), Value::Composite(more)) = (value(0)?, value(1)?)
            else {
                return None;
            };
            parts.extend(more);
            let pick =
                |index: &u32| Some(parts.get(*index as usize).cloned().unwrap_or(Value::Null));
            operands.get(2..)?.iter().map(pick).collect::<Option<_>>().map(Value::Composite)
        }
        _ => {
            let arguments = (0..operands.len()).map(value).collect::<Option<Vec<_>>>()?;
            let component = match types.get(&result)? {
                Type::Vector { base, .. } => types.get(base)?,
                scalar => scalar,
            };
            by_component(op, component, &arguments)
        }
    }
}

/// The components' results.
fn by_component(op: Op, component_type: &Type, arguments: &[Value]) -> Option<Value> {
    let count = arguments.iter().find_map(|argument| match argument {
        Value::Composite(parts) => Some(parts.len()),
        Value::Bool(_) | Value::Bits(_) | Value::Null => None,
    });
    let Some(count) = count else { return scalar(op, component_type, arguments) };
    let component = |index: usize| {
        let part = |argument: &Value| match argument {
            Value::Composite(parts) => parts.get(index).cloned(),
            other => Some(other.clone()),
        };
        let parts = arguments.iter().map(part).collect::<Option<Vec<_>>>()?;
        scalar(op, component_type, &parts)
    };
    (0..count).map(component).collect::<Option<_>>().map(Value::Composite)
}

/// The result of an operation on scalars. A comparison knows no width of its own: the bits above an
/// operand's are 0, and of what is signed the front ends of all languages write 32.
fn scalar(op: Op, scalar_type: &Type, arguments: &[Value]) -> Option<Value> {
    const COMPARED: u32 = 32;
    let width = match scalar_type {
        Type::Int { width, .. } | Type::Float { width } => *width,
        _ => COMPARED,
    };
    let bits = |index: usize| match arguments.get(index)? {
        Value::Bits(bits) => Some(*bits),
        Value::Null => Some(0),
        Value::Bool(_) | Value::Composite(_) => None,
    };
    let flag = |index: usize| match arguments.get(index)? {
        Value::Bool(value) => Some(*value),
        Value::Null => Some(false),
        Value::Bits(_) | Value::Composite(_) => None,
    };
    let with_sign = |index| bits(index).map(|bits| sign_extend(bits, width));
    #[expect(clippy::cast_sign_loss, reason = "the bits of two's complement")]
    let number = |value: i64| Some(Value::Bits(truncate(value as u64, width)));
    let word = |value: u64| Some(Value::Bits(truncate(value, width)));
    let says = |value: bool| Some(Value::Bool(value));
    match op {
        Op::IAdd => word(bits(0)?.wrapping_add(bits(1)?)),
        Op::ISub => word(bits(0)?.wrapping_sub(bits(1)?)),
        Op::IMul => word(bits(0)?.wrapping_mul(bits(1)?)),
        Op::UDiv => word(bits(0)?.checked_div(bits(1)?)?),
        Op::UMod => word(bits(0)?.checked_rem(bits(1)?)?),
        Op::SDiv => number(with_sign(0)?.checked_div(with_sign(1)?)?),
        Op::SRem => number(with_sign(0)?.checked_rem(with_sign(1)?)?),
        Op::SMod => {
            let (a, b) = (with_sign(0)?, with_sign(1)?);
            let rest = a.checked_rem(b)?;
            number(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        Op::SNegate => number(with_sign(0)?.wrapping_neg()),
        Op::Not => word(!bits(0)?),
        Op::BitwiseAnd => word(bits(0)? & bits(1)?),
        Op::BitwiseOr => word(bits(0)? | bits(1)?),
        Op::BitwiseXor => word(bits(0)? ^ bits(1)?),
        Op::ShiftLeftLogical => word(bits(0)?.checked_shl(u32::try_from(bits(1)?).ok()?)?),
        Op::ShiftRightLogical => word(bits(0)?.checked_shr(u32::try_from(bits(1)?).ok()?)?),
        Op::ShiftRightArithmetic => {
            number(with_sign(0)?.checked_shr(u32::try_from(bits(1)?).ok()?)?)
        }
        Op::UConvert | Op::Bitcast | Op::CopyObject => match arguments.first()? {
            Value::Bits(bits) => word(*bits),
            other => Some(other.clone()),
        },
        // From 32 bits, the only width that front ends convert from.
        Op::SConvert => number(sign_extend(bits(0)?, COMPARED)),
        Op::Select => if flag(0)? { arguments.get(1) } else { arguments.get(2) }.cloned(),
        Op::LogicalAnd => says(flag(0)? && flag(1)?),
        Op::LogicalOr => says(flag(0)? || flag(1)?),
        Op::LogicalNot => says(!flag(0)?),
        Op::LogicalEqual => says(flag(0)? == flag(1)?),
        Op::LogicalNotEqual => says(flag(0)? != flag(1)?),
        Op::IEqual => says(bits(0)? == bits(1)?),
        Op::INotEqual => says(bits(0)? != bits(1)?),
        Op::ULessThan => says(bits(0)? < bits(1)?),
        Op::ULessThanEqual => says(bits(0)? <= bits(1)?),
        Op::UGreaterThan => says(bits(0)? > bits(1)?),
        Op::UGreaterThanEqual => says(bits(0)? >= bits(1)?),
        Op::SLessThan => says(with_sign(0)? < with_sign(1)?),
        Op::SLessThanEqual => says(with_sign(0)? <= with_sign(1)?),
        Op::SGreaterThan => says(with_sign(0)? > with_sign(1)?),
        Op::SGreaterThanEqual => says(with_sign(0)? >= with_sign(1)?),
        _ => None,
    }
}
