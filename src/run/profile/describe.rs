//! What a launch file would say of a shader that has none.
//!
//! Input: what an entry point asks for. Output: descriptions in the launch file's own terms, as
//! formulas of `n`. It works out no bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::ScalarType;
use crate::kernel::condition::Condition;
use crate::kernel::format::{
    BufferDescription, DefaultWord, DispatchDescription, FillDescription, Formula,
    ImmediatesDescription, ScalarDescription, WorkgroupsDescription,
};
use crate::kernel::pattern::{Lengths, NodeWord, TreeShape};
use crate::layout::{Field, Leaf, Shape};
use crate::program::{Held, Interface, PlaceBounds, Resource, Uses};

/// Elements of a row in the mean, where offsets are made up.
const ROW_LENGTH: u64 = 8;

/// The most scalars that are described one by one.
pub const SCALARS_MAX: usize = 32;

fn text(formula: impl Into<String>) -> Formula {
    Formula::Text(formula.into())
}

/// The k-th root of n, rounded down, as a formula.
fn root(k: u32) -> Formula {
    match k {
        0 | 1 => text("n"),
        2 => text("floor(sqrt(n))"),
        3 => text("floor(cbrt(n))"),
        _ => text("floor(sqrt(sqrt(n)))"),
    }
}

/// What is known of numbers that stand alone.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Along how many dimensions workgroups extend, 1 to 3.
    pub dimensions: u32,
    /// Which bound places of invocations.
    pub bounds: PlaceBounds,
    /// The most that some may be.
    pub limits: BTreeMap<String, u64>,
    /// Those beside arrays in one struct that are indices.
    pub indices: BTreeSet<String>,
}

/// Describes a buffer: arrays of one scalar type by a fill, small structs scalar by scalar, all else
/// by the word `default`, but for members whose use tells more.
pub fn buffer(resource: &Resource, numbers: &Numbers, arrays: &Arrays<'_>) -> BufferDescription {
    let mut described = BufferDescription {
        type_parameter: None,
        name: resource.name.clone(),
        group: None,
        binding: None,
        after: None,
        scalar: None,
        elements: None,
        fill: FillDescription::Zero,
        scalars: Vec::new(),
        output: false,
        shown: false,
        when: Condition::always(),
    };
    let Shape::Array { stride, .. } = resource.shape else {
        match scalars(&resource.name, &resource.shape, numbers) {
            Some(scalars) => described.scalars = scalars,
            None => members(&mut described, resource, numbers, arrays),
        }
        return described;
    };
    let told = arrays.fill(&resource.name);
    let uniform = match told {
        // A node's words are taken for integers.
        Some(FillDescription::Bvh { .. }) => Some((ScalarType::U32, false)),
        _ => resource.shape.uniform_scalar(),
    };
    if let Some((scalar, atomic)) = uniform {
        let (elements, length) = array_size(&resource.shape, scalar);
        let more = arrays.elements(&resource.name, stride / scalar.bytes());
        described.scalar = Some(scalar);
        described.elements = Some(more.unwrap_or(elements));
        let random = || match (atomic, scalar.is_float()) {
            (true, _) => FillDescription::Zero,
            (false, true) => FillDescription::Uniform([Formula::Real(0.0), Formula::Real(1.0)]),
            (false, false) => FillDescription::Uniform([Formula::Integer(0), length]),
        };
        described.fill = told.unwrap_or_else(random);
    } else {
        let runtime = resource.shape.stride().map(|_| text("n"));
        described.elements = arrays.elements(&resource.name, 1).or(runtime);
        described.fill = told.unwrap_or(FillDescription::Default);
    }
    described
}

/// Describes a struct with arrays: members whose use tells what they hold, or how large they may be, each by a fill.
fn members(
    described: &mut BufferDescription,
    resource: &Resource,
    numbers: &Numbers,
    arrays: &Arrays<'_>,
) {
    described.elements = resource.shape.stride().map(|_| text("n"));
    described.fill = FillDescription::Default;
    let Shape::Struct { fields, .. } = &resource.shape else { return };
    let mut told = BTreeMap::new();
    for Field { name: field, shape, .. } in fields {
        let name = format!("{}.{field}", resource.name);
        let fill = match shape {
            Shape::Array { .. } => {
                if let Some(more) = arrays.elements(&name, 1) {
                    described.elements = Some(more);
                }
                arrays.fill(&name)
            }
            Shape::Scalar { scalar, atomic: false } if !scalar.is_float() => {
                numbers.told(&name, 1).map(FillDescription::Constant)
            }
            Shape::Vector { scalar, components } if !scalar.is_float() => {
                numbers.told(&name, *components).map(FillDescription::Constant)
            }
            Shape::Scalar { .. }
            | Shape::Vector { .. }
            | Shape::Matrix { .. }
            | Shape::Struct { .. } => None,
        };
        told.extend(fill.map(|fill| (field.clone(), fill)));
    }
    if !told.is_empty() {
        described.fill = FillDescription::Members(told);
    }
}

