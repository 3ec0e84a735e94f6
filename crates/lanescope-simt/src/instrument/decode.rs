//! From the counters' words to the counts of blocks.
//!
//! Input: where each counter lies and how blocks follow from counters, as `plan` has it. Output:
//! [`Decoding`], a table that whoever has the buffer's words can work with: each count is a sum of
//! words with factors. [`Instrumented::decode`](super::Instrumented::decode) reads the same table.

use serde::Serialize;

use super::layout::Layout;
use super::plan::{CounterKind, CounterPlan, Form, Item, Reading};
use crate::units::{BlockId, Executions, Lanes, Parts};

/// The counts of a block.
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Count {
    /// Executions with at least one active lane.
    pub executions: Executions,
    /// Active lanes, summed over those.
    pub lanes: Lanes,
    /// Element k: executions with k + 1 active lanes; `None` where not asked for.
    pub histogram: Option<Vec<u64>>,
    /// The parts of subgroups that had an active lane; `None` but on simulators of 64 lanes and more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// How the counts are read from the buffer after the dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decoding {
    /// Words of 32 bits in the buffer, little-endian.
    pub words: u32,
    /// Words of a stripe. What a [`Term`] calls word k is the sum of words k, k + period,
    /// k + 2 · period, …: each stripe has its own.
    pub period: u32,
    /// The blocks, by number.
    pub blocks: Vec<BlockDecoding>,
}

/// How a block's counts are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockDecoding {
    /// Its executions are the sum of these.
    pub executions: Vec<Term>,
    /// Its active lanes, summed over the executions.
    pub lanes: Vec<Term>,
    /// Element k: its executions with k + 1 active lanes; `None` if they are not counted.
    pub histogram: Option<Vec<Vec<Term>>>,
}

/// A word times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Term {
    /// The word, less than [`Decoding::period`].
    pub word: u32,
    /// The factor, less than 2^53 in size: numbers of JavaScript hold it.
    pub factor: i64,
}

impl Decoding {
    pub(super) fn new(plan: &CounterPlan, layout: Layout) -> Self {
        let blocks = plan.readings.iter().map(|reading| BlockDecoding::new(plan, reading));
        Self {
            words: layout.words * layout.stripes,
            period: layout.words,
            blocks: blocks.collect(),
        }
    }

    /// The counts of each block; `None` if one would be negative.
    ///
    /// # Panics
    ///
    /// When `bytes` is shorter than [`Decoding::words`].
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<Vec<Count>> {
        let words = &bytes.as_chunks::<4>().0[..self.words as usize];
        let mut totals = vec![0_u64; self.period as usize];
        for stripe in words.chunks_exact(self.period as usize) {
            for (total, word) in totals.iter_mut().zip(stripe) {
                *total += u64::from(u32::from_le_bytes(*word));
            }
        }
        let bins = |bins: &Vec<Vec<Term>>| -> Option<Vec<u64>> {
            bins.iter().map(|bin| sum(bin, &totals)).collect()
        };
        let count = |block: &BlockDecoding| {
            let BlockDecoding { executions, lanes, histogram } = block;
            Some(Count {
                executions: Executions(sum(executions, &totals)?),
                lanes: Lanes(sum(lanes, &totals)?),
                histogram: match histogram {
                    Some(histogram) => Some(bins(histogram)?),
                    None => None,
                },
                parts: None,
            })
        };
        self.blocks.iter().map(count).collect()
    }

    /// The most executions of some blocks together in the workgroups of one stripe: no subgroup executed
    /// them more often.
    ///
    /// # Panics
    ///
    /// When `bytes` is shorter than [`Decoding::words`].
    pub(super) fn most_in_a_stripe(&self, bytes: &[u8], blocks: &[BlockId]) -> Option<u64> {
        let words = &bytes.as_chunks::<4>().0[..self.words as usize];
        let stripes = words.chunks_exact(self.period as usize).map(|stripe| {
            let word = |word: &[u8; 4]| u64::from(u32::from_le_bytes(*word));
            let totals: Vec<u64> = stripe.iter().map(word).collect();
            let executed = |id: &BlockId| sum(&self.blocks[id.index()].executions, &totals);
            blocks.iter().map(executed).sum::<Option<u64>>()
        });
        stripes.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }
}

impl BlockDecoding {
    fn new(plan: &CounterPlan, reading: &Reading) -> Self {
        match reading {
            Reading::Bins { first, count } => {
                let bin = |bin| terms(plan, &Form::from([(Item(first.0 + bin), 1)]));
                let bins: Vec<Vec<Term>> = (0..*count).map(bin).collect();
                let times = |(lanes, bin): (i64, &Vec<Term>)| {
                    let times = |term: &Term| Term { factor: term.factor * lanes, ..*term };
                    bin.iter().map(times).collect::<Vec<Term>>()
                };
                Self {
                    executions: bins.concat(),
                    lanes: (1..).zip(&bins).flat_map(times).collect(),
                    histogram: Some(bins),
                }
            }
            Reading::Sums { executions, lanes } => Self {
                executions: terms(plan, executions),
                lanes: terms(plan, lanes),
                histogram: None,
            },
        }
    }
}

/// A sum of counters as a sum of words.
fn terms(plan: &CounterPlan, form: &Form) -> Vec<Term> {
    let words = |(item, factor): (&Item, &i64)| {
        let word = plan.word(*item);
        let upper = match plan.items[item.0 as usize] {
            CounterKind::Carried => Some(32),
            CounterKind::Halves => Some(16),
            CounterKind::Single => None,
        };
        let upper = upper.map(|bits| Term { word: word + 1, factor: *factor << bits });
        [Some(Term { word, factor: *factor }), upper].into_iter().flatten()
    };
    form.iter().flat_map(words).collect()
}

/// The sum of terms; `None` if it is no count.
fn sum(terms: &[Term], totals: &[u64]) -> Option<u64> {
    let value = |term: &Term| i128::from(term.factor) * i128::from(totals[term.word as usize]);
    u64::try_from(terms.iter().map(value).sum::<i128>()).ok()
}
