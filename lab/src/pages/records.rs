//! Figures of the committed records, for templates.
//!
//! Input: a record's name without its date (`h200-vulkan/sort-curves`) and a [`Selection`]. Output: numbers,
//! times in nanoseconds; what is asked for and is not there, or is there twice with different numbers, is
//! an error. Which records a page used is noted, for the table at its end.
//!
//! | `what` | is |
//! |---|---|
//! | `time` | the median time of a launch, ns |
//! | `lanes`, `efficiency` | mean active lanes; those over the width |
//! | `lanes_0` … `lanes_50` … `lanes_100` | active lanes of the subgroup below which lie so many percent of them |
//! | `operations` | subgroup operations |
//! | `ratio`, `predicted` | the time over the baseline's; the same as counted operations give it |
//! | `copy` | the share of the copy rate |
//! | `speedup`, `counted`, `traffic` | the baseline's time over the kernel's; what counting predicts; with the traffic of a sort |

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use lanescope::analyze::{self, Load, Plausibility, TimeRatio, Work};
use lanescope::kernel::Catalogue;
use lanescope::present;
use lanescope::record::{ArmOutcome, ConstructPart, Measurement, Run, SOURCE_LANES_MEAN};
use lanescope::units::text;
use minijinja::value::{Serde, Value as Made};
use minijinja::{Environment, Error};

use super::numbers::wrong;
use super::select::Selection;

/// Where the charts of pages are.
const CHARTS: &str = "results/charts";

/// The records of a checkout, read when they are asked for.
#[derive(Debug)]
pub(super) struct Records {
    /// The checkout.
    pub(super) root: PathBuf,
    /// Each record's file in `results/records`, by its name.
    files: BTreeMap<String, String>,
    catalogue: Catalogue,
    read: Mutex<BTreeMap<String, Arc<Run>>>,
    /// The charts that pages show, by their paths in the checkout.
    charts: Mutex<BTreeMap<String, String>>,
    used: Mutex<BTreeSet<String>>,
}

impl Records {
    /// Those of a checkout.
    pub(super) fn from_checkout(root: &Path) -> anyhow::Result<Self> {
        let folder = root.join(crate::index::RECORDS);
        let mut files = BTreeMap::new();
        for path in crate::index::files(&folder)? {
            let file = crate::index::relative(&folder, &path)?;
            files.insert(crate::index::name(&file)?, file);
        }
        Ok(Self {
            root: root.to_owned(),
            files,
            catalogue: Catalogue::embedded()?,
            read: Mutex::default(),
            charts: Mutex::default(),
            used: Mutex::default(),
        })
    }

    /// Forgets which records were used.
    pub(super) fn begin_page(&self) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The path of a record's file in the checkout.
    fn file(&self, name: &str) -> Result<String, Error> {
        let file = self.files.get(name).ok_or_else(|| wrong(format!("no record `{name}`")))?;
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Ok(format!("{}/{file}", crate::index::RECORDS))
    }

    /// A record, with what the catalogue knows of its kernels.
    pub(super) fn run(&self, name: &str) -> Result<Arc<Run>, Error> {
        let path = self.root.join(self.file(name)?);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = read.get(name) {
            return Ok(Arc::clone(run));
        }
        let mut run = lanescope::store::load(&path).map_err(wrong)?;
        self.catalogue.annotate(&mut run);
        let run = Arc::new(run);
        read.insert(name.to_owned(), Arc::clone(&run));
        Ok(run)
    }

    /// Draws a figure of a record and returns its path in the checkout.
    fn draw(&self, record: &str, name: &str) -> Result<String, Error> {
        let run = self.run(record)?;
        let path = format!("{CHARTS}/{record}/{name}.svg");
        let mut charts = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        if !charts.contains_key(&path) {
            let figures = lanescope::chart::figures(&run);
            let figure = figures.iter().find(|figure| figure.name == name).ok_or_else(|| {
                let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
                wrong(format!("{record} has no figure `{name}`; it has {}", names.join(", ")))
            })?;
            charts.insert(path.clone(), lanescope::chart::draw(&figure.drawing).map_err(wrong)?);
        }
        Ok(path)
    }

