//! Lanes along time: what each lane of one subgroup does in its first operations.
//!
//! Input: a run whose simulators kept traces. Output: a sheet for each family and form, a panel for each
//! kernel and width. Masks are as recorded; which operations a step has follows from its block.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::names::{
    FORM, device_label, family, is_simulated, launch_key, parameters_text, short_name,
};
use super::usual::Usual;
use crate::record::{Block, Measurement, Run, Status, Trace, Value};
use crate::units::{BlockId, Ratio, Width};

/// The most kernels on a sheet.
const KERNELS_MAX: usize = 8;

/// The widths that stand beside each other.
const WIDTHS: [u32; 2] = [32, 64];

/// Operations along which lanes are shown.
pub const TRACE_OPERATIONS: u64 = 256;

/// Panels that belong in one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSheet {
    /// The family, or the shader.
    pub family: String,
    /// The form; `None` if there is none.
    pub form: Option<String>,
    /// The parameters that all rows share.
    pub shared: String,
    /// A row for each kernel, with a panel for each width.
    pub rows: Vec<TraceRow>,
    /// Kernels beyond what a sheet holds.
    pub kernels_left_out: usize,
    /// Whether all were counted to compare widths alone.
    pub for_widths: bool,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    /// The kernel's short name.
    pub kernel: String,
    /// Those of its parameters that not all rows share.
    pub parameters: String,
    /// One for each width.
    pub panels: Vec<TracePanel>,
}

/// The first operations of one subgroup, or of the two that hold the invocations of one of 64 lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePanel {
    /// The device's name for people.
    pub label: String,
    /// Its width.
    pub width: Width,
    /// The entry point and the workgroup.
    pub place: (String, u64),
    /// The subgroups, those with lower invocations first.
    pub strands: Vec<Strand>,
}

/// The first operations of one subgroup.
#[derive(Clone, Debug, PartialEq)]
pub struct Strand {
    /// Its number in the workgroup.
    pub subgroup: u32,
    /// Steps with as many operations, and the lanes that are active in them: bit i is lane i.
    pub steps: Vec<(u64, u128)>,
}

impl Strand {
    /// Operations in all.
    pub fn operations(&self) -> u64 {
        self.steps.iter().map(|(operations, _)| operations).sum()
    }
}

impl TracePanel {
    /// Operations of the subgroup with most.
    pub fn operations(&self) -> u64 {
        self.strands.iter().map(Strand::operations).max().unwrap_or(0)
    }

    /// Mean active lanes over these operations.
    pub fn active_lanes_mean(&self) -> Option<f64> {
        let steps = self.strands.iter().flat_map(|strand| &strand.steps);
        let lanes =
            steps.map(|(operations, mask)| u128::from(*operations) * u128::from(mask.count_ones()));
        let operations: u64 = self.strands.iter().map(Strand::operations).sum();
        super::counts::ratio(lanes.sum(), operations.into())
    }
}

/// A launch of a kernel that may be drawn.
struct Candidate {
    parameters: BTreeMap<String, Value>,
    panels: Vec<TracePanel>,
}

impl Candidate {
    /// The share of lanes that are active, in the mean over its panels.
    fn efficiency(&self) -> f64 {
        let share = |panel: &TracePanel| {
            panel.active_lanes_mean().unwrap_or(f64::INFINITY) / f64::from(panel.width.lanes())
        };
        let sum: f64 = self.panels.iter().map(share).sum();
        sum / self.panels.len() as f64
    }
}

