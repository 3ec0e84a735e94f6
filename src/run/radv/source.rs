//! Where machine code comes from: Mesa's RADV here, else what lanescope brings.
//!
//! Input: what is to be compiled. Output: [`Compiled`]. What an entry point becomes is kept, so that a
//! launch that runs on several inputs is compiled once. Nothing is executed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(target_os = "linux")]
use crate::amd::Code;
use crate::run::{RunError, RunErrorKind};

use super::brought::{self, Brought};
#[cfg(target_os = "linux")]
use super::compiled::sha256_of;
use super::compiled::{Compiled, ToCompile};
#[cfg(target_os = "linux")]
use super::driver::{Compiler, Input};
#[cfg(target_os = "linux")]
use super::facts;
use super::place::RadvPlace;

/// Entry points that are kept.
const KEPT_MAX: usize = 512;

/// Where code comes from.
#[derive(Debug)]
enum Origin {
    /// A driver that compiles.
    #[cfg(target_os = "linux")]
    Driver(Box<Compiler>),
    /// What lanescope brings, and why nothing compiles.
    Brought(&'static Brought, String),
}

/// What gives the code of a place.
#[derive(Debug)]
pub(super) struct CodeSource {
    place: RadvPlace,
    origin: Origin,
    kept: Mutex<BTreeMap<String, Arc<Compiled>>>,
}

impl CodeSource {
    /// What gives the code of a place: RADV where this process was started for it, else what lanescope
    /// brings. Beside it, what made or makes the code: name and version.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::NoDevice`] where neither is there.
    pub(super) fn open(place: RadvPlace) -> Result<(Self, String), RunError> {
        let missing = |message| RunError::new(RunErrorKind::NoDevice, message);
        #[cfg(target_os = "linux")]
        let why = match Compiler::open() {
            Ok(compiler) if compiler.name.to_lowercase().contains(place.family) => {
                let driver = compiler.driver.clone();
                return Ok((Self::new(place, Origin::Driver(Box::new(compiler))), driver));
            }
            Ok(compiler) => format!("RADV gives {}, not {}", compiler.name, place.family),
            Err(why) => why,
        };
        #[cfg(not(target_os = "linux"))]
        let why = "Mesa's RADV is on Linux only".to_owned();
        Self::brought(place, why).map_err(missing)
    }

    /// What lanescope brings for a place, and what made it; `why` says why nothing else gives code.
    ///
    /// # Errors
    ///
    /// A sentence where it brings nothing for it.
    pub(super) fn brought(place: RadvPlace, why: String) -> Result<(Self, String), String> {
        let brought = brought::embedded();
        if brought.family != place.family {
            return Err(why);
        }
        let driver = format!("{}, brought with lanescope", brought.made_with);
        Ok((Self::new(place, Origin::Brought(brought, why)), driver))
    }

    fn new(place: RadvPlace, origin: Origin) -> Self {
        Self { place, origin, kept: Mutex::default() }
    }

    /// Why nothing compiles and what lanescope brings is executed; `None` where a driver compiles.
    pub(super) fn brought_because(&self) -> Option<&str> {
        match &self.origin {
            #[cfg(target_os = "linux")]
            Origin::Driver(_) => None,
            Origin::Brought(_, why) => Some(why),
        }
    }

    /// The code of an entry point.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] for what is not executed, by its name, and for code that is not
    /// brought; [`RunErrorKind::BadInput`] and [`RunErrorKind::Driver`] for what does not compile.
    pub(super) fn compile(
        &self,
        kernel: &str,
        workgroup: [u32; 3],
        asked: &ToCompile,
    ) -> Result<Arc<Compiled>, RunError> {
        let key = asked.key(self.place);
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = kept().get(&key) {
            return Ok(Arc::clone(compiled));
        }
        let unsupported = |message: String| {
            let message = format!("{kernel}, {}: {message}", asked.entry_point);
            RunError::new(RunErrorKind::Unsupported, message)
        };
        let compiled = match &self.origin {
            #[cfg(target_os = "linux")]
            Origin::Driver(compiler) => self.drive(compiler, workgroup, asked, unsupported)?,
            Origin::Brought(brought, why) => {
                let found = brought.find(&key, self.place.wave, workgroup);
                let found = found.ok_or_else(|| {
                    unsupported(format!(
                        "its machine code is not among what lanescope brings, which is that of the \
                         catalogue's default points, and nothing compiles it here: {why}"
                    ))
                })?;
                found.map_err(unsupported)?
            }
        };
        let compiled = Arc::new(compiled);
        let mut kept = kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }

    #[cfg(target_os = "linux")]
    fn drive(
        &self,
        compiler: &Compiler,
        workgroup: [u32; 3],
        asked: &ToCompile,
        unsupported: impl Fn(String) -> RunError + Copy,
    ) -> Result<Compiled, RunError> {
        let wave = self.place.wave.lanes();
        let input = Input { of: asked, wave };
        let output = compiler
            .compile(&input)
            .map_err(|message| RunError::new(RunErrorKind::Driver, message))?;
        let words = facts::words(&output).map_err(unsupported)?;
        let mut groups: Vec<u32> = asked.bindings.iter().map(|(group, ..)| *group).collect();
        groups.dedup();
        let facts = facts::facts(&output, wave, workgroup, &groups).map_err(unsupported)?;
        let code = Code::new(&words, facts).map_err(|error| unsupported(error.to_string()))?;
        let listing = facts::text(&output, "Assembly").map_err(unsupported)?;
        let lines = facts::lines(&code, &words, listing);
        Ok(Compiled { sha256: sha256_of(&words), code, words, lines })
    }
}
