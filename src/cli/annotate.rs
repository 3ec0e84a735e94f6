//! The terminal's view of a profile: devices, worst lines, advice, and the annotated source.
//!
//! Input: a profile, its advice, and how it is shown. Output: text. Nothing is worked out here but
//! the form of a figure, and nothing is printed. Each number is text; bars and colours only repeat
//! it, in blue and orange, which people tell apart whatever their colour vision.

mod excerpt;
mod look;
mod machine;
mod memory;
mod options;
mod widths;

use std::collections::{BTreeMap, BTreeSet};

use clap::builder::styling::Style;

use super::failure::with_hint;
use crate::analyze::{self, Advice, DeviceProfile, LineProfile, Profile, Rule};
use crate::present;
use crate::present::fit::{cut, fold, tabs, width_of};
use crate::record::{Flag, Method, Status, Tag, Trust};
use crate::units::visible::visible;
use crate::units::{Ratio, Width, grouped_text, text};
use excerpt::{Piece, source_line};
pub(crate) use look::Look;
use look::{blue, orange};

/// Lines of the summary of worst lines: of the first device, and of each further one.
const WORST_MAX: [usize; 2] = [8, 3];

/// Faults, data races and flags of one kind that are told in a sentence each, at most.
const FAULTS_MAX: usize = 20;

/// Characters of a bar.
const BAR: usize = 12;

/// The narrowest terminals that show the bar, then the subgroup operations, then lanes and the share of
/// slots, in columns; the efficiency is always shown.
const ROOM: [usize; 3] = [100, 76, 56];

/// What is said where something follows from executions that were estimated.
pub(crate) const RESTS_ON_ESTIMATES: &str =
    "estimates: executions may be more than shown, and efficiency less";

/// Writes what is known once a shader is counted, timed and its memory watched: figures of the whole, totals, the lines that waste most.
pub(crate) fn figures(profile: &Profile, look: Look) -> String {
    let mut text = faults(profile, look);
    text += &head(profile, look);
    for note in profile.made_up_notes() {
        text += &format!("{}\n", look.paint(orange(), &fold(&visible(&note), "  ", look.columns)));
    }
    let table = present::profile_table(&profile.devices);
    if !table.rows.is_empty() {
        text += &table.to_screen(look.columns);
    }
    for device in &profile.devices {
        if let Some(how) = counted_how(device) {
            let line = format!("{}: {how}", device.column.device);
            text += &format!("{}\n", look.faint(&fold(&line, "  ", look.columns)));
        }
        if let Some(executed) = &device.executed {
            let line = format!("{}: {}", device.column.device, executed.sentence());
            text += &format!("{}\n", fold(&line, "  ", look.columns));
        }
        for sentence in device.time.iter().flat_map(analyze::ProfileTime::sentences) {
            let line = format!("{}: {sentence}", device.column.device);
            text += &format!("{}\n", fold(&line, "  ", look.columns));
        }
        if let Some(note) = device.schedule_note() {
            let line = format!("{}: {note}", device.column.device);
            text += &format!("{}\n", look.paint(orange(), &fold(&line, "  ", look.columns)));
        }
        text += &problems(device, look);
    }
    text += &accesses_unseen(&profile.devices, look);
    let Some(first) = profile.first_counted() else { return text };
    let others = profile
        .devices
        .iter()
        .filter(|device| !device.lines.is_empty() && device.column.device != first.column.device);
    for mut table in present::totals(first) {
        let title = format!("{} on {}", std::mem::take(&mut table.title), first.column.label);
        text += &format!("{}{}", look.heading(&title), table.to_screen(look.columns));
    }
    text += &worst(profile, first, WORST_MAX[0], look);
    for device in others {
        text += &worst(profile, device, WORST_MAX[1], look);
    }
    text
}

