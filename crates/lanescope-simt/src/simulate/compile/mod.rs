//! The compiler: naga's IR to the register program.
//!
//! Input: a [`Program`]. Output: [`Code`]. It walks the trees of `program::structure`, so that block
//! numbers are everybody's. Calls are inlined (WGSL has no recursion), which makes every pointer's
//! root known here; variables of the function and private address spaces live in registers, values
//! in temporaries that are allocated as a stack, scope by scope. Because a temporary lies above its
//! operands, the interpreter needs no copy to write it. Nothing is optimised beyond that: each
//! operation that naga emits is executed.

mod bits;
mod called;
mod expression;
mod flow;
mod math;
mod place;
mod scalars;
mod shape;
mod statement;
mod texture;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, Arena, BuiltIn, Expression, Function, GlobalVariable, Handle, Literal, Module,
    Scalar, Span, Type, TypeInner,
};

use self::called::Called;
use self::shape::{PlaceRoot, PlaceShape, VariablePlace};
use super::arrange::Postponed;
use super::error::{Limit, SimulateError};
use super::op::{
    At, AtomicOp, FOLLOW_NONE, FollowId, Op, Owner, ROOT_WORKGROUP, Reg, SiteId, Slot, Target,
    TextureAction, TextureOp,
};
use super::table::{Code, Follow, Length, Root};
use crate::program::followed::Followed;
use crate::program::{Location, Program, array_length};

/// The most instructions, after inlining.
const OPS_MAX: usize = 1 << 20;

/// The deepest calls.
const CALLS_MAX: u32 = 128;

/// The most bytes of workgroup memory.
const WORKGROUP_BYTES_MAX: u32 = 1 << 20;

type Result<T> = std::result::Result<T, SimulateError>;

/// Compiles a program.
///
/// # Errors
///
/// [`SimulateError::Unsupported`] with the expression and its line, [`SimulateError::Limit`] when
/// the program is too large.
pub(super) fn compile(program: &Program, postponed: Option<Postponed>) -> Result<Code> {
    // Constants take the first registers, but how many there are is known at the end only: the
    // second pass starts with all of them.
    let mut fixed = IndexMap::new();
    let followed = program.follow_values();
    loop {
        let before = fixed.len();
        let mut builder = CodeBuilder::new(program, &followed, fixed)?;
        builder.postponed = postponed;
        builder.entry_point()?;
        if builder.fixed.len() == before {
            return builder.finish();
        }
        fixed = builder.fixed;
    }
}

/// What a register holds from the launch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fixed {
    Word(u32),
    /// Two registers.
    Wide(u64),
    Builtin(BuiltIn, u8),
    Length {
        root: u16,
        offset: u32,
        stride: u32,
    },
}

/// What an expression evaluated to.
#[derive(Clone, Debug)]
enum Value {
    /// The registers of its scalars, in order; a 64-bit scalar has two in a row.
    Slots(Vec<Reg>),
    /// A pointer.
    Place(VariablePlace),
    /// A texture, by its root.
    Texture(u16),
    /// A sampler, by its number.
    Sampler(u16),
}

/// A function that is being inlined.
struct CompiledFunction<'a> {
    function: &'a Function,
    /// Its number among the module's functions; the entry point is the last.
    number: usize,
    info: &'a FunctionInfo,
    values: Vec<Option<Value>>,
    /// Uses of each expression that are not compiled yet.
    uses: Vec<u32>,
    /// Expressions whose value is, in part, a variable's register rather than a copy.
    aliases: Vec<Handle<Expression>>,
    locals: Vec<VariablePlace>,
    arguments: Vec<Value>,
    result: Vec<Reg>,
    returns: Returns,
    breaks: Vec<Slot>,
    continues: Vec<Slot>,
    /// A place for what has no span.
    span: Span,
    /// Where to go when the current body has no active lane left.
    exit: Target,
}

/// How a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    /// Only as its last statement: nobody waits.
    Last,
    /// From anywhere: lanes wait in the slot.
    Slot(Slot),
}

