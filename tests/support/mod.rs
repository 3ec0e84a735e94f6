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

use libtest_mimic::Trial;

/// A trial for each check that needs no driver.
pub(crate) fn trials_of(checks: &[(&'static str, fn())]) -> Vec<Trial> {
    let trial = |(name, check): &(&'static str, fn())| {
        let check = *check;
        Trial::test(*name, move || {
            check();
            Ok(())
        })
    };
    checks.iter().map(trial).collect()
}
