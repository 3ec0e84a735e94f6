//! No kernel of the catalogue and no shader of the corpus races with itself, but for those that
//! say why.
//!
//! Input: every WGSL kernel's quick launch, made small, and every shader of the corpus, on `sim:32`
//! with all workgroups watched. Output: a failure for each race that nobody exempts, and for each
//! exemption that nothing needs.

use std::collections::BTreeSet;

use lanescope::kernel::{Catalogue, KernelLanguage, Launch};
use lanescope::record::DataRace;
use lanescope::run::simulator::SimulatorRunner;
use lanescope::units::Width;
use libtest_mimic::Trial;
use rayon::prelude::*;

use crate::{corpus, launches};

/// Launches that race, each with the reason why they may.
const EXEMPT: [(&str, &str); 1] = [(
    "sparse/attention_ordered",
    "a lane beyond the end of a row of counts reads the row's last count, which another lane writes \
     behind `workgroupBarrier`, and takes nothing from it",
)];

/// Operations that a subgroup may execute.
const STEPS_MAX: u64 = 1 << 24;

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("races::catalogue_and_corpus_are_clean_or_exempt", || {
        all_are_clean_or_exempt();
        Ok(())
    })]
}

fn all_are_clean_or_exempt() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernels = catalogue.kernels();
    let wgsl = kernels.filter(|kernel| kernel.language == KernelLanguage::Wgsl);
    let mut all: Vec<Launch> =
        wgsl.map(|kernel| launches::small(kernel, &launches::Point::new())).collect();
    all.extend(corpus::launches());
    let found: Vec<(String, Vec<DataRace>)> =
        all.par_iter().map(|launch| (launch.kernel.clone(), races(launch))).collect();
    let racing: BTreeSet<&str> =
        found.iter().filter(|(_, races)| !races.is_empty()).map(|(name, _)| &**name).collect();
    let exempt: BTreeSet<&str> = EXEMPT.iter().map(|(name, _)| *name).collect();
    let told: Vec<String> = found
        .iter()
        .filter(|(name, _)| !exempt.contains(&**name))
        .flat_map(|(name, races)| races.iter().map(move |race| format!("{name}: {race:?}")))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_eq!(racing, exempt, "an exemption that nothing needs");
}

/// The races of a launch.
fn races(launch: &Launch) -> Vec<DataRace> {
    let simulator = SimulatorRunner::new(Width::new(32).unwrap(), STEPS_MAX);
    let seen = simulator.watch_memory(launch, 1, u64::MAX);
    let seen = seen.unwrap_or_else(|error| panic!("{}: {error}", launch.kernel));
    seen.dispatches.into_iter().flat_map(|dispatch| dispatch.races).collect()
}
