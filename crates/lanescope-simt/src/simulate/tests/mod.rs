//! Small programs with outputs and counts worked out by hand, through one `check`.
//!
//! Input: WGSL with an `output` buffer of `u32` at binding 0. Each test says what the words and the
//! counts of labelled or numbered blocks must be.

mod arithmetic;
mod arranged;
mod exchange;
mod flow;
mod memory;
mod numbers;
mod packing;
mod prose;
mod races;
mod random;
mod robust;
mod spaces;
mod spirv;
mod strict;
mod subgroups;
mod textures;

use super::{
    Compiled, Config, Fma, Memory, Outcome, Reconvergence, ReportKind, Schedule, SimulateError,
    Trap,
};
use crate::program::{Parsed, Program};
use crate::units::Width;

/// A configuration to start from: maximal reconvergence, one thread.
fn config(width: u32) -> Config {
    Config {
        width: Width::new(width).unwrap(),
        reconvergence: Reconvergence::Maximal,
        fma: Fma::Fused,
        steps_max: 1_000_000,
        operations_max: u64::MAX,
        schedule: Schedule::InOrder,
        strict: false,
        threads: Some(1),
        zero_workgroup_memory: true,
    }
}

fn program(text: &str) -> Program {
    let parsed = Parsed::new("test.wgsl", text).unwrap_or_else(|error| panic!("{error}"));
    let entry = parsed.entry_points()[0].to_owned();
    parsed.resolve(&entry, &crate::program::Overrides::new()).unwrap()
}

/// Runs a program whose buffers are `output` of so many words and, at binding 1, `input`.
fn run(
    text: &str,
    workgroups: [u32; 3],
    output: usize,
    input: &[u32],
    config: &Config,
) -> Result<(Vec<u32>, Outcome, Program), Trap> {
    let program = program(text);
    let compiled = Compiled::new(&program)?;
    let mut memory = Memory::new();
    memory.bind(0, 0, &vec![0; output * 4]);
    memory.bind(0, 1, bytemuck::cast_slice(input));
    let outcome = compiled.run(workgroups, &mut memory, config)?;
    let bytes = memory.bytes(0, 0).unwrap();
    let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    Ok((words.collect(), outcome, program))
}

/// The executions and lanes of the blocks with a label, summed.
fn counts(outcome: &Outcome, program: &Program, label: &str) -> (u64, u64) {
    let labelled = program.blocks().iter().filter(|block| block.label.as_deref() == Some(label));
    let mut sum = (0, 0);
    for block in labelled {
        let counts = &outcome.blocks[block.id.index()];
        assert_eq!(counts.executions.0, counts.histogram.iter().sum::<u64>());
        sum.0 += counts.executions.0;
        sum.1 += counts.lanes.0;
    }
    sum
}

/// What one program must do at one width.
struct Case<'a> {
    text: &'a str,
    width: u32,
    workgroups: [u32; 3],
    output: &'a [u32],
    /// Executions and lanes of labelled blocks.
    counts: &'a [(&'a str, u64, u64)],
}

fn check(case: &Case<'_>) {
    let config = config(case.width);
    check_with(case, &config);
}

fn check_with(case: &Case<'_>, config: &Config) {
    let (output, outcome, program) =
        run(case.text, case.workgroups, case.output.len(), &[0], config).unwrap();
    assert_eq!(output, case.output, "width {}", case.width);
    for &(label, executions, lanes) in case.counts {
        let found = counts(&outcome, &program, label);
        assert_eq!(found, (executions, lanes), "{label} at width {}", case.width);
    }
}

/// Evaluates expressions for lane 0: each becomes one output word.
fn evaluate(expressions: &[&str]) -> Vec<u32> {
    evaluate_with("", expressions, &config(4))
}

fn evaluate_with(head: &str, expressions: &[&str], config: &Config) -> Vec<u32> {
    use std::fmt::Write as _;
    let mut body = String::new();
    for (number, expression) in expressions.iter().enumerate() {
        writeln!(body, "output[{number}] = bitcast<u32>({expression});").unwrap();
    }
    // `i`, `u` and `f` keep naga from folding constants.
    let text = format!(
        "{head}
         @group(0) @binding(0) var<storage, read_write> output: array<u32>;
         @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) u: u32) {{
             var i = i32(u); var f = f32(u); var v3 = vec3<f32>(f); var m = u;
             {body}
         }}"
    );
    run(&text, [1, 1, 1], expressions.len(), &[0], config).unwrap().0
}
