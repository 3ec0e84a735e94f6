//! `lanescope compare A B`: two records, or two shaders that are profiled in the same way.
//!
//! Input: two files or folders. Output: what differs first, then each launch that both have, down to
//! its lines; a page, JSON, Markdown. A condition makes a gate of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::arguments::{CompareArguments, LaunchArguments};
use super::devices::{self, Available};
use super::failure::{Exit, Failure};
use super::run::{complain, exit};
use super::screen::Outliving;
use super::watch::{Watch, Work, begin_run};
use super::{export, measuring, render, report, shader};
use crate::analyze::{self, Comparison, LaunchComparison, RelativeCondition};
use crate::kernel::{Catalogue, Launch};
use crate::present::fit::{fold, fold_parts};
use crate::present::{self, terminal_columns};
use crate::record::{Measurement, Run, Tag};
use crate::run::profile::{ProfileRequest, SIZE};
use crate::run::session::{Listener as _, Recording};

/// Lines of a launch in a terminal, and in Markdown.
const LINES_MAX: usize = 12;

/// Seconds that comparing two launches takes, about, on a core of 2024: it is done twice, as a whole and by lines.
const LAUNCH_S: f64 = 0.003;

/// Two things that are compared, and what they are called.
struct Sides {
    a: Run,
    b: Run,
    /// Whether they are known to be two versions of one shader.
    versions: bool,
    /// What profiling them earns by itself.
    exit: Exit,
    /// The folder of the record that was made of two shaders.
    watch: Option<Watch>,
    /// What tells how far reading and comparing records is.
    work: Option<Work>,
}

/// Prints what two have in common, side by side, and what only one has.
pub(crate) fn compare(arguments: &CompareArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let condition: Option<RelativeCondition> = match &arguments.fail_on {
        Some(text) => Some(text.parse().map_err(Failure::bad_input)?),
        None => None,
    };
    let there = |path: &Option<PathBuf>| export::is_stdout(path.as_deref());
    export::one_on_stdout(&[
        ("--export-json -", there(&arguments.export_json)),
        ("--export-markdown -", there(&arguments.export_markdown)),
    ])?;
    // A gate is judged, whoever reads.
    let out = &mut Outliving::new(condition.is_some(), out);
    let mut sides = sides(arguments)?;
    let (comparison, launches) = compare_all(&mut sides);
    let folder = match sides.watch.take() {
        Some(watch) => Some(watch.finish()?),
        None => arguments.out.clone(),
    };
    let exports = [&arguments.export_json, &arguments.export_markdown];
    let quiet = exports.iter().any(|path| export::is_stdout(path.as_deref()));
    let names = [&arguments.a, &arguments.b].map(|path| path.display().to_string());
    if !quiet {
        print(&names, &sides, &comparison, &launches, out)?;
    }
    out.flush()?;
    if let Some(path) = &arguments.export_json {
        export::comparison_json(&names, &comparison, &launches, path, out)?;
    }
    if let Some(path) = &arguments.export_markdown {
        export::comparison_markdown(&names, &comparison, &launches, LINES_MAX, path, out)?;
    }
    let stderr = &mut Outliving::new(condition.is_some(), super::screen::stderr());
    if let Some(folder) = folder {
        let page = render::comparison_page(&folder, &names, &comparison, &launches)?;
        writeln!(stderr, "Page:    {}", page.display())?;
    }
    judge(condition.as_ref(), &comparison, &launches, stderr)
        .map(|judged| if judged == Exit::Done { sides.exit } else { judged })
}

/// Compares both, as wholes and down to their lines.
fn compare_all(sides: &mut Sides) -> (Comparison, Vec<LaunchComparison>) {
    let work = sides.work.take();
    let Sides { a, b, versions, .. } = sides;
    let launches = a.measurements.len().min(b.measurements.len()) as u64;
    if let Some(work) = &work {
        work.begin_stage("comparing launches", 2 * launches, LAUNCH_S);
    }
    let mut notice = || {
        if let Some(work) = &work {
            work.advance(1);
        }
    };
    let whole = analyze::compare_noticing(a, b, *versions, &mut notice);
    (whole, analyze::compare_launches_noticing(a, b, *versions, &mut notice))
}

/// Whether a path means a record, by its name.
fn is_record(path: &Path) -> bool {
    let ends = |ending: &str| path.extension().is_some_and(|found| found == ending);
    path.is_dir() || ends("json") || ends("gz") || ends("xz")
}

