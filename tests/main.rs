//! The tests that run devices, and the guide to all tests.
//!
//! | where | what it shows |
//! |---|---|
//! | `src/**`, `crates/*/src/**`: `tests.rs`, `tests/`, `mod tests` | units: each module against values worked out by hand, snapshots, properties, random programs |
//! | `src/fixtures.rs` | the synthetic runs that table, chart and page tests share |
//! | `tests/architecture` | who may use whom, and what the repository may weigh |
//! | `tests/main.rs`, here | the program and the devices from outside, driver by driver |
//! | `tests/claims` | the families that test claims: formulas at every width, figures of an audit, the command |
//! | `tests/collectives/` | reductions, scans, softmax: every width, odd sizes, unfair schedules; the library's functions |
//! | `tests/random/` | random programs on simulator and drivers, planted disagreements |
//! | `tests/corpus`, `tests/wgsl` | shaders as users write them: every form of statement, a snapshot of lines each, the same counts on every driver |
//! | `tests/cuda` | the CUDA translation: NVRTC compiles it for four architectures, snapshots; kernels in CUDA C++ |
//! | `tests/fuzzed.rs` | every target of `fuzz` compiles, and finds nothing in inputs of its own kind |
//! | `tests/grain` | the formulas of the family of grain, on every width and driver |
//! | `tests/hostile` | hostile, huge and broken input: how it ends, what it writes, how its cost grows |
//! | `tests/launches` | the catalogue launches and executes what it did before families became folders |
//! | `tests/portable` | every text that lanescope has or writes as WGSL is taken by Chromium's compiler |
//! | `tests/races` | no kernel and no shader of the corpus has a data race, or says why it may |
//! | `tests/radv` | AMD's machine code from Mesa's compiler, executed: outputs, passes, lanes |
//! | `tests/textures` | kernels that bind textures, every format, random reads: simulator and drivers |
//! | `tests/web` | the pages for browsers: counts, outputs, what may be missing, policies, records, links, limits |
//! | `tests/worth` | advice: shaders with a known cause, edits beside what trials say |
//! | `tests/support/model.rs` | executions and lanes of the five patterns, from the input data alone |
//!
//! [`LONG`] lists the tests that take most of the time: they are *ignored* unless `LANESCOPE_LONG` is set, as
//! `.ci/run` does, and so is what drivers show at widths that another stands for.
//!
//! A driver or a compiler that is not installed makes its tests *ignored*, with the reason in their
//! names; `LANESCOPE_REQUIRE` turns that into failures. `docs/contributing/testing.md` lists what it
//! takes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod claims;
mod collectives;
mod command;
mod corpus;
mod cuda;
mod devices;
mod grain;
mod hostile;
mod launches;
mod portable;
mod races;
#[cfg(target_os = "linux")]
mod radv;
mod random;
mod records;
mod sorting;
mod support;
mod textures;
mod web;
mod worth;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::drivers::Driver;
use support::trial_needing;

/// What tests begin with that take most of the time, and what a change seldom breaks.
const LONG: [&str; 25] = [
    "claims::formulas_hold_on_the_simulator_at_every_width",
    "cuda::lockstep_counts",
    "cuda::lockstep_runs",
    "cuda::nvrtc_compiles_everything_for_sm_120",
    "cuda::nvrtc_compiles_everything_for_sm_75",
    "cuda::nvrtc_compiles_everything_for_sm_80",
    "grain::formulas_hold_on_the_simulator_at_every_width",
    "hostile::a_bad_driver_is_named_and_the_good_one_runs",
    "hostile::a_device_lost_at_any_submission_costs_its_launch",
    "hostile::a_driver_that_hangs_costs_ten_seconds",
    "hostile::time_and_memory_grow_with_the_input_and_not_its_square",
    "hostile::what_a_driver_prints_reaches_nobody",
    "hostile::what_does_not_end_is_not_read_without_end",
    "launches::",
    "portable::chromium_takes_own_texts",
    "races::",
    "sorting::",
    "web::a_falsified_counter_is_shown_as_different",
    "web::a_lost_device_keeps_what_was_counted",
    "web::inputs_have_the_bytes_of_this_program",
    "web::the_whole_catalogue_counts_as_the_simulator",
    "web::timestamps_are_used_where_they_are_fine_enough",
    "web::what_ends_a_device_costs_no_result",
    "web::what_is_missing_ends_in_a_sentence",
    "web::widths_that_can_be_fixed_are_each_counted",
];

/// Marks a test as long: it is ignored unless `LANESCOPE_LONG` is set.
fn mark_long(trial: Trial) -> Trial {
    let ignored = trial.has_ignored_flag() || std::env::var_os("LANESCOPE_LONG").is_none();
    trial.with_kind("long").with_ignored_flag(ignored)
}

fn main() -> ExitCode {
    if let Some(runs) = std::env::var(collectives::CHILD).ok().and_then(|runs| runs.parse().ok()) {
        collectives::child(runs);
        return ExitCode::SUCCESS;
    }
    if let Ok(arguments) = std::env::var(sorting::CHILD) {
        return sorting::child(&arguments);
    }
    #[cfg(target_os = "linux")]
    if let Ok(asked) = std::env::var(radv::CHILD) {
        radv::child(&asked);
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let mut trials = command::trials();
    trials.extend(collectives::trials());
    trials.extend(random::trials());
    trials.extend(corpus::trials());
    trials.extend(sorting::trials());
    trials.extend(launches::trials());
    trials.extend(grain::trials());
    trials.extend(claims::trials());
    trials.extend(cuda::trials());
    trials.extend(portable::trials());
    trials.extend(races::trials());
    trials.extend(textures::trials());
    trials.extend(web::trials());
    trials.extend(hostile::trials());
    trials.extend(worth::trials());
    trials.push(devices::captured::trial());
    #[cfg(target_os = "linux")]
    trials.extend(radv::trials());
    for start in LONG {
        assert!(
            trials.iter().any(|trial| trial.name().starts_with(start)),
            "nothing is called {start}"
        );
    }
    let is_long = |trial: &Trial| LONG.iter().any(|start| trial.name().starts_with(start));
    let mut trials: Vec<Trial> = trials
        .into_iter()
        .map(|trial| if is_long(&trial) { mark_long(trial) } else { trial })
        .collect();
    for driver in Driver::all() {
        for check in devices::CHECKS.into_iter().filter(|check| check.is_for(&driver)) {
            let title = format!("{}::{}", driver.name, check.name);
            let run = move || (check.run)(&driver);
            let trial = trial_needing(title, driver.missing(), driver.family, run);
            let long = check.is_long() || driver.stands_for_a_width;
            trials.push(if long { mark_long(trial) } else { trial });
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
