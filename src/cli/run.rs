//! `lanescope run`: the main job.
//!
//! Input: kernels, devices, axes. Output: a result file that grows with each finished measurement,
//! then a terminal table, charts and a page made from it. What is run is `plan`'s to say, and what is
//! seen and saved meanwhile `watch`'s.

use std::io::Write;
use std::panic::resume_unwind;
use std::thread;

use super::arguments::RunArguments;
use super::catalogue;
use super::devices::Available;
use super::failure::{Exit, Failure, with_hint};
use super::plan::plan;
use super::watch::{RESULT_FILE, Watch, begin_run};
use super::{export, render, screen};
use crate::analyze;
use crate::present::fit::{fold, fold_after};
use crate::present::{self, Section, count_text, terminal_columns};
use crate::record::{Measurement, Output, Run, Status, Tag, flag};
use crate::run::session::{Listener as _, Recording};

/// Runs the main job.
pub(crate) fn run(arguments: &RunArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    // Where nothing is named, nothing can be wrong with it: devices are asked for while the catalogue is read.
    let (catalogue, available) = thread::scope(|scope| {
        let reading = scope.spawn(|| catalogue::read(arguments.shaders.as_deref()));
        let nothing_named = arguments.kernels.is_empty() && arguments.axes().is_empty();
        let available = nothing_named.then(|| Available::ask(&arguments.device));
        (reading.join().unwrap_or_else(|panic| resume_unwind(panic)), available)
    });
    let catalogue = catalogue?;
    let plan = plan(&catalogue, arguments, available)?;
    let mut recording = Recording::new(begin_run(plan.notes()));
    let mut watch = Watch::begin(arguments.out.as_deref(), &recording.run)?.with_budget();
    plan.told.iter().for_each(|text| watch.message(text));
    plan.execute(&mut recording, &mut watch)?;
    finish(watch, &recording, arguments, out)
}

/// Tables, exports, charts, page; then the exit code.
fn finish(
    watch: Watch,
    recording: &Recording,
    arguments: &RunArguments,
    out: &mut impl Write,
) -> Result<Exit, Failure> {
    let folder = watch.finish()?;
    let run = &recording.run;
    let summary = analyze::summary(run);
    let exports = [&arguments.export_json, &arguments.export_csv, &arguments.export_markdown];
    let quiet = exports.iter().any(|path| export::is_stdout(path.as_deref()));
    let mut tables = Vec::new();
    let (written, page) = rayon::join(
        || if quiet { Ok(()) } else { write_tables(run, &mut tables) },
        || render::write(&folder, std::slice::from_ref(run), &[]),
    );
    written?;
    out.write_all(&tables)?;
    // Machine output begins only when everything that locks standard output is done.
    out.flush()?;
    if let Some(path) = &arguments.export_json {
        export::json(run, &[], path, out)?;
    }
    if let Some(path) = &arguments.export_csv {
        export::csv(&summary, path, out)?;
    }
    if let Some(path) = &arguments.export_markdown {
        export::markdown(run, &summary, path, out)?;
    }
    let page = page?;
    let stderr = &mut screen::stderr();
    writeln!(stderr, "Results: {}", folder.join(RESULT_FILE).display())?;
    writeln!(stderr, "Page:    {}", page.display())?;
    for measurement in &run.measurements {
        complain(run, measurement, stderr)?;
    }
    tell_missing(run, |_, _| false, stderr)?;
    Ok(exit(recording))
}

/// Says what went wrong with a measurement of a run, where something did.
pub(super) fn complain(
    run: &Run,
    measurement: &Measurement,
    stderr: &mut impl Write,
) -> Result<(), Failure> {
    let what = match (measurement.status, measurement.output) {
        (Status::Failed, _) => "failed",
        (Status::Ok, Output::Mismatch) if analyze::differs_by_order(run, measurement) => {
            "output differs by order"
        }
        (Status::Ok, Output::Mismatch) => "wrong output",
        (Status::Ok, Output::Verified | Output::Unchecked) => return Ok(()),
    };
    let why = measurement.error.as_deref().unwrap_or("no reason was given");
    let why = with_hint(why, measurement.limit);
    let parameters = analyze::parameters_text(&measurement.parameters, &[]);
    let (kernel, device) = (&measurement.kernel, &measurement.device);
    writeln!(stderr, "{what}: {kernel} ({parameters}) on {device}: {why}")?;
    Ok(())
}

/// Says why hardware counters that were asked for are not there, each reason once a device, but for what is said
/// of it elsewhere.
pub(super) fn tell_missing(
    run: &Run,
    elsewhere: impl Fn(&str, &str) -> bool,
    stderr: &mut impl Write,
) -> Result<(), Failure> {
    let mut told = Vec::new();
    for measurement in &run.measurements {
        let here = |why: &&String| !elsewhere(&measurement.device, why);
        for why in measurement.counters_missing.iter().filter(here) {
            let line = format!("{}: {why}", measurement.device);
            if !told.contains(&line) {
                writeln!(stderr, "{line}")?;
                told.push(line);
            }
        }
    }
    Ok(())
}

/// The exit code that a run earns.
pub(super) fn exit(recording: &Recording) -> Exit {
    let Recording { run, opened, unopened } = recording;
    if *opened == 0 {
        Exit::NoDevice
    } else if run.measurements.iter().any(wrong) {
        Exit::CheckFailed
    } else if *unopened > 0 || run.measurements.iter().any(|m| m.status == Status::Failed) {
        Exit::PartFailed
    } else {
        Exit::Done
    }
}

