//! A description's `[multisplit]`, worked out: the dispatches, overrides and buffers of a partition.
//!
//! Input: a description and the parameters' values. Output: the description with the partition's
//! stages written out, as if somebody had counted workgroups and words by hand. How a partition is cut
//! is [`crate::partition`]'s matter; nothing of it stands here.

use std::collections::BTreeMap;

use super::condition::Condition;
use super::format::{
    BufferDescription, Description, DispatchDescription, FillDescription, Formula,
    MultisplitDescription, ScalarDescription, WorkgroupsDescription, WritesDescription,
};
use super::formula::{self, Names};
use super::limits::BUFFER_BYTES_MAX;
use super::names::numbers;
use crate::layout::ScalarType;
use crate::partition::{CLASSES_MAX, Limits, Memory, Order, Plan, Stage, Tuning, Writes};
use crate::record::Value;

/// What a partition of the catalogue is cut to: any device. How large a buffer may be is for the
/// device to say when the launch is run, as of every other buffer.
const LIMITS: Limits = Limits { storage_bytes_max: BUFFER_BYTES_MAX, ..Limits::WEBGPU };

/// The description with its partition written out, where it has one.
///
/// # Errors
///
/// A sentence that says what cannot be worked out, or what is given twice.
pub(super) fn expand(
    given: &Description,
    parameters: &BTreeMap<String, Value>,
) -> Result<Description, String> {
    let mut description = given.clone();
    let staged = given.dispatches.iter().any(|dispatch| dispatch.multisplit);
    let Some(multisplit) = description.multisplit.take() else {
        return if staged {
            Err("a dispatch says `multisplit = true`, and there is no [multisplit]".to_owned())
        } else {
            Ok(description)
        };
    };
    let plan =
        plan(&multisplit, parameters).map_err(|message| format!("[multisplit]: {message}"))?;
    if staged {
        for (name, value) in &plan.overrides {
            let value = Formula::Integer(i64::from(*value));
            if description.overrides.insert((*name).to_owned(), value).is_some() {
                return Err(format!("the override `{name}` follows from [multisplit]"));
            }
        }
    }
    for (memory, words) in &plan.lengths {
        let name = memory.variable(plan.tuning.path);
        match description.buffers.iter_mut().find(|buffer| buffer.name == name) {
            Some(buffer) => set_type_and_length(buffer, *words)?,
            None if *memory == Memory::Split => description.buffers.push(split(&plan)),
            None if staged => {
                let mut buffer = empty(name);
                set_type_and_length(&mut buffer, *words)?;
                description.buffers.push(buffer);
            }
            None => {}
        }
    }
    description.dispatches = dispatches(&given.dispatches, &plan)?;
    Ok(description)
}

/// Works out the partition.
fn plan(
    given: &MultisplitDescription,
    parameters: &BTreeMap<String, Value>,
) -> Result<Plan, String> {
    let MultisplitDescription { elements, classes, writes } = given;
    let names = numbers(parameters);
    let n = count("elements", elements, &names)?;
    let classes = count("classes", classes, &names)?;
    if !(1..=CLASSES_MAX).contains(&classes) {
        return Err(format!("there are {classes} classes; a partition has 1 to {CLASSES_MAX}"));
    }
    let writes = writes.choose(parameters).ok_or("`writes` says nothing for these parameters")?;
    let writes = match writes {
        WritesDescription::Permutation => Writes { order: Some(Order::Permutation), pairs: false },
        WritesDescription::PermutationAndInverse => {
            Writes { order: Some(Order::WithInverse), pairs: false }
        }
        WritesDescription::Pairs => Writes { order: None, pairs: true },
    };
    let tuning = Tuning::choose(LIMITS, n, classes, writes.pairs);
    if let Err(misfit) = tuning.check(LIMITS, n, classes) {
        let kept = elements_max(n, |n| fits(n, classes, writes.pairs));
        return Err(kept.map_or(misfit.to_string(), |most| {
            format!(
                "`elements` is {n}; a partition by {classes} classes takes at most {most} ({misfit})"
            )
        }));
    }
    Ok(Plan::new(&LIMITS, n, classes, writes, tuning))
}

