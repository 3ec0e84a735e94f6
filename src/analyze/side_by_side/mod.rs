//! The same launch by every instrument: simulator, Vulkan, CUDA, the machine's own counters.
//!
//! Input: a run with a device of CUDA's and others. Output: a table for each family and form, a row for
//! each kernel. Lanes that were counted in the source and lanes that hardware counted stand beside one
//! another and are never mixed; what is missing has a reason in its place.

mod changes;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

pub use changes::{Change, ChangeKind, Executed};

use super::counts::{active_lanes_mean, active_lanes_mean_expected};
use super::machine;
use super::names::{FORM, Launches, device, device_label, family, find_published, short_name};
use super::plausibility::plausibility;
use super::rounds::median_time;
use crate::record::{Measurement, PublishedFigure, Run, Status, Value};
use crate::units::{Nanoseconds, text};

/// The width of NVIDIA's warps, at which everything is compared.
const LANES: u32 = 32;

/// The kernels of one family in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBySide {
    /// The family.
    pub family: String,
    /// The form; `None` if the kernels have none.
    pub form: Option<String>,
    /// The device that Vulkan, Metal or DX12 ran on, by its name for people; `None` if none did.
    pub other_label: Option<String>,
    /// CUDA's device, by its name for people.
    pub cuda_label: String,
    /// A row for each kernel and choice of parameters.
    pub rows: Vec<SideRow>,
}

/// One launch by every instrument.
#[derive(Clone, Debug, PartialEq)]
pub struct SideRow {
    /// `family/name`.
    pub kernel: String,
    /// Its parameters, without the form.
    pub parameters: BTreeMap<String, Value>,
    /// Mean active lanes that the kernel's author expects.
    pub expected: Option<f64>,
    /// The figure that somebody published for it.
    pub published: Option<PublishedFigure>,
    /// The simulator's mean active lanes at 32.
    pub simulated: Result<f64, Missing>,
    /// Counted in the source through Vulkan.
    pub counted_other: Result<f64, Missing>,
    /// Counted in the source through CUDA.
    pub counted_cuda: Result<f64, Missing>,
    /// Lanes that executed a machine instruction, the mean over all instructions.
    pub threads: Result<f64, Missing>,
    /// Of those the ones that a predicate did not turn off.
    pub threads_on: Result<f64, Missing>,
    /// The least mean of lanes of any machine instruction: no average of them lies below.
    pub threads_least: Option<f64>,
    /// The time of a launch through Vulkan.
    pub time_other: Result<Nanoseconds, Missing>,
    /// The time of a launch through CUDA.
    pub time_cuda: Result<Nanoseconds, Missing>,
    /// Whether machine code was counted by line, so that it could be held against the source.
    pub machine_code: bool,
    /// Where the machine differs from the source, in words.
    pub differences: Vec<String>,
}

/// What the compiler made of the source, in words with lines; nothing where machine code was not counted by line.
pub(super) fn compiler_changes(measurement: &Measurement) -> Vec<String> {
    let dispatches = measurement.dispatches.iter();
    let changes = dispatches.flat_map(|dispatch| changes::changes(dispatch, f64::from(LANES)));
    changes.map(|change| change.to_string()).collect()
}

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Missing {
    /// No such device took part.
    NotRun(&'static str),
    /// It failed, with the reason.
    Failed(String),
    /// It gave none.
    NotMeasured(&'static str),
    /// Hardware counters are not there, with the reason.
    Counters(String),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRun(what) => write!(formatter, "{what} did not take part"),
            Self::Failed(why) => write!(formatter, "it failed: {why}"),
            Self::NotMeasured(what) => formatter.write_str(what),
            Self::Counters(why) => formatter.write_str(why),
        }
    }
}

impl SideRow {
    /// The time through CUDA over the time through Vulkan, where both are there.
    pub fn times_ratio(&self) -> Option<f64> {
        let (Ok(cuda), Ok(other)) = (&self.time_cuda, &self.time_other) else { return None };
        (other.0 > 0.0).then(|| cuda.0 / other.0)
    }