/// Writes what is known once other launches were tried as well: widths, advice; with them memory and the source.
/// Of further devices the advice is shown that the first device's leaves out.
pub(crate) fn looks(profile: &Profile, advice: &[Advice], look: Look) -> String {
    let Some(first) = profile.first_counted() else { return String::new() };
    let mut text = memory::memory(first, look);
    for device in profile.devices.iter().filter(|device| device.counters_from.is_some()) {
        text += &machine::counters(device, look);
    }
    text += &widths::widths(profile, look);
    text += &advice_text(first, advice, look);
    text += &other_advice(first, profile, advice, look);
    text += &source(profile, first, look);
    text += &options::options(profile, look);
    text += &answer_times_text(profile, look);
    text
}

/// Writes what is advised on the first device that counted, then what is advised on others alone.
pub(crate) fn advice(profile: &Profile, advice: &[Advice], look: Look) -> String {
    profile.first_counted().map_or(String::new(), |first| {
        advice_text(first, advice, look) + &other_advice(first, profile, advice, look)
    })
}

/// Writes each line's machine instructions, for every device whose code was executed without hardware and, where
/// they are `asked` for, for every other that has them.
pub(crate) fn machine_code(profile: &Profile, asked: bool, look: Look) -> String {
    let shown = |device: &&DeviceProfile| asked || device.executed.is_some();
    profile.devices.iter().filter(shown).map(|d| machine::code(profile, d, look)).collect()
}

/// How soon each device answered; empty if no time was taken.
fn answer_times_text(profile: &Profile, look: Look) -> String {
    let times: Vec<String> = profile
        .devices
        .iter()
        .filter_map(|device| Some((device, device.answer?)))
        .map(|(device, time)| format!("{} {}", device.column.device, text::seconds(time)))
        .collect();
    if times.is_empty() {
        return String::new();
    }
    let line = format!(
        "Counted, self-test and second run included, after the device was open: {}",
        times.join(", ")
    );
    format!("\n{}\n", look.faint(&fold(&line, "", look.columns)))
}

/// What is wrong with the program, before anything else; each once with its devices.
pub(crate) fn faults(profile: &Profile, look: Look) -> String {
    let faults = profile.faults().into_iter();
    let faults = faults.map(|(fault, devices)| format!("error: {fault} ({})", devices.join(", ")));
    first_of(&faults.collect::<Vec<_>>(), look) + &first_of(&profile.races(), look)
}

/// The first of some sentences on what is wrong, and how many more there are.
fn first_of(all: &[String], look: Look) -> String {
    let more = all.len().saturating_sub(FAULTS_MAX);
    let more =
        (more > 0).then(|| format!("and {} more; the page has all", grouped_text(more as u128)));
    let mut text = String::new();
    for line in all.iter().take(FAULTS_MAX).chain(&more) {
        text += &look.paint(orange().bold(), &fold(&visible(line), "  ", look.columns));
        text.push('\n');
    }
    text
}

fn head(profile: &Profile, look: Look) -> String {
    let mut details = Vec::new();
    if !profile.parameters.is_empty() {
        details.push(profile.parameters.clone());
    }
    details.push(format!("seed {}", profile.seed));
    let dispatches =
        profile.devices.iter().map(|device| &device.dispatches).find(|d| !d.is_empty());
    for dispatch in dispatches.into_iter().flatten() {
        let groups = present::workgroups(dispatch.workgroups, dispatch.workgroup_size);
        details.push(format!("{}: {groups}", dispatch.entry_point));
    }
    let name = look.paint(Style::new().bold(), &visible(&profile.kernel));
    let details = fold(&format!("({})", details.join("; ")), "  ", look.columns);
    let origin = profile.origin.iter();
    let origin = origin.map(|text| format!("{}\n", fold(&visible(text), "  ", look.columns)));
    format!("{name}\n{details}\n{}", origin.collect::<String>())
}

