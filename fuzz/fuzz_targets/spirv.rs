//! Any words are a program, or refused with an error: what is taken out, frozen and rewritten before naga
//! reads them, and the places put in after.
//!
//! Seeds: the modules in `crates/lanescope-simt/src/program/spirv/fixtures`, which `fuzz/run` copies.

#![no_main]

use lanescope::program::{Overrides, Parsed, read_spirv};
use lanescope_fuzz::{judge, let_panics_unwind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: let_panics_unwind(), |data: &[u8]| {
    let parsed = read_spirv("fuzz.spv", data)
        .and_then(|spirv| Parsed::from_spirv("fuzz.spv", &spirv));
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return judge(&error),
    };
    let given: Overrides =
        parsed.overrides().into_iter().take(1).map(|constant| (constant.name, 3.0)).collect();
    for entry_point in parsed.entry_points() {
        for overrides in [&Overrides::new(), &given] {
            match parsed.resolve(entry_point, overrides) {
                Ok(program) => {
                    for block in program.blocks() {
                        let sum = block.lines.values().sum::<u64>();
                        assert_eq!(sum, block.ops, "each operation has a line");
                    }
                }
                Err(error) => judge(&error),
            }
        }
    }
});
