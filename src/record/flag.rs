//! What is flagged of a device or a measurement: one list of words, each with its explanation.
//!
//! Input: what measuring and analysis found. Output: [`Flag`], a [`Tag`] with the source lines that
//! it is about; in JSON `{"tag": "loop_cut_off", "lines": [12]}`. In records of schema 1 a flag was
//! a string with the lines glued to its end, such as `loop_cut_off_line_12`: these load too. Nothing
//! is judged here.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes [`Tag`], its words and its explanations from one list.
macro_rules! tags {
    ($($variant:ident $word:literal $explanation:literal)*) => {
        /// What a flag says, without its place. The documentation of each is what a user reads.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Tag {
            $(#[doc = $explanation] $variant,)*
            /// A word of another version of lanescope.
            Other(String),
        }

        impl Tag {
            /// Every tag that this version knows.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word in records and tables, such as `loop_cut_off`.
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }

            /// What it means, in one or two sentences for people who know GPUs but not lanescope.
            pub fn explanation(&self) -> &'static str {
                match self {
                    $(Self::$variant => $explanation,)*
                    Self::Other(_) => "A word that this version of lanescope has no explanation for.",
                }
            }
        }
    };
}

tags! {
    SubgroupWidthMisreported "subgroup_width_misreported"
    "The driver reports another subgroup width than the device runs. Figures are for the width that \
     was measured in a kernel."

    SelfTestFailed "self_test_failed"
    "In at least one small kernel the device's executions were not those of maximal reconvergence; \
     doctor says in which form of control flow. Counts show what the device did, and may differ from \
     the simulator's where that form is used."

    NoSubgroups "no_subgroups"
    "The adapter offers no subgroup operations: `run` times it and counts nothing, `profile` counts \
     lanes and estimates executions. On DX12 they need the DXC compiler: put dxcompiler.dll beside the \
     program (FXC has none)."

    NotCountedNoSubgroups "not_counted_no_subgroups"
    "The adapter offers no subgroup operations, so nothing was counted: the outputs were checked, and \
     the launch is timed where there are timestamps. `profile` estimates executions on such a device."

    NoTimestamps "no_timestamps"
    "The adapter offers no timestamps: lanes were counted, and nothing was timed."

    NoUsableSamples "no_usable_samples"
    "No sample of the time could be used: its two timestamps were equal, or lay so close together that \
     the timer's resolution says nothing. So there is no time."

    TimerContradicted "timer_contradicts_clock"
    "The device's timer cannot be right: by the machine's own clock, read before and after, what lies \
     between two timestamps took far less, or far longer, than they say, or they ran backwards. Such samples \
     do not count; where they are many, or too few others are left, nothing that this timer says is \
     given as a time or a rate."

    WidthAssumed "width_assumed"
    "The device does not say how many lanes its subgroups have: estimates and efficiency are for 32."

    WidthNotKnownWhenCounted "width_not_known_when_counted"
    "The driver may choose another subgroup width for each module, and the counted one's is not known: \
     efficiency is over the width that a probe found."

    WidthNotKnownWhenTimed "width_not_known_when_timed"
    "The device may run several widths, and which one it chose for the timed kernel is not known; it \
     may differ from the width of the counts."

    StopRuleNotMet "stop_rule_not_met"
    "The time ran out before the samples were quiet enough. The interval says how far the median can \
     be trusted."

    ClockMoved "clock_moved"
    "The device's clock was another after timing than right before, since a person waited and it was warmed up \
     for a moment only. The interval is of the clocks that it had meanwhile; `lanescope run` warms up \
     for longer, and `compare` holds two shaders against each other at the same clock."

    WorkRemovedByCompiler "work_removed_by_compiler"
    "The multiply-adds that were counted cannot be done in the measured time at this device's \
     calibrated peak: the compiler removed work from the timed kernel. Its time is no cost of \
     divergence, so its ratio is not shown."

    BaselineWorkRemoved "baseline_work_removed"
    "The compiler removed work from the kernel that this one is compared with, so the ratio is not \
     shown."

    NotInterleaved "not_interleaved"
    "The kernel and its baseline were not sampled side by side, so drift between them cannot be told \
     from a difference, and the ratio is not shown."

    DiffersFromSimulator "differs_from_simulator"
    "Executions, lanes or histograms differ from the simulator's at the same width. Where only \
     executions differ, the device brings lanes together again elsewhere than the simulator does, or \
     packs the invocations of 2D and 3D workgroups into subgroups otherwise. Where lanes differ too, \
     branches depend on floats that the two round differently, or on the order in which lanes run."

    DiffersBetweenRuns "differs_between_runs"
    "Two counted runs of the same launch gave different outputs or counts: what a lane reads depends \
     on which one comes first. Look for a data race, or for atomics whose order matters; counts are \
     those of the first run."

    DependsOnSchedule "depends_on_schedule"
    "What a workgroup, or a subgroup of one, does depends on what another one wrote in the same dispatch, or on which \
     wrote first in one before, so these figures are those of one order of workgroups and subgroups. Another order may \
     give others."

    OutputMismatch "output_mismatch"
    "Outputs differ by more than the tolerance from the CPU reference, or from what the captured dispatch left."

    OutputDependsOnOrder "output_depends_on_order"
    "Outputs differ from what the captured dispatch left, and the order of workgroups, subgroups or lanes decides what is left. \
     For a simulator found that the launch depends on the schedule or has a data race, or two runs of it on a device differed. \
     So they may differ with nothing wrong, and whether anything is wrong besides is not known."

    OutputUnchecked "output_unchecked"
    "The kernel has no CPU reference, so its outputs were not checked."

    Failed "failed"
    "The measurement did not finish; the reason stands under failures."

    WidthDiffers "width_differs"
    "The two were counted at different subgroup widths."

    SourceDiffers "source_differs"
    "The two ran different source texts."

    SeedDiffers "seed_differs"
    "The two ran on different generated inputs."

    RuntimeChecksDiffer "runtime_checks_differ"
    "Only one of the two was timed with bounds, loop and division checks."

    CountingRuleDiffers "counting_rule_differs"
    "The two were counted by different rules: before rule 2, a jump counted as an operation. Means, \
     efficiencies and subgroup operations of two rules cannot be compared."

    WallClock "wall_clock"
    "The browser offers no timestamps, or too coarse ones: a sample is what twice the repeats took on \
     the wall clock, less what the repeats took by themselves."

    Unattested "unattested"
    "A page in a browser wrote this record for anyone to save or share, and nothing shows that it was \
     measured on the device that it names."

    WaitsGivenUp "waits_given_up"
    "What waited in this launch gave up at its limit on polls: its outputs would be wrong otherwise. The time is \
     that of the limit, and no cost of waiting."

    NoWgslToCount "no_wgsl_to_count"
    "The kernel is CUDA C++, for what WGSL cannot say: executions and lanes are counted by lines of \
     WGSL, of which it has none. Its outputs were checked, and it was timed."

    CooperativeLaunchRefused "cooperative_launch_refused"
    "The driver refused to launch more workgroups together than the device holds at once, as it \
     documents: nothing ran, and nothing hung."

    ReadOutOfBounds "read_out_of_bounds"
    "On this line an index lay outside its array or buffer; the read gave zero. A strict run of the \
     simulator stops there."

    WriteOutOfBounds "write_out_of_bounds"
    "On this line an index lay outside its array or buffer; the write was skipped. A strict run of the \
     simulator stops there."

    DivergentBarrier "barrier_in_divergent_control_flow"
    "Not all invocations of a workgroup reached this barrier together, which WGSL forbids: a GPU may \
     hang here."

    DivergentUniformLoad "workgroupUniformLoad_of_different_pointers"
    "The invocations of a workgroup loaded from different places here, which WGSL forbids."

    InactiveSource "value_taken_from_an_inactive_lane"
    "A shuffle or broadcast took the value of a lane that was not active here: what it gives differs \
     between devices."

    DataRace "data_race"
    "Two invocations touch one word on these lines, at least one of them writes it, and there is no \
     barrier for that memory between them and no atomic operation: what comes out may differ from device to device and \
     from run to run. A workgroupBarrier orders workgroup memory alone, a storageBarrier storage alone; between workgroups \
     of one dispatch no barrier helps. A strict run of the simulator stops there."

    LoopCutOff "loop_cut_off"
    "More lanes came out of the loop on that line than took a way out of it. Either the driver left it \
     by itself after some number of iterations (doctor shows the number), so that outputs, counts and times \
     are of a shorter loop: lavapipe does so after 65,535 iterations of all loops of a subgroup together. Or its compiler left out what stands \
     on the last way out: lavapipe's takes the length of an array or vector that the loop indexes for \
     the most iterations that it can have, and what a lane does after as many iterations, before it leaves, is \
     not done."

    LoopMayBeCutOff "loop_may_be_cut_off"
    "The loops of the dispatch together ran as often as the device lets loops iterate before it leaves \
     them by itself (doctor shows the number), and the counts of the loop on that line do not tell whether any lane was cut off: \
     outputs, counts and times may be of a shorter loop. A launch with fewer iterations, or a \
     simulator, tells."

    EdgeSource "shuffle_past_the_edge_of_a_subgroup"
    "On these lines lanes asked for a lane before the first or after the last of their subgroup, or \
     one that a partial workgroup leaves empty. Scans and stencils do; what comes back differs between \
     devices and must not be used."
}

