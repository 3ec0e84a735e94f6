//! Contents that only are read, kept on the device from launch to launch.
//!
//! Input: the buffers of a launch that no shader of it writes. Output: the device's buffers with these
//! contents, made and sent once for all launches in a row that want the same. What a launch does not
//! want is let go before anything new is made, so that keeping takes no memory that a launch lacks.

use super::Uses;
use crate::kernel::{Buffer, Launch, generate::Fill};
use crate::run::RunError;

/// The inputs of the last launch.
pub(super) struct Inputs<B> {
    kept: Vec<Kept<B>>,
}

/// A buffer, and all that its contents follow from.
struct Kept<B> {
    name: String,
    fill: Fill,
    seed: u64,
    size: u64,
    uses: Uses,
    buffer: B,
}

impl<B> Default for Inputs<B> {
    fn default() -> Self {
        Self { kept: Vec::new() }
    }
}

impl<B: Clone> Inputs<B> {
    /// Lets go what a launch does not want.
    pub(super) fn retain(&mut self, launch: &Launch) {
        self.kept.retain(|kept| launch.buffers.iter().any(|wanted| kept.holds(launch, wanted)));
    }

    /// A buffer that no shader writes, with its contents: one that is kept, or one that `make` makes.
    pub(super) fn get(
        &mut self,
        launch: &Launch,
        wanted: &Buffer,
        uses: Uses,
        make: impl FnOnce() -> Result<B, RunError>,
    ) -> Result<B, RunError> {
        let known = self.kept.iter().find(|kept| kept.uses == uses && kept.holds(launch, wanted));
        if let Some(known) = known {
            return Ok(known.buffer.clone());
        }
        let buffer = make()?;
        self.kept.push(Kept {
            name: wanted.name.clone(),
            fill: wanted.fill.clone(),
            seed: launch.seed,
            size: wanted.size,
            uses,
            buffer: buffer.clone(),
        });
        Ok(buffer)
    }
}

impl<B> Kept<B> {
    fn holds(&self, launch: &Launch, wanted: &Buffer) -> bool {
        (self.seed, self.size) == (launch.seed, wanted.size)
            && self.name == wanted.name
            && self.fill == wanted.fill
    }
}
