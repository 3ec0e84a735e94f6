//! Claims judged together, and of those that say the opposite of each other, which one records support.
//!
//! Input: claims, records, tables. Output: [`Judged`], with a sentence for each two that name each other in `against`. For the
//! sentence no figure is looked at again: the two verdicts decide.

use std::sync::OnceLock;

use super::evidence::{FactTable, Record};
use super::judge::{Judged, Pair, Verdict, judge};
use super::ledger::{Claim, LedgerError, ledger};
use crate::record::Run;

/// The claims that runs say something of, judged by them: those of which a launch's figure decided a check.
///
/// # Errors
///
/// What is wrong with the ledger or the catalogue, which tests show to be nothing.
pub fn judge_touched(runs: &[Run]) -> Result<Vec<Judged>, LedgerError> {
    let record = |run: &Run| Record::new(run.started_utc.clone(), run.clone());
    let records: Vec<Record> = runs.iter().map(record).collect::<Result<_, _>>()?;
    static KEPT: OnceLock<Vec<Claim>> = OnceLock::new();
    let claims = match KEPT.get() {
        Some(kept) => kept,
        None => {
            let read = ledger()?;
            KEPT.get_or_init(|| read)
        }
    };
    let judged = judge_all(&claims.iter().collect::<Vec<_>>(), &records, &[]);
    let decided = |claim: &Judged| {
        let known = !matches!(claim.verdict, Verdict::NotTestable(_) | Verdict::NoClaim(_));
        known && claim.figures.iter().any(|figure| !figure.device.is_empty())
    };
    Ok(judged.into_iter().filter(decided).collect())
}

/// Judges claims by records and tables, those that oppose each other together.
pub fn judge_all(claims: &[&Claim], records: &[Record], tables: &[FactTable]) -> Vec<Judged> {
    judge_all_noticing(claims, records, tables, &mut || {})
}

/// As [`judge_all`]; whoever waits is notified of each claim that is judged.
pub fn judge_all_noticing(
    claims: &[&Claim],
    records: &[Record],
    tables: &[FactTable],
    notice: &mut dyn FnMut(),
) -> Vec<Judged> {
    let mut judged = Vec::with_capacity(claims.len());
    for claim in claims {
        judged.push(judge(claim, records, tables));
        notice();
    }
    pair(&mut judged);
    judged
}

/// Gives each claim a sentence on each claim against it that was judged too.
pub(super) fn pair(judged: &mut [Judged]) {
    for here in 0..judged.len() {
        let claim = &judged[here];
        let opposed = (0..judged.len())
            .filter(|there| claim.claim.against.contains(&judged[*there].claim.id));
        let pairs = opposed.map(|there| Pair {
            other: judged[there].claim.id.clone(),
            says: sentence(&judged[here.min(there)], &judged[here.max(there)]),
        });
        judged[here].pairs = pairs.collect();
    }
}

/// Which of two opposed claims records support.
fn sentence(first: &Judged, second: &Judged) -> String {
    use Verdict::{Contradicted, Holds, HoldsOnlyWhere};
    let [a, b] = [first, second].map(|judged| &judged.claim.id);
    let [says_a, says_b] = [first, second].map(|judged| judged.verdict.text());
    match (&first.verdict, &second.verdict) {
        (Contradicted, Contradicted) => {
            format!("The records support neither {a} nor {b}: both are contradicted.")
        }
        (Holds, Holds) => {
            format!(
                "The records support both {a} and {b}: as checked, they do not exclude each other."
            )
        }
        (Holds | HoldsOnlyWhere(_), Contradicted) => {
            format!("The records support {a}, which {says_a}; {b} is contradicted.")
        }
        (Contradicted, Holds | HoldsOnlyWhere(_)) => {
            format!("The records support {b}, which {says_b}; {a} is contradicted.")
        }
        (HoldsOnlyWhere(_), HoldsOnlyWhere(_)) => {
            format!("The records support both only under conditions: {a} {says_a}; {b} {says_b}.")
        }
        (Holds, HoldsOnlyWhere(_)) => {
            format!("The records support {a} throughout, and {b} under a condition: it {says_b}.")
        }
        (HoldsOnlyWhere(_), Holds) => {
            format!("The records support {b} throughout, and {a} under a condition: it {says_a}.")
        }
        _ => {
            let [a, b] = [first, second].map(is);
            format!("The records do not decide between {a}, and {b}.")
        }
    }
}

/// A claim's id with its verdict, a clause.
fn is(judged: &Judged) -> String {
    let text = judged.verdict.text();
    let verb = if text.starts_with("holds") { "" } else { "is " };
    format!("{}, which {verb}{text}", judged.claim.id)
}