impl Tag {
    /// The tag of a word, [`Tag::Other`] where this version does not know it.
    pub fn from_word(word: &str) -> Self {
        let known = Self::ALL.iter().find(|tag| tag.word() == word);
        known.cloned().unwrap_or_else(|| Self::Other(word.to_owned()))
    }

    /// The first sentence of what it means: enough beside a word that is explained in full elsewhere.
    pub fn first_sentence(&self) -> &'static str {
        let explanation = self.explanation();
        explanation.find(". ").map_or(explanation, |end| &explanation[..=end])
    }

    /// The word as a phrase, such as `work removed by compiler`.
    pub fn phrase(&self) -> String {
        match self {
            // A kernel may be called interleaved.
            Self::NotInterleaved => "not timed side by side".to_owned(),
            _ => self.word().replace('_', " "),
        }
    }
}

impl Serialize for Tag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::from_word(&word))
    }
}

/// A finding about a device, a measurement or a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Flag {
    /// What it says.
    pub tag: Tag,
    /// The source lines that it is about, from 1, ascending; absent where it is about no line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<u32>,
}

impl Flag {
    /// A flag about source lines, in any order.
    pub fn at(tag: Tag, lines: impl IntoIterator<Item = u32>) -> Self {
        let mut lines: Vec<u32> = lines.into_iter().collect();
        lines.sort_unstable();
        lines.dedup();
        Self { tag, lines }
    }

