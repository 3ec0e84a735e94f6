//! `--fail-on`: a condition that no line of a shader may meet.
//!
//! Input: a text such as `efficiency<0.5`, and a run. Output: the lines that meet it, and the whole
//! where it does. It decides no exit code.
//!
//! # The language
//!
//! Comparisons joined by `&&`: a figure, one of `<`, `<=`, `>`, `>=`, a number. The figures are
//! `efficiency` (mean active lanes over the width, 0 to 1), `active_lanes` (the mean, in lanes) and
//! `share` (of all subgroup operations, 0 to 1). A condition that does not speak of `share` is asked of the
//! whole, and of lines with a share of at least [`SHARE_MIN`]; one that does is asked of every line.

use super::condition::{self, Comparison, ConditionError};
use super::lines;
use super::lines::{LineCell, SourceView};
use crate::record::{Measurement, Run};
use crate::units::text;

/// The least share of subgroup operations at which a line counts, where the condition does not say it.
pub const SHARE_MIN: f64 = 0.05;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    comparisons: Vec<Comparison<Figure>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Efficiency,
    ActiveLanes,
    Share,
}

/// The figures by their names.
const FIGURES: [(&str, Figure); 3] = [
    ("efficiency", Figure::Efficiency),
    ("active_lanes", Figure::ActiveLanes),
    ("share", Figure::Share),
];

/// A line, or a whole shader, that meets the condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The kernel.
    pub kernel: String,
    /// The device's id.
    pub device: String,
    /// The source file.
    pub file: String,
    /// The line, from 1; nothing for the whole.
    pub line: Option<u32>,
    /// The line's text without space around it; empty for the whole.
    pub text: String,
    /// Mean active lanes.
    pub active_lanes_mean: f64,
    /// Mean active lanes over the width, where that is known; 1.0 is 100 %.
    pub efficiency: Option<f64>,
    /// Share of all subgroup operations; 1.0 is 100 %.
    pub share: f64,
    /// The schedules that were judged, of which these are the lowest figures: 1 where the counts
    /// depend on none, or no others were asked for.
    pub schedules: usize,
}

/// Figures of a line or of the whole.
#[derive(Clone, Copy, Debug)]
struct Figures {
    active_lanes: f64,
    efficiency: Option<f64>,
    share: f64,
}

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let check = |figure, bound: f64| match figure {
            Figure::Efficiency | Figure::Share if !(0.0..=1.0).contains(&bound) => {
                Err(format!("{bound} is out of range: efficiency and share go from 0 to 1"))
            }
            Figure::Efficiency | Figure::ActiveLanes | Figure::Share => Ok(()),
        };
        let examples = "\"efficiency<0.5\", \"active_lanes<=16 && share>0.1\"";
        Ok(Self { comparisons: condition::parse(text, &FIGURES, check, examples)? })
    }
}

impl Condition {
    /// Whether it speaks of `share`.
    fn speaks_of_share(&self) -> bool {
        self.comparisons.iter().any(|comparison| comparison.figure == Figure::Share)
    }

    /// Whether figures meet it; what is not known meets nothing.
    fn met_by(&self, figures: Figures) -> bool {
        self.comparisons.iter().all(|comparison| {
            let value = match comparison.figure {
                Figure::Efficiency => figures.efficiency,
                Figure::ActiveLanes => Some(figures.active_lanes),
                Figure::Share => Some(figures.share),
            };
            value.is_some_and(|value| comparison.operator.holds(value, comparison.bound))
        })
    }

    /// What in `run` meets it: device by device, the whole first, then lines in order. Where a
    /// measurement was counted under several schedules, what meets it under any of them, with the
    /// lowest figures.
    pub fn violations(&self, run: &Run) -> Vec<Violation> {
        let mut found = self.under_one_schedule(run);
        let most = run
            .measurements
            .iter()
            .map(|measurement| measurement.schedules.len())
            .max()
            .unwrap_or(0);
        for schedule in 0..most {
            let mut other = run.clone();
            other.measurements = run
                .measurements
                .iter()
                .filter_map(|measurement| {
                    Some(measurement.with_schedule(measurement.schedules.get(schedule)?))
                })
                .collect();
            for violation in self.under_one_schedule(&other) {
                match found.iter_mut().find(|known| known.same_place(&violation)) {
                    Some(known) if known.active_lanes_mean <= violation.active_lanes_mean => {}
                    Some(known) => *known = violation,
                    None => found.push(violation),
                }
            }
        }
        for violation in &mut found {
            let here = |measurement: &&Measurement| {
                measurement.device == violation.device && measurement.kernel == violation.kernel
            };
            let others = run
                .measurements
                .iter()
                .filter(here)
                .map(|measurement| measurement.schedules.len())
                .max();
            violation.schedules = 1 + others.unwrap_or(0);
        }
        found
    }

    fn under_one_schedule(&self, run: &Run) -> Vec<Violation> {
        let views = lines(run);
        let columns = |view: &SourceView| (0..view.columns.len()).collect::<Vec<_>>();
        views.iter().flat_map(|v| columns(v).into_iter().flat_map(|c| self.column(v, c))).collect()
    }

