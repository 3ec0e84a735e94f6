//! A program, compiled for the simulator.
//!
//! Input: a validated program. Output: its register program, for any number of launches.

use super::arrange::Postponed;
use super::compile;
use super::config::INVOCATIONS_MAX;
use super::error::SimulateError;
use super::table::Code;
use crate::program::Program;

/// A program, compiled for the simulator.
#[derive(Debug)]
pub struct Compiled {
    pub(super) code: Code,
    pub(super) file: String,
    pub(super) workgroup_size: [u32; 3],
}

impl Compiled {
    /// Compiles a program.
    ///
    /// # Errors
    ///
    /// [`SimulateError::Unsupported`] with the expression and its line where the program uses what
    /// the simulator does not run, [`SimulateError::Limit`] and [`SimulateError::Invocations`]
    /// where it is too large.
    pub fn new(program: &Program) -> Result<Self, SimulateError> {
        Self::with(program, None)
    }

    /// Compiles a program as if the body of a loop were split at a branch: see [`Postponed`].
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub fn postponing(program: &Program, postponed: Postponed) -> Result<Self, SimulateError> {
        Self::with(program, Some(postponed))
    }

    fn with(program: &Program, postponed: Option<Postponed>) -> Result<Self, SimulateError> {
        let workgroup_size = program.workgroup_size();
        let invocations = workgroup_size.iter().map(|&size| u64::from(size)).product();
        if invocations > INVOCATIONS_MAX {
            return Err(SimulateError::Invocations { invocations, max: INVOCATIONS_MAX });
        }
        Ok(Self {
            code: compile::compile(program, postponed)?,
            file: program.text().file().to_owned(),
            workgroup_size,
        })
    }

    /// Instructions of the register program.
    pub fn instructions(&self) -> usize {
        self.code.ops.len()
    }

    /// Registers of a subgroup: words of each lane.
    pub fn registers(&self) -> usize {
        self.code.registers
    }

    /// Whether the program has a barrier.
    pub fn has_barriers(&self) -> bool {
        self.code.barriers
    }
}
