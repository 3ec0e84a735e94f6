//! What the fuzz targets share: how an input becomes a shader, and how inputs are mutated.
//!
//! Input: bytes from libFuzzer. Output: text, options and mutated bytes. It decides nothing about
//! what is a finding: the targets do.

pub mod mutate;
pub mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use lanescope::program::{Parsed, Program, ProgramError};

/// The longest text that a target looks at, in bytes.
pub const TEXT_BYTES_MAX: usize = 8192;

/// Lets panics unwind, so that what lanescope catches is caught here too; each place that panics is
/// shown once.
///
/// libfuzzer-sys ends the process in a panic hook, before `catch_unwind` can see the panic. What
/// nobody catches still ends the process afterwards, as a finding.
pub fn let_panics_unwind() {
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        if SEEN.lock().is_ok_and(|mut seen| seen.insert(place)) {
            eprintln!("{panic}");
        }
    }));
}

/// A shader with the option byte at its end; nothing where the input is no text or too long.
pub fn input(data: &[u8]) -> Option<(&str, u8)> {
    let (&option, text) = data.split_last()?;
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= TEXT_BYTES_MAX)?;
    Some((text, option))
}

/// Every compute entry point's program; no values are given for overrides, since what has no
/// default is a proper error.
pub fn programs(text: &str) -> Vec<Program> {
    let parsed = match Parsed::new("fuzz.wgsl", text) {
        Ok(parsed) => parsed,
        Err(error) => {
            judge(&error);
            return Vec::new();
        }
    };
    let mut programs = Vec::new();
    for entry_point in parsed.entry_points() {
        match parsed.resolve(entry_point, &BTreeMap::new()) {
            Ok(program) => programs.push(program),
            Err(error) => judge(&error),
        }
    }
    programs
}

/// An error must say something; naga's own panics are errors that say whose they are.
///
/// # Panics
///
/// Where it says nothing.
pub fn judge(error: &ProgramError) {
    let message = error.to_string();
    assert!(message.len() > "fuzz.wgsl".len(), "an error without words: {error:?}");
}