    /// What is missing and why, each once.
    fn missing(&self) -> Vec<(&'static str, &Missing)> {
        let figures = [
            ("simulator", self.simulated.as_ref().err()),
            ("counted through Vulkan", self.counted_other.as_ref().err()),
            ("counted through CUDA", self.counted_cuda.as_ref().err()),
            ("hardware counters", self.threads.as_ref().err()),
            ("hardware counters", self.threads_on.as_ref().err()),
            ("time through Vulkan", self.time_other.as_ref().err()),
            ("time through CUDA", self.time_cuda.as_ref().err()),
        ];
        let mut missing = Vec::new();
        for (what, why) in figures {
            let reason = why.map(|why| (what, why));
            missing.extend(reason.filter(|reason| !missing.contains(reason)));
        }
        missing
    }
}

impl SideBySide {
    /// Each reason why figures are missing, with the kernels that it holds for where not for all. That an instrument
    /// took no part in any launch is no reason: a column without figures is not shown.
    pub fn reasons(&self) -> Vec<String> {
        let mut rows: IndexMap<(&str, &Missing), Vec<&str>> = IndexMap::new();
        for row in &self.rows {
            for reason in row.missing() {
                rows.entry(reason).or_default().push(short_name(&row.kernel));
            }
        }
        let worded = |((what, why), mut kernels): ((&str, &Missing), Vec<&str>)| {
            let everywhere = kernels.len() == self.rows.len();
            if everywhere && matches!(why, Missing::NotRun(_)) {
                return None;
            }
            let reason = format!("{what}: {why}");
            kernels.dedup();
            Some(if everywhere { reason } else { format!("{reason} ({})", kernels.join(", ")) })
        };
        rows.into_iter().filter_map(worded).collect()
    }
}

/// Makes the tables: a row for each launch that CUDA ran and another device too.
pub fn side_by_side(run: &Run) -> Vec<SideBySide> {
    let mut tables: IndexMap<(String, Option<String>), SideBySide> = IndexMap::new();
    let device_of = |measurement: &Measurement| device(run, &measurement.device);
    let counts_hardware =
        |m: &Measurement| device_of(m).is_some_and(|device| device.gives().counters);
    let launches = Launches::from_run(run);
    for cuda in run.measurements.iter().filter(|measurement| counts_hardware(measurement)) {
        let same = launches.find_same(&cuda.kernel, &cuda.parameters);
        let twins = |simulated: bool| {
            same.iter().copied().filter(move |other| {
                device_of(other).is_some_and(|device| device.is_simulator() == simulated)
                    && !counts_hardware(other)
                    && other.seed == cuda.seed
            })
        };
        let narrow = |m: &&Measurement| m.subgroup_width.is_some_and(|w| w.lanes() == LANES);
        let simulated = twins(true).find(narrow);
        let gpu = |m: &&Measurement| device(run, &m.device).is_some_and(|d| !d.cpu_driver);
        let other = twins(false).find(gpu);
        if simulated.is_none() && other.is_none() {
            continue;
        }
        let family = family(&cuda.kernel).to_owned();
        let form = cuda.parameters.get(FORM).map(ToString::to_string);
        let table = tables.entry((family.clone(), form.clone())).or_insert_with(|| SideBySide {
            family,
            form,
            other_label: None,
            cuda_label: device_label(run, &cuda.device),
            rows: Vec::new(),
        });
        let label = other.map(|other| device_label(run, &other.device));
        table.other_label = table.other_label.take().or(label);
        table.rows.push(row(run, cuda, simulated, other));
    }
    tables.into_values().collect()
}

