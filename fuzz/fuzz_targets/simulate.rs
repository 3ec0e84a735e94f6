//! What loads is simulated: a small launch with few steps.
//!
//! Findings: a panic, an endless run, counts that contradict themselves, and a second run of the
//! same, observed or with other threads' schedule repeated, that differs from the first.

#![no_main]

use lanescope::program::Program;
use lanescope::simulate::{
    Compiled, Config, Fma, ForkObserver, Memory, Observer, Outcome, Reconvergence, Schedule,
};
use lanescope::units::Width;
use lanescope_fuzz::{input, let_panics_unwind, mutate, programs};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

/// Bytes of a buffer that the target makes at most.
const BUFFER_BYTES_MAX: u64 = 1 << 16;

/// Operations of a subgroup.
const STEPS_MAX: u64 = 4_000;

/// An observer that looks away.
struct Nothing;

impl Observer for Nothing {}

impl ForkObserver for Nothing {
    fn fresh(&self) -> Self {
        Self
    }

    fn merge(&mut self, _: Self) {}
}

fuzz_target!(init: let_panics_unwind(), |data: &[u8]| {
    let Some((text, option)) = input(data) else { return };
    for program in programs(text) {
        let invocations: u64 = program.workgroup_size().iter().map(|&s| u64::from(s)).product();
        if invocations > 256 {
            continue;
        }
        let Ok(compiled) = Compiled::new(&program) else { continue };
        if compiled.registers() as u64 * invocations > 1 << 22 {
            continue;
        }
        let widths = [1, 2, 4, 8, 16, 32, 64, 128];
        let config = Config {
            width: Width::new(widths[usize::from(option % 8)]).expect("a power of two"),
            reconvergence: Reconvergence::Maximal,
            fma: if option & 8 == 0 { Fma::Fused } else { Fma::Unfused },
            steps_max: STEPS_MAX,
            operations_max: u64::MAX,
            schedule: match option >> 4 & 3 {
                0 | 1 => Schedule::InOrder,
                2 => Schedule::Shuffled { seed: u64::from(option) },
                _ => Schedule::Unfair { seed: u64::from(option) },
            },
            strict: option & 64 != 0,
            threads: Some(1),
            zero_workgroup_memory: option & 128 == 0,
        };
        check(&program, &compiled, &config);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fn check(program: &Program, compiled: &Compiled, config: &Config) {
    let Some(mut memory) = memory(program) else { return };
    let first = compiled.run([2, 1, 1], &mut memory, config);
    if let Ok(outcome) = &first {
        consistent(program, outcome, config.width);
    }
    let Some(mut again) = self::memory(program) else { return };
    let second = compiled.run_observed([2, 1, 1], &mut again, config, &mut Nothing);
    assert_eq!(first, second, "observed, the same launch ends otherwise");
    let bindings = program.bindings().unwrap_or_default();
    for binding in &bindings {
        let bytes = |memory: &Memory| memory.bytes(binding.group, binding.binding);
        assert_eq!(bytes(&memory), bytes(&again), "observed, {} differs", binding.name);
    }
    let late = Config { reconvergence: Reconvergence::Late, ..*config };
    let Some(mut memory) = self::memory(program) else { return };
    if let Ok(outcome) = compiled.run([1, 2, 1], &mut memory, &late) {
        consistent(program, &outcome, config.width);
    }
}

/// Small numbers in every buffer; nothing where a resource is no buffer or one is large.
fn memory(program: &Program) -> Option<Memory> {
    let mut memory = Memory::new();
    memory.set_immediates(&[1; 256]);
    for binding in program.bindings().ok()? {
        if binding.size_min > BUFFER_BYTES_MAX {
            return None;
        }
        let words = (binding.size_min / 4 + 64) as u32;
        let bytes: Vec<u8> = (0..words).flat_map(|i| (i * 7 % 61).to_le_bytes()).collect();
        memory.bind(binding.group, binding.binding, &bytes);
    }
    Some(memory)
}

/// Counts that contradict nothing: not each other, nor the width, nor the number of blocks.
fn consistent(program: &Program, outcome: &Outcome, width: Width) {
    assert_eq!(outcome.blocks.len(), program.blocks().len());
    for block in &outcome.blocks {
        assert_eq!(block.histogram.len(), width.index());
        assert_eq!(block.histogram.iter().sum::<u64>(), block.executions.0);
        let lanes: u64 = (1..).zip(&block.histogram).map(|(lanes, count)| lanes * count).sum();
        assert_eq!(lanes, block.lanes.0);
    }
    let lines = program.text().original().lines().count() as u32 + 1;
    assert!(outcome.reports.iter().all(|report| (1..=lines).contains(&report.location.line)));
}