struct CodeBuilder<'a> {
    program: &'a Program,
    module: &'a Module,
    layouter: naga::proc::Layouter,
    fixed: IndexMap<Fixed, Reg>,
    fixed_next: u32,
    top: u32,
    registers: u32,
    slots: u16,
    slots_most: u16,
    /// Whether a register belongs to a variable.
    variable: Vec<bool>,
    ops: Vec<Op>,
    labels: Vec<u32>,
    accesses: Vec<At>,
    atomics: Vec<AtomicOp>,
    textures: Vec<TextureOp>,
    samplers: Vec<(u32, u32)>,
    /// The textures and samplers among the global variables, by index.
    handles: BTreeMap<usize, Value>,
    sites: IndexMap<Location, ()>,
    followed: &'a Followed,
    follows: IndexSet<Follow>,
    roots: Vec<Root>,
    globals: Vec<Option<VariablePlace>>,
    workgroup_bytes: u32,
    barriers: bool,
    loops: u32,
    postponed: Option<Postponed>,
    /// Whether the innermost loop is one in which lanes are postponed.
    gathers: bool,
    calls: u32,
    called: Called,
}

impl<'a> CodeBuilder<'a> {
    fn new(
        program: &'a Program,
        followed: &'a Followed,
        fixed: IndexMap<Fixed, Reg>,
    ) -> Result<Self> {
        let module = program.module();
        let mut layouter = naga::proc::Layouter::default();
        let fixed_next = fixed.keys().map(|fixed| fixed.registers()).sum();
        let mut builder = Self {
            program,
            module,
            layouter: naga::proc::Layouter::default(),
            fixed,
            fixed_next,
            top: fixed_next,
            registers: fixed_next,
            slots: 0,
            slots_most: 0,
            variable: vec![false; usize::from(Reg::MAX) + 1],
            ops: Vec::new(),
            labels: Vec::new(),
            accesses: Vec::new(),
            atomics: Vec::new(),
            textures: Vec::new(),
            samplers: Vec::new(),
            handles: BTreeMap::new(),
            sites: IndexMap::new(),
            followed,
            follows: IndexSet::new(),
            roots: vec![Root::Workgroup],
            globals: Vec::new(),
            workgroup_bytes: 0,
            barriers: false,
            loops: 0,
            postponed: None,
            gathers: false,
            calls: 0,
            called: Called::new(program),
        };
        layouter.update(module.to_ctx()).map_err(|error| {
            builder.unsupported(format!("a type without a layout ({error})"), Span::UNDEFINED)
        })?;
        builder.layouter = layouter;
        builder.globals()?;
        Ok(builder)
    }

    fn finish(mut self) -> Result<Code> {
        for op in &mut self.ops {
            link(op, &self.labels);
        }
        let mut constants = vec![0; self.fixed_next as usize];
        let mut builtins = Vec::new();
        let mut lengths = Vec::new();
        for (&fixed, &register) in &self.fixed {
            match fixed {
                Fixed::Word(word) => constants[usize::from(register)] = word,
                Fixed::Wide(wide) => {
                    constants[usize::from(register)] = super::scalar::low_word(wide);
                    constants[usize::from(register) + 1] = super::scalar::low_word(wide >> 32);
                }
                Fixed::Builtin(builtin, component) => {
                    builtins.push((builtin, component, register));
                }
                Fixed::Length { root, offset, stride } => {
                    lengths.push(Length { register, root, offset, stride });
                }
            }
        }
        let written = self.find_written();
        let owners = self.find_owners();
        let decisive = self.find_decisive();
        let (copies, calls) = self.called.finish();
        Ok(Code {
            ops: self.ops,
            copies,
            calls,
            accesses: self.accesses,
            atomics: self.atomics,
            textures: self.textures,
            samplers: self.samplers,
            sites: self.sites.into_keys().collect(),
            follows: self.follows.into_iter().collect(),
            written,
            owners,
            decisive,
            constants,
            builtins,
            lengths,
            registers: self.registers as usize,
            slots: usize::from(self.slots_most),
            roots: self.roots,
            workgroup_bytes: self.workgroup_bytes,
            barriers: self.barriers,
        })
    }

