//! What arrays hold, as far as their use tells: offsets, places, bins, sorted keys, nodes, points, pixels.
//!
//! Input: a module. Output: for each array of a buffer, which is the variable itself or a member of one that is a
//! struct, what it holds, where its use tells ([`Held`]), and the arrays that its numbers lead into; and the most that
//! numbers of the host may be which bound an index into an array of a fixed length, or are one. Whether a condition
//! follows what an array holds, so that rows are walked or keys compared, [`Deciding`](super::Deciding) says. Indices
//! are compared as they are written, a variable's value as its name. Nothing is changed; no value is worked out.
//!
//! # Method
//!
//! Where the numbers that are loaded from an array go, which [`flow`](super::flow) says, and how what they lead to is used.

use std::collections::{BTreeMap, BTreeSet};

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    ArraySize, BinaryOperator, Binding, BuiltIn, Expression, Function, Handle, Literal,
    MathFunction, Module, ScalarKind, Type, TypeInner,
};

use super::flow::{Array, Flow, Reached, Value, array_of, element_of, type_of};
use super::followed::given_number;
use super::visit::{Write, Written, for_each_effect};

/// What an array holds, as its use tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Held {
    /// Its use tells nothing.
    #[default]
    Unknown,
    /// Where rows begin: it is read at some i and at i + 1, and a condition follows what came out.
    Offsets {
        /// The arrays that are indexed by what came out.
        into: BTreeSet<String>,
    },
    /// Numbers of elements of the same array, as in a tree, a list, or a forest of sets.
    Nodes,
    /// Keys in order: it is read half-way between two bounds, and a condition follows what came out.
    SortedKeys,
    /// Places at which elements of another array are written: a permutation, where none is written twice.
    Places,
    /// Numbers of elements of an array of atomics, such as bins.
    Bins,
    /// Points: vectors of floats of which distances are worked out.
    Points,
    /// Pixels, row by row.
    Pixels,
}

/// What their use tells of the arrays of a module's buffers, which are named `variable` or `variable.member`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// What they hold; those whose use tells nothing are left out.
    pub held: BTreeMap<String, Held>,
    /// The arrays that are indexed by their numbers, as these are or with something added.
    pub leads: BTreeMap<String, BTreeSet<String>>,
    /// The most that a number of the host may be, so that what it bounds, or where it leads as it is, stays within an
    /// array of a fixed length; numbers are named as those of [`PlaceBounds`](super::PlaceBounds).
    pub limits: BTreeMap<String, u64>,
    /// Numbers beside arrays in one struct that are indices into arrays, as they are or with something added, named in the
    /// same way.
    pub indices: BTreeSet<String>,
}

impl Uses {
    /// What an array holds.
    pub fn held(&self, array: &str) -> &Held {
        self.held.get(array).unwrap_or(&Held::Unknown)
    }

    /// Adds what another entry point tells: where both tell what an array holds, the first is kept.
    pub fn extend(&mut self, other: &Self) {
        for (array, held) in &other.held {
            self.held.entry(array.clone()).or_insert_with(|| held.clone());
        }
        for (array, leads) in &other.leads {
            self.leads.entry(array.clone()).or_default().extend(leads.iter().cloned());
        }
        for (number, limit) in &other.limits {
            let least = self.limits.entry(number.clone()).or_insert(*limit);
            *least = (*least).min(*limit);
        }
        self.indices.extend(other.indices.iter().cloned());
    }
}

/// What the use of the arrays of the module's buffers tells; `decides` says by an array's name whether a condition
/// follows what it holds.
pub(crate) fn find_uses(
    module: &Module,
    info: &ModuleInfo,
    decides: &dyn Fn(&str) -> bool,
) -> Uses {
    let reader = Reader::new(module, info);
    Uses {
        held: reader.held(decides),
        leads: reader.leads(),
        limits: reader.limits(),
        indices: reader.number_indices(),
    }
}

/// An element of an array whose place a function works out.
#[derive(Clone, Copy)]
struct Element {
    place: Value,
    array: Array,
    index: Value,
}