    /// The charts that pages showed, by their paths in the checkout.
    pub(super) fn charts(&self) -> BTreeMap<String, String> {
        self.charts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The table of the records that the page used; nothing where it used none.
    pub(super) fn sources_table(&self, up: &str) -> anyhow::Result<String> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if used.is_empty() {
            return Ok(String::new());
        }
        let mut text = "\n## Records\n\nMade of these; `lanescope report FILE` shows all of one.\n\n\
                        | record | devices | commit | counting rule | times that met the stop rule |\n\
                        |---|---|---|---|---|\n"
            .to_owned();
        for name in used {
            let file = self.file(&name).map_err(|error| anyhow::anyhow!("{error}"))?;
            let run = self.run(&name).map_err(|error| anyhow::anyhow!("{error}"))?;
            let devices: Vec<&str> =
                run.devices.iter().map(|device| device.name.as_str()).collect();
            let devices: BTreeSet<&str> = devices.into_iter().collect();
            let (times, met) = times(&run);
            let sha = run.tool.git_sha.as_deref().context("no commit")?;
            text += &format!(
                "| [{name}]({up}{file}) | {} | {} | {} | {} |\n",
                devices.into_iter().collect::<Vec<_>>().join(", "),
                sha.get(..8).context("a short commit")?,
                run.counting_rule,
                if times == 0 { "none taken".to_owned() } else { format!("{met} of {times}") },
            );
        }
        Ok(text)
    }
}

/// How many times a record has, and how many met the stop rule.
fn times(run: &Run) -> (usize, usize) {
    let times = run.measurements.iter().filter_map(|measurement| measurement.time.as_ref());
    let met: Vec<bool> = times.map(|time| time.stop_rule_met).collect();
    (met.len(), met.iter().filter(|met| **met).count())
}

/// Adds the functions to an environment; `up` leads from the page to the checkout.
#[expect(clippy::too_many_lines, reason = "a list of what templates call")]
pub(super) fn register(environment: &mut Environment<'_>, records: &Arc<Records>, up: &str) {
    let all = Arc::clone(records);
    environment.add_function("all", move |record: String, selection: String, what: String| {
        values(&*all.run(&record)?, &selection, &what)
    });
    let store = Arc::clone(records);
    environment.add_function("one", move |record: String, selection: String, what: String| {
        let values = values(&*store.run(&record)?, &selection, &what)?;
        match values.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other == first) => Ok(*first),
            _ => Err(wrong(format!("{} values of `{selection}` in {record}", values.len()))),
        }
    });
    let store = Arc::clone(records);
    environment.add_function("ratio", move |record: String, selection: String| {
        ratio_text(&*store.run(&record)?, &selection)
    });
    let store = Arc::clone(records);
    environment.add_function("published", move |kernel: String| {
        let found = store
            .catalogue
            .kernel(&kernel)
            .and_then(|kernel| kernel.description.published.as_ref());
        found
            .map(|published| published.active_lanes_mean)
            .ok_or_else(|| wrong(format!("of {kernel}: nothing")))
    });
    let store = Arc::clone(records);
    environment.add_function("stage", move |record: String, selection: String, entries: String| {
        Ok::<_, Error>(stages(&*store.run(&record)?, &selection, &entries)?.iter().sum::<f64>())
    });
    let store = Arc::clone(records);
    environment.add_function(
        "stages",
        move |record: String, selection: String, entries: String| {
            stages(&*store.run(&record)?, &selection, &entries)
        },
    );
    let store = Arc::clone(records);
    environment.add_function("counter", move |record: String, selection: String, name: String| {
        let run = store.run(&record)?;
        let found = only(&run, &selection)?;
        analyze::machine::counter(found, &name).ok_or_else(|| wrong(format!("no counter `{name}`")))
    });
    let store = Arc::clone(records);
    environment.add_function("reading", move |record: String, selection: String| {
        let run = store.run(&record)?;
        let read = analyze::stalls::read(&only(&run, &selection)?.counters);
        read.map(|reading| reading.sentence()).ok_or_else(|| wrong("no stalls to read"))
    });
    let store = Arc::clone(records);
    environment.add_function("shown", move |record: String, selection: String, name: String| {
        let run = store.run(&record)?;
        let found = only(&run, &selection)?;
        found.outputs_shown.get(&name).cloned().ok_or_else(|| wrong(format!("no output `{name}`")))
    });
    let store = Arc::clone(records);
    environment.add_function("device", move |record: String, id: String, what: String| {
        let run = store.run(&record)?;
        let device = run.devices.iter().find(|device| device.id.starts_with(&id));
        let device = device.ok_or_else(|| wrong(format!("no device {id}")))?;
        let value = match what.as_str() {
            "copy_bytes_per_s" => device.copy_bytes_per_s,
            "launch_ns" => device.launch_ns.map(|time| time.0),
            "peak_fma_per_s" => device.peak_fma_per_s,
            #[expect(clippy::cast_precision_loss, reason = "limits lie far below 2^53")]
            "loop_limit" => device.loop_limit.map(|limit| limit as f64),
            _ => None,
        };
        value.ok_or_else(|| wrong(format!("no `{what}` of {id}")))
    });
    let store = Arc::clone(records);
    environment.add_function("over", move |record: String, dividend: String, divisor: String| {
        Ok::<_, Error>(over(&*store.run(&record)?, &dividend, &divisor)?.map(Made::from))
    });
    let store = Arc::clone(records);
    environment.add_function("latency", move |record: String, operation: String, load: String| {
        latency(&*store.run(&record)?, &operation, &load)
    });
    let store = Arc::clone(records);
    environment.add_function("agreement", move |record: String, start: String| {
        let run = store.run(&record)?;
        let rows = analyze::agreements(&run);
        let rows: Vec<_> = rows.iter().filter(|row| row.kernel.starts_with(&start)).collect();
        let differences: usize = rows.iter().map(|row| row.agreement.differences.len()).sum();
        let blocks: usize = rows.iter().map(|row| row.agreement.blocks_compared).sum();
        Ok::<_, Error>(BTreeMap::from([
            ("launches", rows.len()),
            ("blocks", blocks),
            ("differences", differences),
        ]))
    });
    register_texts(environment, records, up);
}