/// Every sheet of a run's catalogue kernels at widths of 32 and 64: of each kernel's launches with the usual
/// parameters the one whose lanes are idle most.
pub fn traces(run: &Run) -> Vec<TraceSheet> {
    type Kernels = IndexMap<String, IndexMap<String, Candidate>>;
    let usual = Usual::from_run(run);
    let mut sheets: IndexMap<(String, Option<String>), (bool, Kernels)> = IndexMap::new();
    for measurement in &run.measurements {
        let shown = measurement.subgroup_width.is_some_and(|w| WIDTHS.contains(&w.lanes()));
        // Of a sweep the usual point alone: the others would crowd the sheet.
        if !shown || usual.count(&without_form(measurement)) > 0 {
            continue;
        }
        let Some(panel) = panel(run, measurement) else { continue };
        let form = measurement.parameters.get(FORM).map(ToString::to_string);
        let key = (family(&measurement.kernel).to_owned(), form);
        let (for_widths, kernels) = sheets.entry(key).or_insert((true, IndexMap::new()));
        *for_widths &= measurement.for_widths;
        let launches = kernels.entry(short_name(&measurement.kernel).to_owned()).or_default();
        let parameters = without_form(measurement);
        let launch = launches.entry(launch_key("", &parameters));
        let fresh = || Candidate { parameters, panels: Vec::new() };
        launch.or_insert_with(fresh).panels.push(panel);
    }
    let sheet = |((family, form), (for_widths, kernels)): (_, (bool, Kernels))| {
        let kernels_left_out = kernels.len().saturating_sub(KERNELS_MAX);
        let chosen: Vec<(String, Candidate)> = kernels
            .into_iter()
            .take(KERNELS_MAX)
            .filter_map(|(kernel, launches)| {
                Some((kernel, most_idle(launches.into_values().collect())?))
            })
            .collect();
        let is_shared = |name: &str, value: &Value| {
            chosen.iter().all(|(_, launch)| launch.parameters.get(name) == Some(value))
        };
        let of_all = |wanted: bool, launch: &Candidate| {
            let parameters = launch.parameters.iter();
            let some = parameters.filter(|(name, value)| is_shared(name, value) == wanted);
            parameters_text(&some.map(|(name, value)| (name.clone(), value.clone())).collect(), &[])
        };
        let shared = chosen.first().map_or(String::new(), |(_, launch)| of_all(true, launch));
        let texts: Vec<String> = chosen.iter().map(|(_, launch)| of_all(false, launch)).collect();
        let row = |((kernel, launch), parameters): ((String, Candidate), String)| TraceRow {
            kernel,
            parameters,
            panels: launch.panels,
        };
        let rows = chosen.into_iter().zip(texts).map(row).collect();
        TraceSheet { family, form, shared, rows, kernels_left_out, for_widths }
    };
    sheets.into_iter().map(sheet).collect()
}

/// The launch with most widths, and of those the one whose lanes are idle most; of equal ones the first.
fn most_idle(mut launches: Vec<Candidate>) -> Option<Candidate> {
    for launch in &mut launches {
        launch.panels.sort_by_key(|panel| panel.width);
        launch.panels.dedup_by_key(|panel| panel.width);
    }
    launches.into_iter().reduce(|best, other| {
        let (widths, more) = (best.panels.len(), other.panels.len());
        let better = more > widths || (more == widths && other.efficiency() < best.efficiency());
        if better { other } else { best }
    })
}

/// The sheet of one kernel, at every width that a simulator ran; `None` if none kept a trace.
pub fn trace_of(run: &Run, kernel: &str) -> Option<TraceSheet> {
    let measured = run.measurements.iter().filter(|measurement| measurement.kernel == kernel);
    let panels: Vec<TracePanel> =
        measured.filter_map(|measurement| panel(run, measurement)).collect();
    if panels.is_empty() {
        return None;
    }
    let kernel = short_name(kernel).to_owned();
    let row = TraceRow { kernel: kernel.clone(), parameters: String::new(), panels };
    Some(TraceSheet {
        family: kernel,
        form: None,
        shared: String::new(),
        rows: vec![row],
        kernels_left_out: 0,
        for_widths: false,
    })
}

