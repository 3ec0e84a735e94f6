//! What made-up data decide, and what the default launch is to blame for.
//!
//! Input: a launch and its request. Output: the buffers whose generated contents a branch, a trip count
//! or an index follows; and the options to set where the default launch reads out of bounds. It
//! runs nothing.
//!
//! Made up are all random values. Those of a buffer or a texture that no launch file describes, or that one asks for as
//! `--init` writes them, nobody chose; how others are distributed (rows of a power law, skewed ids) a launch file asks
//! ([`MadeUp::asked`]), and they are made up all the same. A file, or values, are their author's. Atomics that nobody describes, an array of them or
//! one beside an array, are filled with zeros, which are made up where a branch follows them. Of numbers that stand alone those
//! are made up that decide how often a loop iterates or which way a branch takes, but for integers that only bound the
//! places of invocations: they are taken for a count, which is n.

use std::collections::{BTreeMap, BTreeSet};

use super::ProfileRequest;
use crate::kernel::format::Formula;
use crate::kernel::scalars::decode;
use crate::kernel::{Buffer, Fill, FillDescription, Launch};
use crate::layout::{Field, Shape};
use crate::program::{Deciding, Program};
use crate::record::{Constant, MadeUp};
use crate::run::RunError;
use crate::run::launched::programs;

/// The most numbers of a buffer that are looked at.
const CONSTANTS: usize = 64;

/// Finds the buffers whose made-up contents decide something, in the order of the launch.
///
/// # Errors
///
/// Where the shader cannot be used.
pub fn find_made_up(request: &ProfileRequest, launch: &Launch) -> Result<Vec<MadeUp>, RunError> {
    let described: BTreeSet<&str> = request
        .description
        .iter()
        .flat_map(|(_, description)| {
            let filled = description.textures.iter().filter(|texture| texture.fill.is_some());
            let chosen = description
                .buffers
                .iter()
                .filter(|buffer| !buffer.scalars.is_empty() || !is_unstructured(&buffer.fill));
            let buffers = chosen.map(|buffer| buffer.name.as_str());
            buffers.chain(filled.map(|texture| texture.name.as_str()))
        })
        .collect();
    let mut all: BTreeMap<String, Deciding> = BTreeMap::new();
    for (name, deciding) in programs(launch)?.iter().flat_map(Program::find_deciding) {
        add(all.entry(name).or_default(), deciding);
    }
    let buffers = launch.buffers.iter();
    let buffers = buffers.filter(|buffer| is_random(&buffer.fill)).map(|buffer| &*buffer.name);
    let textures = launch.textures.iter().filter(|texture| texture.depends_on_seed());
    let in_order: Vec<&str> = buffers.chain(textures.map(|texture| &*texture.name)).collect();
    let names: BTreeSet<&str> = in_order.iter().copied().collect();
    let handed_on = find_handed_on(launch, &names)?;
    let of_all = in_order.iter().filter_map(|name| {
        let fill = launch.buffer(name).map(|buffer| &buffer.fill);
        Some((*name, of_random_contents(name, fill, &all)?))
    });
    let of_later = handed_on.iter().map(|(name, deciding)| (name.as_str(), deciding.clone()));
    let made_up = of_all.chain(of_later).map(|(name, deciding)| MadeUp {
        asked: described.contains(name) && names.contains(name),
        buffer: name.to_owned(),
        conditions: deciding.conditions.iter().copied().collect(),
        indices: deciding.indices.iter().copied().collect(),
        zeros: false,
        constants: Vec::new(),
    });
    let alone = launch.buffers.iter().filter(|buffer| !described.contains(buffer.name.as_str()));
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    for interface in programs(launch)?.iter().filter_map(|program| program.interface().ok()) {
        let resources = interface.resources.into_iter();
        shapes.extend(resources.map(|resource| (resource.name, resource.shape)));
    }
    let zeros = alone.clone().flat_map(|buffer| {
        let shape = shapes.get(&buffer.name);
        shape.map_or_else(Vec::new, |shape| find_zeros(buffer, shape, &all))
    });
    let zeros: Vec<MadeUp> = zeros.collect();
    let constants = alone.filter_map(|buffer| {
        let made = matches!(buffer.fill, Fill::Words(_) | Fill::Default { .. });
        let shape = shapes.get(&buffer.name).filter(|shape| made && !holds_array(shape))?;
        find_constants((&buffer.name, &launch.contents(buffer)), shape, &all)
    });
    let given = request.description.iter().any(|(_, description)| description.immediates.is_some());
    let immediates = programs(launch)?.iter().filter(|_| !given).find_map(|program| {
        let shape = program.interface().ok()?.immediates?;
        find_constants((program.immediates_name()?, &launch.immediates), &shape, &all)
    });
    Ok(made_up.chain(zeros).chain(constants).chain(immediates).collect())
}

