//! What each value depends on: the same for a workgroup, a lane's number, or data.
//!
//! Input: a validated module and the trees of its bodies. Output: a [`Class`] for each expression and
//! each construct of each function. Nothing is changed; no value is worked out.
//!
//! # Method
//!
//! A conservative data flow to a fixed point: every class starts as [`Class::Uniform`] and only ever
//! rises. An expression has the highest class of its operands. A variable has the highest class of
//! everything that is ever stored to it, wherever; the class of the conditions under which it is
//! stored counts too, since lanes that do not store keep the old value; but not those conditions
//! under which a body is entered outside of which the variable does not live (the counter of a loop
//! in an arm: whoever is in the arm has it). Lanes that leave by `return`
//! are not seen again in their function and make nothing diverge there; lanes that leave a loop
//! or a switch early come together after it, so their conditions count inside it.
//!
//! Where a value cannot be traced (pointers handed to functions, memory that may be written,
//! results of atomics and subgroup operations) it is [`Class::Data`].

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use naga::{
    AddressSpace, BinaryOperator, Binding, BuiltIn, Expression, Function, GlobalVariable, Handle,
    Literal, LocalVariable, Module, Statement, TypeInner,
};

use super::pointers::{Root, root};
use super::scopes::find_scopes;
use super::structure::{Body, Node, Structure};
use super::visit::{Jump, Write, Written, effect};

/// The largest constant that a modulo or a mask may have to count as a lane's parity: the widest
/// subgroup, in lanes.
const PARITY_MAX: u64 = 128;

/// What a value depends on; a later one takes precedence where both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The same for every invocation of a workgroup that evaluates it together.
    Uniform,
    /// An invocation's number modulo a small constant, or some of its low bits.
    LaneParity,
    /// An invocation's number otherwise.
    Invocation,
    /// Memory, or what could not be traced.
    Data,
}

/// The classes of one function.
#[derive(Clone, Debug)]
pub struct Classes {
    /// Of each expression, by index.
    expressions: Vec<Class>,
    /// Of each construct in the order of the tree, outer before inner: of an `if`'s condition, of a
    /// `switch`'s selector, of all conditions under which a loop is left.
    pub constructs: Vec<Class>,
    /// Of the conditions under which lanes break out of each construct, by the same index.
    breaks: Vec<Class>,
    /// Of those under which lanes continue.
    continues: Vec<Class>,
    /// Of each local variable.
    locals: BTreeMap<Handle<LocalVariable>, Class>,
    /// Of the conditions under which lanes return before the end.
    returns: Class,
    /// Of each argument; empty for the entry point, whose arguments are built in.
    arguments: Vec<Class>,
    /// Of the flow in which the function is called.
    entered: Class,
    /// Of what it returns.
    result: Class,
}

/// Works out the classes of every function: the module's in order, the entry point last.
pub fn classes(module: &Module, structure: &Structure) -> Vec<Classes> {
    let entry = &module.entry_points[0];
    let functions: Vec<(&Function, &Body)> = module
        .functions
        .iter()
        .map(|(_, function)| function)
        .zip(&structure.functions)
        .chain([(&entry.function, &structure.entry_point)])
        .collect();
    let new = |(function, body): &(&Function, &Body)| Classes::new(function, body.constructs);
    let mut state = State {
        module,
        functions: functions.iter().map(new).collect(),
        privates: BTreeMap::new(),
        changed: true,
    };
    let homes: Vec<_> =
        functions.iter().map(|(function, body)| find_scopes(function, body)).collect();
    // Results go to the callers, which stand later, and arguments to the callees, which stand before:
    // a chain of calls takes a round or two where each goes the other way.
    let mut order: Vec<usize> = (0..functions.len()).collect();
    while state.changed {
        state.changed = false;
        for &index in &order {
            let (function, body) = functions[index];
            state.expressions(index, function);
            let homes = &homes[index];
            let controls = Vec::new();
            let mut walk =
                ClassWalk { state: &mut state, index, function, next: 0, homes, controls };
            walk.body(body, Class::Uniform);
        }
        order.reverse();
    }
    state.functions
}

