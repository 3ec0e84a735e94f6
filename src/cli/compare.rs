//! `lanescope compare A.json B.json`.

use std::io::Write;

use super::arguments::CompareArguments;
use super::failure::{Exit, Failure};
use crate::analyze::{self, parameters_text};
use crate::kernel::Catalogue;
use crate::present::fit::fold;
use crate::present::{self, terminal_columns};
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
    let columns = terminal_columns();
    let line = format!("A is {}, B is {}", arguments.a.display(), arguments.b.display());
    writeln!(out, "{}", fold(&line, "", columns))?;
    for sentence in &comparison.differing {
        writeln!(out, "{}", fold(sentence, "", columns))?;
    }
    if comparison.rows.is_empty() {
        writeln!(out, "The two have no launch in common.")?;
    } else {
        write!(out, "{}", present::comparison(&comparison).to_screen(columns))?;
    }
    if a.counting_rule != b.counting_rule {
        let explanation = Tag::CountingRuleDiffers.explanation();
        writeln!(out, "{}", fold(explanation, "", columns))?;
    }
    for missing in &comparison.not_compared {
        let side = if missing.side == 0 { "A" } else { "B" };
        let parameters = parameters_text(&missing.parameters, &[]);
        let (label, kernel, reason) = (&missing.label, &missing.kernel, &missing.reason);
        let line = format!("only in {side}: {kernel} {parameters} on {label}: {reason}");
        writeln!(out, "{}", fold(&line, "", columns))?;
    }
    Ok(Exit::Done)
}
