//! Claims that say the opposite of each other, judged together.
//!
//! Input: judged claims. Output: for each two of them that name each other in `against`, a sentence that says which of them
//! the records support. No figure is looked at again: the two verdicts decide.

use super::judge::{Judged, Verdict};

/// What records make of a claim and of one against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The other claim's id.
    pub other: String,
    /// Which of the two records support, a sentence; the same at both.
    pub says: String,
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