impl Numbers {
    /// What an integer, or each component of a vector of them, is where its use tells it.
    fn told(&self, name: &str, components: u32) -> Option<Formula> {
        // Where places begin, or an index: an array has an element 0, and none of number n.
        let first = self.indices.contains(name) && !self.bounds.is_upper(name);
        if components == 1 && (first || self.bounds.is_lower(name)) {
            return Some(Formula::Integer(0));
        }
        let parts = ["x", "y", "z", "w"].map(|part| format!("{name}.{part}"));
        let all = std::iter::once(name).chain(parts.iter().map(String::as_str));
        let limit = all.filter_map(|name| self.limits.get(name)).min()?;
        let root = if components == 1 { root(self.dimensions) } else { root(components) };
        Some(at_most(&root, *limit))
    }
}

/// A formula, and no more than a number.
fn at_most(formula: &Formula, limit: u64) -> Formula {
    text(format!("min({formula}, {limit})"))
}

/// How many elements an array has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Length {
    /// So many times n.
    Times(u64),
    /// So many.
    Fixed(u64),
    /// What a launch file's formula gives.
    Given(String),
}

impl Length {
    /// What a launch file says, in scalars of which `each` are an element.
    fn given(formula: &Formula, each: u64) -> Self {
        let each = each.max(1);
        let written = formula.to_string();
        let times: Option<u64> = match written.trim() {
            "n" => Some(1),
            other => other.strip_suffix("* n").and_then(|factor| factor.trim().parse().ok()),
        };
        match (formula, times) {
            (Formula::Integer(count), _) => Self::Fixed(u64::try_from(*count).unwrap_or(0) / each),
            (_, Some(times)) if times.is_multiple_of(each) => Self::Times(times / each),
            _ => Self::Given(format!("floor(({written}) / {each})")),
        }
    }

    fn formula(&self) -> Formula {
        match self {
            Self::Times(1) => text("n"),
            Self::Times(times) => text(format!("{times} * n")),
            Self::Fixed(count) => Formula::Integer(i64::try_from(*count).unwrap_or(i64::MAX)),
            Self::Given(formula) => text(formula.clone()),
        }
    }

    /// Whether it is at most another one, for each n.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Times(count), Self::Times(most)) | (Self::Fixed(count), Self::Fixed(most)) => {
                count <= most
            }
            _ => self == other,
        }
    }

    /// The least of several, of which there is one at least.
    fn least(first: Self, others: impl Iterator<Item = Self>) -> Self {
        let mut least: Vec<Self> = vec![first];
        for other in others {
            if !least.iter().any(|known| known.fits(&other)) {
                least.retain(|known| !other.fits(known));
                least.push(other);
            }
        }
        match &least[..] {
            [only] => only.clone(),
            several => {
                let all: Vec<String> =
                    several.iter().map(|length| length.formula().to_string()).collect();
                Self::Given(format!("min({})", all.join(", ")))
            }
        }
    }
}

/// The arrays of all buffers, each the variable itself or a member of one that is a struct, by `variable` or
/// `variable.member`: how long they are, and what they hold where nobody says it.
#[derive(Debug)]
pub struct Arrays<'a> {
    uses: &'a Uses,
    known: BTreeMap<String, Known<'a>>,
    /// Those in whose rows one walks: rows of 8 elements in the mean.
    walked: BTreeSet<String>,
}

#[derive(Debug)]
struct Known<'a> {
    shape: &'a Shape,
    /// Whether a launch file describes its buffer.
    described: bool,
    /// How long it is, where a launch file says it.
    given: Option<Length>,
}