/// An index of an array's element, in a function or in what it calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    array: Array,
    /// What the index is written as in this function.
    text: String,
    /// What is added to it.
    constant: i64,
}

/// What is read of a module.
struct Reader<'a> {
    module: &'a Module,
    /// The types of each function's expressions.
    types: Vec<&'a FunctionInfo>,
    flow: Flow<'a>,
    /// Every element whose place is worked out.
    elements: Vec<Element>,
    /// Every load of an element, or of a part of one: its place is the load.
    loads: Vec<Element>,
    /// For each function the indices of loads.
    reads: Vec<BTreeSet<Read>>,
    /// For each function the indices of all elements.
    accesses: Vec<BTreeSet<Read>>,
}

impl<'a> Reader<'a> {
    fn new(module: &'a Module, info: &'a ModuleInfo) -> Self {
        let of_entries = (0..module.entry_points.len()).map(|entry| info.get_entry_point(entry));
        let types = module.functions.iter().map(|(handle, _)| &info[handle]).chain(of_entries);
        let types = types.collect();
        let entries = module.entry_points.iter().map(|entry| &entry.function);
        let functions: Vec<&Function> =
            module.functions.iter().map(|(_, function)| function).chain(entries).collect();
        let (mut elements, mut loads) = (Vec::new(), Vec::new());
        for (number, function) in functions.iter().enumerate() {
            for (handle, expression) in function.expressions.iter() {
                let place = (number, handle);
                if let Expression::Access { base, index } = *expression
                    && let Some(array) = array_of(module, function, base)
                {
                    elements.push(Element { place, array, index: (number, index) });
                } else if let Expression::Load { pointer } = *expression
                    && let Some((array, index)) = element_of(module, function, pointer)
                {
                    loads.push(Element { place, array, index: (number, index) });
                }
            }
        }
        let flow = Flow::new(module, functions);
        let (reads, accesses) = (Vec::new(), Vec::new());
        let mut reader = Self { module, types, flow, elements, loads, reads, accesses };
        for number in 0..reader.flow.functions.len() {
            let reads = reader.indices_of(number, &reader.loads, &reader.reads);
            let accesses = reader.indices_of(number, &reader.elements, &reader.accesses);
            reader.reads.push(reads);
            reader.accesses.push(accesses);
        }
        reader
    }

    fn expression(&self, (function, handle): Value) -> &Expression {
        &self.flow.functions[function].expressions[handle]
    }

    /// Every expression of every function.
    fn expressions(&self) -> impl Iterator<Item = (Value, &Expression)> {
        self.flow.functions.iter().enumerate().flat_map(|(number, function)| {
            let expressions = function.expressions.iter();
            expressions.map(move |(handle, expression)| ((number, handle), expression))
        })
    }

    fn name(&self, array: Array) -> String {
        let variable = &self.module.global_variables[array.global];
        let name = variable.name.clone().unwrap_or_default();
        let TypeInner::Struct { ref members, .. } = self.module.types[variable.ty].inner else {
            return name;
        };
        let member = array.member.and_then(|member| members.get(member as usize));
        let member = member.and_then(|member| member.name.as_deref()).unwrap_or_default();
        format!("{name}.{member}")
    }

    fn held(&self, decides: &dyn Fn(&str) -> bool) -> BTreeMap<String, Held> {
        let neighbours = self.read_at_neighbours();
        let (halved, pixels) = (self.read_half_way(), self.read_by_rows());
        let mut found = BTreeMap::new();
        let read: BTreeSet<Array> = self.loads.iter().map(|load| load.array).collect();
        for array in read {
            let name = self.name(array);
            let elements = self.indexed_by(array, false);
            let arrays: BTreeSet<Array> = elements.iter().map(|element| element.array).collect();
            let places: BTreeSet<Value> = elements.iter().map(|element| element.place).collect();
            let used = |uses: &dyn Fn(Written) -> bool| self.writes(&places, uses);
            let held = if neighbours.contains(&array) && decides(&name) {
                let into = arrays.into_iter().filter(|other| *other != array);
                Held::Offsets { into: into.map(|other| self.name(other)).collect() }
            } else if halved.contains(&array) && decides(&name) {
                Held::SortedKeys
            } else if arrays.contains(&array) {
                Held::Nodes
            } else if !pixels.contains(&array) && self.has_distances(array) {
                Held::Points
            } else if used(&|what| matches!(what, Written::Updated)) {
                Held::Bins
            } else if used(&|what| matches!(what, Written::Value(_))) {
                Held::Places
            } else if pixels.contains(&array) {
                Held::Pixels
            } else {
                continue;
            };
            found.insert(name, held);
        }
        found
    }