    fn column(&self, view: &SourceView, index: usize) -> Vec<Violation> {
        let column = &view.columns[index];
        let width = column.width.map(|width| f64::from(width.lanes()));
        let figures = |active_lanes: f64, share: f64| Figures {
            active_lanes,
            efficiency: width.map(|width| active_lanes / width),
            share,
        };
        let violation = |file: &str, line, text: &str, figures: Figures| Violation {
            kernel: view.kernel.clone(),
            device: column.device.clone(),
            file: file.to_owned(),
            line,
            text: text.trim().to_owned(),
            active_lanes_mean: figures.active_lanes,
            efficiency: figures.efficiency,
            share: figures.share,
            schedules: 1,
        };
        let mut found = Vec::new();
        let whole = column.work.active_lanes_mean().map(|mean| figures(mean, 1.0));
        if let Some(whole) = whole.filter(|whole| !self.speaks_of_share() && self.met_by(*whole)) {
            found.push(violation(&view.file, None, "", whole));
        }
        for line in &view.lines {
            let Some(LineCell { active_lanes_mean: Some(mean), share: Some(share), .. }) =
                line.cells[index]
            else {
                continue;
            };
            let figures = figures(mean, share.0);
            let counts = self.speaks_of_share() || share.0 >= SHARE_MIN;
            if counts && self.met_by(figures) {
                let text = line.text.as_deref().unwrap_or_default();
                found.push(violation(&line.file, Some(line.number), text, figures));
            }
        }
        found
    }
}

impl Violation {
    fn same_place(&self, other: &Self) -> bool {
        let place = |violation: &Self| {
            (
                violation.kernel.clone(),
                violation.device.clone(),
                violation.file.clone(),
                violation.line,
            )
        };
        place(self) == place(other)
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, text, device, active_lanes_mean, efficiency, share, .. } = self;
        write!(formatter, "{file}")?;
        match line {
            Some(line) => write!(formatter, ":{line}")?,
            None => write!(formatter, " as a whole")?,
        }
        write!(
            formatter,
            " on {device}: {} active lanes",
            text::lanes_of(*active_lanes_mean, None)
        )?;
        if let Some(efficiency) = efficiency {
            write!(formatter, ", efficiency {}", text::ratio(*efficiency))?;
        }
        write!(formatter, ", share {}", text::ratio(*share))?;
        if self.schedules > 1 {
            write!(formatter, " (the worst of {} schedules)", self.schedules)?;
        }
        if text.is_empty() { Ok(()) } else { write!(formatter, ": {text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ScheduleCounts;

    fn violations(condition: &str) -> Vec<Violation> {
        condition.parse::<Condition>().unwrap().violations(&crate::fixtures::run())
    }

    #[test]
    fn lines_and_the_whole_are_found() {
        // The synthetic run's kernels have their loop on line 8; even lanes only reach half.
        let all = violations("efficiency<=1");
        assert!(all.iter().any(|v| v.line.is_none()) && all.iter().any(|v| v.line == Some(8)));
        assert!(all.iter().all(|v| v.line.is_none() || v.share >= SHARE_MIN));
        let low: Vec<Violation> = violations("efficiency<0.6");
        assert!(!low.is_empty() && low.len() < all.len());
        for violation in &low {
            assert!(violation.efficiency.unwrap() < 0.6, "{violation}");
            assert!(!violation.kernel.ends_with("uniform"), "{violation}");
        }
        assert!(violations("efficiency<0").is_empty());
        assert!(violations("active_lanes>1000").is_empty());
    }

    #[test]
    fn the_worst_of_several_schedules_is_judged() {
        let mut run = crate::fixtures::run();
        let condition: Condition = "active_lanes<0.5".parse().unwrap();
        assert!(condition.violations(&run).is_empty());
        let measurement = run
            .measurements
            .iter_mut()
            .find(|measurement| measurement.active_lanes_mean.is_some())
            .unwrap();
        let mut worse = measurement.totals();
        for block in worse.iter_mut().flatten() {
            block.lanes = crate::units::Lanes(block.executions.0 / 4);
        }
        let schedule = |seed, blocks| ScheduleCounts {
            seed,
            active_lanes_mean: None,
            efficiency_ratio: None,
            blocks,
        };
        measurement.schedules = vec![schedule(1, measurement.totals()), schedule(2, worse)];
        let found = condition.violations(&run);
        assert!(
            !found.is_empty() && found.iter().all(|violation| violation.schedules == 3),
            "{found:?}"
        );
        assert!(found[0].to_string().contains("(the worst of 3 schedules)"), "{}", found[0]);
    }

    #[test]
    fn a_share_that_is_named_takes_the_place_of_the_usual_one() {
        let small = violations("share<0.05");
        assert!(small.iter().all(|v| v.line.is_some() && v.share < 0.05));
        let both = violations("efficiency<=0.6 && share>=0.5");
        assert!(!both.is_empty());
        assert!(both.iter().all(|v| v.share >= 0.5 && v.efficiency.unwrap() <= 0.6));
        assert!(both[0].to_string().contains("synthetic.wgsl:8 on "), "{}", both[0]);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, problem) in [
            ("", "a comparison is missing"),
            ("efficiency", "has none of <"),
            ("speed<1", "\"speed\" is none of"),
            ("efficiency<half", "\"half\" is no number"),
            ("efficiency==1", "has none of <"),
            ("efficiency<0.5 &&", "a comparison is missing"),
            ("active_lanes>inf", "is no number"),
            ("efficiency<2", "from 0 to 1"),
            ("active_lanes<16 && share>5", "from 0 to 1"),
        ] {
            let message = text.parse::<Condition>().unwrap_err().to_string();
            assert!(message.contains(problem), "{text}: {message}");
            assert!(message.contains("examples"), "{message}");
        }
    }
}