impl<'a> Arrays<'a> {
    /// Collects the arrays of the buffers, of which a launch file describes some.
    pub fn new(
        resources: impl Iterator<Item = &'a Resource>,
        uses: &'a Uses,
        described: &[BufferDescription],
    ) -> Self {
        let mut known = BTreeMap::new();
        for resource in resources {
            let described = described.iter().find(|buffer| buffer.name == resource.name);
            let mut add = |name: String, shape: &'a Shape| {
                let each = match (described.and_then(|buffer| buffer.scalar), shape) {
                    (Some(scalar), Shape::Array { stride, .. }) => stride / scalar.bytes(),
                    _ => 1,
                };
                let elements = described.and_then(|buffer| buffer.elements.as_ref());
                let given = elements.map(|elements| Length::given(elements, each));
                known.insert(name, Known { shape, described: described.is_some(), given });
            };
            match &resource.shape {
                Shape::Array { .. } => add(resource.name.clone(), &resource.shape),
                Shape::Struct { fields, .. } => {
                    let arrays = fields.iter().filter(|f| matches!(f.shape, Shape::Array { .. }));
                    arrays.for_each(|f| add(format!("{}.{}", resource.name, f.name), &f.shape));
                }
                Shape::Scalar { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => {}
            }
        }
        let mut arrays = Self { uses, known, walked: BTreeSet::new() };
        let offsets = arrays.known.keys().filter(|name| arrays.is_filled_with_offsets(name));
        let into = offsets.filter_map(|name| match uses.held(name) {
            Held::Offsets { into } => Some(into),
            _ => None,
        });
        let walked = into.flatten().filter(|name| {
            let known = arrays.known.get(*name);
            known.is_some_and(|known| !known.described && known.shape.stride().is_some())
                && !arrays.is_filled_with_offsets(name)
        });
        let walked = walked.cloned().collect();
        arrays.walked = walked;
        arrays
    }

    /// Whether nobody describes an array of integers that holds offsets.
    fn is_filled_with_offsets(&self, name: &str) -> bool {
        let holds_offsets = matches!(self.uses.held(name), Held::Offsets { .. });
        let known = self.known.get(name).filter(|known| !known.described);
        holds_offsets && known.is_some_and(|known| is_alone(known.shape) == Some(true))
    }

    /// How many elements an index into an array may choose among: of offsets those that have one behind them.
    fn length(&self, name: &str) -> Option<Length> {
        let known = self.known.get(name)?;
        let last = u64::from(matches!(self.uses.held(name), Held::Offsets { .. }));
        match (known.shape, &known.given) {
            (Shape::Array { count: Some(count), .. }, _) => {
                Some(Length::Fixed(count.saturating_sub(last)))
            }
            (_, None) if known.described => None,
            (_, None) if self.walked.contains(name) => Some(Length::Times(ROW_LENGTH)),
            (_, None) => Some(Length::Times(1)),
            (_, Some(given)) if last == 0 => Some(given.clone()),
            (_, Some(given)) => Some(Length::Given(format!("{} - 1", given.formula()))),
        }
    }

    /// The lengths of the arrays that the numbers of an array lead into.
    fn targets(&self, name: &str) -> impl Iterator<Item = Length> {
        let leads = self.uses.leads.get(name).into_iter().flatten();
        leads.filter_map(|target| self.length(target))
    }

    /// How many elements, of `each` scalars, an array without a length of its own has; nothing where n do.
    fn elements(&self, name: &str, each: u64) -> Option<Formula> {
        let known = self.known.get(name).filter(|known| known.shape.stride().is_some())?;
        let integers = known.shape.uniform_scalar().is_some_and(|(scalar, _)| !scalar.is_float());
        if self.walked.contains(name) {
            return Some(text(format!("{} * n", ROW_LENGTH * each)));
        }
        let offsets = integers && matches!(self.uses.held(name), Held::Offsets { .. });
        offsets.then(|| match each {
            1 => text("n + 1"),
            _ => text(format!("{each} * (n + 1)")),
        })
    }