/// Adds the functions that give texts and links.
#[expect(clippy::too_many_lines, reason = "a list of what templates call")]
fn register_texts(environment: &mut Environment<'_>, records: &Arc<Records>, up: &str) {
    let (store, to) = (Arc::clone(records), up.to_owned());
    environment.add_function("record", move |name: String| {
        Ok::<_, Error>(format!("[{name}]({to}{})", store.file(&name)?))
    });
    let (store, to) = (Arc::clone(records), up.to_owned());
    environment.add_function("chart", move |record: String, name: String, text: Option<String>| {
        let path = store.draw(&record, &name)?;
        // With a text it is a link, without one the picture.
        Ok(match text {
            Some(text) => format!("[{text}]({to}{path})"),
            None => format!("[![{name}]({to}{path})]({to}{path})"),
        })
    });
    let store = Arc::clone(records);
    environment.add_function("crossovers", move |record: String| {
        let file = store.file(&record)?;
        let sentences = analyze::crossover_sentences(&*store.run(&record)?);
        if sentences.is_empty() {
            return Err(wrong(format!("{file} has no crossovers")));
        }
        Ok(sentences.iter().map(|sentence| format!("- {sentence}\n")).collect::<String>())
    });
    let store = Arc::clone(records);
    environment.add_function(
        "crossover",
        move |record: String, selection: String, axis: String| {
            crossover(&*store.run(&record)?, &selection, &axis)
        },
    );
    let store = Arc::clone(records);
    environment.add_function("kernels", move |record: String, device: String| {
        let run = store.run(&record)?;
        let on = |measurement: &&Measurement| {
            measurement.device == device && measurement.error.is_none()
        };
        let names = run.measurements.iter().filter(on).map(|found| found.kernel.clone());
        Ok::<_, Error>(names.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>())
    });
    let store = Arc::clone(records);
    environment.add_function("arms", move |record: String, selection: String| {
        let run = store.run(&record)?;
        let found = analyze::machine::arms_text(only(&run, &selection)?);
        found.ok_or_else(|| wrong(format!("no arms of `{selection}`")))
    });
    let store = Arc::clone(records);
    environment.add_function("first_point", move |record: String, kernel: String, id: String| {
        first_point(&*store.run(&record)?, &kernel, &id)
    });
    let store = Arc::clone(records);
    environment.add_function("machine_lanes", move |record: String, selection: String| {
        let run = store.run(&record)?;
        let found = only(&run, &selection)?;
        let value = |name: &str| analyze::machine::counter(found, name).unwrap_or(0.0);
        Ok::<_, Error>(match value("valu_instructions") {
            0.0 => text::NONE.to_owned(),
            executed => text::lanes(value("valu_lanes") / executed),
        })
    });
    let store = Arc::clone(records);
    environment.add_function("source_lanes", move |record: String, selection: String| {
        let run = store.run(&record)?;
        // Executed machine code has no counts of its own source, and those of the simulator as a counter.
        let lanes = only(&run, &selection).ok().and_then(|found| {
            let of_source = || analyze::machine::counter(found, SOURCE_LANES_MEAN);
            found.active_lanes_mean.or_else(of_source)
        });
        Ok::<_, Error>(lanes.map_or(text::NONE.to_owned(), text::lanes))
    });
    let store = Arc::clone(records);
    environment.add_function("machine_instructions", move |record: String, selection: String| {
        let run = store.run(&record)?;
        let issued = only(&run, &selection)?.counters.iter();
        let issued = issued.filter(|counter| counter.name.ends_with("_instructions"));
        Ok::<_, Error>(issued.map(|counter| counter.value).sum::<f64>())
    });
    let store = Arc::clone(records);
    environment.add_function(
        "shared_point",
        move |record: String, id: String, kernel: String, other: String, its: String| {
            let (run, other) = (store.run(&record)?, store.run(&other)?);
            Ok::<_, Error>(shared_point((&run, &id), (&other, &its), &kernel))
        },
    );
    let store = Arc::clone(records);
    environment.add_function("branch_arms", move |record: String, selection: String| {
        let run = store.run(&record)?;
        branch_arms(only(&run, &selection)?)
    });
    let store = Arc::clone(records);
    environment.add_function(
        "executed",
        move |record: String, selection: String, start: String| {
            let run = store.run(&record)?;
            Ok::<_, Error>(analyze::machine::operation_count(only(&run, &selection)?, &start))
        },
    );
    let store = Arc::clone(records);
    environment.add_function("driver", move |record: String, id: String| {
        let run = store.run(&record)?;
        let device = run.devices.iter().find(|device| device.id == id);
        device.map(|device| device.driver.clone()).ok_or_else(|| wrong(format!("no device {id}")))
    });
    let store = Arc::clone(records);
    environment.add_function("code_sha", move |record: String, selection: String| {
        let run = store.run(&record)?;
        let found = only(&run, &selection)?;
        // Of what is measured, the first first: what makes the launch ready is in no figure beside it.
        let measured = found.dispatches.iter().filter(|dispatch| !dispatch.setup);
        let codes = measured.filter_map(|dispatch| dispatch.machine_code.as_ref());
        let mut hashes: Vec<&str> = Vec::new();
        for hash in codes.filter_map(|code| code.sha256.as_deref()?.get(..8)) {
            hashes.extend((!hashes.contains(&hash)).then_some(hash));
        }
        match hashes.as_slice() {
            [] => Err(wrong(format!("no code of `{selection}`"))),
            [first] => Ok((*first).to_owned()),
            [first, others @ ..] => Ok(format!("{first} and {} more", others.len())),
        }
    });
    let store = Arc::clone(records);
    environment.add_function("traffic", move |counted: String, watched: String| {
        let runs = [&counted, &watched].map(|record| store.run(record));
        let [counted, watched] = runs;
        let joined = analyze::merge(&[(*counted?).clone(), (*watched?).clone()]).map_err(wrong)?;
        let table = present::traffic(&joined);
        let mut table = table.ok_or_else(|| wrong("no launch has traffic by both"))?;
        table.title.clear();
        Ok::<_, Error>(table.to_markdown())
    });
    let store = Arc::clone(records);
    environment.add_function("stop_rule", move |record: String| {
        let (times, met) = times(&*store.run(&record)?);
        Ok::<_, Error>(BTreeMap::from([("times", times), ("met", met), ("missed", times - met)]))
    });
    let store = Arc::clone(records);
    environment.add_function("noise_widths", move |record: String| {
        let run = store.run(&record)?;
        let width = |measurement: &Measurement| {
            let time = measurement.time.as_ref()?;
            Some((time.ci95_ns[1].0 - time.ci95_ns[0].0) / time.median_ns.0)
        };
        let mut widths: Vec<f64> = run.measurements.iter().filter_map(width).collect();
        widths.sort_by(f64::total_cmp);
        Ok::<_, Error>(Made::from(widths))
    });
}

