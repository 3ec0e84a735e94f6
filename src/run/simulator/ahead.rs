//! Launches that are simulated before they are asked for, several at once.
//!
//! Input: the launches that will be counted, in order. Output: their results, when they are asked for. A launch
//! of a few workgroups does not keep a processor busy: what is parsed, made and checked around it is done on
//! one core. What does not fit into the memory of a few small launches waits for its turn.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::kernel::Launch;
use crate::run::{CountRequest, Counted, RunError};

/// Bytes of the buffers of launches that run at once: 64 MiB.
const BYTES_MAX: u64 = 64 << 20;

/// What is announced, and what is known already.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    announced: VecDeque<(Launch, CountRequest)>,
    counted: Vec<(Launch, CountRequest, Result<Counted, RunError>)>,
}

impl Ahead {
    /// Takes launches that will be counted next, before all that were announced earlier.
    pub(super) fn announce(&mut self, launches: &[&Launch], request: &CountRequest) {
        for &launch in launches.iter().rev() {
            self.announced.push_front((launch.clone(), *request));
        }
    }

    /// The result of a launch that is the next of those that were announced, or was counted beside one that
    /// was; `count` counts a launch, and is called on several threads. `None` if it was not announced.
    pub(super) fn take(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        count: impl Fn(&Launch, &CountRequest) -> Result<Counted, RunError> + Sync,
    ) -> Option<Result<Counted, RunError>> {
        if let Some(at) =
            self.counted.iter().position(|(known, r, _)| r == request && known == launch)
        {
            return Some(self.counted.swap_remove(at).2);
        }
        if self.announced.front().is_none_or(|(next, r)| r != request || next != launch) {
            return None;
        }
        let chunk: Vec<_> = self.announced.drain(..self.together()).collect();
        let results: Vec<_> = chunk.par_iter().map(|(launch, r)| count(launch, r)).collect();
        let mut with_results = chunk.into_iter().zip(results);
        let first = with_results.next().map(|(_, result)| result);
        self.counted.extend(with_results.map(|((launch, r), result)| (launch, r, result)));
        first
    }

    /// How many of the next launches run at once: one a thread, the first in any case.
    fn together(&self) -> usize {
        let bytes = |launch: &Launch| launch.buffers.iter().map(|buffer| buffer.size).sum::<u64>();
        let sums = self.announced.iter().scan(0_u64, |sum, (launch, _)| {
            *sum = sum.saturating_add(bytes(launch));
            Some(*sum)
        });
        let fit = sums.take(rayon::current_num_threads()).take_while(|sum| *sum <= BYTES_MAX);
        fit.count().clamp(1, self.announced.len().max(1))
    }
}
