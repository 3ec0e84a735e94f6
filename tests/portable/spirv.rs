//! `spirv-val`, the validator of SPIR-V, over what naga writes for Vulkan.
//!
//! Input: every module of [`cases`](super::cases), plain and counted. Output: two checks. Drivers
//! take much that is not valid, and each something else; the validator of Khronos's SPIRV-Tools
//! says what holds for all of them.

use std::io::Write;
use std::process::{Command, Stdio};

use lanescope::program::{TargetLanguage, emit_all};
use rayon::prelude::*;

use super::{Case, cases, name};

/// The program, of Debian's `spirv-tools`.
pub(super) const PROGRAM: &str = "spirv-val";

/// What modules are validated for: the version that wgpu asks a driver for at least has 1.5.
const TARGET: [&str; 2] = ["--target-env", "vulkan1.2"];

/// Whether there is such a program.
pub(super) fn is_installed() -> bool {
    let mut asked = Command::new(PROGRAM);
    asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}

/// Every module is valid.
pub(super) fn takes() -> Result<(), String> {
    let refused: Vec<String> = cases().par_iter().flat_map_iter(refusals).collect();
    let all = refused.join("\n");
    refused.is_empty().then_some(()).ok_or_else(|| format!("{} are refused:\n{all}", refused.len()))
}

/// A module that lacks its end is refused, so that the check can fail.
pub(super) fn finds() -> Result<(), String> {
    let cases = cases();
    let case = cases.first().ok_or("there are no programs")?;
    let (_, mut bytes) = written(case).swap_remove(0);
    validate(&bytes)?;
    bytes.truncate(bytes.len() - 4);
    validate(&bytes).map_or(Ok(()), |()| Err("a module without its end is taken".to_owned()))
}

/// What is refused of a program, with the reasons.
fn refusals(case: &Case) -> Vec<String> {
    let refusal = |(form, bytes): (&'static str, Vec<u8>)| {
        let why = validate(&bytes).err()?;
        Some(format!("{} {} ({form}): {why}", case.shader, case.part))
    };
    written(case).into_iter().filter_map(refusal).collect()
}

/// A program's modules in SPIR-V, by the names of their forms.
fn written(case: &Case) -> Vec<(&'static str, Vec<u8>)> {
    let modules = case.modules().into_iter();
    let words = |(form, module)| {
        let emissions = emit_all(&module, case.program.text()).unwrap();
        let spirv =
            emissions.into_iter().find(|emission| emission.language == TargetLanguage::SpirV);
        (name(form), spirv.unwrap().result.unwrap_or_else(|error| panic!("{error}")))
    };
    modules.map(words).collect()
}

/// What the validator says of a module.
fn validate(bytes: &[u8]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{PROGRAM}: {error}");
    let mut child = Command::new(PROGRAM)
        .args(TARGET)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // It reads to the end before it says anything.
    child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(bytes)).map_err(failed)?;
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let messages = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&messages).into_owned())
}
