//! Whether an edit of the WGSL saves what a trial says that it saves.
//!
//! Input: a launch. Output: for each trial that saves enough for a card, what it says and what an ordinary
//! profile of the edited shader saves ([`Verified`]). The edit loads the number of each invocation from a buffer
//! and works its built-in values out from it. A body that is split at a branch is edited by hand, where `corpus.md` has
//! the text; else only what every lane executed is compared.

use std::collections::BTreeMap;

use lanescope::kernel::{Buffer, Fill, Launch, ScalarType, Workgroups};
use lanescope::program::Parsed;
use lanescope::record::{BlockTotals, Change, Dispatch, Method, Trial};
use lanescope::run::measure::{Results, measurement};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::what_if::{Budget, try_changes_showing};
use lanescope::run::{CountRequest, RunError, Runner as _};
use lanescope::simulate::Arrangement;
use lanescope::units::Width;

/// A trial that saves one operation in a hundred at least.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    /// The trial.
    pub(crate) trial: Trial,
    /// Subgroup operations that it says are saved.
    pub(crate) said: i128,
    /// What the edit saves; `None` if there is none.
    pub(crate) saved: Option<i128>,
    /// Whether every lane executed as much of each block as without the change, and, of an edit, wrote the
    /// same outputs.
    pub(crate) same: bool,
}

impl Verified {
    /// Whether less was saved than said, or something else was done.
    pub(crate) fn is_false(&self) -> bool {
        !self.same || self.saved.is_some_and(|saved| saved < self.said)
    }
}

/// Shaders whose loops are split by hand, each behind a fence with its name and the branch's line.
const SPLIT: &str = include_str!("corpus.md");

/// What a trial was, as it is shown.
type Shown = (Trial, Option<(Vec<u64>, u32)>);

/// Tries all changes of a launch within a budget, and makes the edits of those that save enough.
///
/// # Errors
///
/// As [`try_changes_showing`]: of a launch that is too large for the budget it is
/// [`Unsupported`](lanescope::record::RunErrorKind::Unsupported).
///
/// # Panics
///
/// Where the simulator counts the launch in trials and not as it is, or refuses an edit.
pub(crate) fn verify(
    launch: &Launch,
    width: Width,
    budget: Budget,
) -> Result<Vec<Verified>, RunError> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut show = |trial: &Trial, arrangement: Option<&Arrangement>| {
        shown.push((trial.clone(), arrangement.map(|a| (a.order().to_vec(), a.workgroup()))));
    };
    let what_if = try_changes_showing(launch, width, STEPS_MAX, budget, &mut show)?;
    let plain = count(launch, width);
    let mut verified = Vec::new();
    for (trial, order) in shown {
        let number = usize::try_from(trial.dispatch).unwrap_or(usize::MAX);
        let (Some(after), before) = (&trial.after, &what_if.before[number]) else { continue };
        let dispatch = &plain.dispatches[number];
        let all = operations(dispatch, before);
        let claimed = all - operations(dispatch, after) - i128::from(trial.added_operations);
        if claimed * 100 < all || claimed == 0 {
            continue;
        }
        let lanes = |counts: &[BlockTotals]| counts.iter().map(|c| c.lanes.0).collect::<Vec<_>>();
        let fewer = matches!(trial.change, Change::FewerWorkgroups { .. });
        let mut same = fewer || lanes(before) == lanes(after);
        let edited = match order {
            Some((order, size)) => edit(launch, number, &order, size)
                .map(|(edited, own_line)| (edited, Some(own_line))),
            None if trial.change == Change::SplitLoopBody => {
                let source = split_by_hand(&launch.kernel, trial.line);
                source.map(|source| (Launch { source, ..launch.clone() }, None))
            }
            None => None,
        };
        let saved = edited.map(|(edited, own_line)| {
            let counted = count(&edited, width);
            let blocks = &counted.dispatches[number].blocks;
            let rest = blocks.iter().map(|block| {
                let added = own_line.and_then(|line: u32| block.lines.get(&line)).copied();
                let added = added.unwrap_or(0);
                i128::from(block.operations - added) * i128::from(block.executions.0)
            });
            same &= counted.outputs == plain.outputs;
            all - rest.sum::<i128>()
        });
        verified.push(Verified { trial, said: claimed, saved, same });
    }
    Ok(verified)
}

/// A shader with the body of its loop split at the branch of a line.
fn split_by_hand(kernel: &str, line: u32) -> Option<String> {
    let (_, rest) = SPLIT.split_once(&format!("\n```wgsl split {kernel} {line}\n"))?;
    rest.split_once("```").map(|(source, _)| source.to_owned())
}

/// Counts of a launch.
struct Plain {
    dispatches: Vec<Dispatch>,
    outputs: BTreeMap<String, String>,
}

fn count(launch: &Launch, width: Width) -> Plain {
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let counted = simulator.count_once(launch, &CountRequest::once(Method::Executed));
    let counted = counted.unwrap_or_else(|e| panic!("{}: {e}\n{}", launch.kernel, launch.source));
    let outputs = counted.outputs_sha256.clone();
    let results = Results { counted: Some(counted), ..Results::default() };
    let measured = measurement(simulator.device(), launch, results);
    let measured = measured.unwrap_or_else(|error| panic!("{}: {error}", launch.kernel));
    Plain { dispatches: measured.dispatches, outputs }
}