impl Classes {
    fn new(function: &Function, constructs: usize) -> Self {
        Self {
            expressions: vec![Class::Uniform; function.expressions.len()],
            constructs: vec![Class::Uniform; constructs],
            breaks: vec![Class::Uniform; constructs],
            continues: vec![Class::Uniform; constructs],
            locals: BTreeMap::new(),
            returns: Class::Uniform,
            arguments: vec![Class::Uniform; function.arguments.len()],
            entered: Class::Uniform,
            result: Class::Uniform,
        }
    }
}

/// Everything that rises.
struct State<'a> {
    module: &'a Module,
    functions: Vec<Classes>,
    privates: BTreeMap<Handle<GlobalVariable>, Class>,
    changed: bool,
}

/// Raises a class, and notes whether that changed it.
fn raise(changed: &mut bool, place: &mut Class, class: Class) {
    if class > *place {
        *place = class;
        *changed = true;
    }
}

impl State<'_> {
    /// Works out every expression of a function once; operands stand before their users.
    fn expressions(&mut self, index: usize, function: &Function) {
        for (handle, expression) in function.expressions.iter() {
            let class = self.expression(index, function, expression);
            let place = &mut self.functions[index].expressions[handle.index()];
            raise(&mut self.changed, place, class);
        }
    }

    fn is_entry(&self, index: usize) -> bool {
        index + 1 == self.functions.len()
    }

    fn expression(&self, index: usize, function: &Function, expression: &Expression) -> Class {
        use Expression as E;
        let known = &self.functions[index].expressions;
        let class_of = |handle: Handle<Expression>| known[handle.index()];
        let all = |handles: &[Option<Handle<Expression>>]| {
            handles.iter().flatten().map(|handle| class_of(*handle)).max().unwrap_or(Class::Uniform)
        };
        match *expression {
            E::Literal(_)
            | E::Constant(_)
            | E::Override(_)
            | E::ZeroValue(_)
            | E::GlobalVariable(_)
            | E::LocalVariable(_)
            | E::ArrayLength(_)
            | E::WorkGroupUniformLoadResult { .. } => Class::Uniform,
            E::Compose { ref components, .. } => {
                components.iter().map(|part| class_of(*part)).max().unwrap_or(Class::Uniform)
            }
            E::Access { base, index } => class_of(base).max(class_of(index)),
            E::AccessIndex { base, index: member } => {
                self.member(index, function, base, member).unwrap_or(class_of(base))
            }
            E::Splat { value, .. } => class_of(value),
            E::Swizzle { vector, .. } => class_of(vector),
            E::FunctionArgument(number) => self.argument(index, function, number),
            E::Load { pointer } => self.load(index, function, pointer, class_of(pointer)),
            E::Unary { expr, .. } | E::As { expr, .. } => class_of(expr),
            E::Binary { op, left, right } => {
                let both = class_of(left).max(class_of(right));
                let parity = both == Class::Invocation && self.masks(function, op, left, right);
                if parity { Class::LaneParity } else { both }
            }
            E::Select { condition, accept, reject } => {
                class_of(condition).max(class_of(accept)).max(class_of(reject))
            }
            E::Relational { argument, .. } => class_of(argument),
            E::Math { arg, arg1, arg2, arg3, .. } => all(&[Some(arg), arg1, arg2, arg3]),
            E::CallResult(callee) => self.functions[callee.index()].result,
            E::AtomicResult { .. }
            | E::SubgroupBallotResult
            | E::SubgroupOperationResult { .. }
            | E::ImageSample { .. }
            | E::ImageLoad { .. }
            | E::ImageQuery { .. }
            | E::Derivative { .. }
            | E::RayQueryVertexPositions { .. }
            | E::RayQueryProceedResult
            | E::RayQueryGetIntersection { .. }
            | E::CooperativeLoad { .. }
            | E::CooperativeMultiplyAdd { .. } => Class::Data,
        }
    }

    /// What a load gives from a pointer whose own address has the class `address`.
    fn load(
        &self,
        index: usize,
        function: &Function,
        pointer: Handle<Expression>,
        address: Class,
    ) -> Class {
        let read_only = |address: Class| match address {
            Class::Uniform => Class::Uniform,
            Class::LaneParity | Class::Invocation | Class::Data => Class::Data,
        };
        match root(function, pointer) {
            Root::Other => Class::Data,
            Root::Local(handle) => {
                let stored = self.functions[index].locals.get(&handle);
                stored.copied().unwrap_or(Class::Uniform).max(address)
            }
            Root::Global(handle) => match self.module.global_variables[handle].space {
                AddressSpace::Private => {
                    let stored = self.privates.get(&handle);
                    stored.copied().unwrap_or(Class::Uniform).max(address)
                }
                AddressSpace::Uniform | AddressSpace::Immediate => read_only(address),
                AddressSpace::Storage { access }
                    if !access.contains(naga::StorageAccess::STORE) =>
                {
                    read_only(address)
                }
                AddressSpace::Storage { .. }
                | AddressSpace::Function
                | AddressSpace::WorkGroup
                | AddressSpace::Handle
                | AddressSpace::TaskPayload
                | AddressSpace::RayPayload
                | AddressSpace::IncomingRayPayload => Class::Data,
            },
        }
    }

    /// Whether an operation takes an invocation's number modulo a small constant, or masks it.
    fn masks(
        &self,
        function: &Function,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> bool {
        let small = |handle: Handle<Expression>| {
            self.constant(function, handle).is_some_and(|value| (1..=PARITY_MAX).contains(&value))
        };
        match op {
            BinaryOperator::Modulo => small(right),
            BinaryOperator::And => small(left) || small(right),
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
            | BinaryOperator::ExclusiveOr
            | BinaryOperator::InclusiveOr
            | BinaryOperator::LogicalAnd
            | BinaryOperator::LogicalOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => false,
        }
    }

    /// The value of an integer constant that is not negative; a splat's is its component's.
    fn constant(&self, function: &Function, handle: Handle<Expression>) -> Option<u64> {
        let mut expression = &function.expressions[handle];
        if let Expression::Splat { value, .. } = *expression {
            expression = &function.expressions[value];
        }
        if let Expression::Constant(constant) = *expression {
            expression = &self.module.global_expressions[self.module.constants[constant].init];
        }
        let Expression::Literal(literal) = *expression else { return None };
        match literal {
            Literal::U32(value) => Some(u64::from(value)),
            Literal::I32(value) => u64::try_from(value).ok(),
            Literal::U64(value) => Some(value),
            Literal::I64(value) | Literal::AbstractInt(value) => u64::try_from(value).ok(),
            Literal::U16(value) => Some(u64::from(value)),
            Literal::I16(value) => u64::try_from(value).ok(),
            Literal::F64(_)
            | Literal::F32(_)
            | Literal::F16(_)
            | Literal::Bool(_)
            | Literal::AbstractFloat(_) => None,
        }
    }
}

