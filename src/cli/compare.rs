//! `lanescope compare A.json B.json`.

use std::io::Write;

use super::arguments::CompareArguments;
use super::failure::{Exit, Failure};
use crate::analyze::{self, parameters_text};
use crate::kernel::Catalogue;
use crate::present::{self, Style};
use crate::record::{Run, Tag};
use crate::store;

/// Prints what two runs have in common, side by side, and what only one has.
pub(crate) fn compare(arguments: &CompareArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let catalogue = Catalogue::embedded().map_err(Failure::bad_input)?;
    let load = |file| -> Result<Run, Failure> {
        let mut run = store::load(file).map_err(Failure::bad_input)?;
        // Kernels of earlier days are compared under the names of today.
        catalogue.renew(&mut run);
        Ok(run)
    };
    let (a, b) = (load(&arguments.a)?, load(&arguments.b)?);
    let comparison = analyze::compare(&a, &b);
    writeln!(out, "A is {}, B is {}", arguments.a.display(), arguments.b.display())?;
    for sentence in &comparison.differing {
        writeln!(out, "{sentence}")?;
    }
    if comparison.rows.is_empty() {
        writeln!(out, "The two have no launch in common.")?;
    } else {
        writeln!(out, "{}", present::comparison(&comparison).to_text(Style::Terminal))?;
    }
    if a.counting_rule != b.counting_rule {
        writeln!(out, "{}", Tag::CountingRuleDiffers.explanation())?;
    }
    for missing in &comparison.not_compared {
        let side = if missing.side == 0 { "A" } else { "B" };
        let parameters = parameters_text(&missing.parameters, &[]);
        let (label, kernel, reason) = (&missing.label, &missing.kernel, &missing.reason);
        writeln!(out, "only in {side}: {kernel} {parameters} on {label}: {reason}")?;
    }
    Ok(Exit::Done)
}