/// How unlike the subgroups of one kernel are, on one simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadRow {
    /// The kernel's full name.
    pub kernel: String,
    /// Its parameters.
    pub parameters: String,
    /// The device's name for people.
    pub label: String,
    /// How many subgroups were looked at.
    pub subgroups: u64,
    /// Efficiencies by the percent of subgroups that lie below them.
    pub quantiles: BTreeMap<u32, Ratio>,
}

/// The kernels whose subgroups are not all alike, the most unlike first: by what lies between the worst tenth and the
/// best.
pub fn spreads(run: &Run) -> Vec<SpreadRow> {
    let row = |measurement: &Measurement| {
        let spread = measurement.trace.as_ref()?.spread.as_ref()?;
        Some(SpreadRow {
            kernel: measurement.kernel.clone(),
            parameters: parameters_text(&measurement.parameters, &[]),
            label: device_label(run, &measurement.device),
            subgroups: spread.subgroups,
            quantiles: spread.efficiency_ratio_quantiles.clone(),
        })
    };
    let between = |row: &SpreadRow| {
        let at = |percent| row.quantiles.get(&percent).map_or(0.0, |ratio: &Ratio| ratio.0);
        at(90) - at(10)
    };
    let counted = run.measurements.iter().filter(|measurement| measurement.status == Status::Ok);
    let mut rows: Vec<SpreadRow> =
        counted.filter_map(row).filter(|row| between(row) > 0.0).collect();
    rows.sort_by(|a, b| between(b).total_cmp(&between(a)));
    rows
}

