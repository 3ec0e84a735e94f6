//! What loads is made into a launch, as `lanescope profile` does, or refused with a reason.
//!
//! Findings: a panic, a buffer of another size than its contents, and a file that `--init` writes
//! which does not give the same launch.

#![no_main]

use lanescope::kernel::{Description, Launch};
use lanescope::program::Parsed;
use lanescope::run::profile::{ProfileRequest, prepare, template::template};
use lanescope_fuzz::{input, let_panics_unwind, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(init: let_panics_unwind(), |data: &[u8]| {
    let Some((text, option)) = input(data) else { return };
    let Ok(parsed) = Parsed::new("fuzz.wgsl", text) else { return };
    for entry_point in parsed.entry_points() {
        check(text, entry_point, u64::from(option));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fn check(text: &str, entry_point: &str, n: u64) {
    let request = ProfileRequest {
        file: "fuzz.wgsl".to_owned(),
        name: "fuzz".to_owned(),
        source: text.to_owned(),
        derived: None,
        description: None,
        entry_point: Some(entry_point.to_owned()),
        workgroups: None,
        n: Some(n),
        seed: 1,
    };
    let Ok(first) = prepare(&request, &mut |file| Err(format!("no {file}"))) else { return };
    small_contents_fit(&first.launch);
    let written = template(&request).expect("what has a launch has a launch file");
    let description = Description::parse("fuzz.toml", &written)
        .unwrap_or_else(|error| panic!("{error}\n{written}"));
    let request = ProfileRequest {
        description: Some(("fuzz.toml".to_owned(), description)),
        n: None,
        ..request
    };
    let second = prepare(&request, &mut |file| Err(format!("no {file}")))
        .unwrap_or_else(|error| panic!("{error}\n{written}"));
    let (first, second) = (first.launch, second.launch);
    assert_eq!(first.dispatches, second.dispatches, "{written}");
    assert_eq!(first.overrides, second.overrides, "{written}");
    assert_eq!(first.immediates, second.immediates, "{written}");
    assert_eq!(first.buffers.len(), second.buffers.len(), "{written}");
    for (one, other) in first.buffers.iter().zip(&second.buffers) {
        assert_eq!((&one.name, one.size), (&other.name, other.size), "{written}");
        if one.size <= 1 << 16 {
            assert_eq!(first.contents(one), second.contents(other), "{}\n{written}", one.name);
        }
    }
}

/// Contents that are cheap to make are as long as the buffer says.
fn small_contents_fit(launch: &Launch) {
    for buffer in launch.buffers.iter().filter(|buffer| buffer.size <= 1 << 16) {
        assert_eq!(launch.contents(buffer).len() as u64, buffer.size, "{}", buffer.name);
    }
}
