//! What else differs between two launches, and what to believe where figures speak against each other.
//!
//! Input: the two measurements, and the ratios that were made of them. Output: sentences.

use crate::units::{Ratio, text};
use std::collections::BTreeMap;

use super::parts::{Figures, LaunchPart, Side};
use super::texts::LinePair;
use super::timing::LaunchTimeRatio;
use crate::analyze::names::device;
use crate::record::{Device, Dispatch, Measurement};

/// The least change of a ratio that is spoken of: half a percent.
const SPOKEN_MIN: f64 = 0.005;

/// The ends of an interval of times are told to be too far apart from here on: it then says nothing.
const NOISY_MIN: f64 = 1.25;

/// What differs beside the figures, a sentence each.
pub(super) fn differing(a: Side<'_>, b: Side<'_>, pairs: &[LinePair]) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(texts(a, b, pairs));
    sentences.extend(launches(a.measurement, b.measurement));
    sentences.extend(inputs(a.measurement, b.measurement));
    sentences.extend(devices(a, b));
    sentences.extend(counts(a.measurement, b.measurement));
    sentences
}

fn texts(a: Side<'_>, b: Side<'_>, pairs: &[LinePair]) -> Option<String> {
    if a.measurement.source_sha256 == b.measurement.source_sha256 {
        return Some("The text is the same in both.".to_owned());
    }
    if a.text().is_empty() || b.text().is_empty() {
        return Some("The texts differ, and one record does not hold its text.".to_owned());
    }
    let count = |test: fn(&LinePair) -> bool| pairs.iter().filter(|pair| test(pair)).count();
    let changed = count(|pair| pair.a.is_some() && pair.b.is_some() && !pair.same_text);
    let (removed, added) = (count(|pair| pair.b.is_none()), count(|pair| pair.a.is_none()));
    if !super::texts::have_common_words(a.text(), b.text()) {
        return Some("The two texts have no line of code in common: only sums compare.".to_owned());
    }
    Some(match changed + removed + added {
        0 => "The texts differ in space alone.".to_owned(),
        _ => {
            format!("The texts differ: lines changed {changed}, removed {removed}, added {added}.")
        }
    })
}

fn launches(a: &Measurement, b: &Measurement) -> Vec<String> {
    let mut sentences = Vec::new();
    let grid = |dispatch: &Dispatch| {
        let shape = |shape: [u32; 3]| shape.map(|n| n.to_string()).join("×");
        let groups = dispatch.workgroups.map_or("an indirect number of".to_owned(), shape);
        format!("{}: {groups} of {}", dispatch.entry_point, shape(dispatch.workgroup_size))
    };
    let [left, right] = [a, b].map(|side| side.dispatches.iter().map(grid).collect::<Vec<_>>());
    if left != right {
        sentences.push(format!(
            "The dispatches differ (workgroups of invocations): A has {}; B has {}.",
            left.join(", "),
            right.join(", ")
        ));
    }
    if a.seed != b.seed {
        sentences.push(format!("The seeds differ: {} in A, {} in B.", a.seed, b.seed));
    }
    sentences
}