fn operations(dispatch: &Dispatch, counts: &[BlockTotals]) -> i128 {
    let blocks = dispatch.blocks.iter().zip(counts);
    blocks.map(|(block, c)| i128::from(block.operations) * i128::from(c.executions.0)).sum()
}

/// The launch with a copy of one dispatch's entry point in which lanes are the invocations `order`, in
/// workgroups of `size`, and the line on which each loads its number. `None` if an argument is no built-in value.
#[expect(clippy::too_many_lines, reason = "the copy's parts, one after the other")]
fn edit(launch: &Launch, number: usize, order: &[u64], size: u32) -> Option<(Launch, u32)> {
    let dispatch = launch.dispatches.get(number)?;
    let Workgroups::Direct(grid) = dispatch.workgroups else { return None };
    let source = &launch.source;
    let name = &dispatch.entry_point;
    let function = source.find(&format!("fn {name}("))?;
    let end = function + closing(&source[function..])?;
    let mut overrides = launch.overrides.clone();
    overrides.extend(dispatch.overrides.clone());
    let parsed = Parsed::new("edited.wgsl", source).ok()?;
    let [x, y, z] = parsed.resolve(name, &overrides).ok()?.workgroup_size();
    let open = function + source[function..].find('(')? + 1;
    let close = open + matching(&source[open..])?;
    let mut kept = Vec::new();
    let mut values = String::new();
    for argument in split(&source[open..close]) {
        let (builtin, name) = builtin(argument)?;
        let binding = |value: &str| format!("let {name} = {value}; ");
        values += &match builtin {
            "global_invocation_id" => binding("ordered_group * ordered_size + ordered_local"),
            "local_invocation_id" => binding("ordered_local"),
            "local_invocation_index" => binding("ordered_index"),
            "workgroup_id" => binding("ordered_group"),
            "num_workgroups" => {
                let [x, y, z] = grid;
                binding(&format!("vec3u({x}u, {y}u, {z}u)"))
            }
            _ => {
                kept.push(argument.trim());
                String::new()
            }
        };
    }
    let body = end - (source[function..end].len() - source[function..end].find('{')?) + 1;
    let [columns, rows, _] = grid;
    let all = x * y * z;
    let arguments = [
        &[
            "@builtin(workgroup_id) ordered_w: vec3u, @builtin(local_invocation_index) ordered_l: u32",
        ][..],
        &kept,
    ];
    let groups = u32::try_from(order.len()).ok()?.div_ceil(size);
    let folded = if groups > 65_535 { return None } else { [groups, 1, 1] };
    let place = format!("ordered_w.x * {size}u + ordered_l");
    let line = format!(
        "if {place} >= {count}u {{ return; }} let ordered_i = ordered_numbers[{place}]; \
         let ordered_size = vec3u({x}u, {y}u, {z}u); let ordered_index = ordered_i % {all}u; \
         let ordered_g = ordered_i / {all}u; \
         let ordered_group = vec3u(ordered_g % {columns}u, ordered_g / {columns}u % {rows}u, \
         ordered_g / {columns}u / {rows}u); \
         let ordered_local = vec3u(ordered_index % {x}u, ordered_index / {x}u % {y}u, \
         ordered_index / {x}u / {y}u); {values}",
        count = order.len(),
    );
    let head = format!(
        "{source}\n@group(3) @binding(99) var<storage, read> ordered_numbers: array<u32>;\n\
         @compute @workgroup_size({size}) fn ordered_main({}) {{",
        arguments.concat().join(", ")
    );
    // The guard is left out where all lanes have a number: in front of a barrier it must be.
    let line = match u64::from(groups) * u64::from(size) == order.len() as u64 {
        true => line.split_once("} ").map_or_else(|| line.clone(), |(_, rest)| rest.to_owned()),
        false => line,
    };
    let own_line = u32::try_from(head.lines().count() + 1).ok()?;
    let text = format!("{head}\n{line}\n{}\n", &source[body..end]);
    let mut edited = launch.clone();
    edited.source = text;
    edited.buffers.push(Buffer {
        name: "ordered_numbers".to_owned(),
        size: order.len() as u64 * 4,
        fill: Fill::Words(order.iter().map(|&i| u32::try_from(i).unwrap_or(u32::MAX)).collect()),
        scalar: ScalarType::U32,
        output: false,
    });
    edited.dispatches[number].entry_point = "ordered_main".to_owned();
    edited.dispatches[number].workgroups = Workgroups::Direct(folded);
    Some((edited, own_line))
}

/// Behind the brace that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The parenthesis that closes an open one.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Arguments: what commas outside parentheses part.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut parts = Vec::new();
    let mut first = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[first..at]);
                first = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[first..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// The built-in value of an argument, and its name.
fn builtin(argument: &str) -> Option<(&str, &str)> {
    let rest = argument.split_once("@builtin(")?.1;
    let (builtin, rest) = rest.split_once(')')?;
    Some((builtin.trim(), rest.split(':').next()?.trim()))
}