/// Whether so many elements can be cut into what a device of these limits takes.
fn fits(n: u32, classes: u32, pairs: bool) -> bool {
    Tuning::choose(LIMITS, n, classes, pairs).check(LIMITS, n, classes).is_ok()
}

/// The most elements below `n` that fit, given that fewer fit wherever more do; `None` if not even
/// one does.
fn elements_max(n: u32, fits: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut fitting, mut beyond) = (1, n);
    if !fits(fitting) {
        return None;
    }
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Some(fitting)
}

fn count(key: &str, formula: &Formula, names: &Names) -> Result<u32, String> {
    let value =
        formula::evaluate_count(formula, names).map_err(|message| format!("`{key}`: {message}"))?;
    u32::try_from(value).map_err(|_| format!("`{key}` is {value}; at most {}", u32::MAX))
}

/// Gives a buffer of the partition its type and its length.
fn set_type_and_length(buffer: &mut BufferDescription, words: u64) -> Result<(), String> {
    let BufferDescription { name, scalar, type_parameter, elements, scalars, .. } = &*buffer;
    if scalar.is_some() || type_parameter.is_some() || elements.is_some() || !scalars.is_empty() {
        return Err(format!("the type and length of buffer `{name}` follow from [multisplit]"));
    }
    buffer.scalar = Some(ScalarType::U32);
    buffer.elements = Some(whole(words));
    Ok(())
}

/// The uniform buffer.
fn split(plan: &Plan) -> BufferDescription {
    let scalars = plan.split.map(|word| ScalarDescription::U32(whole(u64::from(word))));
    BufferDescription {
        scalars: scalars.to_vec(),
        ..empty(Memory::Split.variable(plan.tuning.path))
    }
}

fn empty(name: &str) -> BufferDescription {
    BufferDescription {
        name: name.to_owned(),
        group: None,
        binding: None,
        after: None,
        scalar: None,
        type_parameter: None,
        elements: None,
        fill: FillDescription::Zero,
        scalars: Vec::new(),
        output: false,
        shown: false,
        when: Condition::always(),
    }
}

/// Dispatches, with the partition's in the place of what stands for them.
fn dispatches(
    given: &[DispatchDescription],
    plan: &Plan,
) -> Result<Vec<DispatchDescription>, String> {
    let mut all = Vec::new();
    for dispatch in given {
        if dispatch.multisplit {
            let setup = dispatch.setup.clone();
            let alone = DispatchDescription {
                multisplit: true,
                when: dispatch.when.clone(),
                ..nothing(setup.clone())
            };
            if *dispatch != alone {
                let message = "a dispatch with `multisplit = true` takes `setup` and `when` alone";
                return Err(message.to_owned());
            }
            all.extend(plan.stages.iter().map(|stage| describe(stage, &setup)));
        } else {
            all.push(dispatch.clone());
        }
    }
    Ok(all)
}

fn describe(stage: &Stage, setup: &Condition) -> DispatchDescription {
    let workgroups = stage.workgroups.map(|count| whole(u64::from(count)));
    DispatchDescription {
        entry_point: stage.entry_point.to_owned(),
        workgroups: Some(WorkgroupsDescription::Grid(workgroups)),
        ..nothing(setup.clone())
    }
}

/// A dispatch of which nothing is said.
fn nothing(setup: Condition) -> DispatchDescription {
    DispatchDescription {
        entry_point: String::new(),
        multisplit: false,
        workgroups: None,
        indirect: None,
        workgroup_size: None,
        cooperative: None,
        repeat: None,
        overrides: BTreeMap::new(),
        setup,
        when: Condition::always(),
    }
}

/// A whole number as a formula.
fn whole(number: u64) -> Formula {
    // A buffer that does not fit is refused later, by its length.
    Formula::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
