//! What the tests share.

pub(crate) mod agreement;
pub(crate) mod bounded;
pub(crate) mod drivers;
pub(crate) mod growth;
pub(crate) mod hostile;
pub(crate) mod model;
pub(crate) mod program;
pub(crate) mod random_program;
pub(crate) mod shaders;
pub(crate) mod side_by_side;

use libtest_mimic::{Completion, Failed, Trial};

/// What a check ends with.
pub(crate) trait Ending {
    /// Whether the check has passed, or what is wrong.
    fn result(self) -> Result<(), Failed>;
}

/// Of a check that panics where something is wrong.
impl Ending for () {
    fn result(self) -> Result<(), Failed> {
        Ok(())
    }
}

/// Of a check that says what is wrong.
impl Ending for Result<(), String> {
    fn result(self) -> Result<(), Failed> {
        self.map_err(Into::into)
    }
}

/// A trial of a check that needs nothing.
pub(crate) fn trial<E: Ending>(
    title: impl Into<String>,
    check: impl FnOnce() -> E + Send + 'static,
) -> Trial {
    Trial::test(title, move || check().result())
}

/// A trial for each check that needs nothing.
pub(crate) fn trials_of(checks: &[(&'static str, fn())]) -> Vec<Trial> {
    checks.iter().map(|&(title, check)| trial(title, check)).collect()
}

/// A trial of a check that needs a driver, a tool or a file. `missing` says why the check cannot run, where it cannot;
/// then the trial fails where `LANESCOPE_REQUIRE` has `needed` among its names, and is [`skipped`] elsewhere.
pub(crate) fn trial_needing<E: Ending>(
    title: impl Into<String>,
    missing: Option<String>,
    needed: &str,
    check: impl FnOnce() -> E + Send + 'static,
) -> Trial {
    match missing {
        None => trial(title, check),
        Some(why) if required(needed) => Trial::test(title, move || Err(why.into())),
        Some(why) => skipped(title, why),
    }
}

/// A trial that is listed as ignored, with the reason in its name. Asked to run all the same, by `--include-ignored`, it
/// is ignored again: it never reads as passed.
fn skipped(title: impl Into<String>, why: String) -> Trial {
    let title = format!("{} (skipped: {why})", title.into());
    Trial::ignorable_test(title, move || Ok(Completion::ignored_with(why))).with_ignored_flag(true)
}

/// Whether `LANESCOPE_REQUIRE` has a name among its own, which commas part.
pub(crate) fn required(needed: &str) -> bool {
    let required = std::env::var("LANESCOPE_REQUIRE").unwrap_or_default();
    required.split(',').any(|name| name.trim() == needed)
}
