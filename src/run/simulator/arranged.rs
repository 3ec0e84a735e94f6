//! One dispatch of a launch by itself: as it is, or with its invocations arranged otherwise.
//!
//! Input: buffers as bytes. Output: the counts, and the buffers after it. The same buffers can be
//! given again, so that what differs between two runs follows from the arrangement alone.

use std::collections::BTreeMap;

use super::{Buffers, SimulatorRunner, bind, indirect};
use crate::kernel::{Launch, Workgroups};
use crate::program::Program;
use crate::run::{RunError, RunErrorKind};
use crate::simulate::{
    Arrangement, Compiled, Config, DetachedBuffer, ForkObserver, Memory, Outcome, Postponed,
};
use crate::units::Width;

/// The bytes of a launch's buffers, by name.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// A dispatch whose number of workgroups is known.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched {
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// The width, in lanes.
    pub width: Width,
}

/// What is changed of a dispatch.
#[derive(Clone, Copy, Debug)]
pub enum Changed<'a> {
    /// Nothing.
    Nothing,
    /// Which invocation each lane is.
    Arranged(&'a Arrangement),
    /// When lanes take a branch of a loop's body.
    Postponed(Postponed),
}

impl SimulatorRunner {
    /// The first contents of a launch's buffers.
    ///
    /// # Errors
    ///
    /// Where they are larger than the simulator takes.
    pub fn memory(&self, launch: &Launch) -> Result<Contents, RunError> {
        self.check_memory(launch)?;
        let textures = launch.textures.iter().map(|t| (t.name.clone(), launch.texels(t)));
        let buffers = launch.buffers.iter().map(|b| (b.name.clone(), launch.contents(b)));
        Ok(buffers.chain(textures).collect())
    }

    /// A dispatch of a launch, whose buffers hold `contents`.
    ///
    /// # Errors
    ///
    /// Where it is indirect, and its buffer does not hold the counts.
    pub fn arrange_dispatches(
        &self,
        launch: &Launch,
        number: usize,
        contents: &Contents,
    ) -> Result<Dispatched, RunError> {
        let workgroups = match &launch.dispatches[number].workgroups {
            Workgroups::Direct(workgroups) => *workgroups,
            Workgroups::Indirect { buffer, offset } => {
                let made =
                    |(name, bytes): (&String, &Vec<u8>)| (name.clone(), DetachedBuffer::new(bytes));
                indirect(&contents.iter().map(made).collect::<Buffers>(), buffer, *offset)?
            }
        };
        Ok(Dispatched { workgroups, width: self.config.width })
    }

    /// Runs one dispatch on `contents`, changed or else observed where that is given, and gives
    /// the buffers after it.
    ///
    /// # Errors
    ///
    /// As counting.
    pub fn run_dispatch<O: ForkObserver>(
        &self,
        launch: &Launch,
        program: &Program,
        dispatched: &Dispatched,
        contents: &Contents,
        changed: Changed<'_>,
        observer: Option<&mut O>,
    ) -> Result<(Outcome, Contents), RunError> {
        let unsupported = |error: &dyn std::fmt::Display| {
            RunError::new(RunErrorKind::Unsupported, error.to_string())
        };
        let compiled = match changed {
            Changed::Postponed(postponed) => Compiled::postponing(program, postponed),
            Changed::Nothing | Changed::Arranged(_) => Compiled::new(program),
        };
        let compiled = compiled.map_err(|error| unsupported(&error))?;
        let mut memory = Memory::new();
        let places = bind(launch, program, &mut memory, |name| {
            let bytes = contents.get(name)?;
            Some(match launch.texture(name) {
                Some(texture) => DetachedBuffer::new_texture(&texture.layout, bytes),
                None => DetachedBuffer::new(bytes),
            })
        })?;
        let zero_workgroup_memory = launch.workgroup_memory_zeroed;
        let config = Config { zero_workgroup_memory, ..self.config };
        let grid = dispatched.workgroups;
        let outcome = match (changed, observer) {
            (Changed::Arranged(arrangement), _) => {
                compiled.run_arranged(grid, &mut memory, &config, arrangement)
            }
            (_, Some(observer)) => compiled.run_observed(grid, &mut memory, &config, observer),
            (_, None) => compiled.run(grid, &mut memory, &config),
        };
        let outcome = outcome.map_err(|trap| self.explain(trap))?;
        let mut after = contents.clone();
        for (name, group, binding) in places {
            if let Some(bytes) = memory.bytes(group, binding) {
                after.insert(name, bytes);
            }
        }
        Ok((outcome, after))
    }
}