    /// For each memory whether the program writes it and workgroups share it.
    fn find_written(&self) -> Vec<bool> {
        let mut written = vec![false; self.roots.len()];
        for op in &self.ops {
            if let Op::MemoryStore { at, .. } = *op {
                written[usize::from(self.accesses[at as usize].root)] = true;
            } else if let Op::Atomic { with, .. } = *op {
                written[usize::from(self.atomics[with as usize].at.root)] = true;
            } else if let Op::Texture { with } = *op {
                let TextureOp { root, ref action, .. } = self.textures[with as usize];
                let writes =
                    matches!(action, TextureAction::Store { .. } | TextureAction::Atomic { .. });
                written[usize::from(root)] |= writes;
            }
        }
        written[usize::from(ROOT_WORKGROUP)] = false;
        written
    }

    /// For each memory, what follows the values of its atomics.
    fn find_decisive(&self) -> Vec<Vec<FollowId>> {
        let mut decisive = vec![BTreeSet::new(); self.roots.len()];
        let atomics = self.atomics.iter().map(|atomic| &atomic.at);
        let accesses = self.accesses.iter().filter(|at| at.atomic).chain(atomics);
        for at in accesses.filter(|at| at.follow != FOLLOW_NONE) {
            decisive[usize::from(at.root)].insert(at.follow);
        }
        decisive.into_iter().map(|follows| follows.into_iter().collect()).collect()
    }

    /// For each memory who alone accesses each of its elements: the one that every access names.
    fn find_owners(&self) -> Vec<Owner> {
        let mut owners: Vec<Option<Owner>> = vec![None; self.roots.len()];
        let mut see = |root: u16, owner: Owner| {
            let known = &mut owners[usize::from(root)];
            *known =
                Some(if known.is_none_or(|known| known == owner) { owner } else { Owner::Anybody });
        };
        for op in &self.ops {
            if let Op::MemoryStore { at, .. } | Op::Load { at, .. } = *op {
                let at = &self.accesses[at as usize];
                see(at.root, at.owner);
            } else if let Op::Atomic { with, .. } = *op {
                let at = &self.atomics[with as usize].at;
                see(at.root, at.owner);
            } else if let Op::LoadUniform { root, .. } = *op {
                see(root, Owner::Anybody);
            }
        }
        owners.into_iter().map(|owner| owner.unwrap_or(Owner::Anybody)).collect()
    }

    /// Gives every global variable its place, and private ones their first values. What has no place
    /// (acceleration structures, binding arrays) is refused where it is used.
    fn globals(&mut self) -> Result<()> {
        for (handle, variable) in self.module.global_variables.iter() {
            let place = if variable.space == AddressSpace::Handle {
                self.handle(handle, variable)?
            } else {
                self.global(handle, variable)?
            };
            debug_assert_eq!(self.globals.len(), handle.index(), "arenas are dense");
            self.globals.push(place);
        }
        Ok(())
    }