    /// What it means, in one or two sentences.
    pub fn explanation(&self) -> &'static str {
        self.tag.explanation()
    }

    /// Reads a flag of schema 1: a word, with its lines glued to it where it has some.
    fn from_word(word: &str) -> Self {
        let glued = word.rsplit_once("_line_").and_then(|(tag, lines)| {
            let lines: Option<Vec<u32>> = lines.split('_').map(|line| line.parse().ok()).collect();
            Some(Self::at(Tag::from_word(tag), lines?))
        });
        glued.unwrap_or_else(|| Tag::from_word(word).into())
    }
}

impl From<Tag> for Flag {
    fn from(tag: Tag) -> Self {
        Self { tag, lines: Vec::new() }
    }
}

/// One word without spaces, as in tables: `read_out_of_bounds_line_7_9`.
impl fmt::Display for Flag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.tag.word())?;
        for (index, line) in self.lines.iter().enumerate() {
            write!(formatter, "{}_{line}", if index == 0 { "_line" } else { "" })?;
        }
        Ok(())
    }
}

impl PartialOrd for Flag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By word, then by lines.
impl Ord for Flag {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.tag.word(), &self.lines).cmp(&(other.tag.word(), &other.lines))
    }
}

/// Whether one of `flags` has this tag, whatever its lines.
pub fn has(flags: &[Flag], tag: &Tag) -> bool {
    flags.iter().any(|flag| flag.tag == *tag)
}

/// The flags as words with `between` between them.
pub fn words(flags: &[Flag], between: &str) -> String {
    flags.iter().map(Flag::to_string).collect::<Vec<_>>().join(between)
}

/// A flag as it is written: since schema 2 in parts, before as one word.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Word(String),
    Parts {
        tag: Tag,
        #[serde(default)]
        lines: Vec<u32>,
    },
}

impl From<Written> for Flag {
    fn from(written: Written) -> Self {
        match written {
            Written::Word(word) => Self::from_word(&word),
            Written::Parts { tag, lines } => Self::at(tag, lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_word_stands_once_and_is_explained() {
        let words: BTreeSet<&str> = Tag::ALL.iter().map(Tag::word).collect();
        assert_eq!(words.len(), Tag::ALL.len());
        for tag in Tag::ALL {
            assert_eq!(Tag::from_word(tag.word()), *tag);
            assert_ne!(tag.explanation(), Tag::from_word("no such word").explanation());
            assert!(tag.explanation().ends_with(['.', ')']), "{tag:?}");
            let first = tag.first_sentence();
            assert!(tag.explanation().starts_with(first) && first.len() > 30, "{first}");
            assert!(first.ends_with(['.', ')']) && !first.contains(". "), "{first}");
        }
    }

    #[test]
    fn flags_load_as_parts_and_as_words_of_schema_1() {
        let cases = [
            (r#""stop_rule_not_met""#, Flag::from(Tag::StopRuleNotMet)),
            (r#""loop_cut_off_line_12""#, Flag::at(Tag::LoopCutOff, [12])),
            (
                r#""shuffle_past_the_edge_of_a_subgroup_line_5_9""#,
                Flag::at(Tag::EdgeSource, [9, 5]),
            ),
            (r#"{"tag":"read_out_of_bounds","lines":[8]}"#, Flag::at(Tag::ReadOutOfBounds, [8])),
            (r#""a_word_line_up""#, Tag::Other("a_word_line_up".to_owned()).into()),
        ];
        for (text, flag) in cases {
            assert_eq!(serde_json::from_str::<Flag>(text).expect("loads"), flag);
            let written = serde_json::to_string(&flag).expect("encodes");
            assert_eq!(serde_json::from_str::<Flag>(&written).expect("loads"), flag, "{written}");
        }
        assert_eq!(
            serde_json::to_string(&Flag::at(Tag::LoopCutOff, [12])).expect("encodes"),
            r#"{"tag":"loop_cut_off","lines":[12]}"#
        );
        assert_eq!(
            Flag::at(Tag::EdgeSource, [9, 5]).to_string(),
            "shuffle_past_the_edge_of_a_subgroup_line_5_9"
        );
    }
}