/// Built-in arguments.
impl State<'_> {
    fn argument(&self, index: usize, function: &Function, number: u32) -> Class {
        if !self.is_entry(index) {
            return self.functions[index].arguments[number as usize];
        }
        let argument = &function.arguments[number as usize];
        if let Some(binding) = &argument.binding {
            return class_of_binding(binding);
        }
        let TypeInner::Struct { ref members, .. } = self.module.types[argument.ty].inner else {
            return Class::Data;
        };
        let class = |member: &naga::StructMember| {
            member.binding.as_ref().map_or(Class::Data, class_of_binding)
        };
        members.iter().map(class).max().unwrap_or(Class::Uniform)
    }

    /// The class of a member of a built-in argument, where it is another than the whole's: a field
    /// of a struct of built-in values, or an axis along which a workgroup has one invocation.
    fn member(
        &self,
        index: usize,
        function: &Function,
        base: Handle<Expression>,
        member: u32,
    ) -> Option<Class> {
        if !self.is_entry(index) {
            return None;
        }
        if let Some(built_in) = self.built_in(function, base) {
            let by_axis =
                matches!(built_in, BuiltIn::GlobalInvocationId | BuiltIn::LocalInvocationId);
            let size = self.module.entry_points[0].workgroup_size.get(member as usize).copied();
            return (by_axis && size == Some(1)).then_some(Class::Uniform);
        }
        let Expression::FunctionArgument(number) = function.expressions[base] else { return None };
        let argument = &function.arguments[number as usize];
        let TypeInner::Struct { ref members, .. } = self.module.types[argument.ty].inner else {
            return None;
        };
        members.get(member as usize)?.binding.as_ref().map(class_of_binding)
    }

    /// The built-in value that an expression of the entry point is.
    fn built_in(&self, function: &Function, handle: Handle<Expression>) -> Option<BuiltIn> {
        let binding = if let Expression::FunctionArgument(number) = function.expressions[handle] {
            function.arguments[number as usize].binding.as_ref()
        } else if let Expression::AccessIndex { base, index } = function.expressions[handle] {
            let Expression::FunctionArgument(number) = function.expressions[base] else {
                return None;
            };
            let argument = &function.arguments[number as usize];
            let TypeInner::Struct { ref members, .. } = self.module.types[argument.ty].inner else {
                return None;
            };
            members.get(index as usize)?.binding.as_ref()
        } else {
            None
        };
        match binding? {
            Binding::BuiltIn(built_in) => Some(*built_in),
            Binding::Location { .. } => None,
        }
    }
}