    /// The arrays that the numbers of each lead into.
    fn leads(&self) -> BTreeMap<String, BTreeSet<String>> {
        let read: BTreeSet<Array> = self.loads.iter().map(|load| load.array).collect();
        let all = read.into_iter().map(|array| {
            let elements = self.indexed_by(array, true);
            let names = elements.into_iter().map(|element| self.name(element.array));
            (self.name(array), names.collect::<BTreeSet<String>>())
        });
        all.filter(|(_, names)| !names.is_empty()).collect()
    }

    /// The most that numbers of the host may be which an index is compared with, or which are one.
    fn limits(&self) -> BTreeMap<String, u64> {
        let mut limits: BTreeMap<String, u64> = BTreeMap::new();
        for ((number, _), expression) in self.expressions() {
            let Expression::Binary { op, left, right } = *expression else { continue };
            // The place, the bound, and whether those at the bound itself are left out.
            let sides = match op {
                BinaryOperator::Less | BinaryOperator::GreaterEqual => {
                    [(left, right, true), (right, left, false)]
                }
                BinaryOperator::Greater | BinaryOperator::LessEqual => {
                    [(left, right, false), (right, left, true)]
                }
                _ => continue,
            };
            let function = self.flow.functions[number];
            for (place, bound, left_out) in sides {
                let Some(name) = given_number(self.module, function, bound) else { continue };
                let (text, added) = self.sum((number, place));
                for read in self.accesses[number].iter().filter(|read| read.text == text) {
                    let Some(length) = self.fixed_length(read.array) else { continue };
                    let most = length + added - read.constant - i64::from(!left_out);
                    let most = u64::try_from(most).unwrap_or(0);
                    let least = limits.entry(name.clone()).or_insert(most);
                    *least = (*least).min(most);
                }
            }
        }
        for (name, last) in self.last_elements() {
            let least = limits.entry(name).or_insert(last);
            *least = (*least).min(last);
        }
        limits
    }

    /// The numbers of the host that are indices into arrays of a fixed length, wherever these lie, each with the
    /// shortest one's last element.
    fn last_elements(&self) -> BTreeMap<String, u64> {
        let indices = self.expressions().filter_map(|((number, _), expression)| {
            let Expression::Access { base, index } = *expression else { return None };
            Some(((number, index), self.last_element((number, base))?))
        });
        let indices: Vec<(Value, u64)> = indices.collect();
        if indices.is_empty() {
            return BTreeMap::new();
        }
        let mut numbers: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (value, expression) in self.expressions() {
            let is_read = match *expression {
                Expression::Load { .. } => true,
                Expression::AccessIndex { base, .. } => {
                    matches!(*self.expression((value.0, base)), Expression::Load { .. })
                }
                _ => false,
            };
            if is_read
                && self.is_integer(value)
                && let Some(name) = given_number(self.module, self.flow.functions[value.0], value.1)
            {
                numbers.entry(name).or_default().push(value);
            }
        }
        let lasts = numbers.into_iter().filter_map(|(name, values)| {
            let comes = self.flow.follow(values.into_iter(), true);
            let reached = indices.iter().filter(|(index, _)| comes.holds(*index));
            Some((name, reached.map(|(_, last)| *last).min()?))
        });
        lasts.collect()
    }