fn row(
    run: &Run,
    cuda: &Measurement,
    simulated: Option<&Measurement>,
    other: Option<&Measurement>,
) -> SideRow {
    let hardware = hardware(cuda);
    let figure = |pick: fn(Executed) -> Option<f64>| {
        hardware.clone().and_then(|executed| {
            pick(executed).ok_or(Missing::NotMeasured("no instruction was executed"))
        })
    };
    let codes = cuda.dispatches.iter().filter_map(|dispatch| dispatch.machine_code.as_ref());
    let mut row = SideRow {
        kernel: cuda.kernel.clone(),
        parameters: cuda
            .parameters
            .iter()
            .filter(|(name, _)| *name != FORM)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        expected: active_lanes_mean_expected(cuda)
            .or_else(|| simulated.and_then(active_lanes_mean_expected)),
        published: find_published(run, &cuda.kernel, cuda.subgroup_width).cloned(),
        simulated: lanes(simulated, "the simulator at 32"),
        counted_other: lanes(other, "a GPU through Vulkan"),
        counted_cuda: lanes(Some(cuda), "CUDA"),
        threads: figure(Executed::threads_mean),
        threads_on: figure(Executed::threads_on_mean),
        threads_least: codes.filter_map(changes::threads_least).reduce(f64::min),
        time_other: time(other, "a GPU through Vulkan"),
        time_cuda: time(Some(cuda), "CUDA"),
        machine_code: cuda.dispatches.iter().any(|dispatch| dispatch.machine_code.is_some()),
        differences: Vec::new(),
    };
    row.differences.extend(compiler_changes(cuda));
    for (interface, measurement) in [("Vulkan", other), ("CUDA", Some(cuda))] {
        if measurement.is_some_and(|m| plausibility(run, m).is_removed()) {
            row.differences.push(format!("work removed through {interface}, by its time"));
        }
    }
    row.differences.extend(unlike_published(&row));
    row
}

/// What the counters say of a published figure that none of their averages can give.
fn unlike_published(row: &SideRow) -> Option<String> {
    let (published, least) = (row.published.as_ref()?, row.threads_least?);
    let figure = published.active_lanes_mean;
    (figure < least).then(|| {
        format!(
            "published as {}, but no instruction has fewer than {} lanes on the \
             mean: no average of these counts gives it",
            text::lanes(figure),
            text::lanes(least)
        )
    })
}

/// The mean active lanes counted in the source.
fn lanes(measurement: Option<&Measurement>, who: &'static str) -> Result<f64, Missing> {
    let measurement = measurement.ok_or(Missing::NotRun(who))?;
    active_lanes_mean(measurement).ok_or_else(|| absent(measurement, "nothing was counted"))
}

fn time(measurement: Option<&Measurement>, who: &'static str) -> Result<Nanoseconds, Missing> {
    let measurement = measurement.ok_or(Missing::NotRun(who))?;
    median_time(measurement).ok_or_else(|| absent(measurement, "it was not timed"))
}

fn absent(measurement: &Measurement, what: &'static str) -> Missing {
    match (measurement.status, &measurement.error) {
        (Status::Failed, Some(why)) => Missing::Failed(why.clone()),
        (Status::Failed, None) => Missing::NotMeasured("it failed, and no reason was given"),
        (Status::Ok, _) => Missing::NotMeasured(what),
    }
}

/// What the hardware counted over the whole launch: the sums that CUPTI gives, else those over the
/// instructions.
fn hardware(measurement: &Measurement) -> Result<Executed, Missing> {
    let named = |name: &str| {
        let value = machine::counter(measurement, name)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are whole and not negative"
        )]
        Some(value as u128)
    };
    let sums = (
        named("smsp__sass_inst_executed"),
        named("smsp__sass_thread_inst_executed"),
        named("smsp__sass_thread_inst_executed_pred_on"),
    );
    if let (Some(instructions), Some(threads), Some(threads_on)) = sums {
        return Ok(Executed { instructions, threads, threads_on });
    }
    let dispatches = &measurement.dispatches;
    let codes = dispatches.iter().map(|dispatch| dispatch.machine_code.as_ref());
    let sums: Option<Vec<Executed>> =
        codes.map(|code| code.map(|code| Executed::sum(&code.instructions))).collect();
    match sums {
        Some(sums) if !sums.is_empty() => {
            Ok(sums.into_iter().fold(Executed::default(), Executed::plus))
        }
        _ => Err(Missing::Counters(why_not(measurement))),
    }
}

fn why_not(measurement: &Measurement) -> String {
    let reasons: BTreeSet<&str> = measurement.counters_missing.iter().map(String::as_str).collect();
    if reasons.is_empty() {
        return "nobody asked for them".to_owned();
    }
    reasons.into_iter().collect::<Vec<_>>().join("; ")
}