/// Whether outputs were wrong, or the program is: a barrier in divergent flow.
fn wrong(measurement: &Measurement) -> bool {
    let barrier = flag::has(&measurement.flags, &Tag::DivergentBarrier);
    measurement.output == Output::Mismatch || barrier
}

/// The most rows of a table of widths, or of machine code, on a terminal; elsewhere the first table has all of its rows.
const WIDTH_ROWS_MAX: usize = 12;

/// Every table of a run, how its devices agree with the simulator, and where kernels pay.
pub(crate) fn write_tables(run: &Run, out: &mut impl Write) -> Result<(), Failure> {
    let columns = terminal_columns();
    for sentence in analyze::opening(run, &analyze::summary(run)) {
        writeln!(out, "{}", fold(&sentence, "", columns))?;
    }
    // The first says what 64 lanes cost; how that comes about is for the page, where it is long.
    let mut of_widths = 0;
    let mut left_out = 0;
    for (section, mut table) in present::tables(run) {
        if section == Section::MachineCode && columns.is_some() {
            table.fold_after(WIDTH_ROWS_MAX);
        }
        if section == Section::Widths {
            of_widths += 1;
            if columns.is_some() && of_widths == 1 {
                table.fold_after(WIDTH_ROWS_MAX);
            }
            if of_widths > 1 && table.rows.len() > WIDTH_ROWS_MAX {
                left_out += 1;
                continue;
            }
        }
        writeln!(out, "{}", table.to_screen(columns))?;
    }
    if left_out > 0 {
        let tables = count_text(left_out, "more table");
        writeln!(out, "{tables} of what each width costs: on the page.")?;
    }
    write_flags(run, columns, out)?;
    let agreements = analyze::agreements(run);
    if !agreements.is_empty() {
        let differing: usize =
            agreements.iter().filter(|row| !row.agreement.differences.is_empty()).count();
        let blocks: usize = agreements.iter().map(|row| row.agreement.blocks_compared).sum();
        let launches = count_text(agreements.len() as u128, "launch");
        let blocks = count_text(blocks as u128, "block");
        let verdict = if differing == 0 {
            "executions and lanes equal the simulator's in every block".to_owned()
        } else {
            let differ = if differing == 1 { "differs" } else { "differ" };
            format!("{differing} of them {differ} from the simulator")
        };
        let line = format!("Agreement: {launches}, {blocks} compared: {verdict}.");
        writeln!(out, "{}", fold(&line, "", columns))?;
    }
    let sentences = analyze::crossover_sentences(run);
    if !sentences.is_empty() {
        writeln!(out)?;
    }
    for sentence in sentences {
        writeln!(out, "{}", fold(&sentence, "", columns))?;
    }
    Ok(())
}

/// Says what the flags in the tables mean, each in a sentence.
fn write_flags(run: &Run, columns: Option<usize>, out: &mut impl Write) -> Result<(), Failure> {
    let mut tags: Vec<Tag> = Vec::new();
    for finding in analyze::findings(run) {
        if !tags.contains(&finding.flag.tag) {
            tags.push(finding.flag.tag);
        }
    }
    if !tags.is_empty() {
        writeln!(out, "{}", fold("Flags, which the page explains in full:", "", columns))?;
    }
    for tag in tags {
        let line = format!("{}: {}", tag.word(), tag.first_sentence());
        writeln!(out, "{}", fold_after("  ", &line, "    ", columns))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flagged_is_said_in_words_once() {
        let mut run = crate::fixtures::run();
        let shown = |run: &Run| {
            let mut out = Vec::new();
            write_flags(run, None, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        for device in &mut run.devices {
            device.flags = vec![Tag::SelfTestFailed.into()];
        }
        let text = shown(&run);
        let line = "  self_test_failed: In at least one small kernel the device's executions were not those";
        assert_eq!(text.matches(line).count(), 1, "{text}");
        assert!(text.starts_with("Flags, which the page explains in full:\n"), "{text}");
        run.devices.iter_mut().for_each(|device| device.flags.clear());
        run.measurements.clear();
        assert_eq!(shown(&run), "");
    }

    #[test]
    fn the_exit_code_is_the_worst_that_happened() {
        let run = crate::fixtures::run();
        let with = |change: &dyn Fn(&mut Measurement)| {
            let mut run = run.clone();
            run.measurements.iter_mut().for_each(|measurement| {
                measurement.status = Status::Ok;
                measurement.output = Output::Verified;
            });
            change(&mut run.measurements[0]);
            run
        };
        let exit =
            |run: &Run, unopened, opened| exit(&Recording { run: run.clone(), opened, unopened });
        let fine = with(&|_| {});
        assert_eq!(exit(&fine, 0, 1), Exit::Done);
        assert_eq!(exit(&fine, 1, 1), Exit::PartFailed);
        assert_eq!(exit(&fine, 1, 0), Exit::NoDevice);
        let wrong = with(&|measurement| measurement.output = Output::Mismatch);
        assert_eq!(exit(&wrong, 1, 1), Exit::CheckFailed);
        let failed = with(&|measurement| measurement.status = Status::Failed);
        assert_eq!(exit(&failed, 0, 1), Exit::PartFailed);
    }
}