/// What follows the random contents of a buffer or texture: of a struct that is filled by the types of its fields,
/// the fields with arrays of what is no atomic.
fn of_random_contents(
    name: &str,
    fill: Option<&Fill>,
    all: &BTreeMap<String, Deciding>,
) -> Option<Deciding> {
    let none = BTreeMap::new();
    let (fields, members) = match fill {
        Some(Fill::Default { shape: Shape::Struct { fields, .. }, .. }) => (fields, &none),
        Some(Fill::Members { shape: Shape::Struct { fields, .. }, members, .. }) => {
            (fields, members)
        }
        _ => return all.get(name).cloned(),
    };
    let mut sum = Deciding::default();
    for field in fields {
        let random = members.get(&field.name).map_or(holds_array(&field.shape), is_random);
        if !random {
            continue;
        }
        if let Some(deciding) = all.get(&format!("{name}.{}", field.name)) {
            add(&mut sum, deciding.clone());
        }
    }
    (sum != Deciding::default()).then_some(sum)
}

/// What follows the zeros of a buffer's atomics, alone or beside other fields, which nothing else fills.
fn find_zeros(buffer: &Buffer, shape: &Shape, all: &BTreeMap<String, Deciding>) -> Vec<MadeUp> {
    let none = BTreeMap::new();
    let given = match &buffer.fill {
        Fill::Zero | Fill::Default { .. } | Fill::Words(_) => &none,
        Fill::Members { members, .. } => members,
        Fill::Uniform { .. }
        | Fill::Skewed { .. }
        | Fill::Pattern { .. }
        | Fill::Series { .. }
        | Fill::Bytes(_) => return Vec::new(),
    };
    let variable = &buffer.name;
    let names = match shape {
        _ if holds_atomics(shape) => vec![variable.clone()],
        Shape::Struct { fields, .. } => fields
            .iter()
            .filter(|field| holds_atomics(&field.shape) && !given.contains_key(&field.name))
            .map(|field| format!("{variable}.{}", field.name))
            .collect(),
        Shape::Scalar { .. }
        | Shape::Vector { .. }
        | Shape::Matrix { .. }
        | Shape::Array { .. } => Vec::new(),
    };
    let zeros = names.into_iter().filter_map(|name| {
        let deciding = all.get(&name).filter(|deciding| !deciding.conditions.is_empty())?;
        Some(MadeUp {
            conditions: deciding.conditions.iter().copied().collect(),
            indices: Vec::new(),
            zeros: true,
            asked: false,
            constants: Vec::new(),
            buffer: name,
        })
    });
    zeros.collect()
}

fn add(sum: &mut Deciding, more: Deciding) {
    sum.conditions.extend(more.conditions);
    sum.trip_lines.extend(more.trip_lines);
    sum.choices.extend(more.choices);
    sum.indices.extend(more.indices);
}

