//! Derived counting gives what executed counting gives, on the simulator at many widths.
//!
//! The simulator runs the instrumented modules themselves, and counts the plain ones by itself: both
//! must agree block by block, for each method, and outputs must be the same.

use super::{Bound, METHODS, OPTIONS, config, program, random_program, small_dispatches};
use crate::instrument::{CounterScheme, Instrumented, Options};
use crate::program::Program;
use crate::simulate::{Compiled, Memory};

const WIDTHS: [u32; 5] = [1, 4, 16, 32, 128];

/// Checks one entry point with every method and width.
fn agrees(name: &str, program: &Program, workgroups: [u32; 3], buffers: &[Bound]) {
    let plain = Compiled::new(program).unwrap();
    let narrow = Options { method: CounterScheme::Derived, subgroup_width_max: 16, ..OPTIONS };
    let light = Options { workgroups: Some(workgroups), ..narrow };
    let wide = METHODS.map(|method| Options { method, ..OPTIONS });
    for options in wide.into_iter().chain([narrow, light]) {
        let method = options.method;
        let instrumented = Instrumented::new(program, &options).unwrap();
        let (module, info) = (instrumented.module().clone(), instrumented.info().clone());
        let counting = program.with_module(module, info);
        let counting = Compiled::new(&counting).unwrap();
        for width in WIDTHS {
            let title = format!("{name}, {method:?}, width {width}");
            let bind = || {
                let mut memory = Memory::new();
                for (group, binding, bytes) in buffers {
                    memory.bind(*group, *binding, bytes);
                }
                memory
            };
            let (mut expected, mut found) = (bind(), bind());
            let outcome = plain.run(workgroups, &mut expected, &config(width)).unwrap();
            let place = instrumented.counters();
            let zeros = vec![0; usize::try_from(place.size).unwrap()];
            found.bind(place.group, place.binding, &zeros);
            counting.run(workgroups, &mut found, &config(width)).unwrap();
            for (group, binding, _) in buffers {
                let same = expected.bytes(*group, *binding) == found.bytes(*group, *binding);
                assert!(same, "{title}: other outputs");
            }
            let counts = instrumented.decode(&found.bytes(place.group, place.binding).unwrap());
            let counts = counts.unwrap_or_else(|| panic!("{title}: counters contradict"));
            for (block, (count, info)) in
                outcome.blocks.iter().zip(counts.iter().zip(program.blocks()))
            {
                assert_eq!(
                    (count.executions, count.lanes),
                    (block.executions, block.lanes),
                    "{title}: {info:?}\n{}",
                    program.text().original()
                );
            }
        }
    }
}

/// As [`agrees`], for a text; it may leave some of the buffers unused.
fn text_agrees(name: &str, text: &str, workgroups: [u32; 3], buffers: &[Bound]) {
    let program = program(text);
    let used = program.bindings().unwrap();
    let is_used = |bound: &&Bound| used.iter().any(|b| (b.group, b.binding) == (bound.0, bound.1));
    let buffers: Vec<Bound> = buffers.iter().filter(is_used).cloned().collect();
    agrees(name, &program, workgroups, &buffers);
}

#[test]
fn random_programs() {
    let options = random_program::Options::BUFFERS;
    // Those of five digits differed on a GPU.
    let seen = [7_635, 13_165, 14_807, 23_477, 26_959, 27_582, 29_183, 31_857, 32_259, 32_883];
    for seed in (0..150).chain(seen) {
        let random =
            random_program::Program::new(seed, options, &|text| program(text).blocks().len());
        let invocations = random.workgroup_size * random.workgroups;
        let words = [0, 0, 0, 0, u32::MAX, u32::MAX];
        let totals = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let buffers = [(0, 0, vec![0; invocations as usize * 4]), (0, 1, totals)];
        let text = random.to_string();
        text_agrees(&format!("seed {seed}"), &text, [random.workgroups, 1, 1], &buffers);
    }
}

/// What stands behind a jump is counted by nobody, and a `continuing` that nobody comes to is none.
#[test]
fn unreachable_code() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(24)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            for (var k = 0u; k < 9u; k++) {
                if (i % 7u == k) {
                    break;
                    data[i] = 1u;
                    if (k == 2u) { data[i] = 2u; }
                }
                data[i] += k;
                continue;
                if (k == 3u) { data[i] = 3u; } else { data[i] = 4u; }
            }
            loop {
                data[i] += 5u;
                break;
                let more = data[i] == 6u;
                continuing { break if more; }
            }
            { return; }
            data[i] = 7u;
        }";
    text_agrees("unreachable code", text, [3, 1, 1], &[(0, 0, vec![0; 72 * 4])]);
}

#[test]
fn the_catalogue() {
    for small in small_dispatches() {
        agrees(&small.kernel, &small.program, small.workgroups, &small.buffers);
    }
}
