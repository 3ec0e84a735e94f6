//! What shuffles return where nothing is promised.
//!
//! Input: a run with kernels whose notes say that they show this, where it stands, and whose outputs the
//! record holds. Output: for each device the rule that explains what every lane got whose source was not
//! there, in words. Nothing here says what is right: WGSL does not.

use super::names::device_label;
use crate::record::{Measurement, Reading, Run, ShownRows};
use crate::units::{Width, text};

/// What one device returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedRow {
    /// The kernel that shows it.
    pub kernel: String,
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

/// The output of a measurement that is read.
struct Shown<'a> {
    measurement: &'a Measurement,
    width: Width,
    values: &'a [f64],
    rows: Option<ShownRows>,
}

/// Makes a row for each device that was asked.
pub fn undefined_rows(run: &Run) -> Vec<UndefinedRow> {
    let devices = run.devices.iter();
    devices
        .filter_map(|device| {
            let shuffles = find_shown(run, &device.id, &Reading::Undefined)?;
            let tails = find_shown(run, &device.id, &Reading::PartialSums);
            row(device_label(run, &device.id), &shuffles, tails.as_ref())
        })
        .collect()
}

/// The first output that a device shows and that is read so.
fn find_shown<'a>(run: &'a Run, device: &str, reading: &Reading) -> Option<Shown<'a>> {
    let mut of_device = run.measurements.iter().filter(|measurement| measurement.device == device);
    of_device.find_map(|measurement| {
        let note = run.kernels.get(&measurement.kernel)?;
        if note.reading.as_ref() != Some(reading) {
            return None;
        }
        let shown = note.shown_output()?;
        let values = measurement.outputs_shown.get(&shown.output)?;
        let width = measurement.subgroup_width?;
        Some(Shown { measurement, width, values, rows: shown.rows })
    })
}

impl Shown<'_> {
    /// What a lane got, in a row; nothing past the row's end or the output's.
    fn got(&self, row: u32, lane: usize) -> Option<f64> {
        let lanes = usize::try_from(self.rows?.lanes).ok()?;
        let begin = usize::try_from(row).ok()?.checked_mul(lanes)?;
        self.values.get(begin.checked_add(lane)?).copied().filter(|_| lane < lanes)
    }
}

fn row(label: String, shuffles: &Shown<'_>, tails: Option<&Shown<'_>>) -> Option<UndefinedRow> {
    let (rows, width) = (shuffles.rows?, shuffles.width.index());
    let shifted = |first: u32, source: fn(usize, usize) -> Option<usize>| {
        // Distances below W: at W itself wrapping around is a lane's own.
        let steps = (0..rows.distances).take_while(|step| (1_usize << step) < width);
        let cases = steps.flat_map(|step| {
            let row = first.saturating_add(step);
            (0..width).map(move |lane| Some((lane, 1_usize << step, shuffles.got(row, lane)?)))
        });
        Some(rule(width, source, cases.collect::<Option<_>>()?))
    };
    let odd = (1..width).step_by(2);
    let odd = odd.map(|lane| Some((lane, shuffles.got(rows.inactive, lane)?)));
    Some(UndefinedRow {
        kernel: shuffles.measurement.kernel.clone(),
        label,
        width: shuffles.width.lanes(),
        up: shifted(rows.up, |lane, distance| lane.checked_sub(distance))?,
        down: shifted(rows.down, |lane, distance| Some(lane + distance))?,
        index: shifted(rows.index, |lane, distance| Some(lane + distance))?,
        inactive: inactive(&odd.collect::<Option<Vec<_>>>()?).to_owned(),
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
fn partial_sums(shown: &Shown<'_>) -> String {
    let tails = 1..shown.width.index();
    let right = tails.clone().filter(|tail| {
        shown.values.get(*tail).is_some_and(|sum| same(*sum, (tail * (tail + 1) / 2) as f64))
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
    use crate::record::ShownNote;

    /// The kernel's lanes and distances.
    const LANES: usize = 128;
    const STEPS: usize = 8;

    /// A run of 8 lanes with what each operation returns, by its number in the kernel, distance and lane.
    fn run(value: &dyn Fn(usize, usize, usize) -> f64) -> Run {
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
        fixtures::noted(run)
    }

    fn measured(value: &dyn Fn(usize, usize, usize) -> f64) -> Vec<UndefinedRow> {
        undefined_rows(&run(value))
    }

    /// Each lane its own value from above, by index the value around.
    fn some(operation: usize, distance: usize, lane: usize) -> f64 {
        match operation {
            0 | 1 => (lane + 1) as f64,
            3 => ((lane + distance) % 8 + 1) as f64,
            _ => 0.0,
        }
    }

    /// Records from before notes said where the output stands have it where it stood then.
    #[test]
    fn the_output_stands_where_the_note_says_and_in_older_records_where_it_stood() {
        let expected = measured(&some);
        assert_eq!((expected.len(), expected[0].index.as_str()), (1, "wraps around"));
        let mut older = run(&some);
        for note in older.kernels.values_mut() {
            assert!(note.read_from.take().is_some(), "{note:?}");
        }
        assert_eq!(undefined_rows(&older), expected);
        // The same values elsewhere: rows of eight lanes, and the operations in another order.
        let mut other = run(&some);
        for measurement in &mut other.measurements {
            let outputs = std::mem::take(&mut measurement.outputs_shown);
            for (output, values) in outputs {
                let moved = if output == "returned" { rearranged(&values) } else { values };
                measurement.outputs_shown.insert(format!("{output} here"), moved);
            }
        }
        assert_eq!(undefined_rows(&other), []);
        for note in other.kernels.values_mut() {
            let ShownNote { output, rows } = note.read_from.as_mut().expect("noted");
            output.push_str(" here");
            *rows = rows.map(|_| ShownRows {
                lanes: 8,
                distances: 3,
                up: 7,
                down: 4,
                index: 1,
                inactive: 0,
            });
        }
        assert_eq!(undefined_rows(&other), expected);
    }

    /// What lanes of odd number got, then three rows each of indices, shuffles down, and shuffles up.
    fn rearranged(values: &[f64]) -> Vec<f64> {
        let row = |operation: usize, step: usize| {
            let begin = (operation * STEPS + step) * LANES;
            values[begin..begin + 8].to_vec()
        };
        let shifted =
            [3, 1, 0].into_iter().flat_map(|operation| (0..3).map(move |step| (operation, step)));
        let rows = std::iter::once((4, 0)).chain(shifted);
        rows.flat_map(|(operation, step)| row(operation, step)).collect()
    }

    /// A note may say anything.
    #[test]
    fn rows_past_the_end_of_an_output_make_no_row() {
        let rows = |change: &dyn Fn(&mut ShownRows)| {
            let mut run = run(&some);
            for note in run.kernels.values_mut() {
                note.read_from.iter_mut().flat_map(|shown| &mut shown.rows).for_each(change);
            }
            undefined_rows(&run).len()
        };
        assert_eq!(rows(&|_| {}), 1);
        assert_eq!(rows(&|rows| rows.up = 34), 0);
        assert_eq!(rows(&|rows| rows.inactive = u32::MAX), 0);
        assert_eq!(rows(&|rows| (rows.lanes, rows.down) = (u32::MAX, u32::MAX)), 0);
        assert_eq!(rows(&|rows| rows.lanes = 4), 0, "a subgroup has eight lanes");
        assert_eq!(rows(&|rows| rows.distances = u32::MAX), 1, "those below the width are read");
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