    /// What an array holds, where its use tells it: offsets, places as a permutation, keys in order, points, nodes; and
    /// numbers that lead into other arrays stay below the shortest of them.
    fn fill(&self, name: &str) -> Option<FillDescription> {
        let shape = self.known.get(name)?.shape;
        let held = self.uses.held(name);
        if let (Held::Nodes, Some(tree)) = (held, self.tree(name, shape)) {
            return Some(tree);
        }
        let Some((scalar, atomic)) = shape.uniform_scalar() else {
            return self.fields(name, shape);
        };
        let walked = self.walked.contains(name);
        let sorted = |high| {
            let range = [Formula::Integer(0), high];
            FillDescription::Sorted { range, moved: Formula::Integer(0) }
        };
        if atomic {
            return None;
        }
        if scalar.is_float() {
            return match held {
                Held::SortedKeys if !walked => Some(sorted(Formula::Integer(1))),
                Held::Points => points(shape),
                _ => None,
            };
        }
        let length = shape_length(shape);
        let alone = is_alone(shape) == Some(true);
        let high = || Length::least(length.clone(), self.targets(name)).formula();
        let leads = self.uses.leads.contains_key(name);
        match held {
            Held::Offsets { .. } if self.is_filled_with_offsets(name) => {
                let rows = match length {
                    Length::Fixed(count) => Length::Fixed(ROW_LENGTH * count.saturating_sub(1)),
                    _ => Length::Times(ROW_LENGTH),
                };
                Some(FillDescription::Offsets {
                    last: Length::least(rows, self.targets(name)).formula(),
                    lengths: Lengths::Uniform,
                    exponent: Formula::Integer(2),
                })
            }
            Held::Places
                if alone && !walked && self.targets(name).all(|target| length.fits(&target)) =>
            {
                Some(FillDescription::Permutation)
            }
            Held::SortedKeys if !walked => Some(sorted(high())),
            _ => leads.then(|| FillDescription::Uniform([Formula::Integer(0), high()])),
        }
    }

    /// What the integers of structs in an array hold, where they lead into an array that is shorter than this one.
    fn fields(&self, name: &str, shape: &Shape) -> Option<FillDescription> {
        let Shape::Array { element, .. } = shape else { return None };
        let Shape::Struct { fields, .. } = &**element else { return None };
        // What `default` takes for the length.
        let usual = match shape_length(shape) {
            Length::Times(_) if self.walked.contains(name) => Length::Times(ROW_LENGTH),
            length => length,
        };
        let least = Length::least(shape_length(shape), self.targets(name));
        if !self.uses.leads.contains_key(name) || least == usual {
            return None;
        }
        let integers = fields.iter().filter(|field| {
            let scalar = field.shape.uniform_scalar();
            scalar.is_some_and(|(scalar, atomic)| !scalar.is_float() && !atomic)
        });
        let fills = integers.map(|field| {
            let range = [Formula::Integer(0), least.formula()];
            (field.name.clone(), FillDescription::Uniform(range))
        });
        let fills: BTreeMap<_, _> = fills.collect();
        (!fills.is_empty()).then_some(FillDescription::Members(fills))
    }

    /// A tree of boxes, where the fields of an array's elements are those of a node: two vectors of three floats, the
    /// lower and the upper corner, and integers whose names say what they hold.
    fn tree(&self, name: &str, shape: &Shape) -> Option<FillDescription> {
        let node = node_words(shape)?;
        let siblings = !node.contains(&NodeWord::Right) && !node.contains(&NodeWord::Skip);
        let half = match shape_length(shape) {
            Length::Fixed(count) => Length::Fixed(count.div_ceil(2)),
            _ => Length::Given("floor((n + 1) / 2)".to_owned()),
        };
        // Numbers of leaves may lead into what the leaves hold.
        let held = self.targets(name).filter(|target| !matches!(target, Length::Times(_)));
        let leaves = Length::least(half, held).formula();
        Some(FillDescription::Bvh { leaves, node, tree: TreeShape::Complete, siblings })
    }
}

/// The length that an array's shape gives it, or n.
fn shape_length(shape: &Shape) -> Length {
    match shape {
        Shape::Array { count: Some(count), .. } => Length::Fixed(*count),
        _ => Length::Times(1),
    }
}

/// Whether the elements of an array are integers, each alone; nothing of atomics.
fn is_alone(shape: &Shape) -> Option<bool> {
    let Shape::Array { element, .. } = shape else { return None };
    match **element {
        Shape::Scalar { scalar, atomic: false } => Some(!scalar.is_float()),
        _ => None,
    }
}

/// Points in the unit box, one for each vector of an array.
fn points(shape: &Shape) -> Option<FillDescription> {
    let Shape::Array { element, stride, .. } = shape else { return None };
    let Shape::Vector { scalar, components } = **element else { return None };
    let corner = |value| (0..components).map(|_| Formula::Integer(value)).collect();
    let each = stride / scalar.bytes();
    let padded = each != u64::from(components);
    let stride = padded.then(|| Formula::Integer(i64::try_from(each).unwrap_or(i64::MAX)));
    Some(FillDescription::Points { from: corner(0), to: corner(1), stride })
}