/// What a built-in value depends on.
fn class_of_binding(binding: &Binding) -> Class {
    match *binding {
        Binding::Location { .. } => Class::Data,
        Binding::BuiltIn(built_in) => match built_in {
            BuiltIn::WorkGroupId
            | BuiltIn::WorkGroupSize
            | BuiltIn::NumWorkGroups
            | BuiltIn::NumSubgroups => Class::Uniform,
            // The size of a subgroup may differ within a workgroup.
            BuiltIn::SubgroupSize
            | BuiltIn::GlobalInvocationId
            | BuiltIn::LocalInvocationId
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::SubgroupId
            | BuiltIn::SubgroupInvocationId => Class::Invocation,
            // No compute shader has the others.
            BuiltIn::PrimitiveIndex
            | BuiltIn::Position { .. }
            | BuiltIn::ViewIndex
            | BuiltIn::BaseInstance
            | BuiltIn::BaseVertex
            | BuiltIn::ClipDistances
            | BuiltIn::CullDistance
            | BuiltIn::InstanceIndex
            | BuiltIn::PointSize
            | BuiltIn::VertexIndex
            | BuiltIn::DrawIndex
            | BuiltIn::FragDepth
            | BuiltIn::PointCoord
            | BuiltIn::FrontFacing
            | BuiltIn::Barycentric { .. }
            | BuiltIn::SampleIndex
            | BuiltIn::SampleMask
            | BuiltIn::MeshTaskSize
            | BuiltIn::CullPrimitive
            | BuiltIn::PointIndex
            | BuiltIn::LineIndices
            | BuiltIn::TriangleIndices
            | BuiltIn::VertexCount
            | BuiltIn::Vertices
            | BuiltIn::PrimitiveCount
            | BuiltIn::Primitives
            | BuiltIn::RayInvocationId
            | BuiltIn::NumRayInvocations
            | BuiltIn::InstanceCustomData
            | BuiltIn::GeometryIndex
            | BuiltIn::WorldRayOrigin
            | BuiltIn::WorldRayDirection
            | BuiltIn::ObjectRayOrigin
            | BuiltIn::ObjectRayDirection
            | BuiltIn::RayTmin
            | BuiltIn::RayTCurrentMax
            | BuiltIn::ObjectToWorld
            | BuiltIn::WorldToObject
            | BuiltIn::HitKind => Class::Data,
        },
    }
}