/// What follows, in later dispatches, the buffers that a dispatch writes which uses random contents; those that are
/// `random` themselves left out. Whether what is written comes from them is not followed.
fn find_handed_on(
    launch: &Launch,
    random: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Deciding>, RunError> {
    let mut handed_on: BTreeMap<String, Deciding> = BTreeMap::new();
    for program in programs(launch)?.iter() {
        for (name, deciding) in program.find_deciding() {
            if let Some(sum) = handed_on.get_mut(&name) {
                add(sum, deciding);
            }
        }
        let Ok(interface) = program.interface() else { continue };
        let textures = interface.textures.iter().map(|texture| &*texture.name);
        let mut used = interface.resources.iter().map(|resource| &*resource.name).chain(textures);
        if used.any(|name| random.contains(name) || handed_on.contains_key(name)) {
            let written = interface.resources.iter().filter(|resource| resource.written);
            for resource in written.filter(|resource| !random.contains(&*resource.name)) {
                handed_on.entry(resource.name.clone()).or_default();
            }
        }
    }
    handed_on.retain(|_, deciding| *deciding != Deciding::default());
    Ok(handed_on)
}

/// What the numbers of a variable without arrays decide, of which nobody gave one.
fn find_constants(
    (variable, bytes): (&str, &[u8]),
    shape: &Shape,
    all: &BTreeMap<String, Deciding>,
) -> Option<MadeUp> {
    let leaves = shape.leaves(CONSTANTS)?;
    let mut found = MadeUp {
        buffer: variable.to_owned(),
        conditions: Vec::new(),
        indices: Vec::new(),
        zeros: false,
        asked: false,
        constants: Vec::new(),
    };
    let at = |offset: u64| bytes.get(usize::try_from(offset).ok()?..);
    let mut conditions: BTreeSet<u32> = BTreeSet::new();
    for leaf in leaves.iter().filter(|leaf| !leaf.atomic) {
        let field = leaf.name.split(['.', '[']).next().filter(|field| !field.is_empty());
        let within = field.map_or_else(String::new, |field| format!(".{field}"));
        let Some(deciding) = all.get(&format!("{variable}{within}")) else { continue };
        let lines = if leaf.scalar.is_float() { &deciding.conditions } else { &deciding.choices };
        if lines.is_empty() {
            continue;
        }
        conditions.extend(lines);
        let dot = if leaf.name.is_empty() || leaf.name.starts_with(['.', '[']) { "" } else { "." };
        found.constants.push(Constant {
            name: format!("{variable}{dot}{}", leaf.name),
            value: decode(leaf.scalar, at(leaf.offset)?),
        });
    }
    found.conditions.extend(conditions);
    (!found.constants.is_empty()).then_some(found)
}

/// Whether a fill is what lanescope chooses by itself: random values, rows whose lengths nobody chose, keys in
/// order, places, points in the unit box, a tree with as many leaves on either side, or members of these.
fn is_unstructured(fill: &FillDescription) -> bool {
    use crate::kernel::pattern::{Lengths, TreeShape};
    let all = |bounds: &[Formula], value: i64| {
        bounds.iter().all(|bound| *bound == Formula::Integer(value))
    };
    match fill {
        FillDescription::Points { from, to, .. } => all(from, 0) && all(to, 1),
        FillDescription::Members(members) => members.values().all(|fill| {
            // A count is a formula of n where it is lanescope's, and what places begin at is 0.
            let count =
                matches!(fill, FillDescription::Constant(Formula::Text(_) | Formula::Integer(0)));
            count || is_unstructured(fill)
        }),
        _ => matches!(
            fill,
            FillDescription::Default
                | FillDescription::Uniform(_)
                | FillDescription::Offsets { lengths: Lengths::Uniform, .. }
                | FillDescription::Sorted { moved: Formula::Integer(0), .. }
                | FillDescription::Permutation
                | FillDescription::Bvh { tree: TreeShape::Complete, .. }
        ),
    }
}

/// Whether a fill has random values.
fn is_random(fill: &Fill) -> bool {
    match fill {
        Fill::Uniform { .. } | Fill::Skewed { .. } | Fill::Pattern { .. } => true,
        Fill::Default { shape, .. } => holds_array(shape),
        Fill::Members { shape, members, .. } => {
            let left_out = |fields: &[Field], holds: &dyn Fn(&Shape) -> bool| {
                let rest = fields.iter().filter(|field| !members.contains_key(&field.name));
                rest.map(|field| &field.shape).any(holds)
            };
            let others = match shape {
                Shape::Struct { fields, .. } => left_out(fields, &holds_array),
                Shape::Array { element, .. } => match &**element {
                    Shape::Struct { fields, .. } => left_out(fields, &holds_numbers),
                    _ => false,
                },
                Shape::Scalar { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => false,
            };
            others || members.values().any(is_random)
        }
        Fill::Zero | Fill::Words(_) | Fill::Series { .. } | Fill::Bytes(_) => false,
    }
}

/// Whether a shape holds an array of what is no atomic: those are filled with random values.
fn holds_array(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => false,
        Shape::Array { element, .. } => holds_numbers(element),
        Shape::Struct { fields, .. } => fields.iter().any(|field| holds_array(&field.shape)),
    }
}

/// Whether a shape is atomics, and nothing else.
fn holds_atomics(shape: &Shape) -> bool {
    match shape {
        Shape::Array { element, .. } => holds_atomics(element),
        Shape::Struct { fields, .. } => fields.iter().all(|field| holds_atomics(&field.shape)),
        Shape::Scalar { atomic, .. } => *atomic,
        Shape::Vector { .. } | Shape::Matrix { .. } => false,
    }
}

fn holds_numbers(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar { atomic, .. } => !atomic,
        Shape::Vector { .. } | Shape::Matrix { .. } => true,
        Shape::Array { element, .. } => holds_numbers(element),
        Shape::Struct { fields, .. } => fields.iter().any(|field| holds_numbers(&field.shape)),
    }
}

/// A part of a launch that was lanescope's choice, and may make a correct shader access out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// An invocation for each of n elements.
    Invocations,
    /// The contents of these buffers, which indices follow.
    Indices(Vec<String>),
    /// The lengths of arrays: n elements.
    Lengths,
}

/// The parts of a launch that were lanescope's choice; none where all of it was the user's.
pub fn find_chosen(request: &ProfileRequest, made_up: &[MadeUp]) -> Vec<Chosen> {
    let description = request.description.as_ref().map(|(_, description)| description);
    let dispatched = description.is_some_and(|description| !description.dispatches.is_empty());
    let indices = made_up.iter().filter(|buffer| !buffer.indices.is_empty() && !buffer.asked);
    let indices: Vec<String> = indices.map(|buffer| buffer.buffer.clone()).collect();
    let parts = [
        (!dispatched && request.workgroups.is_none(), Chosen::Invocations),
        (!indices.is_empty(), Chosen::Indices(indices)),
        (description.is_none(), Chosen::Lengths),
    ];
    parts.into_iter().filter_map(|(holds, part)| holds.then_some(part)).collect()
}

#[cfg(test)]
mod tests;
