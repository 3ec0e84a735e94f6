//! Subgroup operations.
//!
//! Input: naga's statements, and the mask that `flow` tracks. Output: calls of CUDA's `_sync`
//! functions, or of functions declared here over the lanes of a mask, from the lowest up. A lane that
//! shuffles from an inactive lane gets its own value.

use naga::{
    CollectiveOperation, Direction, Expression, GatherMode, Handle, MathFunction, Span,
    SubgroupOperation,
};

use super::frame::TranslatedFunction;
use super::operators::{OperandShape, enclose};
use super::text::bare;
use super::{Result, Writer};
use crate::program::builtin::BuiltinKind;

/// The mask's place among a declared function's parameters.
const MASK: OperandShape = OperandShape { size: None, kind: BuiltinKind::U32 };

impl<'a> Writer<'a> {
    /// A ballot: four words, of which the first has the votes.
    pub(super) fn ballot(
        &mut self,
        frame: &TranslatedFunction<'a>,
        predicate: Option<Handle<Expression>>,
    ) -> Result<String> {
        let predicate = match predicate {
            Some(predicate) => self.value(frame, predicate)?,
            None => "true".to_owned(),
        };
        self.prelude.need("vec4");
        Ok(format!("vec4<u32>{{__ballot_sync({}, {}), 0u, 0u, 0u}}", frame.mask, bare(&predicate)))
    }

    /// Broadcasts, shuffles and quad operations.
    pub(super) fn gather(
        &mut self,
        frame: &TranslatedFunction<'a>,
        mode: GatherMode,
        argument: Handle<Expression>,
    ) -> Result<String> {
        let value = self.value(frame, argument)?;
        let (value, mask) = (bare(&value), &frame.mask);
        let shape = self.shape(frame, argument)?;
        let lane = self.lane_index();
        let source = match mode {
            GatherMode::BroadcastFirst => format!("u32(__ffs({mask}) - 1)"),
            GatherMode::Broadcast(index) | GatherMode::Shuffle(index) => {
                self.operand(frame, index)?
            }
            // A distance is cut, so that the sum never wraps round to a lane that is there.
            GatherMode::ShuffleDown(delta) => {
                format!("{lane} + min({}, 32u)", self.operand(frame, delta)?)
            }
            GatherMode::ShuffleUp(delta) => {
                format!("{lane} - min({}, 64u)", self.operand(frame, delta)?)
            }
            GatherMode::ShuffleXor(other) => {
                format!("{lane} ^ {}", enclose(&self.operand(frame, other)?))
            }
            GatherMode::QuadBroadcast(index) => {
                format!("({lane} & 28u) | {}", enclose(&self.operand(frame, index)?))
            }
            GatherMode::QuadSwap(direction) => {
                let other = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                format!("{lane} ^ {other}u")
            }
        };
        let source = bare(&source);
        if mode == GatherMode::BroadcastFirst {
            self.need_lane_value(shape.kind);
            return self.call_with_mask(shape, "broadcast_first", value, mask, &mut |parts| {
                format!("lane_value({}, {}, u32(__ffs({}) - 1))", parts[0], parts[1], parts[0])
            });
        }
        self.need_lane_value(shape.kind);
        self.prelude.need("shuffle");
        let Some(size) = shape.size else {
            return Ok(format!("shuffle({mask}, {value}, {source}, {})", bare(&lane)));
        };
        self.lift("shuffle", (size, shape.kind), &[MASK, shape, MASK, MASK], &mut |_, parts| {
            Ok(format!("shuffle({})", parts.join(", ")))
        })?;
        Ok(format!("shuffle({mask}, {value}, {source}, {})", bare(&lane)))
    }

