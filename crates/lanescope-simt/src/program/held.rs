//! What buffers hold, as far as their use tells: offsets, places, bins, sorted keys, nodes, pixels.
//!
//! Input: a module. Output: for each buffer whose use tells what it holds, that ([`Held`]). Whether a condition
//! follows it, so that rows are walked or keys compared, [`Deciding`](super::Deciding) says. Indices are compared as they are
//! written, a variable's value as its name.

use std::collections::{BTreeMap, BTreeSet};

use naga::{
    AddressSpace, BinaryOperator, Binding, BuiltIn, Expression, Function, GlobalVariable, Handle,
    Literal, LocalVariable, Module,
};

use super::operands::of_expression;
use super::visit::{Write, Written, for_each_effect};

/// What a buffer holds, as its use tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Held {
    /// Its use tells nothing.
    #[default]
    Unknown,
    /// Where rows begin: it is read at some i and at i + 1, and a condition follows what came out.
    Offsets {
        /// The buffers that are indexed by what came out.
        into: BTreeSet<String>,
    },
    /// Numbers of elements of the same buffer, as in a tree, a list, or a forest of sets.
    Nodes,
    /// Keys in order: it is read half-way between two bounds, and a condition follows what came out.
    SortedKeys,
    /// Places at which elements of another buffer are written: a permutation, where none is written twice.
    Places,
    /// Numbers of elements of a buffer of atomics, such as bins.
    Bins,
    /// Pixels, row by row.
    Pixels,
}

/// What the module's buffers hold, by name; those whose use tells nothing are left out.
pub(crate) fn find_held(module: &Module, decides: &dyn Fn(&str) -> bool) -> BTreeMap<String, Held> {
    let mut found: BTreeMap<String, Held> = BTreeMap::new();
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    let name = |global: Handle<GlobalVariable>| {
        module.global_variables[global].name.clone().unwrap_or_default()
    };
    for function in module.functions.iter().map(|(_, function)| function).chain(entries) {
        let reader = Reader { module, function };
        let mut tell = |global: Handle<GlobalVariable>, held: Held| {
            found.entry(name(global)).or_insert(held);
        };
        let neighbours = reader.read_at_neighbours();
        let (halved, pixels) = (reader.read_half_way(), reader.read_by_rows());
        for global in reader.read() {
            let elements = reader.indexed_by(global);
            let arrays: BTreeSet<_> = elements.iter().map(|(_, array)| *array).collect();
            let used = |uses: &dyn Fn(Written) -> bool| reader.writes(&elements, uses);
            if neighbours.contains(&global) && decides(&name(global)) {
                let into = arrays.into_iter().filter(|array| *array != global).map(name);
                tell(global, Held::Offsets { into: into.collect() });
            } else if halved.contains(&global) && decides(&name(global)) {
                tell(global, Held::SortedKeys);
            } else if arrays.contains(&global) {
                tell(global, Held::Nodes);
            } else if used(&|what| matches!(what, Written::Updated)) {
                tell(global, Held::Bins);
            } else if used(&|what| matches!(what, Written::Value(_))) {
                tell(global, Held::Places);
            } else if pixels.contains(&global) {
                tell(global, Held::Pixels);
            }
        }
    }
    found
}