/// Loads two records, or profiles two shaders.
fn sides(arguments: &CompareArguments) -> Result<Sides, Failure> {
    let catalogue = Catalogue::embedded().map_err(Failure::bad_input)?;
    match [&arguments.a, &arguments.b].map(|path| is_record(path)) {
        [true, true] => {
            let load = |file: &Path| -> Result<Run, Failure> {
                let mut run = report::read(file)?;
                // Kernels of earlier days are compared under the names of today.
                catalogue.renew(&mut run);
                Ok(run)
            };
            let work = Work::begin();
            let files = [arguments.a.clone(), arguments.b.clone()];
            let mut runs = report::read_each(&work, &files, load)?.into_iter();
            let (Some(a), Some(b)) = (runs.next(), runs.next()) else {
                return Err(Failure::message(
                    Exit::BadInput,
                    "two records are compared".to_owned(),
                ));
            };
            Ok(Sides { a, b, versions: false, exit: Exit::Done, watch: None, work: Some(work) })
        }
        [false, false] => profile_both(arguments, &catalogue),
        [_, second] => {
            if let Some(missing) =
                [&arguments.a, &arguments.b].into_iter().find(|path| !path.exists())
            {
                let near = shader::files_meant(missing);
                let message = format!("{} does not exist{near}", missing.display());
                return Err(Failure::message(Exit::BadInput, message));
            }
            let (record, shader) = match second {
                true => (&arguments.b, &arguments.a),
                false => (&arguments.a, &arguments.b),
            };
            let (record, shader) = (record.display(), shader.display());
            let message = format!(
                "{record} is a record and {shader} a shader: give two of a kind (`lanescope profile \
                 {shader}` makes a record)"
            );
            Err(Failure::message(Exit::BadInput, message))
        }
    }
}

/// Profiles two shaders with the same launch, on the same devices, side by side.
fn profile_both(arguments: &CompareArguments, catalogue: &Catalogue) -> Result<Sides, Failure> {
    let how = &arguments.how;
    let launches = prepare_both(arguments, how)?;
    let available = Available::ask(&how.device);
    let choices = devices::choose_for_profile(&how.device, &available)?;
    for launch in &launches {
        shader::warn_of_size(launch, &choices)?;
    }
    let mut recording = Recording::new(begin_run(std::collections::BTreeMap::new()));
    let mut watch = Watch::begin(arguments.out.as_deref(), &recording.run)?;
    let remarks = devices::remarks(&available, &choices, !how.device.is_empty());
    remarks.iter().for_each(|remark| watch.message(remark));
    let [mut a, mut b] = [recording.run.clone(), recording.run.clone()];
    for choice in &choices {
        let measured = recording.run.measurements.len();
        let groups = [launches.to_vec()];
        measuring::run(choice, &groups, how, catalogue, &mut recording, &mut watch);
        if let [first, second] = &recording.run.measurements[measured..] {
            a.measurements.push(first.clone());
            b.measurements.push(second.clone());
            // The record has both: their names may be the same.
            for (index, (side, measurement)) in
                [("A", first), ("B", second)].into_iter().enumerate()
            {
                let kernel = format!("{} ({side})", measurement.kernel);
                watch.replace(measured + index, &Measurement { kernel, ..measurement.clone() });
            }
        }
        if watch.has_failed() {
            break;
        }
    }
    for side in [&mut a, &mut b] {
        side.devices.clone_from(&recording.run.devices);
        side.sources.clone_from(&recording.run.sources);
    }
    for measurement in &recording.run.measurements {
        complain(&recording.run, measurement, &mut super::screen::stderr())?;
    }
    let exit = exit(&recording);
    Ok(Sides { a, b, versions: true, exit, watch: Some(watch), work: None })
}

/// The two launches: the same launch file, the same n.
fn prepare_both(
    arguments: &CompareArguments,
    how: &LaunchArguments,
) -> Result<[Launch; 2], Failure> {
    let request = |path| shader::request(path, how);
    let mut requests = [request(&arguments.a)?, request(&arguments.b)?];
    let prepare = |request: &ProfileRequest| shader::prepare(request, how);
    let [a, b] = [prepare(&requests[0])?, prepare(&requests[1])?];
    let n = |launch: &Launch| launch.parameters.get(SIZE).cloned();
    if !(a.n_is_default || b.n_is_default) || n(&a.launch) == n(&b.launch) {
        return Ok([a.launch, b.launch]);
    }
    // What one of them can afford, or asks for, both take.
    let smaller = [&a, &b].into_iter().filter_map(|side| match n(&side.launch)? {
        crate::record::Value::Integer(n) => u64::try_from(n).ok(),
        crate::record::Value::Real(_) | crate::record::Value::Name(_) => None,
    });
    let smaller = smaller.min();
    for request in &mut requests {
        request.n = smaller;
    }
    Ok([prepare(&requests[0])?.launch, prepare(&requests[1])?.launch])
}

/// What is said first where there is nothing to compare.
const NOTHING_IN_COMMON: &str = "Nothing to compare: no kernel was launched with the same parameters on matching devices in both.";

