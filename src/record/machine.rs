//! Hardware counters, and machine code with what its instructions did.
//!
//! Input: what CUPTI and a disassembler gave, or a simulator's own speed. Output: serde types.

use serde::{Deserialize, Serialize};

use super::counts::{ConstructPart, ShortCircuit};

/// The counter that has the mean active lanes by the source, where machine code was laid beside it.
pub const SOURCE_LANES_MEAN: &str = "source_lanes_mean";

/// A hardware counter's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The vendor's name for it.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The vendor's unit.
    pub unit: String,
    /// The vendor's description.
    pub description: String,
}

/// The library that read hardware counters, and what it says of the chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountersFrom {
    /// CUPTI's file.
    pub library: String,
    /// CUPTI's version in words, with its own number: `CUPTI 13.0 (130000)`.
    pub version: String,
    /// The chip's name, as `GH100`.
    pub chip: String,
    /// The program that disassembled; `null` where there is none.
    pub disassembler: Option<String>,
}

/// A kernel's machine code with what its instructions did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCode {
    /// The function's name.
    pub function: String,
    /// The architecture, as `sm_90`.
    pub architecture: String,
    /// The instructions in the order of their offsets, those that never ran included.
    pub instructions: Vec<Instruction>,
    /// SHA-256 of the code, in hexadecimal; absent where the code itself was not at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What the compiler did to each arm of a branch and to each loop, in the order of the source, as told by the
    /// launch's input and, where that tells more, by another; empty where it was not worked out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<Arm>,
    /// The blocks that were matched with instructions whose lanes are nearly theirs, in the order of the source;
    /// absent where each that was matched has the same lanes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<NearBlock>,
}

/// A block that ran as its instructions did but for few lanes: floating point is rounded otherwise, so that a lane
/// left a loop sooner or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearBlock {
    /// The line that the block begins at.
    pub line: u32,
    /// Its lanes, summed over its executions.
    pub lanes: u64,
    /// By how many lanes its instructions differ.
    pub lanes_off: u64,
    /// By how many executions: those in which no other lane was on.
    pub executions_off: u64,
}

/// What a compiler made of an arm of an `if` or `switch`, or of a loop. An arm of a function that is
/// inlined several times has an entry for each outcome that it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// The construct's number, as in [`Enclosure::construct`](super::Enclosure::construct).
    pub construct: u32,
    /// The arm.
    pub part: ConstructPart,
    /// The switch's case, from 0; 0 for every other part.
    #[serde(default)]
    pub case: u32,
    /// The line of the condition or selector; of a loop its first.
    pub line: u32,
    /// The operator that the arm belongs to, where nobody wrote an `if`: the first arm is its right side. Absent where
    /// somebody did, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<ShortCircuit>,
    /// What became of it.
    pub outcome: ArmOutcome,
}

/// What became of an arm in machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArmOutcome {
    /// A branch on a condition of the whole subgroup leads over it; of a loop: it is a loop.
    Kept,
    /// Lanes are masked, and a branch leads over it where none is left.
    Skipped,
    /// Lanes are masked or predicated off, and nothing leads over it: every subgroup executes it.
    Masked,
    /// Every lane computes it, and selects choose; or nobody asks for what the others computed. An arm that stores or
    /// has an atomic never is.
    Flattened,
    /// A loop whose body stands in the code several times.
    Unrolled,
    /// No instruction ran as it did: nothing of it is left, or it stands there in a form that counts do not tell, as an
    /// unrolled loop whose copies ran unlike.
    Folded,
    /// It ran as often and with as many lanes as what surrounds it, or as another arm: counts do not tell them apart.
    Merged,
    /// No lane came there.
    NeverRan,
}

impl ArmOutcome {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Skipped => "skipped",
            Self::Masked => "masked",
            Self::Flattened => "flattened",
            Self::Unrolled => "unrolled",
            Self::Folded => "folded",
            Self::Merged => "merged",
            Self::NeverRan => "never ran",
        }
    }

    /// What the name means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Kept => {
                "a branch on a condition of the whole subgroup leads over the arm, or the loop is a loop"
            }
            Self::Skipped => "lanes part, and a branch leads over it where none is left",
            Self::Masked => "no branch leads over it: the other lanes are switched off",
            Self::Flattened => {
                "every lane computes it, and selects choose, or nobody asks for what the others computed"
            }
            Self::Unrolled => "in copies",
            Self::Folded => {
                "no instruction ran as it did: nothing is left of it, or it stands there in a form that counts do not tell"
            }
            Self::Merged => "the counts do not tell it from what surrounds it, or from other arms",
            Self::NeverRan => "no lane came there",
        }
    }
}

/// One machine instruction of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Where it lies in the function.
    pub offset_bytes: u32,
    /// The source file that it comes from; `null` where that is none of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its text; `null` or absent where there was no disassembler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How often subgroups executed it (`smsp__sass_inst_executed`).
    pub inst_executed: u64,
    /// The active lanes, summed over those executions (`smsp__sass_thread_inst_executed`).
    pub thread_inst_executed: u64,
    /// Those of them that a predicate did not turn off (`smsp__sass_thread_inst_executed_pred_on`).
    pub thread_inst_executed_pred_on: u64,
}