/// How a device's executions were counted, and why so; nothing for the simulator and for what was not
/// counted.
fn counted_how(device: &DeviceProfile) -> Option<String> {
    let method = device.column.method?;
    let judged = device.judged.as_ref().filter(|_| !device.simulated)?;
    let failed = judged.failed.join(", ");
    let forms = match &judged.constructs[..] {
        [] => "it has no branches and no loops".to_owned(),
        forms => format!("the self-test passed for what it uses ({})", forms.join(", ")),
    };
    let why = match (judged.trust, failed.is_empty(), device.cpu_driver) {
        (Trust::Unknown, true, _) => "the self-test could not be run".to_owned(),
        (Trust::Unknown, false, _) => format!("the self-test failed for {failed}"),
        (_, _, true) => {
            format!("a CPU's driver; {forms}")
        }
        (
            Trust::Guaranteed
            | Trust::Observed
            | Trust::Estimated
            | Trust::OneSchedule
            | Trust::GeneratedData
            | Trust::CutOff
            | Trust::Undefined,
            ..,
        ) => forms,
    };
    Some(match method {
        Method::Executed => format!("counted at each execution: {why}"),
        Method::Derived => format!("counted by derivation: {why}"),
        Method::Estimated => format!(
            "lanes counted, executions estimated, at most what maximal reconvergence gives: {}",
            match (device.no_subgroups(), judged.trust) {
                (true, _) => "the device has no subgroup operations",
                (false, Trust::Unknown) => &why,
                (false, _) => "as asked for",
            }
        ),
    })
}

/// That nobody looked for accesses out of bounds, where no simulator ran.
fn accesses_unseen(devices: &[DeviceProfile], look: Look) -> String {
    if devices.is_empty() || devices.iter().any(|device| device.simulated) {
        return String::new();
    }
    let line = "accesses out of bounds: only a simulator reports them (--device sim:32)";
    format!("{}\n", look.faint(&fold(line, "  ", look.columns)))
}

/// What went wrong on a device, and its findings.
fn problems(device: &DeviceProfile, look: Look) -> String {
    let mut text = String::new();
    if let Some(error) = &device.error {
        let how = match device.status {
            Status::Failed => "failed",
            Status::Ok if device.differs_by_order() => "differs by order",
            Status::Ok => "wrong",
        };
        let why = with_hint(&visible(error), device.limit);
        let line = format!("{} {how}: {why}", device.column.device);
        text += &look.paint(orange(), &fold(&line, "  ", look.columns));
        text.push('\n');
    }
    // What depends on the schedule has a sentence of its own, and a race stands above all figures.
    let told = |flag: &&Flag| matches!(flag.tag, Tag::DependsOnSchedule | Tag::DataRace);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for flag in device.flags.iter().filter(|flag| !told(flag)) {
        let count = counts.entry(flag.tag.word()).or_default();
        *count += 1;
        if *count <= FAULTS_MAX {
            let line = format!("{}: {flag}: {}", device.column.device, flag.tag.first_sentence());
            text += &format!("{}\n", fold(&line, "  ", look.columns));
        }
    }
    for (word, count) in counts.into_iter().filter(|(_, count)| *count > FAULTS_MAX) {
        let more = grouped_text((count - FAULTS_MAX) as u128);
        let line =
            format!("{}: {word} on {more} more lines; the page has all", device.column.device);
        text += &format!("{}\n", fold(&visible(&line), "  ", look.columns));
    }
    text
}

/// The least part of all lane slots that a line wastes which is shown.
const SHARE_MIN: f64 = 0.0005;

