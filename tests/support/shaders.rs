//! Shaders of a folder on AMD's machine code, beside the simulator.
//!
//! Input: WGSL files, whose launches are made as `profile` makes them. Output: a [`Verdict`] for each entry
//! point; besides, random programs of floats as such files. `lab wavefronts` uses this file too.

use std::path::Path;

use lanescope::kernel::{Buffer, Launch, SEED};
use lanescope::program::Parsed;
use lanescope::run::RunError;
use lanescope::run::launched::programs;
use lanescope::run::profile::{self, ProfileRequest};
use lanescope::run::radv::RadvRunner;
use lanescope::run::simulator::{Changed, Contents, SimulatorRunner};
use lanescope::simulate::{Races, ReportKind};

/// Elements of run-time arrays: no multiple of any workgroup's size.
const ELEMENTS: u64 = 300;

/// How far an f32 may lie from the simulator's, of its size: products are fused, sums over lanes have another
/// order, and chains of some hundred roundings add that up.
const TOLERANCE: f32 = 1e-2;

/// Operations of a subgroup before a launch counts as hanging.
const STEPS_MAX: u64 = 1 << 22;

/// What became of an entry point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Its outputs were the simulator's, bit for bit.
    Same,
    /// They were, but for floats that lie close to the simulator's.
    Close,
    /// They differ: the buffer and the word.
    Differs(String),
    /// It was executed; what its outputs must be is not defined on this input.
    Undefined(String),
    /// Nothing was executed.
    Refused(String),
    /// There is no launch of it, or the simulator does not run it either.
    NoLaunch(String),
}

/// What an expression of floats begins with.
const LEAVES: [&str; 4] = ["a[at]", "b[at]", "0.75", "f32(at % 7u) * 0.5"];

/// What it may be otherwise: X and Y stand for two others. Values lie within 5 of zero, and none is steep, so that what is
/// rounded otherwise stays close.
const FORMS: [&str; 14] = [
    "clamp(X + Y, -4.0, 4.0)",
    "clamp(X - Y, -4.0, 4.0)",
    "clamp(X * Y, -4.0, 4.0)",
    "clamp(fma(X, Y, 0.25), -4.0, 4.0)",
    "exp(-abs(X))",
    "1.0 / (1.5 + abs(X))",
    "sqrt(1.0 + abs(X))",
    "inverseSqrt(1.0 + abs(X))",
    "log(1.0 + abs(X))",
    "sin(X)",
    "cos(X)",
    "min(X, Y)",
    "max(X, Y)",
    "select(X, Y, at % 3u == 1u)",
];

/// A random program of floats, the same for the same seed, which is not 0: exponentials, reciprocals and roots, products
/// and sums that a compiler may fuse, and a loop that each lane leaves after as many iterations as its number says.
pub(crate) fn random_floats(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let [first, second] = [4, 3].map(|levels| expression(&mut state, levels));
    format!(
        "@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
    if id.x >= arrayLength(&o) {{ return; }}
    var at = id.x;
    var v = {first};
    for (var i = 0u; i < id.x % 5u; i++) {{
        at = (id.x + i) % arrayLength(&a);
        v = v * 0.5 + {second};
    }}
    o[id.x] = v;
}}
"
    )
}

/// A random expression with so many levels of others in it.
fn expression(state: &mut u64, levels: u32) -> String {
    let Some(levels) = levels.checked_sub(1) else {
        return choose(state, &LEAVES).to_owned();
    };
    let form = choose(state, &FORMS);
    let [x, y] = [expression(state, levels), expression(state, levels)];
    form.replace('Y', &y).replace('X', &x)
}

/// One of these words, by the next number of a xorshift generator.
fn choose<'a>(state: &mut u64, among: &[&'a str]) -> &'a str {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let at = (*state >> 32) % among.len() as u64;
    among[usize::try_from(at).unwrap_or(0)]
}

/// Every entry point of a text: its name and what became of it.
pub(crate) fn verdicts(runner: &RadvRunner, file: &str, text: &str) -> Vec<(String, Verdict)> {
    let parsed = match Parsed::new(file, text) {
        Ok(parsed) => parsed,
        Err(error) => return vec![("–".to_owned(), Verdict::NoLaunch(first_line(&error)))],
    };
    let names: Vec<String> = parsed.entry_points().iter().map(|name| (*name).to_owned()).collect();
    names
        .into_iter()
        .map(|name| {
            let verdict = launch(file, text, &name)
                .map_or_else(Verdict::NoLaunch, |launch| verdict(runner, &launch));
            (name, verdict)
        })
        .collect()
}

fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The launch that `profile` makes of an entry point.
fn launch(file: &str, text: &str, entry_point: &str) -> Result<Launch, String> {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let request = ProfileRequest {
        file: file.to_owned(),
        name: stem,
        source: text.to_owned(),
        derived: None,
        description: None,
        entry_point: Some(entry_point.to_owned()),
        workgroups: None,
        n: Some(ELEMENTS),
        seed: SEED,
    };
    let prepared = profile::prepare(&request, &mut |file| Err(format!("no file {file}")));
    prepared.map(|prepared| prepared.launch).map_err(|error| first_line(&error))
}

fn verdict(runner: &RadvRunner, launch: &Launch) -> Verdict {
    let simulator = SimulatorRunner::new(runner.place().wave, STEPS_MAX);
    let (expected, undefined) = match simulate(&simulator, launch) {
        Ok(simulated) => simulated,
        Err(error) => return Verdict::NoLaunch(first_line(&error)),
    };
    let made = |buffer: &Buffer| (buffer.name.clone(), launch.contents(buffer));
    let mut buffers: Contents = launch.buffers.iter().map(made).collect();
    if let Err(error) = runner.execute(launch, &mut buffers) {
        return Verdict::Refused(first_line(&error));
    }
    if let Some(kind) = undefined {
        return Verdict::Undefined(format!("{kind:?}"));
    }
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    let mut close = false;
    for buffer in &launch.buffers {
        let name = &buffer.name;
        let pairs = words(&buffers[name]).into_iter().zip(words(&expected[name]));
        for (at, (found, expected)) in pairs.enumerate() {
            if found == expected {
                continue;
            }
            let [a, b] = [found, expected].map(f32::from_bits);
            let near = (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0);
            if !(near || a.is_nan() && b.is_nan()) {
                return Verdict::Differs(format!(
                    "{name}: word {at} is {found:#x}, not {expected:#x}"
                ));
            }
            close = true;
        }
    }
    if close { Verdict::Close } else { Verdict::Same }
}

/// The buffers after a launch in the simulator, and what in it has no defined result.
fn simulate(
    simulator: &SimulatorRunner,
    launch: &Launch,
) -> Result<(Contents, Option<ReportKind>), RunError> {
    let programs = programs(launch)?;
    let mut contents = simulator.memory(launch)?;
    let mut undefined = None;
    for (number, program) in programs.iter().enumerate() {
        let dispatched = simulator.arrange_dispatches(launch, number, &contents)?;
        let nobody: Option<&mut Races> = None;
        let changed = Changed::Nothing;
        let (outcome, after) =
            simulator.run_dispatch(launch, program, &dispatched, &contents, changed, nobody)?;
        undefined = undefined.or(outcome.reports.first().map(|report| report.kind));
        contents = after;
    }
    Ok((contents, undefined))
}