/// A function whose reads are looked at.
struct Reader<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Reader<'_> {
    fn expression(&self, handle: Handle<Expression>) -> &Expression {
        &self.function.expressions[handle]
    }

    /// The array that a pointer leads into, and its index.
    fn element(
        &self,
        mut pointer: Handle<Expression>,
    ) -> Option<(Handle<GlobalVariable>, Handle<Expression>)> {
        loop {
            match *self.expression(pointer) {
                Expression::Access { base, index } => match self.variable(base) {
                    Some(global) => return Some((global, index)),
                    None => pointer = base,
                },
                Expression::AccessIndex { base, .. } => pointer = base,
                _ => return None,
            }
        }
    }

    /// The variable that an array is, or is a member of.
    fn variable(&self, array: Handle<Expression>) -> Option<Handle<GlobalVariable>> {
        let global = match *self.expression(array) {
            Expression::GlobalVariable(global) => global,
            Expression::AccessIndex { base, .. } => match *self.expression(base) {
                Expression::GlobalVariable(global) => global,
                _ => return None,
            },
            _ => return None,
        };
        let space = self.module.global_variables[global].space;
        matches!(space, AddressSpace::Storage { .. } | AddressSpace::Uniform).then_some(global)
    }

    /// Every load of an array's element: its own handle, the array, the index.
    fn loads(
        &self,
    ) -> impl Iterator<Item = (Handle<Expression>, Handle<GlobalVariable>, Handle<Expression>)> + '_
    {
        self.function.expressions.iter().filter_map(|(handle, expression)| match *expression {
            Expression::Load { pointer } => {
                self.element(pointer).map(|(global, index)| (handle, global, index))
            }
            _ => None,
        })
    }

    /// The arrays that are read.
    fn read(&self) -> BTreeSet<Handle<GlobalVariable>> {
        self.loads().map(|(_, global, _)| global).collect()
    }

    /// Whether one of these elements, or a part of it, is changed in a way.
    fn writes(
        &self,
        elements: &BTreeSet<(Handle<Expression>, Handle<GlobalVariable>)>,
        uses: &dyn Fn(Written) -> bool,
    ) -> bool {
        let is_within = |mut pointer: Handle<Expression>| loop {
            if elements.iter().any(|(element, _)| *element == pointer) {
                return true;
            }
            match *self.expression(pointer) {
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                    pointer = base;
                }
                _ => return false,
            }
        };
        let mut any = false;
        for_each_effect(&self.function.body, &mut |effect| {
            if let Some(Write { pointer, what }) = effect.writes {
                any |= uses(what) && is_within(pointer);
            }
        });
        any
    }

    /// What comes from any of `sources`, by way of variables too.
    fn from(&self, sources: &dyn Fn(Handle<Expression>) -> bool) -> BTreeSet<Handle<Expression>> {
        let mut variables = BTreeSet::new();
        loop {
            let mut tainted = BTreeSet::new();
            for (handle, expression) in self.function.expressions.iter() {
                let comes = sources(handle)
                    || match *expression {
                        Expression::Load { pointer } => {
                            self.in_local(pointer).is_some_and(|local| variables.contains(&local))
                        }
                        _ => {
                            let mut any = false;
                            of_expression(expression, &mut |operand| {
                                any |= tainted.contains(&operand);
                            });
                            any
                        }
                    };
                // An element's place is no number that comes from its index.
                if comes && self.element(handle).is_none() {
                    tainted.insert(handle);
                }
            }
            let before = variables.len();
            for_each_effect(&self.function.body, &mut |effect| {
                if let Some(Write { pointer, what: Written::Value(value) }) = effect.writes
                    && let Some(variable) = self.in_local(pointer)
                    && tainted.contains(&value)
                {
                    variables.insert(variable);
                }
            });
            if variables.len() == before {
                return tainted;
            }
        }
    }

    /// The arrays that are read at half the sum, or the difference, of two variables.
    fn read_half_way(&self) -> BTreeSet<Handle<GlobalVariable>> {
        let is_half = |handle: Handle<Expression>| {
            let &Expression::Binary { op, left, right } = self.expression(handle) else {
                return false;
            };
            let halves = match op {
                BinaryOperator::Divide => self.constant(right) == Some(2),
                BinaryOperator::ShiftRight => self.constant(right) == Some(1),
                _ => false,
            };
            let of_two = match *self.expression(left) {
                Expression::Binary {
                    op: BinaryOperator::Add | BinaryOperator::Subtract,
                    left,
                    right,
                } => self
                    .local(left)
                    .zip(self.local(right))
                    .is_some_and(|(left, other)| left != other),
                _ => false,
            };
            halves && of_two
        };
        let half = self.from(&is_half);
        self.loads()
            .filter(|(.., index)| half.contains(index))
            .map(|(_, global, _)| global)
            .collect()
    }

    /// The variable of the function that a pointer leads to, or into.
    fn in_local(&self, mut pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        loop {
            match *self.expression(pointer) {
                Expression::LocalVariable(variable) => return Some(variable),
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                    pointer = base;
                }
                _ => return None,
            }
        }
    }

    /// The variable whose value an expression is.
    fn local(&self, handle: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let &Expression::Load { pointer } = self.expression(handle) else { return None };
        match *self.expression(pointer) {
            Expression::LocalVariable(variable) => Some(variable),
            _ => None,
        }
    }

    /// The arrays that are read at y times a number, plus x.
    fn read_by_rows(&self) -> BTreeSet<Handle<GlobalVariable>> {
        let axis = |wanted: u32| {
            move |handle: Handle<Expression>| match *self.expression(handle) {
                Expression::AccessIndex { base, index } if index == wanted => {
                    match *self.expression(base) {
                        Expression::FunctionArgument(argument) => {
                            let binding = &self.function.arguments[argument as usize].binding;
                            *binding == Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId))
                        }
                        _ => false,
                    }
                }
                _ => false,
            }
        };
        let (x, y) = (self.from(&axis(0)), self.from(&axis(1)));
        let is_row = |handle: &Handle<Expression>| match *self.expression(*handle) {
            Expression::Binary { op: BinaryOperator::Multiply, left, right } => {
                y.contains(&left) != y.contains(&right)
            }
            _ => false,
        };
        let is_pixel = |index: Handle<Expression>| match *self.expression(index) {
            Expression::Binary { op: BinaryOperator::Add, left, right } => {
                [(left, right), (right, left)].iter().any(|(row, column)| {
                    is_row(row) && x.contains(column) && !y.contains(column) && !x.contains(row)
                })
            }
            _ => false,
        };
        self.loads().filter(|(.., index)| is_pixel(*index)).map(|(_, global, _)| global).collect()
    }

    /// The arrays that are read at an index and at the one behind it.
    fn read_at_neighbours(&self) -> BTreeSet<Handle<GlobalVariable>> {
        let mut seen: BTreeMap<(Handle<GlobalVariable>, String), BTreeSet<i64>> = BTreeMap::new();
        for (_, global, index) in self.loads() {
            let (text, constant) = self.sum(index);
            seen.entry((global, text)).or_default().insert(constant);
        }
        let neighbours = seen.into_iter().filter(|(_, constants)| {
            constants.iter().any(|constant| constants.contains(&(constant + 1)))
        });
        neighbours.map(|((global, _), _)| global).collect()
    }

    /// An index as what it is written as, and a constant that is added.
    fn sum(&self, index: Handle<Expression>) -> (String, i64) {
        if let &Expression::Binary { op, left, right } = self.expression(index) {
            match (op, self.constant(left), self.constant(right)) {
                (BinaryOperator::Add, None, Some(constant)) => return (self.text(left), constant),
                (BinaryOperator::Add, Some(constant), None) => return (self.text(right), constant),
                (BinaryOperator::Subtract, None, Some(constant)) => {
                    return (self.text(left), -constant);
                }
                _ => {}
            }
        }
        (self.text(index), 0)
    }

    fn constant(&self, handle: Handle<Expression>) -> Option<i64> {
        match *self.expression(handle) {
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
    fn text(&self, handle: Handle<Expression>) -> String {
        match *self.expression(handle) {
            Expression::FunctionArgument(number) => format!("argument {number}"),
            Expression::LocalVariable(variable) => format!("variable {}", variable.index()),
            Expression::GlobalVariable(variable) => format!("global {}", variable.index()),
            Expression::AccessIndex { base, index } => format!("{}.{index}", self.text(base)),
            Expression::Load { pointer } => self.text(pointer),
            Expression::Access { base, index } => {
                format!("{}[{}]", self.text(base), self.text(index))
            }
            _ => format!("expression {}", handle.index()),
        }
    }

    /// The elements whose index comes from what one array holds, by way of variables too, with their arrays.
    fn indexed_by(
        &self,
        source: Handle<GlobalVariable>,
    ) -> BTreeSet<(Handle<Expression>, Handle<GlobalVariable>)> {
        let held: BTreeSet<_> = self
            .loads()
            .filter(|(_, global, _)| *global == source)
            .map(|(handle, ..)| handle)
            .collect();
        let tainted = self.from(&|handle| held.contains(&handle));
        let elements = self.function.expressions.iter().filter_map(|(handle, expression)| {
            let &Expression::Access { base, index } = expression else { return None };
            let array = self.variable(base).filter(|_| tainted.contains(&index))?;
            Some((handle, array))
        });
        elements.collect()
    }
}
