//! Estimated counting, on the simulator: lanes are those of executed counting, executions at most those.
//!
//! The simulator runs the instrumented modules themselves, and counts the plain ones by itself.

use super::{Bound, OPTIONS, config, program, random_program, small_dispatches};
use crate::instrument::{CounterScheme, Instrumented, Options};
use crate::program::Program;
use crate::simulate::{Compiled, Memory};

const WIDTHS: [u32; 4] = [4, 16, 32, 128];

/// Executions and lanes of each block, as the simulator counts them and as they are estimated.
type Pair = (Vec<(u64, u64)>, Vec<(u64, u64)>);

/// Runs a program at a width, plain and instrumented; outputs must be the same.
fn both(program: &Program, width: u32, workgroups: [u32; 3], buffers: &[Bound]) -> Pair {
    let options =
        Options { method: CounterScheme::Estimated, subgroup_width_max: width, ..OPTIONS };
    let instrumented = Instrumented::new(program, &options).unwrap();
    let (module, info) = (instrumented.module().clone(), instrumented.info().clone());
    let counting = program.with_module(module, info);
    let config = config(width);
    let bind = || {
        let mut memory = Memory::new();
        for (group, binding, bytes) in buffers {
            memory.bind(*group, *binding, bytes);
        }
        memory
    };
    let (mut expected, mut found) = (bind(), bind());
    let outcome = Compiled::new(program).unwrap().run(workgroups, &mut expected, &config).unwrap();
    let place = instrumented.counters();
    found.bind(place.group, place.binding, &vec![0; usize::try_from(place.size).unwrap()]);
    Compiled::new(&counting).unwrap().run(workgroups, &mut found, &config).unwrap();
    for (group, binding, _) in buffers {
        assert_eq!(expected.bytes(*group, *binding), found.bytes(*group, *binding));
    }
    let counts = instrumented.decode(&found.bytes(place.group, place.binding).unwrap()).unwrap();
    (
        outcome.blocks.iter().map(|block| (block.executions.0, block.lanes.0)).collect(),
        counts.iter().map(|count| (count.executions.0, count.lanes.0)).collect(),
    )
}

/// Lanes equal, executions at most as many; whether all executions are equal.
fn bounded(name: &str, (executed, estimated): &Pair) -> bool {
    assert_eq!(executed.len(), estimated.len());
    for ((executions, lanes), (most, sum)) in executed.iter().zip(estimated) {
        assert_eq!(lanes, sum, "{name}: {executed:?}, estimated {estimated:?}");
        assert!(most <= executions, "{name}: {executed:?}, estimated {estimated:?}");
        assert_eq!(*executions == 0, *most == 0, "{name}");
    }
    executed == estimated
}

#[test]
fn the_catalogue_is_bounded_and_the_five_patterns_are_exact() {
    let mut inexact = Vec::new();
    for small in small_dispatches() {
        for width in WIDTHS {
            let pair = both(&small.program, width, small.workgroups, &small.buffers);
            if !bounded(&small.kernel, &pair) && !inexact.contains(&small.kernel) {
                inexact.push(small.kernel.clone());
            }
        }
    }
    assert!(inexact.iter().all(|kernel| !kernel.starts_with("five_patterns/")), "{inexact:?}");
    // Even lanes in even iterations, odd lanes in odd ones: what a lower bound cannot see.
    assert!(inexact.contains(&"self_test/alternating_if".to_owned()), "{inexact:?}");
}

#[test]
fn random_programs_without_subgroup_operations_are_bounded() {
    let options = random_program::Options { subgroups: false, ..random_program::Options::BUFFERS };
    let mut exact = 0;
    for seed in 0..60 {
        let blocks = |text: &str| program(text).blocks().len();
        let random = random_program::Program::new(seed, options, &blocks);
        let invocations = random.workgroup_size * random.workgroups;
        let words = [0, 0, 0, 0, u32::MAX, u32::MAX];
        let totals = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let buffers = [(0, 0, vec![0; invocations as usize * 4]), (0, 1, totals)];
        let program = program(&random.to_string());
        let used = program.bindings().unwrap();
        let is_used =
            |bound: &&Bound| used.iter().any(|b| (b.group, b.binding) == (bound.0, bound.1));
        let buffers: Vec<Bound> = buffers.iter().filter(is_used).cloned().collect();
        let pair = both(&program, 16, [random.workgroups, 1, 1], &buffers);
        exact += u32::from(bounded(&format!("seed {seed}"), &pair));
    }
    assert!(exact > 5, "{exact} of 60");
}