/// The parameters of a kernel's first measurement on a device, as a selection has them.
fn first_point(run: &Run, kernel: &str, device: &str) -> Result<String, Error> {
    let is = |found: &&Measurement| {
        found.kernel == kernel && found.device == device && found.error.is_none()
    };
    let found = run.measurements.iter().find(is);
    found.map(point_text).ok_or_else(|| wrong(format!("no {kernel} on {device}")))
}

/// The parameters of a kernel's first measurement with machine code on a device of a record that a device of
/// another record has too, as a selection has them; `None` if there is none.
fn shared_point(
    (run, device): (&Run, &str),
    (other, its): (&Run, &str),
    kernel: &str,
) -> Option<String> {
    let coded = |found: &&Measurement| {
        found.kernel == kernel
            && found.error.is_none()
            && found.dispatches.iter().any(|dispatch| dispatch.machine_code.is_some())
    };
    let there = |found: &&Measurement| {
        let same = |candidate: &&Measurement| {
            candidate.device == its && candidate.parameters == found.parameters
        };
        other.measurements.iter().filter(coded).any(|other| same(&other))
    };
    let on = |found: &&Measurement| found.device == device;
    run.measurements.iter().filter(coded).filter(on).find(there).map(point_text)
}

/// What became of the arms of a launch's branches, without its loops and those that never ran: each outcome
/// once.
fn branch_arms(measurement: &Measurement) -> Result<String, Error> {
    let mut found: BTreeSet<ArmOutcome> = BTreeSet::new();
    for dispatch in &measurement.dispatches {
        let arms = analyze::machine::arms(dispatch).ok_or_else(|| wrong("no arms"))?;
        let branches = arms.iter().filter(|arm| arm.part != ConstructPart::LoopBody);
        found.extend(branches.map(|arm| arm.outcome));
    }
    found.remove(&ArmOutcome::NeverRan);
    let words: Vec<&str> = found.iter().map(|outcome| outcome.name()).collect();
    Ok(if words.is_empty() { "none".to_owned() } else { words.join(", ") })
}