/// The conditions under which lanes leave a part of a body; nothing where none does.
#[derive(Clone, Copy, Default)]
struct ExitClasses {
    breaks: Option<Class>,
    continues: Option<Class>,
    returns: Option<Class>,
}

impl ExitClasses {
    fn join(self, other: Self) -> Self {
        Self {
            breaks: self.breaks.max(other.breaks),
            continues: self.continues.max(other.continues),
            returns: self.returns.max(other.returns),
        }
    }

    /// The same exits, seen from outside a condition.
    fn inside_condition(self, class: Class) -> Self {
        let under = |exit: Option<Class>| exit.map(|exit| exit.max(class));
        Self {
            breaks: under(self.breaks),
            continues: under(self.continues),
            returns: under(self.returns),
        }
    }
}

/// A walk over one function's tree.
struct ClassWalk<'a, 'm> {
    state: &'a mut State<'m>,
    index: usize,
    function: &'a Function,
    /// The next construct's index.
    next: usize,
    /// How many bodies are around the one in which a variable lives.
    homes: &'a BTreeMap<Handle<LocalVariable>, usize>,
    /// The conditions under which lanes are in each body around, innermost last.
    controls: Vec<Class>,
}

impl ClassWalk<'_, '_> {
    fn class_of(&self, handle: Handle<Expression>) -> Class {
        self.state.functions[self.index].expressions[handle.index()]
    }

