//! What shuffles return where nothing is promised.
//!
//! Input: a run with kernels whose notes say that they show this, and whose outputs the record holds.
//! Output: for each device the rule that explains what every lane got whose source was not there, in
//! words. Nothing here says what is right: WGSL does not.

use super::names::device_label;
use crate::record::{Measurement, Reading, Run};
use crate::units::text;

/// Lanes for which the kernel has room.
const LANES: usize = 128;

/// Distances that the kernel tries: 1, 2, 4 … 64, and W.
const STEPS: usize = 8;

/// What one device returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedRow {
    /// The device's name for people.
    pub label: String,
    /// Its width, in lanes.
    pub width: u32,
    /// What `subgroupShuffleUp` returns to lanes below the distance.
    pub up: String,
    /// What `subgroupShuffleDown` returns to the lanes above.
    pub down: String,
    /// What `subgroupShuffle` returns for a lane's number past the last.
    pub index: String,
    /// What `subgroupShuffleXor` returns for a source that takes no part.
    pub inactive: String,
    /// How a reduction ends from which lanes have gone; empty where it was not measured.
    pub partial_sums: String,
}

/// Makes a row for each device that was asked.
pub fn undefined_rows(run: &Run) -> Vec<UndefinedRow> {
    let measurement_of = |device: &str, reading: &Reading| {
        let mut all = run.measurements.iter();
        all.find(|measurement| {
            let note = run.kernels.get(&measurement.kernel);
            measurement.device == device
                && note.is_some_and(|note| note.reading.as_ref() == Some(reading))
                && !measurement.outputs_shown.is_empty()
        })
    };
    let devices = run.devices.iter();
    devices
        .filter_map(|device| {
            let shuffles = measurement_of(&device.id, &Reading::Undefined)?;
            let tails = measurement_of(&device.id, &Reading::PartialSums);
            row(device_label(run, &device.id), shuffles, tails)
        })
        .collect()
}

fn row(
    label: String,
    measurement: &Measurement,
    tails: Option<&Measurement>,
) -> Option<UndefinedRow> {
    let returned = measurement.outputs_shown.get("returned")?;
    let width = measurement.subgroup_width?.index();
    let shifted = |operation: usize, source: fn(usize, usize) -> Option<usize>| {
        // Distances below W: at W itself wrapping around is a lane's own.
        let steps = (0..STEPS - 1).filter(|step| 1 << step < width);
        let cases = steps.flat_map(|step| {
            let values = &returned[(operation * STEPS + step) * LANES..];
            (0..width).map(move |lane| (lane, 1 << step, values[lane]))
        });
        rule(width, source, cases.collect())
    };
    let odd = (1..width).step_by(2).map(|lane| (lane, returned[4 * STEPS * LANES + lane]));
    Some(UndefinedRow {
        label,
        width: measurement.subgroup_width?.lanes(),
        up: shifted(0, |lane, distance| lane.checked_sub(distance)),
        down: shifted(1, |lane, distance| Some(lane + distance)),
        index: shifted(3, |lane, distance| Some(lane + distance)),
        inactive: inactive(&odd.collect::<Vec<_>>()).to_owned(),
        partial_sums: tails.map(partial_sums).unwrap_or_default(),
    })
}

/// The rule that explains every case whose source is not there; lane l held l + 1.
#[expect(clippy::cast_precision_loss, reason = "lane numbers")]
fn rule(
    width: usize,
    source: fn(usize, usize) -> Option<usize>,
    cases: Vec<(usize, usize, f64)>,
) -> String {
    let outside: Vec<(usize, usize, f64)> = cases
        .into_iter()
        .filter(|(lane, distance, _)| source(*lane, *distance).is_none_or(|from| from >= width))
        .collect();
    let wrapped = |lane: usize, distance: usize| match source(lane, distance) {
        Some(from) => from % width,
        None => lane + width - distance,
    };
    type Rule<'a> = (&'a str, &'a dyn Fn(usize, usize) -> f64);
    let rules: [Rule<'_>; 5] = [
        ("own value", &|lane, _| (lane + 1) as f64),
        ("wraps around", &|lane, distance| (wrapped(lane, distance) + 1) as f64),
        ("zero", &|_, _| 0.0),
        ("first lane's", &|_, _| 1.0),
        ("last lane's", &|_, _| width as f64),
    ];
    let holds = |(_, value): &&Rule<'_>| {
        outside.iter().all(|(lane, distance, got)| same(*got, value(*lane, *distance)))
    };
    let known = rules.iter().find(holds).map(|(name, _)| *name);
    known.filter(|_| !outside.is_empty()).unwrap_or("no one rule").to_owned()
}