    fn global(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &GlobalVariable,
    ) -> Result<Option<VariablePlace>> {
        let span = self.module.global_variables.get_span(handle);
        let layout = self.layouter[variable.ty];
        let memory = |root, offset| VariablePlace {
            root: PlaceRoot::Memory(root),
            offset,
            dynamic: None,
            shape: PlaceShape::Type(variable.ty),
            owner: Owner::Anybody,
        };
        let next = u16::try_from(self.roots.len()).map_err(|_| self.limit(Limit::Buffers));
        match variable.space {
            AddressSpace::Private => {
                let place = self.variable(variable.ty, span)?;
                let PlaceRoot::Registers(base) = place.root else { return Ok(Some(place)) };
                self.initialise(base, variable.ty, span)?;
                if let Some(init) = variable.init {
                    let value = self.constant(&self.module.global_expressions, init, span)?;
                    for (register, source) in (base..).zip(value) {
                        self.push(Op::Copy(register, source))?;
                    }
                }
                Ok(Some(place))
            }
            AddressSpace::WorkGroup => {
                let offset = layout.alignment.round_up(self.workgroup_bytes);
                self.workgroup_bytes = offset.saturating_add(layout.size);
                if self.workgroup_bytes > WORKGROUP_BYTES_MAX {
                    return Err(self.limit(Limit::WorkgroupBytes {
                        bytes: self.workgroup_bytes,
                        max: WORKGROUP_BYTES_MAX,
                    }));
                }
                Ok(Some(memory(ROOT_WORKGROUP, offset)))
            }
            AddressSpace::Uniform | AddressSpace::Storage { .. } => {
                let Some(binding) = variable.binding else {
                    return Err(self.unsupported("a buffer without a binding".to_owned(), span));
                };
                if let TypeInner::BindingArray { .. } = self.module.types[variable.ty].inner {
                    return Ok(None);
                }
                self.roots.push(Root::Buffer {
                    group: binding.group,
                    binding: binding.binding,
                    size_min: layout.size,
                });
                Ok(Some(memory(next?, 0)))
            }
            AddressSpace::Immediate => {
                self.roots.push(Root::Immediates { size_min: layout.size });
                Ok(Some(memory(next?, 0)))
            }
            AddressSpace::Handle => Ok(None),
            AddressSpace::Function
            | AddressSpace::TaskPayload
            | AddressSpace::RayPayload
            | AddressSpace::IncomingRayPayload => {
                Err(self.unsupported(format!("the address space {:?}", variable.space), span))
            }
        }
    }

    // Registers

    /// Takes `count` temporaries above all others.
    fn fresh(&mut self, count: usize) -> Result<Reg> {
        let first = self.top;
        let next = u32::try_from(count).ok().and_then(|count| first.checked_add(count));
        match next {
            Some(next) if next <= u32::from(Reg::MAX) => {
                self.top = next;
                self.registers = self.registers.max(next);
                self.variable[first as usize..next as usize].fill(false);
                Ok(Reg::try_from(first).unwrap_or(Reg::MAX))
            }
            _ => Err(self.limit(Limit::Registers { max: u32::from(Reg::MAX) })),
        }
    }

    /// Takes registers for a variable.
    fn variable(&mut self, ty: Handle<Type>, span: Span) -> Result<VariablePlace> {
        let count = self.slots_of(&self.module.types[ty].inner, span)?;
        let base = self.fresh(count)?;
        self.variable[usize::from(base)..usize::from(base) + count].fill(true);
        Ok(VariablePlace {
            root: PlaceRoot::Registers(base),
            offset: 0,
            dynamic: None,
            shape: PlaceShape::Type(ty),
            owner: Owner::Anybody,
        })
    }

    /// Zeroes a variable.
    fn initialise(&mut self, base: Reg, ty: Handle<Type>, span: Span) -> Result<()> {
        let count = self.slots_of(&self.module.types[ty].inner, span)?;
        let src = self.word(0)?;
        match u16::try_from(count) {
            Ok(0) => Ok(()),
            Ok(count) => self.push(Op::Fill { dst: base, count, src }),
            Err(_) => Err(self.limit(Limit::Registers { max: u32::from(Reg::MAX) })),
        }
    }

    /// Takes a mask slot; callers reset `slots` when it is free again.
    fn slot(&mut self) -> Result<Slot> {
        let slot = self.slots;
        self.slots = slot.checked_add(1).ok_or_else(|| self.limit(Limit::Nesting))?;
        self.slots_most = self.slots_most.max(self.slots);
        Ok(slot)
    }

    /// The register that holds something from the launch on.
    fn fixed_register(&mut self, fixed: Fixed) -> Result<Reg> {
        if let Some(&register) = self.fixed.get(&fixed) {
            return Ok(register);
        }
        let register = Reg::try_from(self.fixed_next)
            .map_err(|_| self.limit(Limit::Registers { max: u32::from(Reg::MAX) }))?;
        self.fixed_next += fixed.registers();
        self.fixed.insert(fixed, register);
        Ok(register)
    }