/// A measurement's parameters but for the form, of which each has its sheet.
fn without_form(measurement: &Measurement) -> BTreeMap<String, Value> {
    let parameters = measurement.parameters.iter().filter(|(name, _)| *name != FORM);
    parameters.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The panel of a measurement of the simulator.
fn panel(run: &Run, measurement: &Measurement) -> Option<TracePanel> {
    if measurement.status != Status::Ok || !is_simulated(run, measurement) {
        return None;
    }
    let Trace { dispatch, workgroup, subgroup, blocks, active, beside, spread: _ } =
        measurement.trace.as_ref()?;
    let dispatch = measurement.dispatches.get(*dispatch)?;
    let mut known: BTreeMap<BlockId, &Block> = BTreeMap::new();
    for block in &dispatch.blocks {
        known.entry(block.id).or_insert(block);
    }
    let strand = |subgroup: u32, blocks: &[BlockId], active: &[String]| {
        Some(Strand { subgroup, steps: steps(&known, blocks, active)? })
    };
    let mut strands = vec![strand(*subgroup, blocks, active)?];
    for other in beside {
        strands.push(strand(other.subgroup, &other.blocks, &other.active)?);
    }
    Some(TracePanel {
        label: device_label(run, &measurement.device),
        width: measurement.subgroup_width?,
        place: (dispatch.entry_point.clone(), *workgroup),
        strands,
    })
}

/// The first operations of a subgroup, those with equal lanes together.
fn steps(
    known: &BTreeMap<BlockId, &Block>,
    blocks: &[BlockId],
    active: &[String],
) -> Option<Vec<(u64, u128)>> {
    let mut steps: Vec<(u64, u128)> = Vec::new();
    let mut left = TRACE_OPERATIONS;
    for (id, active) in blocks.iter().zip(active) {
        let block = known.get(id)?;
        let operations = block.operations.min(left);
        left -= operations;
        let mask = u128::from_str_radix(active, 16).ok()?;
        match steps.last_mut() {
            Some((count, same)) if *same == mask => *count += operations,
            _ if operations > 0 => steps.push((operations, mask)),
            _ => {}
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{DEMO, random_words, simulated};

    #[test]
    fn a_panel_holds_the_first_operations_of_one_subgroup() {
        let run = simulated(DEMO, random_words(), 32, &[32, 64]);
        let kernel = run.measurements[0].kernel.clone();
        let sheet = trace_of(&run, &kernel).expect("the simulator keeps a trace");
        let panels = &sheet.rows[0].panels;
        assert_eq!(panels.iter().map(|panel| panel.width.lanes()).collect::<Vec<_>>(), [32, 64]);
        for panel in panels {
            assert_eq!(panel.operations(), TRACE_OPERATIONS);
            let mean = panel.active_lanes_mean().expect("it ran");
            assert!(mean >= 1.0 && mean < f64::from(panel.width.lanes()), "{mean}");
            // All lanes that there are begin together, and no mask is wider than the subgroup: the last
            // subgroup of a workgroup may be a partial one.
            for Strand { steps, .. } in &panel.strands {
                let all = steps[0].1;
                assert!(steps.iter().all(|(_, mask)| mask & !all == 0));
                assert!(steps.iter().all(|(_, mask)| *mask >> panel.width.lanes() == 0));
                // Steps of equal lanes are one.
                assert!(steps.windows(2).all(|pair| pair[0].1 != pair[1].1));
            }
        }
        // Both show the same invocations: subgroups of 32 are the halves of one of 64.
        let [narrow, wide] = [&panels[0], &panels[1]];
        assert_eq!(narrow.place, wide.place);
        let numbers = |panel: &TracePanel| -> Vec<u32> {
            panel.strands.iter().map(|strand| strand.subgroup).collect()
        };
        let [number] = numbers(wide)[..] else { panic!("{wide:?}") };
        assert!(numbers(narrow).iter().all(|half| half / 2 == number), "{narrow:?}");
        let begins =
            |panel: &TracePanel| panel.strands.iter().map(|s| s.steps[0].1.count_ones()).sum();
        let [two, whole]: [u32; 2] = [narrow, wide].map(begins);
        assert_eq!(two, whole, "as many lanes begin");
    }

    #[test]
    fn the_launch_whose_lanes_are_idle_most_stands_for_its_kernel() {
        let mut run = simulated(DEMO, random_words(), 32, &[32, 64]);
        let launch = |measurements: &[Measurement], value: i64| -> Vec<Measurement> {
            let mut copies = measurements.to_vec();
            for copy in &mut copies {
                copy.kernel = "family/kernel".to_owned();
                copy.parameters = BTreeMap::from([
                    ("n".to_owned(), Value::Integer(7)),
                    ("share".to_owned(), Value::Integer(value)),
                ]);
            }
            copies
        };
        let idle = launch(&run.measurements, 2);
        let mut full = launch(&run.measurements, 1);
        for measurement in &mut full {
            let trace = measurement.trace.as_mut().expect("the simulator keeps a trace");
            let all = trace.active[0].clone();
            for active in
                trace.active.iter_mut().chain(trace.beside.iter_mut().flat_map(|s| &mut s.active))
            {
                *active = all.clone();
            }
        }
        run.measurements = [full.clone(), idle].concat();
        let sheet = &traces(&run)[0];
        assert_eq!(sheet.rows.len(), 1);
        assert_eq!(
            (sheet.shared.as_str(), sheet.rows[0].parameters.as_str()),
            ("n=7, share=2", "")
        );
        // What not all kernels share stands with each.
        let mut other = full[0].clone();
        other.kernel = "family/other".to_owned();
        run.measurements.push(other);
        let sheet = &traces(&run)[0];
        let parameters: Vec<&str> = sheet.rows.iter().map(|row| row.parameters.as_str()).collect();
        assert_eq!((sheet.shared.as_str(), &parameters[..]), ("n=7", &["share=2", "share=1"][..]));
    }

    #[test]
    fn a_record_without_traces_has_no_sheet() {
        let mut run = simulated(DEMO, random_words(), 32, &[32]);
        run.measurements[0].trace = None;
        assert_eq!(trace_of(&run, &run.measurements[0].kernel.clone()), None);
        assert!(traces(&run).is_empty());
    }
}