    /// A lane's number, or a distance between lanes.
    fn operand(
        &mut self,
        frame: &TranslatedFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<String> {
        let text = self.value(frame, handle)?;
        Ok(match self.kind_of(frame, handle)? {
            BuiltinKind::U32 => bare(&text).to_owned(),
            BuiltinKind::F16
            | BuiltinKind::F32
            | BuiltinKind::F64
            | BuiltinKind::I16
            | BuiltinKind::U16
            | BuiltinKind::I32
            | BuiltinKind::I64
            | BuiltinKind::U64
            | BuiltinKind::Bool => format!("u32({})", bare(&text)),
        })
    }

    /// A function of the mask and a value: in place for scalars, declared for vectors.
    fn call_with_mask(
        &mut self,
        shape: OperandShape,
        name: &str,
        value: &str,
        mask: &str,
        each: &mut dyn FnMut(&[String]) -> String,
    ) -> Result<String> {
        let Some(size) = shape.size else {
            return Ok(each(&[mask.to_owned(), value.to_owned()]));
        };
        self.lift(name, (size, shape.kind), &[MASK, shape], &mut |_, parts| Ok(each(parts)))?;
        Ok(format!("{name}({mask}, {value})"))
    }

    /// Reductions and scans.
    pub(super) fn collective(
        &mut self,
        frame: &TranslatedFunction<'a>,
        operation: SubgroupOperation,
        scan: CollectiveOperation,
        argument: Handle<Expression>,
    ) -> Result<String> {
        let span = frame.span_of(argument);
        let value = self.value(frame, argument)?;
        let value = bare(&value);
        let shape = self.shape(frame, argument)?;
        let mask = &frame.mask;
        match operation {
            SubgroupOperation::All => Ok(format!("(__all_sync({mask}, {value}) != 0)")),
            SubgroupOperation::Any => Ok(format!("(__any_sync({mask}, {value}) != 0)")),
            SubgroupOperation::Add
            | SubgroupOperation::Mul
            | SubgroupOperation::Min
            | SubgroupOperation::Max
            | SubgroupOperation::And
            | SubgroupOperation::Or
            | SubgroupOperation::Xor => {
                let kind = match scan {
                    CollectiveOperation::Reduce => "",
                    CollectiveOperation::InclusiveScan => "Inclusive",
                    CollectiveOperation::ExclusiveScan => "Exclusive",
                };
                let name = format!("subgroup{kind}{operation:?}");
                self.declare_collective(&name, operation, scan, shape.kind, span)?;
                let called = name.clone();
                self.call_with_mask(shape, &name, value, mask, &mut |parts| {
                    format!("{called}({}, {})", parts[0], parts[1])
                })
            }
        }
    }

    fn need_lane_value(&mut self, kind: BuiltinKind) {
        self.prelude.need(if kind == BuiltinKind::F16 { "lane_value_half" } else { "lane_value" });
    }

    /// Two values combined.
    fn combine(
        &mut self,
        operation: SubgroupOperation,
        kind: BuiltinKind,
        [a, b]: [&str; 2],
        span: Span,
    ) -> Result<String> {
        use naga::BinaryOperator as B;
        let bits = !kind.is_float() || matches!(operation, SubgroupOperation::Add);
        let text = match operation {
            SubgroupOperation::Add => self.binary_scalar(B::Add, kind, a, b, span)?,
            SubgroupOperation::Mul => self.binary_scalar(B::Multiply, kind, a, b, span)?,
            SubgroupOperation::And if bits => self.binary_scalar(B::And, kind, a, b, span)?,
            SubgroupOperation::Or if bits => {
                self.binary_scalar(B::InclusiveOr, kind, a, b, span)?
            }
            SubgroupOperation::Xor if bits => {
                self.binary_scalar(B::ExclusiveOr, kind, a, b, span)?
            }
            SubgroupOperation::Min | SubgroupOperation::Max => {
                let least = operation == SubgroupOperation::Min;
                let fun = if least { MathFunction::Min } else { MathFunction::Max };
                self.scalar(fun, kind, &[a.to_owned(), b.to_owned()], span)?
            }
            SubgroupOperation::And
            | SubgroupOperation::Or
            | SubgroupOperation::Xor
            | SubgroupOperation::All
            | SubgroupOperation::Any => {
                return Err(self.unsupported(format!("subgroup {operation:?} of {kind:?}"), span));
            }
        };
        Ok(bare(&text).to_owned())
    }

    #[expect(clippy::too_many_lines, reason = "the texts of two functions")]
    fn declare_collective(
        &mut self,
        name: &str,
        operation: SubgroupOperation,
        scan: CollectiveOperation,
        kind: BuiltinKind,
        span: Span,
    ) -> Result<()> {
        let number = kind.name();
        let signature = format!("{number} {name}(u32 mask, {number} value)");
        if self.prelude.has(&signature) {
            return Ok(());
        }
        self.need_lane_value(kind);
        let lane = self.lane_index();
        let lane = bare(&lane);
        let body = match scan {
            CollectiveOperation::Reduce => {
                let both = self.combine(operation, kind, ["value", "other"], span)?;
                let next = self.combine(operation, kind, ["total", "other"], span)?;
                // Whole subgroups exchange in five steps; of parts each lane goes through the others in turn.
                let hardware = hardware(operation, kind).map_or_else(String::new, |call| {
                    format!("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n    return {call};\n#endif\n")
                });
                format!(
                    "{hardware}    if (mask == 0xffffffffu) {{
        for (u32 step = 16u; step > 0u; step /= 2u) {{
            const {number} other = lane_value(mask, value, ({lane}) ^ step);
            value = {both};
        }}
        return value;
    }}
    {number} total = lane_value(mask, value, u32(__ffs(mask) - 1));
    for (u32 rest = mask & (mask - 1u); rest != 0u; rest &= rest - 1u) {{
        const {number} other = lane_value(mask, value, u32(__ffs(rest) - 1));
        total = {next};
    }}
    return total;
"
                )
            }
            CollectiveOperation::InclusiveScan | CollectiveOperation::ExclusiveScan => {
                let identity = match operation {
                    SubgroupOperation::Add => kind.number(0.0),
                    SubgroupOperation::Mul => kind.number(1.0),
                    SubgroupOperation::All
                    | SubgroupOperation::Any
                    | SubgroupOperation::Min
                    | SubgroupOperation::Max
                    | SubgroupOperation::And
                    | SubgroupOperation::Or
                    | SubgroupOperation::Xor => {
                        return Err(self.unsupported(format!("scan by {operation:?}"), span));
                    }
                };
                let inclusive = scan == CollectiveOperation::InclusiveScan;
                let both = self.combine(operation, kind, ["other", "value"], span)?;
                let next = self.combine(operation, kind, ["total", "other"], span)?;
                // A whole subgroup scans inclusively; exclusively, each lane then takes its neighbour's sum.
                let done = if inclusive {
                    "        return value;\n".to_owned()
                } else {
                    format!(
                        "        const {number} before = \
                         lane_value(mask, value, lane == 0u ? 0u : lane - 1u);\n        \
                         return lane == 0u ? {identity} : before;\n"
                    )
                };
                // The first value is taken as it is: added to the identity, −0 would lose its sign.
                let until = if inclusive { "<=" } else { "<" };
                format!(
                    "    const u32 lane = {lane};
    if (mask == 0xffffffffu) {{
        for (u32 step = 1u; step < 32u; step *= 2u) {{
            const {number} other = lane_value(mask, value, lane < step ? lane : lane - step);
            if (lane >= step) {{ value = {both}; }}
        }}
{done}    }}
    {number} total = {identity};
    bool first = true;
    for (u32 rest = mask; rest != 0u; rest &= rest - 1u) {{
        const u32 source = u32(__ffs(rest) - 1);
        const {number} other = lane_value(mask, value, source);
        if (source {until} lane) {{
            total = first ? other : {number}({next});
            first = false;
        }}
    }}
    return total;
"
                )
            }
        };
        self.prelude.lift(signature, &body);
        Ok(())
    }
}