/// The words of a node, in order; `None` if one is not known by its name, or the corners are missing.
fn node_words(shape: &Shape) -> Option<Vec<NodeWord>> {
    let Shape::Array { element, stride, .. } = shape else { return None };
    let Shape::Struct { fields, .. } = &**element else { return None };
    let mut words = vec![NodeWord::Zero; usize::try_from(stride / 4).ok().filter(|n| *n <= 32)?];
    let lowered = |field: &Field| field.name.to_lowercase();
    let has = |parts: &[&str]| {
        fields.iter().any(|field| parts.iter().any(|part| lowered(field).contains(part)))
    };
    let (counted, marked) = (has(&["count", "num"]), has(&["leaf"]));
    let mut corners = 0;
    let mut children = 0;
    for field in fields {
        let at = usize::try_from(field.offset / 4).ok()?;
        let name = lowered(field);
        let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let here = match &field.shape {
            Shape::Vector { scalar: ScalarType::F32, components: 3 } => {
                corners += 1;
                match corners {
                    1 => vec![NodeWord::MinX, NodeWord::MinY, NodeWord::MinZ],
                    2 => vec![NodeWord::MaxX, NodeWord::MaxY, NodeWord::MaxZ],
                    _ => return None,
                }
            }
            Shape::Scalar { scalar: ScalarType::U32 | ScalarType::I32, atomic: false } => {
                vec![match () {
                    () if is(&["pad"]) => NodeWord::Zero,
                    () if is(&["count", "num"]) => NodeWord::LeafCount,
                    () if is(&["leaf"]) => NodeWord::Leaf,
                    () if is(&["skip", "miss", "escape", "next"]) => NodeWord::Skip,
                    () if is(&["right"]) => NodeWord::Right,
                    () if is(&["left", "child"]) && counted => NodeWord::LeftOrFirst,
                    () if is(&["left", "child"]) => NodeWord::Left,
                    () if !is(&["first", "start", "offset"]) => return None,
                    () if has(&["left", "child"]) => NodeWord::First,
                    () if counted || marked => NodeWord::LeftOrFirst,
                    () => return None,
                }]
            }
            _ => return None,
        };
        children += here
            .iter()
            .filter(|word| matches!(word, NodeWord::Left | NodeWord::LeftOrFirst | NodeWord::Skip))
            .count();
        words.get_mut(at..at + here.len())?.copy_from_slice(&here);
    }
    (corners == 2 && children > 0).then_some(words)
}

/// How many scalars an array holds, padding included, and its length in elements.
fn array_size(shape: &Shape, scalar: ScalarType) -> (Formula, Formula) {
    let Shape::Array { stride, count, .. } = shape else { return (text("n"), text("n")) };
    let whole = |count: u64| Formula::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let each = stride / scalar.bytes();
    match count {
        Some(count) => (whole(count * each), whole(*count)),
        None if each == 1 => (text("n"), text("n")),
        None => (text(format!("{each} * n")), text("n")),
    }
}

/// Describes immediate data.
pub fn immediates(shape: &Shape, numbers: &Numbers) -> ImmediatesDescription {
    scalars("", shape, numbers)
        .map_or(ImmediatesDescription::Word(DefaultWord::Default), ImmediatesDescription::Scalars)
}

/// The scalars of a variable of a small shape with their values, padding written out as `u32` and `u16` zeros.
fn scalars(variable: &str, shape: &Shape, numbers: &Numbers) -> Option<Vec<ScalarDescription>> {
    let leaves = shape.leaves(SCALARS_MAX)?;
    // Padding counts too, and there may be gigabytes of it.
    if shape.size(0) > 16 * SCALARS_MAX as u64 {
        return None;
    }
    let floats = leaves.iter().filter(|leaf| leaf.scalar.is_float()).count();
    let mut scalars = Vec::new();
    let mut at = 0_u64;
    let mut float = 0_usize;
    for leaf in leaves {
        while at.next_multiple_of(leaf.scalar.bytes()) < leaf.offset {
            scalars.push(padding(&mut at));
        }
        let value = if leaf.scalar.is_float() {
            float += 1;
            fraction(float, floats)
        } else {
            integer(&number_name(variable, &leaf), &leaf, numbers)
        };
        scalars.push(describe(leaf.scalar, value));
        at = leaf.offset + leaf.scalar.bytes();
    }
    while at < shape.size(0) {
        scalars.push(padding(&mut at));
    }
    (scalars.len() <= 2 * SCALARS_MAX).then_some(scalars)
}