/// Prints the comparison.
fn print(
    names: &[String; 2],
    sides: &Sides,
    comparison: &Comparison,
    launches: &[LaunchComparison],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let columns = terminal_columns();
    let [a, b] = names;
    writeln!(out, "{}", fold(&format!("A is {a}, B is {b}"), "", columns))?;
    if sides.versions
        && let Some(first) = sides.b.measurements.first()
    {
        let parameters = analyze::parameters_text(&first.parameters, &[]);
        let seed = format!("seed {}", first.seed);
        let how: Vec<String> = [parameters, seed].into_iter().filter(|s| !s.is_empty()).collect();
        let both = format!("Both are launched with {}", how.join("; "));
        writeln!(out, "{}", fold(&both, "", columns))?;
    }
    // Launches of a sweep are rows of one table: by themselves nothing would say which is which.
    let one_kernel = launches.windows(2).all(|pair| pair[0].kernels == pair[1].kernels)
        && comparison.rows.windows(2).all(|pair| pair[0].parameters == pair[1].parameters);
    let counted = comparison.rows.iter().filter(|row| !row.is_executed_alone()).count();
    if comparison.rows.is_empty() {
        writeln!(out, "{}", fold(NOTHING_IN_COMMON, "", columns))?;
    } else if one_kernel && !launches.is_empty() && launches.len() == counted {
        print_launches(launches, columns, out)?;
    } else {
        for sentence in comparison.differing.iter().chain(&comparison.describe_unchanged()) {
            writeln!(out, "{}", fold(sentence, "", columns))?;
        }
        let (changed, left) = comparison.keep_changed();
        if changed.rows.iter().any(|row| !row.is_executed_alone()) {
            let (facts, families) = present::comparison(&changed).by_family();
            if !facts.is_empty() {
                writeln!(out, "{}\n", fold_parts(&facts, "; ", "", columns))?;
            }
            let screens = families.into_iter().map(|table| table.to_screen(columns));
            write!(out, "{}", screens.collect::<Vec<_>>().join("\n"))?;
        }
        if left > 0 && !changed.rows.is_empty() {
            let launches = present::count_text(left as u128, "launch");
            writeln!(out, "Unchanged, and not shown: {launches}.")?;
        }
    }
    if let Some(table) = present::compared_code(comparison) {
        writeln!(out, "\n{}", table.to_screen(columns))?;
    }
    if sides.a.counting_rule != sides.b.counting_rule && !comparison.rows.is_empty() {
        let explanation = Tag::CountingRuleDiffers.explanation();
        writeln!(out, "{}", fold(explanation, "", columns))?;
    }
    for missing in comparison.describe_not_compared() {
        writeln!(out, "{}", fold(&missing, "", columns))?;
    }
    Ok(())
}

/// Prints launches of one kernel: what differs once, the whole of each device, the parts of the first.
///
/// # Errors
///
/// What writing gives.
pub(super) fn print_launches(
    launches: &[LaunchComparison],
    columns: Option<usize>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut told: Vec<&str> = Vec::new();
    for sentence in launches.iter().flat_map(|launch| &launch.differing) {
        if !told.contains(&sentence.as_str()) {
            writeln!(out, "{}", fold(sentence, "", columns))?;
            told.push(sentence);
        }
    }
    // What holds for every device is said once, below the last.
    let alike = launches.windows(2).all(|pair| pair[0].verdicts == pair[1].verdicts);
    let mut parts = Vec::new();
    for (index, launch) in launches.iter().enumerate() {
        let mut tables = present::launch_comparison(launch, LINES_MAX).into_iter();
        if let Some(whole) = tables.next() {
            write!(out, "\n{}", whole.to_screen(columns))?;
        }
        let last = index + 1 == launches.len();
        for sentence in launch.verdicts.iter().filter(|_| last || !alike) {
            writeln!(out, "{}", fold(sentence, "", columns))?;
        }
        if index == 0 {
            parts = tables.collect();
        }
    }
    for table in parts {
        write!(out, "\n{}", table.to_screen(columns))?;
    }
    Ok(())
}

/// What `--fail-on` may speak of instead, as the end of a sentence; empty where that is nothing.
fn what_can_be_judged(comparison: &Comparison, launches: &[LaunchComparison]) -> String {
    let known = RelativeCondition::find_known(launches);
    if !known.is_empty() {
        return format!("; there are {}", known.join(", "));
    }
    match comparison.executed.is_empty() {
        true => String::new(),
        false => "; figures of machine code are compared and not judged: on a device that counts the source's lines, \
                  such as sim:32, slots, operations, idle, efficiency and lanes are"
            .to_owned(),
    }
}

/// The exit code that the comparison earns, with its reasons on standard error.
fn judge(
    condition: Option<&RelativeCondition>,
    comparison: &Comparison,
    launches: &[LaunchComparison],
    stderr: &mut impl Write,
) -> Result<Exit, Failure> {
    if comparison.rows.is_empty() {
        return Ok(Exit::BadInput);
    }
    let Some(condition) = condition else { return Ok(Exit::Done) };
    let unknown = condition.find_unknown(launches);
    if !unknown.is_empty() {
        let message = format!(
            "--fail-on cannot be judged: no launch has {} on both sides that compare{}",
            unknown.join(" and "),
            what_can_be_judged(comparison, launches)
        );
        return Err(Failure::message(Exit::BadInput, message));
    }
    let violations = condition.violations(launches);
    for violation in &violations {
        writeln!(stderr, "--fail-on: {violation}")?;
    }
    Ok(if violations.is_empty() { Exit::Done } else { Exit::CheckFailed })
}
