//! Any text is loaded, or refused with an error: parse, validate, resolve, number the blocks.

#![no_main]

use lanescope_fuzz::{input, let_panics_unwind, mutate, programs};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(init: let_panics_unwind(), |data: &[u8]| {
    let Some((text, _)) = input(data) else { return };
    for program in programs(text) {
        for (index, block) in program.blocks().iter().enumerate() {
            assert_eq!(block.id.index(), index, "blocks are numbered in order");
            assert_eq!(block.lines.values().sum::<u64>(), block.ops, "each operation has a line");
            let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1) + 1;
            assert!(block.lines.keys().all(|line| (1..=lines).contains(line)), "lines exist");
        }
        let _ = program.bindings();
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});