fn worst(profile: &Profile, device: &DeviceProfile, most: usize, look: Look) -> String {
    let wasteful = |line: &&LineProfile| line.wasted.is_some_and(|wasted| wasted > 0.0);
    let lines: Vec<&LineProfile> = device.lines.iter().filter(wasteful).collect();
    // What is hardly anything of the shader is shown on the page alone.
    let shown = |line: &&&LineProfile| line.wasted_share().is_none_or(|share| share.0 >= SHARE_MIN);
    let most = most.min(lines.iter().filter(shown).count().max(1));
    let label = &device.column.label;
    if lines.is_empty() {
        let never = device.lines.iter().filter(|line| line.active_lanes_mean.is_none()).count();
        let counted = match never {
            0 => format!("Every line ran with full subgroups on {label}"),
            1 => format!("Every line that ran had full subgroups on {label}; 1 line never ran"),
            many => {
                format!("Every line that ran had full subgroups on {label}; {many} lines never ran")
            }
        };
        let cut =
            "; a loop was cut off, or may have been, and what it would have run is not counted";
        return look.heading(&format!("{counted}{}", if device.is_cut_off() { cut } else { "" }));
    }
    let title = if lines.len() > most && most == 1 {
        format!("The line that wastes most on {label}, of {} that waste any", lines.len())
    } else if lines.len() > most {
        format!("The {most} lines that waste most on {label}, of {} that waste any", lines.len())
    } else if lines.len() == 1 {
        format!("The line that wastes any on {label}")
    } else {
        format!("The lines that waste most on {label}")
    };
    // Beside another width what is wasted is told in lane slots, which compare across widths.
    let slots_of = device.column.width.filter(|_| profile.has_several_widths());
    let wasted = |line: &LineProfile| {
        grouped_text(match slots_of {
            Some(width) => line.lane_slots_idle(width),
            None => round(line.wasted.unwrap_or(0.0)),
        })
    };
    let room = lines.iter().take(most).map(|line| wasted(line).chars().count()).max().unwrap_or(0);
    let [_, roomy, some] = parts(look);
    let unit = if slots_of.is_some() { "idle lane slots" } else { "wasted operations" };
    let figures = match (roomy, some) {
        (true, _) => format!("active lanes / width (efficiency), part of all operations, {unit}"),
        (_, true) => "active lanes / width (efficiency), part of all operations".to_owned(),
        _ => "efficiency".to_owned(),
    };
    let mut text = look.heading(&title);
    text += &format!("{}\n", look.faint(&fold(&format!("  line: {figures}"), "  ", look.columns)));
    for line in lines.iter().take(most) {
        let lanes = lanes(line, device.column.width);
        let share = percent(line.share);
        let figures = if roomy {
            let wasted = wasted(line);
            format!("{:>5}  {lanes}  {share}  {wasted:>room$}  ", line.line)
        } else if some {
            format!("{:>5}  {lanes}  {share}  ", line.line)
        } else {
            format!("{:>5} {}  ", line.line, percent(line.efficiency))
        };
        let code = source_line(profile, line.line).trim().to_owned();
        text += &format!("{figures}{}\n", cut(&code, width_of(&figures), look.columns));
    }
    text
}

fn advice_text(device: &DeviceProfile, advice: &[Advice], look: Look) -> String {
    let here: Vec<&Advice> =
        advice.iter().filter(|card| card.device == device.column.device).collect();
    let mut text = if here.is_empty() && device.what_if.is_none() {
        look.heading(&format!("No change was tried for {}", device.column.label))
    } else if here.is_empty() {
        let untried = device.what_if.as_ref().map_or(0, |what_if| what_if.untried);
        look.heading(&if untried > 0 {
            let changes = present::count_text(untried.into(), "change");
            format!(
                "No advice yet on {}: {changes} not tried (--what-if tries all)",
                device.column.label
            )
        } else {
            let of_data = match device.trust {
                Trust::GeneratedData => " with these generated data; real data may give advice",
                _ => "",
            };
            format!("Nothing to advise on {}{of_data}", device.column.label)
        })
    } else {
        let title = format!(
            "Advice for {}: savings measured on the simulator; turns, sectors, waits by a model",
            device.column.label
        );
        look.heading(&title)
    };
    let some = !here.is_empty();
    for row in &here {
        text += &card_text(row, look);
    }
    if !some {
        let looked = analyze::looked_at(device);
        text += &format!("{}\n", fold(&visible(&looked), "  ", look.columns));
    }
    for remark in analyze::remarks(device) {
        text += &format!("{}\n", look.faint(&fold(&visible(&remark), "  ", look.columns)));
    }
    if some && device.column.method == Some(Method::Estimated) {
        let rests = format!("The other figures rest on {RESTS_ON_ESTIMATES}.");
        text += &format!("{}\n", look.faint(&fold(&rests, "  ", look.columns)));
    }
    text
}

