//! The terminal's view of hardware counters and of machine code.
//!
//! Input: a device's part of a profile. Output: text: a table of figures in NVIDIA's names and units;
//! each source line's instructions with how often they ran and with how many lanes. Nothing is worked
//! out here but the form.

use super::{Look, Profile, cut, fold, grouped_text, source_line, width_of};
use crate::analyze::DeviceProfile;
use crate::analyze::machine::{self, MachineLine, Stretch};
use crate::analyze::stalls;
use crate::present::count_text;
use crate::record::{Dispatch, MachineCode};
use crate::run::cuda::disassembly::HOW_TO_GET;
use crate::units::figure;
use crate::units::{Ratio, text};

/// Stretches of so many instructions are shown as one line on a terminal.
const LONG: usize = 4;

/// Hardware counters of a launch.
pub(super) fn counters(device: &DeviceProfile, look: Look) -> String {
    let Some(from) = &device.counters_from else { return String::new() };
    let label = &device.column.label;
    let mut text = look.heading(&format!("Hardware counters of {label}, plain module"));
    let mut lines = Vec::new();
    if let Some([threads, on]) = machine::threads_means(&device.counters) {
        lines.push(format!("{}  Avg. Active Threads Per Warp", text::lanes(threads)));
        lines.push(format!("{}  Avg. Not Predicated Off Threads Per Warp", text::lanes(on)));
    }
    for counter in &device.counters {
        let figure = format!("{} {}", figure(counter.value), counter.unit);
        lines.push(format!("{}  {}", figure.trim_end(), counter.name));
    }
    let room = lines.iter().filter_map(|line| line.split_once("  ")).map(|(f, _)| width_of(f));
    let room = room.max().unwrap_or(0);
    for line in &lines {
        let (figure, name) = line.split_once("  ").unwrap_or((text::NONE, line));
        let pad = " ".repeat(room.saturating_sub(width_of(figure)));
        text += &format!("  {pad}{figure}  {}\n", cut(name, room + 4, look.columns));
    }
    if let Some(reading) = stalls::read(&device.counters) {
        text += &format!("{}\n", fold(&reading.sentence(), "  ", look.columns));
    }
    let read = format!("Read by {} on {}, {}", from.version, from.chip, from.library);
    text += &format!("{}\n", look.faint(&fold(&read, "  ", look.columns)));
    text
}

/// The machine code of a device's dispatches; empty if there is none.
pub(super) fn code(profile: &Profile, device: &DeviceProfile, look: Look) -> String {
    let mut text = String::new();
    for dispatch in &device.dispatches {
        let Some(code) = &dispatch.machine_code else { continue };
        let title = format!(
            "Machine code of {} on {} ({})",
            dispatch.entry_point,
            device.column.label,
            machine::code_text(code, &device.driver)
        );
        text += &look.heading(&title);
        text += &arms(dispatch, look);
        for why in device.unmatched(dispatch) {
            text += &format!("{}\n", fold(&format!("{why}."), "  ", look.columns));
        }
        let on = if machine::has_predicates(code) { " lanes not predicated off," } else { "" };
        let how = format!("offset, executions, lanes an execution,{on} instruction");
        text += &format!("{}\n", look.faint(&fold(&how, "  ", look.columns)));
        text += &lines(profile, code, look);
        if code.instructions.iter().all(|instruction| instruction.text.is_none()) {
            let note = format!("No disassembler was found: {HOW_TO_GET}.");
            text += &format!("{}\n", look.faint(&fold(&note, "  ", look.columns)));
        }
    }
    text
}

/// What became of a dispatch's arms and loops, each with its line; empty where that is not known.
fn arms(dispatch: &Dispatch, look: Look) -> String {
    let arms = machine::arm_lines(dispatch);
    if arms.is_empty() {
        return String::new();
    }
    let became = format!("What became of arms and loops: {}", arms.join("; "));
    let meaning = machine::arms_note(&machine::outcomes(dispatch));
    let [became, meaning] = [became, meaning].map(|text| fold(&text, "  ", look.columns));
    format!("{became}\n{}\n", look.faint(&meaning))
}

fn lines(profile: &Profile, code: &MachineCode, look: Look) -> String {
    let lines = machine::lines(code);
    let most =
        code.instructions.iter().map(|instruction| instruction.inst_executed).max().unwrap_or(0);
    let room = grouped_text(most.into()).chars().count();
    let mut text = String::new();
    for line in &lines {
        text += &head(profile, code, line, look);
        let stretches = machine::stretches(&line.instructions);
        let mut shown = 0;
        for Stretch { first, count } in stretches {
            let long = look.columns.is_some() && count >= LONG;
            let ones = &line.instructions[shown..shown + if long { 1 } else { count }];
            for instruction in ones {
                let executed = grouped_text(instruction.inst_executed.into());
                let mut figures = format!(
                    "  {:#06x}  {executed:>room$}  {}  ",
                    instruction.offset_bytes,
                    mean(instruction.thread_inst_executed, instruction.inst_executed),
                );
                if machine::has_predicates(code) {
                    let on = instruction.thread_inst_executed_pred_on;
                    figures += &format!("{}  ", mean(on, instruction.inst_executed));
                }
                let words = instruction.text.as_deref().unwrap_or_default();
                text += &format!("{figures}{}", cut(words, width_of(&figures), look.columns));
                text.truncate(text.trim_end().len());
                text.push('\n');
            }
            if long {
                let what = machine::operation(first.text.as_deref());
                let what = what.unwrap_or_else(|| "instructions".to_owned());
                let note = format!("  ⋮       {} more {what} with these counts", count - 1);
                text += &format!("{}\n", look.faint(&note));
            }
            shown += count;
        }
    }
    text
}

/// A line's number, sums and text.
fn head(profile: &Profile, code: &MachineCode, line: &MachineLine, look: Look) -> String {
    let count = count_text(line.instructions.len() as u128, "instruction");
    let mut sums = match (line.threads_mean(), line.threads_pred_on_mean()) {
        (Some(threads), Some(on)) => {
            let on = match machine::has_predicates(code) {
                true => format!(", {} not predicated off", text::lanes(on)),
                false => String::new(),
            };
            let (executions, threads) = (grouped_text(line.inst_executed), text::lanes(threads));
            format!("{count}, {executions} executions, {threads} lanes{on}")
        }
        _ => format!("{count}, never executed"),
    };
    for near in line.line.iter().flat_map(|line| machine::near_texts(code, *line)) {
        sums += &format!("; {near}");
    }
    match line.line {
        Some(number) => {
            let code = source_line(profile, number).trim().to_owned();
            let begin = format!("{number} │ ");
            let code = cut(&code, width_of(&begin), look.columns);
            format!("{begin}{code}\n{}\n", fold(&sums, "  ", look.columns))
        }
        None => format!("of no line of the source\n{}\n", fold(&sums, "  ", look.columns)),
    }
}

fn mean(lanes: u64, executions: u64) -> String {
    let mean = Ratio::divide(lanes, executions);
    format!("{:>5}", mean.map_or(text::NONE.to_owned(), |mean| text::lanes(mean.0)))
}