/// A number of a variable, as [`PlaceBounds`] names it.
fn number_name(variable: &str, leaf: &Leaf) -> String {
    let joined = leaf.name.is_empty() || leaf.name.starts_with(['.', '[']);
    let dot = if joined { "" } else { "." };
    format!("{variable}{dot}{}", leaf.name)
}

/// A zero that fills a gap at `at`.
fn padding(at: &mut u64) -> ScalarDescription {
    let zero = Formula::Integer(0);
    if at.is_multiple_of(4) {
        *at += 4;
        ScalarDescription::U32(zero)
    } else {
        *at += 2;
        ScalarDescription::U16(zero)
    }
}

fn integer(name: &str, leaf: &Leaf, numbers: &Numbers) -> Formula {
    // Where places begin is 0, so that nobody is left out.
    if leaf.atomic || numbers.bounds.is_lower(name) {
        return Formula::Integer(0);
    }
    let root = root(if leaf.components == 1 { numbers.dimensions } else { leaf.components });
    match numbers.limits.get(name) {
        Some(limit) => at_most(&root, *limit),
        None => root,
    }
}

/// The k-th of `count` values between 0 and 1, in rising order, to three digits.
#[expect(clippy::cast_precision_loss, reason = "at most as many as are described one by one")]
fn fraction(k: usize, count: usize) -> Formula {
    let value = k as f64 / (count + 1) as f64;
    Formula::Real((value * 1000.0).round() / 1000.0)
}

fn describe(scalar: ScalarType, value: Formula) -> ScalarDescription {
    match scalar {
        ScalarType::F32 => ScalarDescription::F32(value),
        ScalarType::U32 => ScalarDescription::U32(value),
        ScalarType::I32 => ScalarDescription::I32(value),
        ScalarType::F16 => ScalarDescription::F16(value),
        ScalarType::F64 => ScalarDescription::F64(value),
        ScalarType::U16 => ScalarDescription::U16(value),
        ScalarType::I16 => ScalarDescription::I16(value),
        ScalarType::U64 => ScalarDescription::U64(value),
        ScalarType::I64 => ScalarDescription::I64(value),
    }
}

/// Describes the dispatch of an entry point in one dimension: an invocation for every `each` of n elements.
pub fn dispatch_each(interface: &Interface, each: u32) -> DispatchDescription {
    let elements = u64::from(interface.workgroup_size[0]) * u64::from(each);
    let count = WorkgroupsDescription::Count(text(format!("ceil(n / {elements})")));
    DispatchDescription { workgroups: Some(count), ..dispatch(interface, None) }
}

/// Describes the dispatch of an entry point: an invocation for each of n elements, or `workgroups`.
pub fn dispatch(interface: &Interface, workgroups: Option<[u32; 3]>) -> DispatchDescription {
    let [x, y, z] = interface.workgroup_size;
    let count = match (workgroups, interface.dimensions()) {
        (Some(given), _) => {
            WorkgroupsDescription::Grid(given.map(|count| Formula::Integer(i64::from(count))))
        }
        (None, 1) => WorkgroupsDescription::Count(text(format!("ceil(n / {x})"))),
        // Rows that follow one another: an element for each invocation.
        (None, 2) if interface.row_length.is_some() => {
            let length = interface.row_length.unwrap_or(1);
            WorkgroupsDescription::Grid([
                text(format!("ceil(min(n, {length}) / {x})")),
                text(format!("ceil(ceil(n / {length}) / {y})")),
                Formula::Integer(1),
            ])
        }
        (None, 2) => WorkgroupsDescription::Grid([
            text(format!("ceil(sqrt(n) / {x})")),
            text(format!("ceil(sqrt(n) / {y})")),
            Formula::Integer(1),
        ]),
        (None, _) => WorkgroupsDescription::Grid(
            [x, y, z].map(|size| text(format!("ceil(cbrt(n) / {size})"))),
        ),
    };
    DispatchDescription {
        entry_point: interface.entry_point.clone(),
        multisplit: false,
        workgroups: Some(count),
        indirect: None,
        workgroup_size: None,
        cooperative: None,
        repeat: None,
        overrides: BTreeMap::new(),
        setup: Condition::never(),
        when: Condition::always(),
    }
}