/// A measurement's parameters as a selection has them.
fn point_text(found: &Measurement) -> String {
    let pairs = found.parameters.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}

/// The one measurement that a selection means.
fn only<'a>(run: &'a Run, selection: &str) -> Result<&'a Measurement, Error> {
    let wanted = Selection::parse(selection)?;
    let mut found = run.measurements.iter().filter(|measurement| {
        wanted.means(&measurement.kernel, &measurement.parameters, Some(&measurement.device))
    });
    match (found.next(), found.next()) {
        (Some(measurement), None) => Ok(measurement),
        (None, _) => Err(wrong(format!("no measurement is `{selection}`"))),
        (Some(_), Some(_)) => Err(wrong(format!("several measurements are `{selection}`"))),
    }
}

/// A quantity of every measurement that a selection means; none is an error.
fn values(run: &Run, selection: &str, what: &str) -> Result<Vec<f64>, Error> {
    let wanted = Selection::parse(selection)?;
    let found: Vec<Option<f64>> = match what {
        _ if is_of_measurement(what) => run
            .measurements
            .iter()
            .filter(|measurement| {
                wanted.means(
                    &measurement.kernel,
                    &measurement.parameters,
                    Some(&measurement.device),
                )
            })
            .map(|parameter| of_measurement(parameter, what))
            .collect(),
        "speedup" | "counted" | "traffic" => analyze::model(run)
            .iter()
            .filter(|row| wanted.means(&row.kernel, &row.parameters, None))
            .map(|row| match what {
                "speedup" => row.speedup_measured,
                "counted" => row.speedup_counted,
                _ => row.speedup_with_traffic,
            })
            .collect(),
        "ratio" | "predicted" | "efficiency" | "copy" | "peak" => analyze::summary(run)
            .devices
            .iter()
            .flat_map(|device| device.rows.iter().map(move |row| (&device.device, row)))
            .filter(|(id, row)| wanted.means(&row.kernel, &row.parameters, Some(id)))
            .map(|(_, row)| of_row(row, what))
            .collect(),
        _ => return Err(wrong(format!("`{what}` is no quantity"))),
    };
    let values: Vec<f64> = found.iter().flatten().copied().collect();
    if values.is_empty() {
        return Err(wrong(format!("no {what} of `{selection}` ({} measurements)", found.len())));
    }
    Ok(values)
}

