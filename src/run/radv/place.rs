//! The places of the back end: which families and wave sizes there are.
//!
//! Input: what stands behind the colon of an id. Output: a [`RadvPlace`], or why it is none.

use crate::record::Gives;
use crate::units::Width;

/// The families whose code is executed.
pub const FAMILIES: [&str; 1] = ["navi21"];

/// What else each of them is called.
const ALSO: [&str; 1] = ["RDNA 2, gfx1030"];

/// What a place gives: its counts are of instructions, not of a shader's own counters, and there is
/// no time.
pub const GIVES: Gives = Gives { counts: false, times: false, counters: false, code: true };

/// A family at one wave size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadvPlace {
    /// One of [`FAMILIES`].
    pub family: &'static str,
    /// Lanes of a wave: 32 or 64.
    pub wave: Width,
}

impl RadvPlace {
    /// Reads `navi21/64`.
    ///
    /// # Errors
    ///
    /// Why it is no place, in a clause, where there is more to say than the form.
    pub fn parse(text: &str) -> Result<Self, Option<String>> {
        let (family, wave) = text.split_once('/').ok_or(None)?;
        let family = family_of(family).map_err(Some)?;
        let wave = wave.parse().ok().and_then(|lanes: u32| Width::new(lanes).ok());
        match wave.filter(|wave| matches!(wave.lanes(), 32 | 64)) {
            Some(wave) => Ok(Self { family, wave }),
            None => Err(Some(format!("{family} has waves of 32 and 64 lanes"))),
        }
    }
}

impl std::fmt::Display for RadvPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.family, self.wave)
    }
}

/// The family of a name; else which there are.
pub(super) fn family_of(name: &str) -> Result<&'static str, String> {
    let found = FAMILIES.iter().find(|family| **family == name);
    found.copied().ok_or_else(|| {
        let each = FAMILIES.iter().zip(ALSO).map(|(family, also)| format!("{family} ({also})"));
        format!(
            "code for {name:?} is not executed; that for these is: {}",
            each.collect::<Vec<_>>().join(", ")
        )
    })
}
