//! What loads is instrumented, the result validates, and every back-end either writes it or says
//! what it lacks.

#![no_main]

use lanescope::instrument::{CounterScheme, InstrumentError, Instrumented, Options};
use lanescope::program::{Program, emit_all};
use lanescope_fuzz::{input, let_panics_unwind, mutate, programs};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(init: let_panics_unwind(), |data: &[u8]| {
    let Some((text, option)) = input(data) else { return };
    for program in programs(text) {
        let options = Options {
            method: [CounterScheme::Executed, CounterScheme::Histogram, CounterScheme::Derived, CounterScheme::Estimated]
                [usize::from(option % 4)],
            subgroup_width_max: [4, 32, 64, 128][usize::from(option / 4 % 4)],
            counter_bytes_max: [1 << 12, 1 << 20][usize::from(option / 16 % 2)],
            workgroups: [None, Some([7, 3, 1])][usize::from(option / 32 % 2)],
        };
        match Instrumented::new(&program, &options) {
            Ok(instrumented) => {
                let zeros = vec![0; instrumented.counters().size as usize];
                let counts = instrumented.decode(&zeros).expect("zeros contradict nothing");
                assert_eq!(counts.len(), program.blocks().len());
                compare(&program, &instrumented);
            }
            Err(InstrumentError::TooLarge { .. }) => {}
            Err(error) => panic!("{error}\n{text}"),
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

/// Each language that the plain module is written in takes the instrumented one too.
fn compare(program: &Program, instrumented: &Instrumented) {
    let plain = emit_all(program.module(), program.text()).expect("it validated");
    let counted = emit_all(instrumented.module(), program.text()).expect("it validated");
    for (plain, counted) in plain.iter().zip(&counted) {
        if let Err(error) = &plain.result {
            assert!(!error.to_string().is_empty());
            continue;
        }
        if let Err(error) = &counted.result {
            panic!("{} of the plain module only: {error}", plain.language);
        }
    }
}