/// A piece of advice: what it saves, what to do, and, faint, why.
fn card_text(row: &Advice, look: Look) -> String {
    let name = row.rule.name();
    let widths: Vec<String> = row
        .at_widths
        .iter()
        .filter(|(width, _)| *width != row.width)
        .map(|(width, share)| format!("; {} at {width} lanes", text::percent(*share)))
        .collect();
    let modelled_at: Vec<String> = row
        .modelled_at
        .iter()
        .map(|(width, words)| match words {
            Some(words) => format!("; at {width} lanes {words}"),
            None => format!("; at {width} lanes no card"),
        })
        .collect();
    let saved = match row.saved_alone {
        0 => row
            .modelled
            .as_ref()
            .map_or_else(String::new, |words| format!(": {words}{}", modelled_at.concat())),
        _ => format!(
            " saves {} subgroup operations ({}{})",
            grouped_text(row.saved_operations),
            percent(Some(row.gain_share)).trim_start(),
            widths.concat()
        ),
    };
    let heading = fold(&format!("line {}: {name}{saved}", row.line), "  ", look.columns);
    let proof = format!("{} {}", row.reason, row.rule.remedy());
    format!(
        "{}\n{}\n{}\n",
        heading.replacen(name, &look.paint(orange().bold(), name), 1),
        fold(&visible(&row.sentence), "    ", look.columns),
        look.faint(&fold(&visible(&proof), "    ", look.columns))
    )
}

/// What is advised on further devices at lines, or of kinds, that the advice for the first leaves out.
fn other_advice(first: &DeviceProfile, profile: &Profile, advice: &[Advice], look: Look) -> String {
    let is_first = |card: &&Advice| card.device == first.column.device;
    let known: BTreeSet<(Rule, u32)> =
        advice.iter().filter(is_first).map(|card| (card.rule, card.line)).collect();
    let mut text = String::new();
    for device in &profile.devices {
        let here = advice.iter().filter(|card| {
            card.device == device.column.device
                && !is_first(card)
                && !known.contains(&(card.rule, card.line))
        });
        let cards: String = here.map(|card| card_text(card, look)).collect();
        if !cards.is_empty() {
            text += &look.heading(&format!("Advice for {} alone", device.column.label));
            text += &cards;
        }
    }
    text
}

fn source(profile: &Profile, device: &DeviceProfile, look: Look) -> String {
    let label = &device.column.label;
    let Some(source) = &profile.text else {
        return look.heading(&format!("The record does not hold the source counted on {label}"));
    };
    let added = widths::find_added(profile, device, look);
    let title = format!("{} on {label}", visible(&profile.file));
    let mut text = look.heading(&match &added {
        Some(_) => format!("{title}; last, {}", widths::beside()),
        None => title,
    });
    let codes: Vec<&str> = source.lines().collect();
    let digits = codes.len().max(1).to_string().len();
    let columns = Columns::from_device(device, look);
    let used = digits + 3 + columns.all + added.as_ref().map_or(0, |_| PERCENT + 1) + 3;
    let here = device.lines.iter().filter(|line| line.file == profile.file);
    let by_number: BTreeMap<u32, &LineProfile> = here.map(|line| (line.line, line)).collect();
    let pieces = match look.columns {
        // What is no terminal can be searched: it gets every line.
        None => vec![Piece::Lines(1..=codes.len())],
        Some(_) => excerpt::pieces(device, &profile.file, codes.len()),
    };
    let mut shown = 0;
    for piece in pieces {
        let lines = match piece {
            Piece::Lines(lines) => lines,
            Piece::Left { lines, share } => {
                let (first, last) = (lines.start(), lines.end());
                let share = percent(Some(share));
                let left = format!("lines {first} to {last}: {} of all", share.trim_start());
                let left = cut(&left, digits + 3, look.columns);
                text += &look.faint(&format!("{:>digits$} │ {left}\n", "⋮"));
                continue;
            }
        };
        shown += lines.clone().count();
        for (number, code) in lines.clone().zip(&codes[lines.start() - 1..]) {
            let line =
                u32::try_from(number).ok().and_then(|number| by_number.get(&number).copied());
            let mut gutter = gutter(device, line, columns, look);
            if let Some(added) = &added {
                let of_line = line.and_then(|line| added.get(&line.line));
                let share = of_line.map_or(String::new(), |share| text::signed_percent(*share));
                gutter += &format!(" {share:>PERCENT$}");
            }
            let code = cut(&tabs(code), used, look.columns);
            let number = look.faint(&format!("{number:>digits$} │ "));
            let code = code.trim_end();
            let separator = look.faint(if code.is_empty() { " │" } else { " │ " });
            text += &format!("{number}{gutter}{separator}{code}\n");
        }
    }
    if shown < codes.len() {
        let note = format!(
            "{shown} of {} lines are shown: those with at least 1 % of the subgroup operations, those that waste \
             most, and what is around them. The page shows all lines, and so does the output to a file.",
            codes.len()
        );
        text += &format!("{}\n", look.faint(&fold(&note, "  ", look.columns)));
    }
    text
}

