//! When a growing record is saved: at once, but no more often than ten times a second, and no more often than
//! that a twentieth of the time goes into it.
//!
//! Input: what is added, and whether it is saved. Output: a file that is as old as a pause at most. A save
//! writes the whole record and waits for the disk; launches of some milliseconds would wait for it longer
//! than they take.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long nothing is saved after a save, at least.
const PAUSE: Duration = Duration::from_millis(100);

/// The same in times that the save took.
const PAUSE_OF_SAVE: u32 = 20;

/// How long nothing is saved after a save that took so long.
fn pause_after(save: Duration) -> Duration {
    PAUSE.max(save * PAUSE_OF_SAVE)
}

/// What is saved as a whole.
pub(super) trait Save: std::fmt::Debug + Send + 'static {
    /// What a save may meet.
    type Error: std::fmt::Debug + Send + 'static;

    /// Saves it.
    fn save(&mut self) -> Result<(), Self::Error>;
}

/// A file, and the thread that saves what was added during a pause.
#[derive(Debug)]
pub(super) struct Saver<F: Save> {
    shared: Arc<Shared<F>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared<F: Save> {
    state: Mutex<State<F>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<F: Save> {
    file: F,
    unsaved: bool,
    /// Whether the last save is less than a pause ago.
    pausing: bool,
    /// How long the last save took.
    took: Duration,
    closing: bool,
    /// What a save at the end of a pause met, until somebody is told.
    failed: Option<F::Error>,
}

impl<F: Save> State<F> {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a save takes decides how soon the next may be"
    )]
    fn save(&mut self) -> Result<(), F::Error> {
        self.unsaved = true;
        let begun = Instant::now();
        self.file.save()?;
        self.took = begun.elapsed();
        self.unsaved = false;
        Ok(())
    }
}

impl<F: Save> Shared<F> {
    fn state(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends each pause, with a save where something was added.
    fn end_pauses(&self) {
        let mut state = self.state();
        loop {
            let waited = self.changed.wait_while(state, |state| !state.pausing && !state.closing);
            state = waited.unwrap_or_else(PoisonError::into_inner);
            let pause = pause_after(state.took);
            let paused = self.changed.wait_timeout_while(state, pause, |state| !state.closing);
            state = paused.unwrap_or_else(PoisonError::into_inner).0;
            if state.closing {
                return;
            }
            state.pausing = state.unsaved;
            if state.unsaved
                && let Err(error) = state.save()
            {
                state.pausing = false;
                state.failed.get_or_insert(error);
            }
        }
    }
}

impl<F: Save> Saver<F> {
    /// Saves a file for the first time.
    pub(super) fn create(mut file: F) -> Result<Self, F::Error> {
        file.save()?;
        let state = State {
            file,
            unsaved: false,
            pausing: false,
            took: Duration::ZERO,
            closing: false,
            failed: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let thread = {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("saver".to_owned()).spawn(move || shared.end_pauses())
        };
        // Without a thread each change is saved at once.
        Ok(Self { shared, thread: thread.ok() })
    }

    /// Changes the record, and saves it: now, or at the end of the pause after the last save.
    pub(super) fn change(
        &mut self,
        change: impl FnOnce(&mut F) -> Result<(), F::Error>,
    ) -> Result<(), F::Error> {
        let mut state = self.shared.state();
        change(&mut state.file)?;
        if let Some(error) = state.failed.take() {
            state.unsaved = true;
            return Err(error);
        }
        if state.pausing {
            state.unsaved = true;
            return Ok(());
        }
        state.save()?;
        state.pausing = self.thread.is_some();
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Changes what the next save writes.
    pub(super) fn change_later(
        &mut self,
        change: impl FnOnce(&mut F) -> Result<(), F::Error>,
    ) -> Result<(), F::Error> {
        change(&mut self.shared.state().file)
    }

    /// Saves what is not saved yet.
    pub(super) fn flush(&mut self) -> Result<(), F::Error> {
        let mut state = self.shared.state();
        let failed = state.failed.take();
        if state.unsaved {
            return state.save();
        }
        failed.map_or(Ok(()), Err)
    }
}

impl<F: Save> Drop for Saver<F> {
    fn drop(&mut self) {
        {
            let mut state = self.shared.state();
            state.closing = true;
            self.shared.changed.notify_all();
            // Who wants to know of a failure asks for `flush`.
            if state.unsaved {
                drop(state.save());
            }
        }
        if let Some(thread) = self.thread.take() {
            // It saves and waits; it has nothing to say where it panicked.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_as_long_as_twenty_saves_and_a_tenth_of_a_second_at_least() {
        let pause = |milliseconds| pause_after(Duration::from_millis(milliseconds)).as_millis();
        assert_eq!([pause(0), pause(1), pause(5), pause(30)], [100, 100, 100, 600]);
    }
}
