//! What a launch and its parts cost on the two sides of a comparison.
//!
//! Input: sums of work, widths, times. Output: [`Figures`], [`LaunchPart`], [`LinePart`], and whether B is better.

use serde::Serialize;

use super::texts::LinePair;
use crate::analyze::counts::{Work, efficiency};
use crate::record::{Measurement, Run};
use crate::units::{Nanoseconds, Ratio, Width};

/// The least change that is called better or worse, as a part of what the whole of A takes; less is
/// called the same.
pub const CHANGE_MIN: f64 = 0.001;

/// A part of a launch, by its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchPart {
    /// What it is: `whole`, a dispatch's entry point with its number, a function.
    pub name: String,
    /// Its figures in A and in B; `None` if one does not have it.
    pub figures: [Option<Figures>; 2],
    /// B's lane slots over A's; `None` if one has none.
    pub lane_slots_ratio: Option<f64>,
    /// Whether B is better.
    pub trend: Trend,
    /// Whether its lane slots or its idle lane slots differ by a [`CHANGE_MIN`]th of the whole of A or more.
    pub changed: bool,
}

/// A line of either text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinePart {
    /// Its number in both.
    #[serde(flatten)]
    pub line: LinePair,
    /// Its text in A and in B, with the space before it.
    pub texts: [Option<String>; 2],
    /// Its figures in A and in B; `None` if it has no operations.
    pub figures: [Option<Figures>; 2],
    /// Whether B is better.
    pub trend: Trend,
    /// Whether its lane slots or its idle lane slots differ by a [`CHANGE_MIN`]th of the whole of A or more.
    pub changed: bool,
}

/// What a part costs on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Σ operations × executions.
    pub subgroup_operations: u128,
    /// Σ operations × active lanes.
    pub lane_operations: u128,
    /// Subgroup operations × width; `None` if the width is not known.
    pub lane_slots: Option<u128>,
    /// Lane slots without lane operations: the waste.
    pub lane_slots_idle: Option<u128>,
    /// Mean active lanes; `None` if it was never executed.
    pub active_lanes_mean: Option<f64>,
    /// Mean active lanes over the width.
    pub efficiency_ratio: Option<Ratio>,
    /// The median time, of the whole and of dispatches that were timed.
    pub time_ns: Option<Nanoseconds>,
    /// The 95 % interval of that median, low and high, where it is known.
    pub time_ci95_ns: Option<[Nanoseconds; 2]>,
}

/// Whether B is better than A, by lane slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trend {
    /// It takes fewer.
    Better,
    /// The same, or nearly.
    Same,
    /// It takes more.
    Worse,
}

impl Trend {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Same => "same",
            Self::Worse => "worse",
        }
    }

    /// Judges a change of lane slots against what the whole took before.
    #[expect(clippy::cast_precision_loss, reason = "a part of the whole")]
    pub(super) fn from_slots(before: Option<u128>, after: Option<u128>, whole: u128) -> Self {
        let (before, after) = (before.unwrap_or(0) as f64, after.unwrap_or(0) as f64);
        match after - before {
            change if change.abs() < CHANGE_MIN * whole as f64 || change == 0.0 => Self::Same,
            change if change < 0.0 => Self::Better,
            _ => Self::Worse,
        }
    }
}

/// Whether lane slots, or the idle ones of them, changed against what the whole took before.
pub(super) fn have_changed(figures: &[Option<Figures>; 2], whole: u128) -> bool {
    let changed = |figure: fn(&Figures) -> Option<u128>| {
        let [before, after] = figures.each_ref().map(|side| side.as_ref().and_then(figure));
        Trend::from_slots(before, after, whole) != Trend::Same
    };
    changed(|figures| figures.lane_slots) || changed(|figures| figures.lane_slots_idle)
}

impl LinePart {
    /// By how much its lane slots changed, or where it is more, the idle ones of them.
    pub fn change(&self) -> u128 {
        let change = |figure: fn(&Figures) -> Option<u128>| {
            let [before, after] =
                self.figures.map(|side| side.as_ref().and_then(figure).unwrap_or(0));
            before.abs_diff(after)
        };
        change(|figures| figures.lane_slots).max(change(|figures| figures.lane_slots_idle))
    }

    /// Its text without the space before it: B's, where B has it; A's and B's where it was changed.
    pub fn source_text(&self) -> String {
        let text = |side: usize| self.texts[side].as_deref().map(str::trim);
        match (text(0), text(1)) {
            (Some(a), Some(b)) if !self.line.same_text => format!("{a} → {b}"),
            (_, Some(b)) => b.to_owned(),
            (Some(a), None) => a.to_owned(),
            (None, None) => String::new(),
        }
    }
}

impl Figures {
    fn new(work: Work, width: Option<Width>, time_ns: Option<Nanoseconds>) -> Self {
        let lane_slots = width.map(|width| work.lane_slots(width));
        let mean = work.active_lanes_mean();
        Self {
            subgroup_operations: work.subgroup_operations,
            lane_operations: work.lane_operations,
            lane_slots,
            lane_slots_idle: lane_slots.map(|slots| slots.saturating_sub(work.lane_operations)),
            active_lanes_mean: mean,
            efficiency_ratio: efficiency(mean, width),
            time_ns,
            time_ci95_ns: None,
        }
    }

    /// With the interval of its time.
    pub(super) fn within(self, time_ci95_ns: Option<[Nanoseconds; 2]>) -> Self {
        Self { time_ci95_ns, ..self }
    }
}

/// One side of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    /// The run.
    pub(super) run: &'a Run,
    /// The measurement in it.
    pub(super) measurement: &'a Measurement,
}

impl<'a> Side<'a> {
    /// The figures of a sum of work on this side.
    pub(super) fn figures(&self, work: Work, time: Option<Nanoseconds>) -> Figures {
        Figures::new(work, self.measurement.subgroup_width, time)
    }

    /// The shader's text; empty where the run does not hold it.
    pub(super) fn text(&self) -> &'a str {
        self.run.sources.get(&self.measurement.source_sha256).map_or("", |source| &source.text)
    }
}