/// Whether a quantity is a measurement's own.
fn is_of_measurement(what: &str) -> bool {
    matches!(what, "time" | "lanes" | "operations") || percent_of_subgroups(what).is_some()
}

/// The percent of a quantile of subgroups, as `lanes_50`.
fn percent_of_subgroups(what: &str) -> Option<u32> {
    what.strip_prefix("lanes_")?.parse().ok()
}

/// A quantity of a measurement itself.
fn of_measurement(measurement: &Measurement, what: &str) -> Option<f64> {
    if let Some(percent) = percent_of_subgroups(what) {
        let spread = measurement.trace.as_ref()?.spread.as_ref()?;
        let efficiency = spread.efficiency_ratio_quantiles.get(&percent)?;
        return Some(efficiency.0 * f64::from(measurement.subgroup_width?.lanes()));
    }
    match what {
        "time" => measurement.time.as_ref().map(|time| time.median_ns.0),
        "lanes" => measurement.active_lanes_mean,
        #[expect(clippy::cast_precision_loss, reason = "written with few digits")]
        _ => Some(Work::from_measurement(measurement).subgroup_operations as f64),
    }
}

/// A quantity that compares a measurement with its baseline.
fn of_row(row: &analyze::SummaryRow, what: &str) -> Option<f64> {
    match (what, &row.time_ratio) {
        ("ratio", TimeRatio::Measured(ratio)) => Some(ratio.median),
        ("ratio", _) => None,
        ("predicted", _) => row.time_ratio_predicted,
        ("peak", _) => match row.plausibility {
            Plausibility::Possible { peak_ratio } | Plausibility::WorkRemoved { peak_ratio } => {
                Some(peak_ratio)
            }
            Plausibility::Unknown => None,
        },
        ("copy", _) => row.bandwidth.as_ref()?.copy_rate.map(|share| share.0),
        _ => row.efficiency.map(|share| share.0),
    }
}

/// A kernel's time over its baseline's, worded: a number, `1` for the baseline, or `withheld`.
fn ratio_text(run: &Run, selection: &str) -> Result<String, Error> {
    let wanted = Selection::parse(selection)?;
    let summary = analyze::summary(run);
    let rows = summary.devices.iter().flat_map(|device| {
        device
            .rows
            .iter()
            .filter(|row| wanted.means(&row.kernel, &row.parameters, Some(&device.device)))
    });
    match rows.map(|row| &row.time_ratio).collect::<Vec<_>>().as_slice() {
        [TimeRatio::Measured(ratio)] => Ok(format!("{:.2}", ratio.median)),
        [TimeRatio::Baseline] => Ok("1".to_owned()),
        [TimeRatio::Withheld(_)] => Ok("withheld".to_owned()),
        other => Err(wrong(format!("the ratio of `{selection}`: {other:?}"))),
    }
}

