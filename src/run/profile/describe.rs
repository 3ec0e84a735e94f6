//! What a launch file would say of a shader that has none.
//!
//! Input: what an entry point asks for. Output: descriptions in the launch file's own terms, as
//! formulas of `n`. It works out no bytes.

use std::collections::BTreeMap;

use crate::kernel::ScalarType;
use crate::kernel::condition::Condition;
use crate::kernel::format::{
    BufferDescription, DefaultWord, DispatchDescription, FillDescription, Formula,
    ImmediatesDescription, ScalarDescription, WorkgroupsDescription,
};
use crate::kernel::pattern::{Lengths, NodeWord, TreeShape};
use crate::layout::{Field, Leaf, Shape};
use crate::program::{Held, Interface, PlaceBounds, Resource};

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

/// Describes a buffer: arrays of one scalar type by a fill, small structs scalar by scalar, all else
/// by the word `default`.
pub fn buffer(resource: &Resource, dimensions: u32, bounds: &PlaceBounds) -> BufferDescription {
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
    let array = matches!(resource.shape, Shape::Array { .. });
    if let (true, Some((scalar, atomic))) = (array, resource.shape.uniform_scalar()) {
        let (elements, length) = array_size(&resource.shape, scalar);
        described.scalar = Some(scalar);
        described.elements = Some(elements);
        described.fill = match (atomic, scalar.is_float()) {
            (true, _) => FillDescription::Zero,
            (false, true) => FillDescription::Uniform([Formula::Real(0.0), Formula::Real(1.0)]),
            (false, false) => FillDescription::Uniform([Formula::Integer(0), length]),
        };
    } else if let Some(scalars) = scalars(&resource.name, &resource.shape, dimensions, bounds) {
        described.scalars = scalars;
    } else {
        described.elements = resource.shape.stride().map(|_| text("n"));
        described.fill = FillDescription::Default;
    }
    described
}

/// Describes a buffer whose use tells what it holds, where nobody else does: offsets, with the buffers that are indexed
/// by them (rows of 8 elements in the mean), places as a permutation, keys in order.
pub fn contents(buffer: &mut BufferDescription, resource: &Resource, walked: &[String]) {
    // Offsets behind other fields, such as an atomic, are not filled as such, but each has one behind it.
    let ends_in_offsets = matches!(resource.shape, Shape::Struct { .. })
        && resource.shape.stride().is_some()
        && matches!(resource.held, Held::Offsets { .. });
    if ends_in_offsets {
        buffer.elements = Some(text("n + 1"));
    }
    let whole = resource.shape.uniform_scalar();
    let runtime = matches!(resource.shape, Shape::Array { count: None, .. });
    let (true, Some((scalar, atomic))) = (runtime, whole) else { return };
    if walked.contains(&buffer.name) {
        let each = match &resource.shape {
            Shape::Array { stride, .. } => stride / scalar.bytes(),
            _ => 1,
        };
        buffer.elements = Some(text(format!("{} * n", ROW_LENGTH * each)));
        return;
    }
    let high = if scalar.is_float() { Formula::Integer(1) } else { text("n") };
    match &resource.held {
        _ if atomic => {}
        Held::Offsets { .. } if !scalar.is_float() => {
            buffer.elements = Some(text("n + 1"));
            buffer.fill = FillDescription::Offsets {
                last: text(format!("{ROW_LENGTH} * n")),
                lengths: Lengths::Uniform,
                exponent: Formula::Integer(2),
            };
        }
        Held::Places if !scalar.is_float() => buffer.fill = FillDescription::Permutation,
        Held::SortedKeys => {
            let range = [Formula::Integer(0), high];
            buffer.fill = FillDescription::Sorted { range, moved: Formula::Integer(0) };
        }
        _ => {}
    }
}

/// Whether [`contents`] makes offsets of a buffer.
pub fn is_filled_with_offsets(resource: &Resource) -> bool {
    let runtime = matches!(resource.shape, Shape::Array { count: None, .. });
    let integers = |(scalar, atomic): (ScalarType, bool)| !scalar.is_float() && !atomic;
    runtime
        && resource.shape.uniform_scalar().is_some_and(integers)
        && matches!(resource.held, Held::Offsets { .. })
}

/// Describes a buffer of nodes as a tree of boxes, where its fields are those of one: two vectors of three
/// floats, the lower and the upper corner, and integers whose names say what they hold.
pub fn tree(buffer: &mut BufferDescription, resource: &Resource) {
    let (Held::Nodes, Some(node)) = (&resource.held, node_words(&resource.shape)) else { return };
    buffer.scalar = Some(ScalarType::U32);
    buffer.elements = Some(text(format!("{} * n", node.len())));
    let siblings = !node.contains(&NodeWord::Right) && !node.contains(&NodeWord::Skip);
    buffer.fill = FillDescription::Bvh {
        leaves: text("floor((n + 1) / 2)"),
        node,
        tree: TreeShape::Complete,
        siblings,
    };
}

/// The words of a node, in order; `None` if one is not known by its name, or the corners are missing.
fn node_words(shape: &Shape) -> Option<Vec<NodeWord>> {
    let Shape::Array { element, stride, count: None } = shape else { return None };
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
pub fn immediates(shape: &Shape, dimensions: u32, bounds: &PlaceBounds) -> ImmediatesDescription {
    scalars("", shape, dimensions, bounds)
        .map_or(ImmediatesDescription::Word(DefaultWord::Default), ImmediatesDescription::Scalars)
}

/// The scalars of a variable of a small shape with their values, padding written out as `u32` and `u16` zeros.
fn scalars(
    variable: &str,
    shape: &Shape,
    dimensions: u32,
    bounds: &PlaceBounds,
) -> Option<Vec<ScalarDescription>> {
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
        } else if is_lower_bound(variable, &leaf, bounds) {
            // So that nobody is left out.
            Formula::Integer(0)
        } else {
            integer(&leaf, dimensions)
        };
        scalars.push(describe(leaf.scalar, value));
        at = leaf.offset + leaf.scalar.bytes();
    }
    while at < shape.size(0) {
        scalars.push(padding(&mut at));
    }
    (scalars.len() <= 2 * SCALARS_MAX).then_some(scalars)
}

/// Whether places of invocations begin at a number of a variable.
fn is_lower_bound(variable: &str, leaf: &Leaf, bounds: &PlaceBounds) -> bool {
    let joined = leaf.name.is_empty() || leaf.name.starts_with(['.', '[']);
    let dot = if joined { "" } else { "." };
    bounds.is_lower(&format!("{variable}{dot}{}", leaf.name))
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

fn integer(leaf: &Leaf, dimensions: u32) -> Formula {
    match (leaf.atomic, leaf.components) {
        (true, _) => Formula::Integer(0),
        (false, 1) => root(dimensions),
        (false, components) => root(components),
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
