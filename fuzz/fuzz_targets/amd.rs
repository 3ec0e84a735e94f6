//! Any bytes are words of AMD's machine code: they decode or are refused with a place, and what is taken
//! as code runs to its end, to a fault or to the limit of its steps.

#![no_main]

use lanescope::amd::{AmdMemory, Code, Facts, FloatMode, Start, WaveLaunch, decode, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((option, bytes)) = data.split_first() else { return };
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().copied().map(u32::from_le_bytes).collect();
    for at in 0..words.len() {
        match decode(&words, at) {
            Ok(instruction) => {
                assert!((1..=3).contains(&instruction.length));
                assert!(!instruction.mnemonic().is_empty());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let wave = if option & 1 == 0 { 32 } else { 64 };
    let facts = Facts {
        wave,
        vectors: 16,
        local_bytes: 256,
        scratch_bytes: 0,
        workgroup: [70, 1, 1],
        scalars: vec![Start::Unused(2), Start::Descriptors(0), Start::Workgroup(0)],
        mode: FloatMode { flush32: option & 2 == 0 },
    };
    let Ok(code) = Code::new(&words, facts) else { return };
    let mut memory = AmdMemory::new();
    let number = memory.add(vec![option & 0x7f; 512]);
    let descriptors = [memory.descriptor(number)];
    let set = memory.add_set(&descriptors);
    let launch = WaveLaunch {
        workgroups: [2, 1, 1],
        sets: &[set],
        immediates: &[],
        steps_max: 2_000,
        all_steps_max: u64::MAX,
        threads: Some(1),
    };
    if let Ok(outcome) = run(&code, &launch, &mut memory) {
        for counts in &outcome.counts {
            assert!(counts.lanes <= counts.executions * u64::from(wave));
            assert!(counts.passes_min <= counts.passes_max);
        }
    }
});
