//! What there is to say at places of a source: for editors, for review, for scanners of code.
//!
//! Input: profiles, and what a condition found. Output: [`Mark`]s, each with its place in the text, in the
//! order of lines. A line has figures of each device that counted it, in the order of the profile; a finding names
//! every device it holds for. How a mark is written, as an annotation or as SARIF, is for others.

use std::collections::BTreeMap;

use serde::Serialize;

use super::advice::advice_of;
use super::fail_on::Violation;
use super::profile::{DeviceProfile, LineProfile, Profile};
use crate::record::{Flag, Tag};
use crate::units::{Ratio, Width, text};

/// What is said at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The first column of what stands on the line, from 1, in characters.
    pub column: u32,
    /// The column after the last, from 1, in characters.
    pub column_end: u32,
    /// The same in the file: the first byte and the one after the last, from 0.
    pub span_bytes: [usize; 2],
    /// What kind of thing is said, in a word that stays: a flag's, a rule's, `lanes`, `condition`.
    pub kind: String,
    /// How much it matters.
    pub level: Level,
    /// What is said, in a sentence or a figure.
    pub message: String,
    /// The figures of the line; absent but for `lanes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<LineFigures>,
    /// What advice would save; absent but for advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<Saves>,
}

/// What a piece of advice would save on one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saves {
    /// The device's id.
    pub device: String,
    /// The subgroup operations that it saves and that no advice before it saves; 0 where a model says
    /// something else of it.
    pub subgroup_operations: u128,
    /// The same as part of all subgroup operations of the launch.
    pub gain_ratio: Ratio,
    /// Whether it was tried on the simulator, with the same data.
    pub tried: bool,
}

/// How much a mark matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A figure: nothing is wrong.
    Figure,
    /// Advice.
    Note,
    /// Something that may be wrong.
    Warning,
    /// Something that is wrong, or that was asked not to be.
    Error,
}

/// The figures of a line on one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineFigures {
    /// The device's id.
    pub device: String,
    /// The width, in lanes.
    pub width: Option<Width>,
    /// Mean active lanes; null if the line was never executed.
    pub active_lanes_mean: Option<f64>,
    /// Mean active lanes over the width.
    pub efficiency_ratio: Option<Ratio>,
    /// Σ operations × executions.
    pub subgroup_operations: u128,
    /// Its part of all subgroup operations.
    pub share_ratio: Option<Ratio>,
}

/// The marks of a profile: figures of each line on each device, advice, findings, and what a condition found.
pub fn marks(profile: &Profile, violations: &[Violation]) -> Vec<Mark> {
    let mut marks = Vec::new();
    marks.extend(profile.devices.iter().flat_map(|device| lanes(profile, device)));
    marks.extend(findings(profile));
    marks.extend(advices(profile));
    let here = violations.iter().filter(|violation| violation.kernel == profile.kernel);
    for violation in here {
        let message = format!("the condition is met: {violation}");
        let line = violation.line.unwrap_or(1);
        marks.push(mark(profile, line, "condition", Level::Error, message));
    }
    marks.sort_by_key(|mark| mark.line);
    marks
}

fn mark(profile: &Profile, line: u32, kind: &str, level: Level, message: String) -> Mark {
    let text = profile.line(line);
    let columns = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let before = columns(text) - columns(text.trim_start());
    let begin = profile.text.as_ref().map_or(0, |text| text.begin(line));
    let begin = begin + text.len() - text.trim_start().len();
    Mark {
        file: profile.file.clone(),
        line,
        column: before + 1,
        column_end: before + columns(text.trim()) + 1,
        span_bytes: [begin, begin + text.trim().len()],
        kind: kind.to_owned(),
        level,
        message,
        figures: None,
        saves: None,
    }
}

/// The figures of every line of the profile's own file, as `19.0 / 32`.
fn lanes(profile: &Profile, device: &DeviceProfile) -> Vec<Mark> {
    let width = device.column.width;
    let lines_here = device.lines.iter().filter(|line| line.file == profile.file);
    let figure = |line: &LineProfile| {
        let message = line
            .active_lanes_mean
            .map_or("never executed".to_owned(), |mean| text::lanes_of(mean, width));
        let figures = LineFigures {
            device: device.column.device.clone(),
            width,
            active_lanes_mean: line.active_lanes_mean,
            efficiency_ratio: line.efficiency,
            subgroup_operations: line.work.subgroup_operations,
            share_ratio: line.share,
        };
        let mark = mark(profile, line.line, "lanes", Level::Figure, message);
        Mark { figures: Some(figures), ..mark }
    };
    lines_here.map(figure).collect()
}

/// What was found at lines, each once with its devices.
fn findings(profile: &Profile) -> Vec<Mark> {
    let mut found: BTreeMap<(u32, String), (&Flag, Vec<&str>)> = BTreeMap::new();
    for device in &profile.devices {
        for flag in &device.flags {
            for line in &flag.lines {
                let known = found.entry((*line, flag.tag.word().to_owned()));
                known.or_insert((flag, Vec::new())).1.push(&device.column.device);
            }
        }
    }
    let device = |((line, kind), (flag, devices)): ((u32, String), (&Flag, Vec<&str>))| {
        let level = match flag.tag {
            Tag::DivergentBarrier | Tag::DivergentUniformLoad => Level::Error,
            _ => Level::Warning,
        };
        let message = format!("{} ({})", flag.explanation(), devices.join(", "));
        mark(profile, line, &kind, level, message)
    };
    found.into_iter().map(device).collect()
}

/// Advice, each rule and line once.
fn advices(profile: &Profile) -> Vec<Mark> {
    let mut told: Vec<(u32, &'static str)> = Vec::new();
    let mut marks = Vec::new();
    for advice in advice_of(profile) {
        let key = (advice.line, advice.rule.name());
        let saved = match &advice.modelled {
            Some(modelled) => modelled.clone(),
            None if advice.saved_operations == 0 => continue,
            None => {
                format!("saves {} of all subgroup operations", text::percent(advice.gain_share))
            }
        };
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let message = format!("{} ({saved} on {})", advice.sentence, advice.device);
        let saves = Saves {
            device: advice.device.clone(),
            subgroup_operations: advice.saved_operations,
            gain_ratio: advice.gain_share,
            tried: advice.modelled.is_none(),
        };
        let mark = mark(profile, advice.line, advice.rule.name(), Level::Note, message);
        marks.push(Mark { saves: Some(saves), ..mark });
    }
    marks
}