/// The time of one launch over that of another, of those that were sampled side by side; `None`, a dash, where none
/// were. Several such pairs that lie further apart than [`OVER_APART`] are an error.
fn over(run: &Run, dividend: &str, divisor: &str) -> Result<Option<f64>, Error> {
    let [above, below] = [Selection::parse(dividend)?, Selection::parse(divisor)?];
    let all = |wanted: &Selection| {
        let means = |m: &&Measurement| {
            m.time.is_some() && wanted.means(&m.kernel, &m.parameters, Some(&m.device))
        };
        run.measurements.iter().filter(means).collect::<Vec<_>>()
    };
    let (above, below) = (all(&above), all(&below));
    if above.is_empty() || below.is_empty() {
        return Err(wrong(format!("no times of `{dividend}` or of `{divisor}`")));
    }
    let pairs = above.iter().flat_map(|a| below.iter().map(move |b| (a, b)));
    let pairs = pairs.filter(|(a, b)| a.device == b.device);
    let ratios: Vec<f64> =
        pairs.filter_map(|(a, b)| Some(analyze::paired_times(a, b)?.median)).collect();
    let (least, most) =
        ratios.iter().fold((f64::MAX, 0.0_f64), |(least, most), r| (least.min(*r), most.max(*r)));
    if most > least * OVER_APART {
        return Err(wrong(format!("`{dividend}` over `{divisor}`: {ratios:?}")));
    }
    Ok(ratios.first().copied())
}

/// How far several ratios of the same two launches may lie apart.
const OVER_APART: f64 = 1.02;

/// The median times of a launch's dispatches with these entry points, `a|b`, or `*` for all, in order, ns.
fn stages(run: &Run, selection: &str, entries: &str) -> Result<Vec<f64>, Error> {
    let found = only(run, selection)?;
    let wanted = |entry: &str| entries == "*" || entries.split('|').any(|name| name == entry);
    let timed =
        found.dispatches.iter().filter(|dispatch| wanted(&dispatch.entry_point) && !dispatch.setup);
    let times: Vec<f64> =
        timed.filter_map(|dispatch| dispatch.median_ns.map(|time| time.0)).collect();
    if times.is_empty() {
        let names: Vec<&str> =
            found.dispatches.iter().map(|dispatch| dispatch.entry_point.as_str()).collect();
        return Err(wrong(format!("no time of `{entries}`; it has {}", names.join(", "))));
    }
    Ok(times)
}

/// A link of a chain: its ratio to a multiply-add, its cycles and its nanoseconds; `load` is `alone` or
/// `saturated`.
fn latency(run: &Run, operation: &str, load: &str) -> Result<Made, Error> {
    let wanted = if load == "alone" { Load::Alone } else { Load::Saturated };
    let tables = analyze::latencies(run);
    let rows: Vec<_> = tables.iter().flat_map(|table| &table.rows).collect();
    let found = rows.iter().find(|row| row.operation == operation && row.load == wanted);
    let row = found.ok_or_else(|| {
        let names: Vec<&str> = rows.iter().map(|row| row.operation.as_str()).collect();
        wrong(format!("no `{operation}`; there are {}", names.join(", ")))
    })?;
    Ok(Made::from(Serde(BTreeMap::from([
        ("ns", Some(row.link.0)),
        ("ratio", row.ratio),
        ("cycles", row.cycles),
    ]))))
}

/// Where a kernel begins to pay along a parameter, in the words of the table of crossovers.
fn crossover(run: &Run, selection: &str, axis: &str) -> Result<String, Error> {
    let wanted = Selection::parse(selection)?;
    let found: BTreeSet<String> = analyze::speed_curves(run)
        .iter()
        .filter(|curve| {
            let mut parameters = curve.fixed.clone();
            parameters.extend(curve.variant.clone());
            curve.axis == axis && wanted.means(&curve.kernel, &parameters, None)
        })
        .map(|curve| analyze::crossover(curve).words(curve))
        .collect();
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(words), None) => Ok(words),
        (None, _) => Err(wrong(format!("no curve of `{selection}` along {axis}"))),
        (Some(_), Some(_)) => Err(wrong(format!("several curves of `{selection}` along {axis}"))),
    }
}
