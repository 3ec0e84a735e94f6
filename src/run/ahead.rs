//! Work on launches that is done before they are asked for, several at once: they are simulated, or compiled.
//!
//! Input: the launches that will be counted, in order. Output: what was made of each, when it is asked for. A launch
//! of a few workgroups does not keep a processor busy: what is parsed, made and checked around it is done on
//! one core. So some launches are worked on side by side, and the next ones while the results of these are judged and
//! saved. What does not fit into the memory of a few small launches waits for its turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::kernel::Launch;
use crate::run::CountRequest;

/// Bytes of the buffers of launches that run at once: 64 MiB.
const BYTES_MAX: u64 = 64 << 20;

/// Launches a thread that run at once: where one takes longer than the others, these have other work meanwhile.
const LAUNCHES_A_THREAD: usize = 4;

/// What is done with a launch, on any thread.
pub(super) type Work<T> = Arc<dyn Fn(&Launch, &CountRequest) -> T + Send + Sync>;

/// A launch as it is asked for.
type Asked = (Launch, CountRequest);

/// What is announced, what runs, and what is known already.
#[derive(Debug)]
pub(super) struct Ahead<T> {
    announced: VecDeque<Asked>,
    running: Option<Running<T>>,
    done: Vec<(Asked, T)>,
    /// The bytes that work on a launch takes.
    bytes: fn(&Launch) -> u64,
}

/// Launches that run while their results are not asked for.
#[derive(Debug)]
struct Running<T> {
    asked: Vec<Asked>,
    /// Set once all have run.
    results: Arc<OnceLock<Mutex<Vec<T>>>>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Nothing is announced yet; `bytes` says what work on a launch takes.
    pub(super) fn new(bytes: fn(&Launch) -> u64) -> Self {
        Self { announced: VecDeque::new(), running: None, done: Vec::new(), bytes }
    }

    /// Takes launches that will be counted next, before all that were announced earlier.
    pub(super) fn announce(&mut self, launches: &[&Launch], request: &CountRequest) {
        for &launch in launches.iter().rev() {
            self.announced.push_front((launch.clone(), *request));
        }
    }

    /// The result of a launch that is the next of those that were announced, or was worked on beside one that
    /// was; `work` gives what is done with a launch. `None` if it was not announced.
    pub(super) fn take(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        work: impl Fn() -> Work<T>,
    ) -> Option<T> {
        let is_it = |(known, asked): &Asked| asked == request && known == launch;
        if self.running.as_ref().is_some_and(|running| running.asked.iter().any(is_it))
            && !self.done.iter().any(|(asked, _)| is_it(asked))
        {
            self.collect();
        }
        if let Some(at) = self.done.iter().position(|(asked, _)| is_it(asked)) {
            let result = self.done.swap_remove(at).1;
            self.start_next(work);
            return Some(result);
        }
        if !self.announced.front().is_some_and(is_it) {
            return None;
        }
        let asked = self.next_together();
        let results = work_on_all(&asked, &work());
        self.done.extend(asked.into_iter().zip(results));
        let at = self.done.iter().position(|(asked, _)| is_it(asked))?;
        let result = self.done.swap_remove(at).1;
        self.start_next(work);
        Some(result)
    }

    /// Waits for what runs.
    fn collect(&mut self) {
        if let Some(Running { asked, results }) = self.running.take() {
            let mut results = results.wait().lock().unwrap_or_else(PoisonError::into_inner);
            self.done.extend(asked.into_iter().zip(std::mem::take(&mut *results)));
        }
    }

    /// Lets the next launches run, where none do and another thread can.
    fn start_next(&mut self, work: impl Fn() -> Work<T>) {
        if cfg!(target_family = "wasm") || self.running.is_some() || self.announced.is_empty() {
            return;
        }
        let asked = self.next_together();
        let results = Arc::new(OnceLock::new());
        let (running, work, set) = (asked.clone(), work(), Arc::clone(&results));
        rayon::spawn(move || {
            set.get_or_init(|| Mutex::new(work_on_all(&running, &work)));
        });
        self.running = Some(Running { asked, results });
    }

    /// The next launches that run at once, the first in any case.
    fn next_together(&mut self) -> Vec<Asked> {
        let sums = self.announced.iter().scan(0_u64, |sum, (launch, _)| {
            *sum = sum.saturating_add((self.bytes)(launch));
            Some(*sum)
        });
        let fit = sums.take(most_at_once()).take_while(|sum| *sum <= BYTES_MAX).count();
        self.announced.drain(..fit.max(1).min(self.announced.len())).collect()
    }
}

/// The bytes of a launch's buffers.
pub(super) fn bytes(launch: &Launch) -> u64 {
    launch.buffers.iter().map(|buffer| buffer.size).sum()
}

fn most_at_once() -> usize {
    rayon::current_num_threads() * LAUNCHES_A_THREAD
}

/// How many launches like this one run at once.
pub fn launches_at_once(launch: &Launch) -> usize {
    let fit = usize::try_from(BYTES_MAX / bytes(launch).max(1)).unwrap_or(usize::MAX);
    fit.clamp(1, most_at_once())
}

fn work_on_all<T: Send>(asked: &[Asked], work: &Work<T>) -> Vec<T> {
    asked.par_iter().map(|(launch, request)| work(launch, request)).collect()
}
