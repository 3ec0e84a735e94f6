//! `compare --fail-on`: what B may not be, in parts of A.
//!
//! Input: a text such as `slots>1.05`, and compared launches. Output: the launches that meet it. It
//! decides no exit code.
//!
//! # The language
//!
//! Comparisons joined by `&&`: a figure, one of `<`, `<=`, `>`, `>=`, a number; each figure is B's over
//! A's, of the whole launch: `slots` (lane slots), `operations` (subgroup operations), `idle` (idle lane
//! slots), `efficiency`, `lanes` (mean active lanes), `time`. Operations and lanes of two widths do not
//! compare, nor do times with and without run-time checks. A time meets a bound where its whole
//! interval does, at A's speed of the device where that is known: noise does not fail a build.

use super::launch::LaunchComparison;
use super::parts::Figures;
use crate::analyze::condition::{self, Comparison, ConditionError, Operator};
use crate::analyze::counts::ratio;
use crate::units::text;

/// The figures by their names.
const FIGURES: [(&str, Figure); 6] = [
    ("slots", Figure::Slots),
    ("operations", Figure::Operations),
    ("idle", Figure::Idle),
    ("efficiency", Figure::Efficiency),
    ("lanes", Figure::Lanes),
    ("time", Figure::Time),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Slots,
    Operations,
    Idle,
    Efficiency,
    Lanes,
    Time,
}

impl Figure {
    fn name(self) -> &'static str {
        FIGURES.iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| name)
    }
}

/// A condition on ratios, B's figure over A's.
#[derive(Clone, Debug, PartialEq)]
pub struct RelativeCondition {
    comparisons: Vec<Comparison<Figure>>,
}

/// A launch that meets the condition.
#[derive(Clone, Debug, PartialEq)]
pub struct RelativeViolation {
    /// B's kernel.
    pub kernel: String,
    /// B's device.
    pub device: String,
    /// Each figure that the condition speaks of, with B's over A's; of a time the end of its interval that was judged.
    pub ratios: Vec<(&'static str, f64)>,
}

impl std::fmt::Display for RelativeViolation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ratios = self
            .ratios
            .iter()
            .map(|(name, ratio)| format!("{name} {} of A's", text::ratio(*ratio)));
        let ratios: Vec<String> = ratios.collect();
        write!(formatter, "{} on {}: {}", self.kernel, self.device, ratios.join(", "))
    }
}

impl std::str::FromStr for RelativeCondition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let check = |_, bound: f64| match bound > 0.0 {
            true => Ok(()),
            false => Err(format!("{bound} is no ratio of B to A: it must be above 0")),
        };
        let comparisons = condition::parse(text, &FIGURES, check, "\"slots>1.05\", \"time>1.10\"")?;
        Ok(Self { comparisons })
    }
}

impl RelativeCondition {
    /// The launches that meet it.
    pub fn violations(&self, launches: &[LaunchComparison]) -> Vec<RelativeViolation> {
        let met = |launch: &&LaunchComparison| {
            self.comparisons.iter().all(|comparison| {
                value(launch, comparison)
                    .is_some_and(|value| comparison.operator.holds(value, comparison.bound))
            })
        };
        let violation = |launch: &LaunchComparison| RelativeViolation {
            kernel: launch.kernels[1].clone(),
            device: launch.devices[1].clone(),
            ratios: self
                .comparisons
                .iter()
                .filter_map(|comparison| {
                    let name = match (comparison.figure, comparison.operator) {
                        (Figure::Time, Operator::Greater | Operator::GreaterOrEqual) => {
                            "time at least"
                        }
                        (Figure::Time, Operator::Less | Operator::LessOrEqual) => "time at most",
                        (figure, _) => figure.name(),
                    };
                    Some((name, value(launch, comparison)?))
                })
                .collect(),
        };
        launches.iter().filter(met).map(violation).collect()
    }

    /// The figures that no launch has on both sides, so that the condition could never be met.
    pub fn find_unknown(&self, launches: &[LaunchComparison]) -> Vec<&'static str> {
        let known = |comparison: &&Comparison<Figure>| {
            !launches.iter().any(|launch| value(launch, comparison).is_some())
        };
        self.comparisons.iter().filter(known).map(|comparison| comparison.figure.name()).collect()
    }

    /// The figures that some launch has on both sides, which a condition may speak of.
    pub fn find_known(launches: &[LaunchComparison]) -> Vec<&'static str> {
        let known = |figure: Figure| {
            let comparison = Comparison { figure, operator: Operator::Greater, bound: 1.0 };
            launches.iter().any(|launch| value(launch, &comparison).is_some())
        };
        FIGURES.iter().filter(|(_, figure)| known(*figure)).map(|(name, _)| *name).collect()
    }
}

/// B's figure over A's; of a time the end of its interval that meets the bound last.
fn value(launch: &LaunchComparison, comparison: &Comparison<Figure>) -> Option<f64> {
    let [Some(a), Some(b)] = launch.whole.figures else { return None };
    let counts = |figure: fn(&Figures) -> Option<u128>| ratio(figure(&b)?, figure(&a)?);
    // Across widths lane slots and what follows from them compare, operations and lanes do not.
    let one_width = launch.widths[0] == launch.widths[1];
    match comparison.figure {
        Figure::Operations | Figure::Lanes if !one_width => None,
        Figure::Slots => counts(|figures| figures.lane_slots),
        Figure::Operations => counts(|figures| Some(figures.subgroup_operations)),
        Figure::Idle => counts(|figures| figures.lane_slots_idle),
        Figure::Efficiency => Some(b.efficiency_ratio?.0 / a.efficiency_ratio?.0),
        Figure::Lanes => Some(b.active_lanes_mean? / a.active_lanes_mean?),
        Figure::Time => {
            let [low, high] = launch.time.as_ref()?.bounds();
            Some(match comparison.operator {
                Operator::Greater | Operator::GreaterOrEqual => low,
                Operator::Less | Operator::LessOrEqual => high,
            })
        }
    }
}