/// Which parts a line's figures have: the bar, the subgroup operations, the lanes with the share.
fn parts(look: Look) -> [bool; 3] {
    ROOM.map(|room| look.columns.is_none_or(|columns| columns >= room))
}

/// The columns of a device's widest count of subgroup operations.
fn slots_room(device: &DeviceProfile) -> usize {
    let widest =
        device.lines.iter().map(|line| grouped_text(line.work.subgroup_operations).chars().count());
    widest.max().unwrap_or(0)
}

/// How wide a device's figures are, in columns.
#[derive(Clone, Copy)]
struct Columns {
    /// The subgroup operations.
    slots: usize,
    /// All of a line's figures.
    all: usize,
}

impl Columns {
    fn from_device(device: &DeviceProfile, look: Look) -> Self {
        let [bar, slots, lanes] = parts(look);
        if !lanes {
            return Self { slots: 0, all: PERCENT };
        }
        let bar = if bar { BAR + 1 } else { 0 };
        let room = if slots { slots_room(device) } else { 0 };
        let all = bar + lanes_room(device.column.width) + 1 + room + usize::from(slots) + PERCENT;
        Self { slots: room, all }
    }
}

/// The columns of [`percent`].
const PERCENT: usize = 7;

/// The columns of [`lanes`]: those of `32.0 / 32 (100.0 %)`.
fn lanes_room(width: Option<Width>) -> usize {
    2 * width.map_or(1, |width| width.to_string().len()) + 15
}

/// A line's figures, or as many spaces.
fn gutter(
    device: &DeviceProfile,
    line: Option<&LineProfile>,
    columns: Columns,
    look: Look,
) -> String {
    let Some(line) = line else { return " ".repeat(columns.all) };
    let [bar, slots, roomy] = parts(look);
    if !roomy {
        return percent(line.efficiency);
    }
    let mut text = String::new();
    if bar {
        text += &format!("{} ", self::bar(line.efficiency, look));
    }
    text += &format!("{} ", lanes(line, device.column.width));
    if slots {
        let room = columns.slots;
        text += &format!("{:>room$} ", grouped_text(line.work.subgroup_operations));
    }
    text + &percent(line.share)
}

/// The bar of an efficiency: what was active, then what was idle.
fn bar(efficiency: Option<Ratio>, look: Look) -> String {
    let Some(Ratio(portion)) = efficiency else { return " ".repeat(BAR) };
    let full = usize::try_from(round(portion.clamp(0.0, 1.0) * 12.0)).unwrap_or(0).min(BAR);
    let active = look.paint(blue(), &"█".repeat(full));
    format!("{active}{}", look.paint(orange(), &"░".repeat(BAR - full)))
}

/// `16.3 / 32 (50.9 %)`, right-aligned in [`lanes_room`] columns.
fn lanes(line: &LineProfile, width: Option<Width>) -> String {
    let text = line
        .active_lanes_mean
        .map_or("never executed".to_owned(), |mean| text::lanes_and_efficiency(mean, width));
    let room = lanes_room(width);
    format!("{text:>room$}")
}

fn percent(ratio: Option<Ratio>) -> String {
    let text = text::percent_or_none(ratio);
    format!("{text:>PERCENT$}")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a figure that is known not to be negative, for people"
)]
fn round(value: f64) -> u128 {
    value.round() as u128
}

#[cfg(test)]
mod tests;
