//! How to instrument, and how the buffer of counters is divided.
//!
//! Input: a plan, and how large the buffer may be. Output: words of a stripe, and stripes.

use super::plan::CounterPlan;
use crate::program::{Program, ProgramError};
/// The most stripes over which workgroups spread.
const STRIPES_MAX: u64 = 64;

/// The most stripes where a stripe must not be shared by many.
const STRIPES_OF_FEW_MAX: u32 = 4096;

/// The most invocations that may share a stripe without carries: each adds less than 2^16 to a word.
const SHARING_MAX: u64 = 1 << 16;

/// How to instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is counted and how.
    pub method: CounterScheme,
    /// The widest subgroup that may run the module, in lanes; sizes the histogram.
    pub subgroup_width_max: u32,
    /// The most bytes that the counters' buffer may take.
    pub counter_bytes_max: u64,
    /// The workgroups that will be dispatched, where that is known beforehand: adding up is cheaper
    /// where there are not too many.
    pub workgroups: Option<[u32; 3]>,
}

/// What is counted and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CounterScheme {
    /// Each execution of a block is seen: what the device does.
    Executed,
    /// As [`CounterScheme::Executed`], and for each block how many executions had 1, 2, … active lanes.
    Histogram,
    /// As few counters as the rest follows from under maximal reconvergence.
    Derived,
    /// Without subgroup operations: each lane counts its own trips, and executions are estimated, as if
    /// [`Options::subgroup_width_max`] consecutive invocations were a subgroup.
    Estimated,
}

/// The buffer that the host must bind, filled with zeros, and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterBinding {
    /// Bind group; one that the shader uses, where it uses any.
    pub group: u32,
    /// A binding that the shader leaves free.
    pub binding: u32,
    /// Size in bytes.
    pub size: u64,
}

/// Why a program cannot be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// The counters do not fit.
    #[error(
        "{file}: the counters of {blocks} blocks take {bytes} bytes, over the limit of {limit}; \
         leave out the histogram, or raise the limit"
    )]
    TooLarge {
        /// The shader.
        file: String,
        /// Blocks.
        blocks: usize,
        /// Bytes of one stripe.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The result is not valid: a fault of lanescope's.
    #[error("lanescope's instrumentation made an invalid module, please report it: {0}")]
    Invalid(#[from] ProgramError),
}

/// How the buffer is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Words of a stripe.
    pub(super) words: u32,
    pub(super) stripes: u32,
}

impl Layout {
    pub(super) fn new(
        program: &Program,
        plan: &CounterPlan,
        options: &Options,
    ) -> Result<Self, InstrumentError> {
        let words = plan.size().max(1);
        let bytes = u64::from(words) * 4;
        let room = options.counter_bytes_max / bytes;
        if room == 0 {
            return Err(InstrumentError::TooLarge {
                file: program.text().file().to_owned(),
                blocks: program.blocks().len(),
                bytes,
                limit: options.counter_bytes_max,
            });
        }
        Ok(Self { words, stripes: 1 << room.min(STRIPES_MAX).ilog2() })
    }

    /// A layout in which no stripe is shared by more than [`SHARING_MAX`] invocations.
    pub(super) fn of_few(program: &Program, plan: &CounterPlan, options: &Options) -> Option<Self> {
        let [x, y, z] = options.workgroups?;
        let size: u64 = program.workgroup_size().iter().map(|size| u64::from(*size)).product();
        // Neighbours along x get different stripes.
        let shared = |stripes: u32| {
            u64::from(x.div_ceil(stripes))
                .checked_mul(u64::from(y) * u64::from(z))?
                .checked_mul(size)
        };
        let words = plan.size().max(1);
        let fits = |stripes: &u32| {
            let layout = Self { words, stripes: *stripes };
            shared(*stripes).is_some_and(|shared| shared <= SHARING_MAX)
                && layout.size() <= options.counter_bytes_max
        };
        let powers = (STRIPES_MAX.ilog2()..=STRIPES_OF_FEW_MAX.ilog2()).map(|power| 1_u32 << power);
        powers.into_iter().find(fits).map(|stripes| Self { words, stripes })
    }

    pub(super) fn size(self) -> u64 {
        u64::from(self.words) * u64::from(self.stripes) * 4
    }
}