/// The buffers whose first contents differ, by their hashes.
fn inputs(a: &Measurement, b: &Measurement) -> Option<String> {
    let (left, right) = (&a.inputs_sha256, &b.inputs_sha256);
    if left.is_empty() || right.is_empty() {
        return Some(
            "Whether the inputs are the same is not known: a record has no hashes of them."
                .to_owned(),
        );
    }
    let both = left.iter().filter_map(|(name, hash)| Some((name, hash, right.get(name)?)));
    let other: Vec<&str> =
        both.filter(|(_, a, b)| a != b).map(|(name, ..)| name.as_str()).collect();
    let alone = |inputs: &BTreeMap<String, String>, without: &BTreeMap<String, String>| {
        let names = inputs.keys().filter(|name| !without.contains_key(*name));
        names.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    let sentences = [
        ("The inputs differ, by their hashes: ", other.join(", ")),
        ("Only A has the inputs ", alone(left, right)),
        ("Only B has the inputs ", alone(right, left)),
    ];
    let sentences = sentences.iter().filter(|(_, names)| !names.is_empty());
    let sentences: Vec<String> =
        sentences.map(|(words, names)| format!("{words}{names}.")).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn devices(a: Side<'_>, b: Side<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    let known = |side: Side<'_>| device(side.run, &side.measurement.device).cloned();
    let (Some(left), Some(right)) = (known(a), known(b)) else { return sentences };
    let name = |device: &Device| format!("{} ({})", device.name, device.backend.name());
    if name(&left) != name(&right) || left.is_emulated() && left.id != right.id {
        let shown = |device: &Device| match device.is_emulated() {
            true => device.id.clone(),
            false => name(device),
        };
        sentences.push(format!("A ran on {}, B on {}.", shown(&left), shown(&right)));
    } else if left.driver != right.driver {
        sentences.push(format!("The drivers differ: {} in A, {} in B.", left.driver, right.driver));
    }
    if let [Some(narrow), Some(wide)] = [a.measurement.subgroup_width, b.measurement.subgroup_width]
        && narrow != wide
    {
        sentences.push(format!(
            "A ran with {narrow} lanes, B with {wide}: lane slots compare across widths; subgroup \
             operations and active lanes do not."
        ));
    }
    sentences
}

/// What differs in how it was counted and timed.
fn counts(a: &Measurement, b: &Measurement) -> Vec<String> {
    let mut sentences = Vec::new();
    let checks = |on: bool| if on { "with" } else { "without" };
    if a.runtime_checks.counted != b.runtime_checks.counted {
        let (left, right) = (checks(a.runtime_checks.counted), checks(b.runtime_checks.counted));
        sentences.push(format!(
            "A was counted {left} run-time checks, B {right} (trust in the shader)."
        ));
    }
    if a.time.is_some() && b.time.is_some() && a.runtime_checks.timed != b.runtime_checks.timed {
        let (left, right) = (checks(a.runtime_checks.timed), checks(b.runtime_checks.timed));
        sentences
            .push(format!("A was timed {left} run-time checks, B {right}: times do not compare."));
    }
    if let (Some(left), Some(right)) = (a.method, b.method)
        && left != right
    {
        sentences.push(format!("The counts are {} in A and {} in B.", left.name(), right.name()));
    }
    sentences
}

/// What to believe where efficiency, lane slots and time speak against each other.
pub(super) fn verdicts(whole: &LaunchPart, time: Option<&LaunchTimeRatio>) -> Vec<String> {
    let [Some(before), Some(after)] = whole.figures else { return Vec::new() };
    let Some(slots) = whole.lane_slots_ratio else { return Vec::new() };
    let mut sentences = Vec::new();
    if let (Some(from), Some(to)) = (before.efficiency_ratio, after.efficiency_ratio) {
        let (fuller, more) = (to.0 / from.0 - 1.0, slots - 1.0);
        let shown = format!("from {} to {}", text::percent(from), text::percent(to));
        let idle = before.lane_slots_idle.zip(after.lane_slots_idle);
        if fuller > SPOKEN_MIN && more > SPOKEN_MIN {
            let why = match idle {
                Some((before, after)) if after < before => {
                    "lanes are fuller because they do work that A's lanes left out"
                }
                _ => "B does more work, and its lanes are fuller in what it added",
            };
            let slots = match slots {
                many if many >= 2.0 => format!("{} times the lane slots", text::ratio(many)),
                _ => format!("{} more lane slots", text::percent(Ratio(more))),
            };
            sentences.push(format!(
                "Efficiency rose {shown}, and yet B takes {slots}. Believe the slots: {why}."
            ));
        } else if fuller < -SPOKEN_MIN && more < -SPOKEN_MIN {
            let why = match idle {
                Some((before, after)) if after > before => {
                    "B has less to do, although more of its lanes are idle"
                }
                _ => "B has less to do, and what it left out had fuller lanes",
            };
            sentences.push(format!(
                "Efficiency fell {shown}, and yet B takes {} fewer lane slots. Believe the slots: {why}.",
                text::percent(Ratio(-more))
            ));
        }
    }
    if let Some(time) = time {
        let [low, high] = time.bounds();
        let (faster, slower) = (high < 1.0, low > 1.0);
        let (fewer, more) = (slots < 1.0 - SPOKEN_MIN, slots > 1.0 + SPOKEN_MIN);
        let [longer, slots] = [time.ratio, slots].map(text::ratio);
        let figures = format!("{longer} times the time for {slots} times the lane slots");
        if faster && more || slower && fewer {
            sentences.push(format!(
                "Time and slots disagree: {figures}. On this device believe the time: something other \
                 than operations decides there, such as memory, or what the compiler made of it."
            ));
        } else if (fewer || more) && !faster && !slower && high < low * NOISY_MIN {
            sentences.push(format!(
                "The times are not told apart ({figures}): on this device something other than \
                 operations decides."
            ));
        }
    }
    sentences
}

/// That no count changed, where none did, and what the time did then.
pub(super) fn describe_unchanged(
    whole: &LaunchPart,
    changes: impl IntoIterator<Item = bool>,
    time: Option<&LaunchTimeRatio>,
) -> Option<String> {
    if whole.changed || changes.into_iter().any(|changed| changed) {
        return None;
    }
    let operations = |figures: &Figures| (figures.lane_slots, figures.lane_slots_idle);
    let [before, after] = whole.figures.map(|side| side.as_ref().map(operations));
    let counts = if before == after {
        "B takes as many lane slots as A, as many of them idle, on the whole and on every line"
    } else {
        "no line, and no sum, has a thousandth of all lane slots more or less, or more or fewer of them idle"
    };
    let Some(time) = time else { return Some(format!("Nothing changed: {counts}.")) };
    let [low, high] = time.bounds();
    Some(if low <= 1.0 && high >= 1.0 {
        format!("Nothing changed: {counts}, and the times are not told apart.")
    } else {
        format!(
            "The counts did not change, and the time did, to {} times A's: {counts}.",
            text::ratio(time.ratio)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::parts::Trend;
    use super::*;
    use crate::units::Ratio;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn part_of(count: u128, part: f64) -> u128 {
        (count as f64 * part).round() as u128
    }

    fn whole(efficiencies: [f64; 2], slots: [u128; 2]) -> LaunchPart {
        let side = |index: usize| Figures {
            subgroup_operations: slots[index] / 32,
            lane_operations: 0,
            lane_slots: Some(slots[index]),
            lane_slots_idle: Some(part_of(slots[index], 1.0 - efficiencies[index])),
            active_lanes_mean: None,
            efficiency_ratio: Some(Ratio(efficiencies[index])),
            time_ns: None,
            time_ci95_ns: None,
        };
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let lane_slots_ratio = Some(slots[1] as f64 / slots[0] as f64);
        let figures = [Some(side(0)), Some(side(1))];
        let (name, trend) = ("whole".to_owned(), Trend::Same);
        LaunchPart { name, figures, lane_slots_ratio, trend, changed: false }
    }

    fn time(ratio: f64) -> LaunchTimeRatio {
        let interval = Some([ratio * 0.99, ratio * 1.01]);
        let drift = String::new();
        LaunchTimeRatio { ratio, interval, side_by_side: true, at_speed_of_a: None, drift }
    }

    #[test]
    fn the_slots_are_believed_against_the_efficiency_and_the_time_against_the_slots() {
        let verdict = |efficiencies, slots, time: Option<f64>| {
            verdicts(&whole(efficiencies, slots), time.map(self::time).as_ref()).join(" ")
        };
        let select = verdict([0.5, 0.9], [1000, 1140], None);
        assert!(select.contains("work that A's lanes left out"), "{select}");
        let added = verdict([0.5, 0.75], [1000, 3000], None);
        assert!(added.contains("3.000 times the lane slots"), "{added}");
        assert!(added.contains("fuller in what it added"), "{added}");
        assert!(select.contains("rose from 50.0 % to 90.0 %"), "{select}");
        assert!(select.contains("14.0 % more lane slots. Believe the slots"), "{select}");
        assert!(verdict([0.9, 0.5], [1000, 600], None).contains("40.0 % fewer lane slots"));
        assert_eq!(verdict([0.5, 0.9], [1000, 600], None), "", "nothing disagrees");
        assert_eq!(verdict([0.5, 0.9], [1000, 600], Some(0.7)), "");
        assert!(verdict([0.5, 0.5], [1000, 600], Some(1.2)).contains("believe the time"));
        assert!(verdict([0.5, 0.9], [1000, 600], Some(1.0)).contains("not told apart"));
    }
}