    /// The number of the last element of what an expression is or points to, where that is an array of a fixed length.
    fn last_element(&self, value: Value) -> Option<u64> {
        let types = &self.module.types;
        let mut array = self.types[value.0][value.1].ty.inner_with(types);
        if let TypeInner::Pointer { base, .. } = *array {
            array = &types[base].inner;
        }
        match *array {
            TypeInner::Array { size: ArraySize::Constant(count), .. } => {
                Some(u64::from(count.get()) - 1)
            }
            _ => None,
        }
    }

    fn is_integer(&self, value: Value) -> bool {
        let inner = self.types[value.0][value.1].ty.inner_with(&self.module.types);
        let is = |kind: ScalarKind| matches!(kind, ScalarKind::Sint | ScalarKind::Uint);
        matches!(inner, TypeInner::Scalar(scalar) if is(scalar.kind))
    }

    /// The numbers beside arrays in a struct that are indices.
    fn number_indices(&self) -> BTreeSet<String> {
        let types = &self.module.types;
        let mut loads: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (value, expression) in self.expressions() {
            let Expression::Load { pointer } = *expression else { continue };
            let Expression::AccessIndex { base, index } = *self.expression((value.0, pointer))
            else {
                continue;
            };
            let Expression::GlobalVariable(global) = *self.expression((value.0, base)) else {
                continue;
            };
            let ty = self.module.global_variables[global].ty;
            let TypeInner::Struct { ref members, .. } = types[ty].inner else { continue };
            let is_array = |ty: Handle<Type>| matches!(types[ty].inner, TypeInner::Array { .. });
            let holds_arrays = members.iter().any(|member| is_array(member.ty));
            let is_number = members
                .get(index as usize)
                .is_some_and(|member| matches!(types[member.ty].inner, TypeInner::Scalar { .. }));
            if holds_arrays && is_number {
                let name = self.name(Array { global, member: Some(index) });
                loads.entry(name).or_default().push(value);
            }
        }
        let is_index = |values: &[Value]| {
            let comes = self.flow.follow(values.iter().copied(), true);
            self.elements.iter().any(|element| comes.holds(element.index))
        };
        let indices = loads.into_iter().filter(|(_, values)| is_index(values));
        indices.map(|(name, _)| name).collect()
    }

    /// The length of an array that does not follow from its buffer's.
    fn fixed_length(&self, array: Array) -> Option<i64> {
        let ty = type_of(self.module, array)?;
        match self.module.types[ty].inner {
            TypeInner::Array { size: ArraySize::Constant(count), .. } => Some(count.get().into()),
            _ => None,
        }
    }

    /// The elements whose index comes from what an array holds, `plain` if as it is or with something added.
    fn indexed_by(&self, array: Array, plain: bool) -> Vec<Element> {
        let comes = self.comes_from(array, plain);
        self.elements.iter().filter(|element| comes.holds(element.index)).copied().collect()
    }

    fn comes_from(&self, array: Array, plain: bool) -> Reached<'_, 'a> {
        let loads = self.loads.iter().filter(|load| load.array == array);
        self.flow.follow(loads.map(|load| load.place), plain)
    }

    /// What comes from the expressions that fit.
    fn comes_from_each(&self, fits: &dyn Fn(Value) -> bool) -> Reached<'_, 'a> {
        let starts = self.expressions().map(|(value, _)| value).filter(|value| fits(*value));
        self.flow.follow(starts, false)
    }