    fn word(&mut self, word: u32) -> Result<Reg> {
        self.fixed_register(Fixed::Word(word))
    }

    fn wide(&mut self, wide: u64) -> Result<Vec<Reg>> {
        let first = self.fixed_register(Fixed::Wide(wide))?;
        Ok(vec![first, first + 1])
    }

    // Types

    /// The registers of a value of this type.
    fn slots_of(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        let slots = |handle: Handle<Type>| self.slots_of(&self.module.types[handle].inner, span);
        Ok(match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar_slots(scalar),
            TypeInner::Vector { size, scalar } => size as usize * scalar_slots(scalar),
            TypeInner::Matrix { columns, rows, scalar } => {
                columns as usize * rows as usize * scalar_slots(scalar)
            }
            TypeInner::Array { base, size, .. } if size != naga::ArraySize::Dynamic => {
                let count = array_length(self.module, size).map_or(usize::MAX, |n| n as usize);
                let registers = slots(base)?.checked_mul(count);
                match registers {
                    Some(registers) if registers <= usize::from(Reg::MAX) => registers,
                    _ => return Err(self.limit(Limit::Registers { max: u32::from(Reg::MAX) })),
                }
            }
            TypeInner::Struct { ref members, .. } => {
                let mut sum = 0;
                for member in members {
                    sum += slots(member.ty)?;
                }
                sum
            }
            TypeInner::Array { .. }
            | TypeInner::CooperativeMatrix { .. }
            | TypeInner::Pointer { .. }
            | TypeInner::ValuePointer { .. }
            | TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. } => {
                return Err(self.unsupported(format!("a value of type {inner:?}"), span));
            }
        })
    }

    /// The registers of a constant expression, all of them fixed.
    fn constant(
        &mut self,
        arena: &Arena<Expression>,
        handle: Handle<Expression>,
        span: Span,
    ) -> Result<Vec<Reg>> {
        match arena[handle] {
            Expression::Literal(literal) => self.literal(literal, span),
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                self.constant(&self.module.global_expressions, init, span)
            }
            Expression::ZeroValue(ty) => {
                let inner = &self.module.types[ty].inner;
                self.zero(inner, span)
            }
            Expression::Compose { ref components, .. } => {
                let mut slots = Vec::new();
                for &component in components {
                    slots.extend(self.constant(arena, component, span)?);
                }
                Ok(slots)
            }
            Expression::Splat { size, value } => {
                let value = self.constant(arena, value, span)?;
                Ok(value.repeat(size as usize))
            }
            ref other @ (Expression::Override(_)
            | Expression::Access { .. }
            | Expression::AccessIndex { .. }
            | Expression::Swizzle { .. }
            | Expression::FunctionArgument(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::Load { .. }
            | Expression::ImageSample { .. }
            | Expression::ImageLoad { .. }
            | Expression::ImageQuery { .. }
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Select { .. }
            | Expression::Derivative { .. }
            | Expression::Relational { .. }
            | Expression::Math { .. }
            | Expression::As { .. }
            | Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::ArrayLength(_)
            | Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. }
            | Expression::CooperativeLoad { .. }
            | Expression::CooperativeMultiplyAdd { .. }) => {
                Err(self.unsupported(format!("the constant expression {other:?}"), span))
            }
        }
    }

    /// Registers that hold zero; 64-bit scalars take pairs.
    fn zero(&mut self, inner: &TypeInner, span: Span) -> Result<Vec<Reg>> {
        let count = self.slots_of(inner, span)?;
        let mut leaves = Vec::new();
        self.scalars(inner, &mut leaves);
        let word = self.word(0)?;
        let mut slots = Vec::with_capacity(count);
        for scalar in leaves {
            if scalar.width == 8 {
                slots.extend(self.wide(0)?);
            } else {
                slots.push(word);
            }
        }
        Ok(slots)
    }

    /// The scalars of a value, in order.
    fn scalars(&self, inner: &TypeInner, into: &mut Vec<Scalar>) {
        let mut leaves = Vec::new();
        self.leaves(inner, 0, &mut leaves);
        into.extend(leaves.into_iter().map(|leaf| leaf.1));
    }

    fn literal(&mut self, literal: Literal, span: Span) -> Result<Vec<Reg>> {
        let word = match literal {
            Literal::F64(value) => return self.wide(value.to_bits()),
            Literal::U64(value) => return self.wide(value),
            Literal::I64(value) => return self.wide(value.cast_unsigned()),
            Literal::F32(value) => value.to_bits(),
            Literal::F16(value) => value.to_f32().to_bits(),
            Literal::U16(value) => u32::from(value),
            Literal::I16(value) => i32::from(value).cast_unsigned(),
            Literal::U32(value) => value,
            Literal::I32(value) => value.cast_unsigned(),
            Literal::Bool(value) => u32::from(value),
            Literal::AbstractInt(_) | Literal::AbstractFloat(_) => {
                return Err(self.unsupported("an abstract literal".to_owned(), span));
            }
        };
        Ok(vec![self.word(word)?])
    }

    // Code

    fn push(&mut self, op: Op) -> Result<()> {
        if self.ops.len() >= OPS_MAX {
            return Err(self.limit(Limit::Operations { max: OPS_MAX }));
        }
        self.ops.push(op);
        Ok(())
    }

    fn label(&mut self) -> Target {
        self.labels.push(u32::MAX);
        index(self.labels.len() - 1)
    }

    fn place_label(&mut self, label: Target) {
        self.labels[label as usize] = index(self.ops.len());
    }

    fn site(&mut self, span: Span) -> SiteId {
        let location = self.location(span);
        index(self.sites.insert_full(location, ()).0)
    }

    /// What follows a value that is read from memory.
    fn follow(
        &mut self,
        frame: &CompiledFunction<'_>,
        value: Handle<Expression>,
        span: Span,
    ) -> Result<FollowId> {
        let Some(lines) = self.followed.lines(frame.number, value) else {
            return Ok(FOLLOW_NONE);
        };
        let conditions = lines.iter().copied().collect();
        let follow = Follow { line: self.location(span).line, conditions };
        let number = self.follows.insert_full(follow).0;
        match FollowId::try_from(number) {
            Ok(number) if number != FOLLOW_NONE => Ok(number),
            _ => Err(self.limit(Limit::Operations { max: OPS_MAX })),
        }
    }

    fn location(&self, span: Span) -> Location {
        self.program.text().location(span.to_range().map_or(0, |range| range.start))
    }

    fn limit(&self, limit: Limit) -> SimulateError {
        SimulateError::Limit { file: self.program.text().file().to_owned(), limit }
    }

    fn unsupported(&self, what: String, span: Span) -> SimulateError {
        SimulateError::Unsupported {
            file: self.program.text().file().to_owned(),
            line: self.location(span).line,
            what,
        }
    }
}

impl Fixed {
    fn registers(self) -> u32 {
        match self {
            Self::Wide(_) => 2,
            Self::Word(_) | Self::Builtin(..) | Self::Length { .. } => 1,
        }
    }
}

/// Registers of a scalar.
fn scalar_slots(scalar: Scalar) -> usize {
    if scalar.width == 8 { 2 } else { 1 }
}

/// An index that the limits keep small.
fn index(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Turns a label into the index that it stands for.
fn link(op: &mut Op, labels: &[u32]) {
    if let Op::If { target, .. }
    | Op::Else { target, .. }
    | Op::Join { target, .. }
    | Op::BreakIf { target, .. }
    | Op::Leave { target, .. }
    | Op::CaseBegin { target, .. }
    | Op::LoopBack { head: target, .. }
    | Op::LoopBackUnless { head: target, .. }
    | Op::LoopEnd { target, .. }
    | Op::LoopMeet { target, .. } = op
    {
        *target = labels[*target as usize];
    }
}
