//! What made-up data decide, and what the default launch is to blame for.
//!
//! Input: a launch and its request. Output: the buffers whose generated contents a branch, a number of turns
//! or an index follows; and the options to set where the default launch reads out of bounds. It
//! runs nothing.
//!
//! Made up is what lanescope chose itself: random values of a buffer that no launch file describes.
//! What a launch file fills, in whatever way, is its author's choice. A number that stands alone (a
//! count, a width) follows from n and is not random; nor are zeros.

use std::collections::{BTreeMap, BTreeSet};

use super::ProfileRequest;
use crate::kernel::{Fill, Launch};
use crate::layout::Shape;
use crate::program::{Deciding, Program};
use crate::record::MadeUp;
use crate::run::RunError;
use crate::run::launched::programs;

/// Finds the buffers whose made-up contents decide something, in the order of the launch.
///
/// # Errors
///
/// Where the shader cannot be used.
pub fn find_made_up(request: &ProfileRequest, launch: &Launch) -> Result<Vec<MadeUp>, RunError> {
    let described: BTreeSet<&str> = request
        .description
        .iter()
        .flat_map(|(_, description)| &description.buffers)
        .map(|buffer| buffer.name.as_str())
        .collect();
    let mut all: BTreeMap<String, Deciding> = BTreeMap::new();
    for program in programs(launch)?.iter().map(Program::find_deciding) {
        for (name, deciding) in program {
            let sum = all.entry(name).or_default();
            sum.conditions.extend(deciding.conditions);
            sum.indices.extend(deciding.indices);
        }
    }
    let random = |fill: &Fill| match fill {
        Fill::Uniform { .. } | Fill::Skewed { .. } => true,
        Fill::Default { shape, .. } => holds_array(shape),
        Fill::Zero | Fill::Words(_) | Fill::Series { .. } | Fill::Bytes(_) => false,
    };
    let buffers = launch.buffers.iter();
    let made_up = buffers.filter(|b| random(&b.fill) && !described.contains(b.name.as_str()));
    Ok(made_up
        .filter_map(|buffer| {
            let deciding = all.get(&buffer.name)?;
            Some(MadeUp {
                buffer: buffer.name.clone(),
                conditions: deciding.conditions.iter().copied().collect(),
                indices: deciding.indices.iter().copied().collect(),
            })
        })
        .collect())
}

/// Whether a shape holds an array of what is no atomic: those are filled with random values.
fn holds_array(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar { .. } | Shape::Vector { .. } | Shape::Matrix { .. } => false,
        Shape::Array { element, .. } => holds_numbers(element),
        Shape::Struct { fields, .. } => fields.iter().any(|field| holds_array(&field.shape)),
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

/// What to do where a launch reads or writes out of bounds and parts of it were lanescope's choice;
/// nothing where all of it was the user's.
pub fn blame(request: &ProfileRequest, made_up: &[MadeUp]) -> Option<String> {
    let description = request.description.as_ref().map(|(_, description)| description);
    let dispatched = description.is_some_and(|description| !description.dispatches.is_empty());
    let mut ways = Vec::new();
    let indices: Vec<&str> = made_up
        .iter()
        .filter(|one| !one.indices.is_empty())
        .map(|one| one.buffer.as_str())
        .collect();
    if !dispatched && request.workgroups.is_none() {
        ways.push(
            "one invocation was launched for each of n elements: --workgroups N launches another number"
                .to_owned(),
        );
    }
    if !indices.is_empty() {
        ways.push(format!(
            "indices follow random values of {}: --init writes a launch file in which to describe them",
            indices.join(", ")
        ));
    }
    if description.is_none() && ways.is_empty() {
        ways.push(
            "arrays have n elements each: --init writes a launch file with their lengths"
                .to_owned(),
        );
    }
    let ways = ways.join("; ");
    (!ways.is_empty()).then(|| {
        format!(
            "what lies out of bounds may be the default launch's fault and not the shader's: {ways}"
        )
    })
}

#[cfg(test)]
mod tests;