    /// Whether one of these places, or one within it, is changed in a way.
    fn writes(&self, places: &BTreeSet<Value>, uses: &dyn Fn(Written) -> bool) -> bool {
        let mut any = false;
        for (number, function) in self.flow.functions.iter().enumerate() {
            let is_within = |mut pointer: Handle<Expression>| loop {
                if places.contains(&(number, pointer)) {
                    return true;
                }
                match function.expressions[pointer] {
                    Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                        pointer = base;
                    }
                    _ => return false,
                }
            };
            for_each_effect(&function.body, &mut |effect| {
                if let Some(Write { pointer, what }) = effect.writes {
                    any |= uses(what) && is_within(pointer);
                }
            });
        }
        any
    }

    /// Whether an array holds vectors of floats whose distances from something are worked out: the length, or a
    /// product, of a difference.
    fn has_distances(&self, array: Array) -> bool {
        let types = &self.module.types;
        let is_vector = type_of(self.module, array).is_some_and(|ty| match types[ty].inner {
            TypeInner::Array { base, .. } => matches!(
                types[base].inner,
                TypeInner::Vector { scalar, .. }
                    if scalar.kind == ScalarKind::Float && scalar.width == 4
            ),
            _ => false,
        });
        if !is_vector {
            return false;
        }
        let elements = self.comes_from(array, true);
        let is_difference = |value: Value| match *self.expression(value) {
            Expression::Binary { op: BinaryOperator::Subtract, left, right } => {
                elements.holds((value.0, left)) || elements.holds((value.0, right))
            }
            _ => false,
        };
        let differences = self.comes_from_each(&is_difference);
        self.expressions().any(|((number, _), expression)| {
            let &Expression::Math { fun, arg, arg1, .. } = expression else { return false };
            let mut all = [Some(arg), arg1].into_iter().flatten();
            match fun {
                MathFunction::Distance => all.any(|part| elements.holds((number, part))),
                MathFunction::Length | MathFunction::Dot => {
                    all.any(|part| differences.holds((number, part)))
                }
                _ => false,
            }
        })
    }

    /// The arrays that are read at half the sum, or the difference, of two variables.
    fn read_half_way(&self) -> BTreeSet<Array> {
        let is_half = |value: Value| {
            let &Expression::Binary { op, left, right } = self.expression(value) else {
                return false;
            };
            let number = value.0;
            let halves = match op {
                BinaryOperator::Divide => self.constant((number, right)) == Some(2),
                BinaryOperator::ShiftRight => self.constant((number, right)) == Some(1),
                _ => false,
            };
            let of_two = match *self.expression((number, left)) {
                Expression::Binary {
                    op: BinaryOperator::Add | BinaryOperator::Subtract,
                    left,
                    right,
                } => self
                    .variable((number, left))
                    .zip(self.variable((number, right)))
                    .is_some_and(|(left, other)| left != other),
                _ => false,
            };
            halves && of_two
        };
        let half = self.comes_from_each(&is_half);
        let loads = self.loads.iter().filter(|load| half.holds(load.index));
        loads.map(|load| load.array).collect()
    }

    /// The variable whose value an expression is, or what was handed in: which of both, and its number.
    fn variable(&self, value: Value) -> Option<(bool, usize)> {
        match *self.expression(value) {
            Expression::Load { pointer } => match *self.expression((value.0, pointer)) {
                Expression::LocalVariable(variable) => Some((false, variable.index())),
                _ => None,
            },
            Expression::FunctionArgument(argument) => {
                let argument = argument as usize;
                let arguments = &self.flow.functions[value.0].arguments;
                let handed_in = arguments.get(argument).is_some_and(|a| a.binding.is_none());
                handed_in.then_some((true, argument))
            }
            _ => None,
        }
    }

    /// The arrays that are read at y times a number, plus x.
    fn read_by_rows(&self) -> BTreeSet<Array> {
        let axis = |wanted: u32| {
            move |value: Value| match *self.expression(value) {
                Expression::AccessIndex { base, index } if index == wanted => {
                    match *self.expression((value.0, base)) {
                        Expression::FunctionArgument(argument) => {
                            let arguments = &self.flow.functions[value.0].arguments;
                            let binding = &arguments[argument as usize].binding;
                            *binding == Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId))
                        }
                        _ => false,
                    }
                }
                _ => false,
            }
        };
        let (x, y) = (self.comes_from_each(&axis(0)), self.comes_from_each(&axis(1)));
        let is_row = |value: Value| match *self.expression(value) {
            Expression::Binary { op: BinaryOperator::Multiply, left, right } => {
                y.holds((value.0, left)) != y.holds((value.0, right))
            }
            _ => false,
        };
        let is_pixel = |index: Value| match *self.expression(index) {
            Expression::Binary { op: BinaryOperator::Add, left, right } => {
                [(left, right), (right, left)].into_iter().any(|(row, column)| {
                    let (row, column) = ((index.0, row), (index.0, column));
                    is_row(row) && x.holds(column) && !y.holds(column) && !x.holds(row)
                })
            }
            _ => false,
        };
        let loads = self.loads.iter().filter(|load| is_pixel(load.index));
        loads.map(|load| load.array).collect()
    }

    /// The arrays that are read at an index and at the one behind it.
    fn read_at_neighbours(&self) -> BTreeSet<Array> {
        let mut neighbours = BTreeSet::new();
        for reads in &self.reads {
            let behind = reads.iter().filter(|read| {
                let next = Read { constant: read.constant + 1, ..(*read).clone() };
                reads.contains(&next)
            });
            neighbours.extend(behind.map(|read| read.array));
        }
        neighbours
    }

    /// The indices of elements in a function: its own, and those of what it `called`, with what it hands over in place of
    /// arguments.
    fn indices_of(
        &self,
        number: usize,
        elements: &[Element],
        called: &[BTreeSet<Read>],
    ) -> BTreeSet<Read> {
        let here = elements.iter().filter(|load| load.place.0 == number);
        let mut reads: BTreeSet<Read> = here
            .map(|load| {
                let (text, constant) = self.sum(load.index);
                Read { array: load.array, text, constant }
            })
            .collect();
        for_each_effect(&self.flow.functions[number].body, &mut |effect| {
            let Some(call) = effect.calls else { return };
            for read in called.get(call.function.index()).into_iter().flatten() {
                let Some((argument, rest)) = split_argument(&read.text) else { continue };
                let Some(&handed) = call.arguments.get(argument) else { continue };
                let (text, added) = match rest {
                    "" => self.sum((number, handed)),
                    _ => (format!("{}{rest}", self.text((number, handed))), 0),
                };
                let constant = read.constant.saturating_add(added);
                reads.insert(Read { array: read.array, text, constant });
            }
        });
        reads
    }

    /// An index as what it is written as, and a constant that is added.
    fn sum(&self, value: Value) -> (String, i64) {
        if let &Expression::Binary { op, left, right } = self.expression(value) {
            let [left, right] = [left, right].map(|side| (value.0, side));
            match (op, self.constant(left), self.constant(right)) {
                (BinaryOperator::Add, None, Some(constant)) => return (self.text(left), constant),
                (BinaryOperator::Add, Some(constant), None) => return (self.text(right), constant),
                (BinaryOperator::Subtract, None, Some(constant)) => {
                    return (self.text(left), -constant);
                }
                _ => {}
            }
        }
        (self.text(value), 0)
    }

    fn constant(&self, value: Value) -> Option<i64> {
        match *self.expression(value) {
            Expression::Literal(Literal::U32(value)) => Some(value.into()),
            Expression::Literal(Literal::I32(value)) => Some(value.into()),
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                match self.module.global_expressions[init] {
                    Expression::Literal(Literal::U32(value)) => Some(value.into()),
                    Expression::Literal(Literal::I32(value)) => Some(value.into()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What an expression is written as; what is long or has an effect stands for itself.
    fn text(&self, value: Value) -> String {
        let part = |handle: Handle<Expression>| self.text((value.0, handle));
        match *self.expression(value) {
            Expression::FunctionArgument(number) => format!("argument {number}"),
            Expression::LocalVariable(variable) => format!("variable {}", variable.index()),
            Expression::GlobalVariable(variable) => format!("global {}", variable.index()),
            Expression::AccessIndex { base, index } => format!("{}.{index}", part(base)),
            Expression::Load { pointer } => part(pointer),
            Expression::Access { base, index } => format!("{}[{}]", part(base), part(index)),
            _ => format!("expression {}", value.1.index()),
        }
    }
}

/// The argument's number and the rest of a text that begins with an argument and names no other value.
fn split_argument(text: &str) -> Option<(usize, &str)> {
    let text = text.strip_prefix("argument ")?;
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest)).filter(|(_, rest)| !rest.contains('['))
}