/// The instruction that reduces over a mask, where newer chips have one.
fn hardware(operation: SubgroupOperation, kind: BuiltinKind) -> Option<String> {
    let name = match operation {
        SubgroupOperation::Add => "add",
        SubgroupOperation::Min => "min",
        SubgroupOperation::Max => "max",
        SubgroupOperation::And => "and",
        SubgroupOperation::Or => "or",
        SubgroupOperation::Xor => "xor",
        SubgroupOperation::All | SubgroupOperation::Any | SubgroupOperation::Mul => return None,
    };
    let bits = matches!(
        operation,
        SubgroupOperation::And | SubgroupOperation::Or | SubgroupOperation::Xor
    );
    match kind {
        BuiltinKind::U32 => Some(format!("__reduce_{name}_sync(mask, value)")),
        BuiltinKind::I32 if bits => Some(format!("i32(__reduce_{name}_sync(mask, u32(value)))")),
        BuiltinKind::I32 => Some(format!("__reduce_{name}_sync(mask, value)")),
        BuiltinKind::F16
        | BuiltinKind::F32
        | BuiltinKind::F64
        | BuiltinKind::I16
        | BuiltinKind::U16
        | BuiltinKind::I64
        | BuiltinKind::U64
        | BuiltinKind::Bool => None,
    }
}