/// What odd lanes got that asked the even lane below, which takes no part and held its number + 1.
#[expect(clippy::cast_precision_loss, reason = "lane numbers")]
fn inactive(got: &[(usize, f64)]) -> &'static str {
    let all = |value: &dyn Fn(usize) -> f64| got.iter().all(|(lane, got)| same(*got, value(*lane)));
    if got.is_empty() {
        text::NONE
    } else if all(&|_| 0.0) {
        "zero"
    } else if all(&|lane| lane as f64) {
        "source's value"
    } else if all(&|lane| (lane + 1) as f64) {
        "own value"
    } else {
        "no one rule"
    }
}

/// For how many tails the sum after the others have gone is that of the lanes that are there.
#[expect(clippy::cast_precision_loss, reason = "numbers of lanes")]
fn partial_sums(measurement: &Measurement) -> String {
    let (Some(sums), Some(width)) =
        (measurement.outputs_shown.get("snippet"), measurement.subgroup_width)
    else {
        return String::new();
    };
    let tails = 1..width.index();
    let right = tails.clone().filter(|tail| {
        sums.get(*tail).is_some_and(|sum| same(*sum, (tail * (tail + 1) / 2) as f64))
    });
    format!("right for {} of {} tails", right.count(), tails.len())
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.5
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, reason = "lane numbers")]

    use super::*;
    use crate::fixtures;
    use crate::units::Width;

    fn measured(value: &dyn Fn(usize, usize, usize) -> f64) -> Vec<UndefinedRow> {
        let mut run = fixtures::run();
        let mut measurement = run.measurements[0].clone();
        measurement.kernel = "shuffle/out_of_range".to_owned();
        measurement.subgroup_width = Width::new(8).ok();
        let mut returned = vec![0.0; 34 * LANES];
        for operation in 0..5 {
            for step in 0..if operation == 4 { 1 } else { STEPS } {
                for lane in 0..8 {
                    returned[(operation * STEPS + step) * LANES + lane] =
                        value(operation, 1 << step, lane);
                }
            }
        }
        measurement.outputs_shown.insert("returned".to_owned(), returned);
        let mut tails = measurement.clone();
        tails.kernel = "vote/participation".to_owned();
        // Right for tails of 1, 2 and 3.
        let sums = vec![0.0, 1.0, 3.0, 6.0, 11.0, 0.0, 0.0, 0.0];
        tails.outputs_shown = [("snippet".to_owned(), sums)].into();
        run.measurements = vec![measurement, tails];
        undefined_rows(&fixtures::noted(run))
    }

    #[test]
    fn the_rule_is_the_one_that_explains_every_lane() {
        let rows = measured(&|operation, distance, lane| match operation {
            0 => (lane + 1) as f64,
            1 => ((lane + distance) % 8 + 1) as f64,
            3 => 0.0,
            _ => lane as f64,
        });
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        let words = [&row.up, &row.down, &row.index, &row.inactive, &row.partial_sums];
        let expected =
            ["own value", "wraps around", "zero", "source's value", "right for 3 of 7 tails"];
        assert_eq!(words, expected);
        let clamped = measured(&|operation, _, lane| match operation {
            0 => 1.0,
            1 => 8.0,
            3 => (lane * 3) as f64,
            _ => 7.0,
        });
        let row = &clamped[0];
        let words = [&row.up, &row.down, &row.index, &row.inactive];
        assert_eq!(words, ["first lane's", "last lane's", "no one rule", "no one rule"]);
    }
}