    fn construct(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn set(&mut self, construct: usize, left: Class, breaks: Class, continues: Class) {
        let classes = &mut self.state.functions[self.index];
        let changed = &mut self.state.changed;
        raise(changed, &mut classes.constructs[construct], left);
        raise(changed, &mut classes.breaks[construct], breaks);
        raise(changed, &mut classes.continues[construct], continues);
    }

    /// Walks a body inside another, in which lanes are under conditions of the class `here`.
    fn inner(&mut self, body: &Body, control: Class, here: Class) -> ExitClasses {
        self.controls.push(here);
        let exits = self.body(body, control.max(here));
        self.controls.pop();
        exits
    }

    /// Walks a body that lanes enter under conditions of the class `control`.
    fn body(&mut self, body: &Body, control: Class) -> ExitClasses {
        let mut exits = ExitClasses::default();
        for node in &body.nodes {
            let more = match node {
                Node::Straight(straight) => {
                    let statements = straight.statements.iter();
                    statements
                        .map(|(s, _)| self.statement(s, control))
                        .fold(exits, ExitClasses::join)
                }
                Node::If { condition, accept, reject, .. } => {
                    let construct = self.construct();
                    let class = self.class_of(*condition);
                    self.set(construct, class, Class::Uniform, Class::Uniform);
                    let accept = self.inner(accept, control, class);
                    accept.join(self.inner(reject, control, class)).inside_condition(class)
                }
                Node::Switch { selector, cases, .. } => {
                    let construct = self.construct();
                    let class = self.class_of(*selector);
                    let inside = class.max(self.state.functions[self.index].breaks[construct]);
                    let mut inner = ExitClasses::default();
                    for case in cases {
                        inner = inner.join(self.inner(&case.body, control, inside));
                    }
                    let breaks = inner.breaks.unwrap_or(Class::Uniform);
                    self.set(construct, class, breaks, Class::Uniform);
                    ExitClasses { breaks: None, ..inner.inside_condition(inside) }
                }
                Node::Loop { body, continuing, break_if, .. } => {
                    let construct = self.construct();
                    let classes = &self.state.functions[self.index];
                    let left = classes.breaks[construct];
                    let continued = left.max(classes.continues[construct]);
                    let inner = self.inner(body, control, continued);
                    let inner = inner.join(self.inner(continuing, control, left));
                    let breaks =
                        break_if.map(|condition| self.class_of(condition)).max(inner.breaks);
                    let returns = inner.returns.unwrap_or(Class::Uniform);
                    let breaks = breaks.unwrap_or(Class::Uniform);
                    let continues = inner.continues.unwrap_or(Class::Uniform);
                    self.set(construct, breaks.max(returns), breaks, continues);
                    let returns = inner.returns.map(|class| class.max(breaks));
                    ExitClasses { breaks: None, continues: None, returns }
                }
            };
            exits = exits.join(more);
        }
        exits
    }

    fn statement(&mut self, statement: &Statement, control: Class) -> ExitClasses {
        let effect = effect(statement);
        match effect.writes {
            Some(Write { pointer, what: Written::Value(value) }) => {
                self.store(pointer, self.class_of(value).max(self.class_of(pointer)), control);
            }
            Some(Write { pointer, what: Written::Unknown }) => {
                self.store(pointer, Class::Data, control);
            }
            // Atomics lie in memory, from which every load is data in any case.
            Some(Write { what: Written::Updated, .. }) | None => {}
        }
        if let Some(call) = effect.calls {
            self.call(call.function.index(), call.arguments, control);
        }
        let leaves = Some(Class::Uniform);
        match effect.leaves {
            Some(Jump::Break) => ExitClasses { breaks: leaves, ..ExitClasses::default() },
            Some(Jump::Continue) => ExitClasses { continues: leaves, ..ExitClasses::default() },
            Some(Jump::Return(value)) => {
                let class = value.map_or(Class::Uniform, |value| self.class_of(value).max(control));
                let changed = &mut self.state.changed;
                let classes = &mut self.state.functions[self.index];
                raise(changed, &mut classes.result, class);
                raise(changed, &mut classes.returns, control);
                ExitClasses { returns: leaves, ..ExitClasses::default() }
            }
            Some(Jump::Kill) | None => ExitClasses::default(),
        }
    }

    /// Raises the variable that a pointer points into, for a store of a value of the class `class`.
    fn store(&mut self, pointer: Handle<Expression>, class: Class, control: Class) {
        match root(self.function, pointer) {
            // Loads through arguments and from memory are data in any case.
            Root::Other => {}
            Root::Local(handle) => {
                let home = self.homes.get(&handle).copied().unwrap_or_default();
                let class = self.controls.iter().skip(home).copied().fold(class, Class::max);
                let classes = &mut self.state.functions[self.index];
                let place = classes.locals.entry(handle).or_insert(Class::Uniform);
                raise(&mut self.state.changed, place, class);
            }
            Root::Global(handle) => {
                // It outlives the function: who entered and who returned earlier tells lanes apart.
                let here = &self.state.functions[self.index];
                let entry = self.state.is_entry(self.index);
                let flow = if entry { Class::Uniform } else { here.entered.max(here.returns) };
                let place = self.state.privates.entry(handle).or_insert(Class::Uniform);
                raise(&mut self.state.changed, place, class.max(control).max(flow));
            }
        }
    }

    fn call(&mut self, callee: usize, arguments: &[Handle<Expression>], control: Class) {
        for (number, argument) in arguments.iter().enumerate() {
            let pointer = !matches!(root(self.function, *argument), Root::Other);
            if pointer {
                // The callee may store anything through it.
                self.store(*argument, Class::Data, control);
            }
            let class = if pointer { Class::Data } else { self.class_of(*argument) };
            let place = &mut self.state.functions[callee].arguments[number];
            raise(&mut self.state.changed, place, class);
        }
        let here = &self.state.functions[self.index];
        let flow = if self.state.is_entry(self.index) {
            control
        } else {
            control.max(here.entered).max(here.returns)
        };
        raise(&mut self.state.changed, &mut self.state.functions[callee].entered, flow);
    }
}
