//! Tests of the rules: each check of the ledger is tried on planted records both ways, and so is the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::ledger::{
    Arithmetic, Bound, Equality, Fact, OccupancyCheck, Order, RatioCheck, Verified, parse,
};
use super::selector::{Compared, WIDTH};
use super::*;
use crate::fixtures;
use crate::kernel::format::Formula;
use crate::kernel::formula::{self, Names};
use crate::record::{
    Backend, Block, BlockCode, COUNTING_RULE_OF_SCHEMA_1, Counter, DeviceKind, Instruction,
    KernelNote, MachineCode, Measurement, Output, Run, Spread, Status, Tolerance, Trace, Value,
};
use crate::units::{COUNTING_RULE, Executions, Lanes, Nanoseconds, Ratio, Width};

/// A run of one device that fits a scope, without measurements.
fn run_on(scope: &Scope, width: u32) -> Run {
    let mut run = pattern().clone();
    run.measurements.clear();
    run.devices.truncate(1);
    run.kernels.clear();
    let device = &mut run.devices[0];
    (device.id, device.name) = ("wgpu:0".to_owned(), "A GPU".to_owned());
    (device.kind, device.backend, device.cpu_driver) = (DeviceKind::Wgpu, Backend::Vulkan, false);
    (device.vendor, device.peak_fma_per_s) = ("NVIDIA".to_owned(), Some(1e12));
    device.copy_bytes_per_s = Some(1e12);
    device.subgroup_width_run = Width::new(width).ok();
    for word in &scope.0 {
        match word {
            ScopeWord::Amd => device.vendor = "AMD".to_owned(),
            ScopeWord::Cuda => {
                (device.kind, device.backend) = (DeviceKind::Cuda, Backend::Cuda);
            }
            ScopeWord::Simulator => {
                (device.kind, device.backend) = (DeviceKind::Simulator, Backend::Interpreter);
            }
            ScopeWord::Gpu | ScopeWord::Device | ScopeWord::Nvidia | ScopeWord::Vulkan => {}
        }
    }
    run
}

/// The width that a selector's conditions allow, 32 where they do.
fn width_of(selectors: &[&Selector]) -> u32 {
    let allowed = |width: u32| {
        let mut measurement = pattern().measurements[0].clone();
        measurement.subgroup_width = Width::new(width).ok();
        selectors.iter().all(|selector| {
            let widths =
                selector.conditions.iter().filter(|condition| condition.name == WIDTH).cloned();
            measurement.kernel.clone_from(&selector.kernel);
            Selector { conditions: widths.collect(), ..(*selector).clone() }.takes(&measurement)
        })
    };
    [32, 16, 64, 8, 128, 4].into_iter().find(|width| allowed(*width)).unwrap()
}

/// A selector for each of the points that one names, but for the values along which a slope is taken.
fn each_of(selector: &Selector, what: &Quantity) -> Vec<Selector> {
    let along = |name: &str| matches!(what, Quantity::TimePer(parameter) | Quantity::TimeBeyond(parameter) if parameter == name);
    let fixed = |point: BTreeMap<String, Value>| {
        let mut copy = selector.clone();
        for condition in &mut copy.conditions {
            if let Some(value) = point.get(&condition.name).filter(|_| !along(&condition.name)) {
                condition.values = vec![value.clone()];
            }
        }
        copy
    };
    selector.points().into_iter().map(fixed).collect()
}

/// Parameters that a selector takes: the first of the values that are named.
fn parameters_of(selector: &Selector) -> BTreeMap<String, Value> {
    // What formulas and quantities speak of beside what selectors name.
    let usual = [("n", 4096), ("links", 256), ("hops", 4096), ("rows", 1000), ("columns", 1000)];
    let mut parameters: BTreeMap<String, Value> =
        usual.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect();
    for condition in selector.conditions.iter().filter(|condition| condition.name != WIDTH) {
        let value = match (condition.compared, &condition.values[0]) {
            (Compared::Above, Value::Integer(limit)) => Value::Integer(limit + 1),
            (Compared::Below, Value::Integer(limit)) => Value::Integer(limit - 1),
            (_, value) => value.clone(),
        };
        parameters.insert(condition.name.clone(), value);
    }
    parameters
}

/// A hardware counter of a name and a value.
fn counter(name: &str, value: f64) -> Counter {
    Counter { name: name.to_owned(), value, description: String::new(), unit: String::new() }
}

/// A measurement of which a quantity has a value.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "planted figures")]
#[expect(clippy::too_many_lines, reason = "a case for each quantity")]
fn planted(run: &Run, selector: &Selector, what: &Quantity, value: f64) -> Measurement {
    const MANY: f64 = 1e7;
    let mut copy = pattern().measurements[0].clone();
    copy.device.clone_from(&run.devices[0].id);
    copy.kernel.clone_from(&selector.kernel);
    copy.parameters = parameters_of(selector);
    copy.subgroup_width = run.devices[0].subgroup_width_run;
    (copy.status, copy.output) = (Status::Ok, Output::Verified);
    copy.dispatches.truncate(1);
    let dispatch = &mut copy.dispatches[0];
    dispatch.setup = false;
    let mut block: Block = dispatch.blocks[0].clone();
    let labelled = |block: &mut Block, label: &str, executions: f64, lanes: f64| {
        let mut code = BlockCode::clone(&block.code);
        let label = label.split('|').next_back().unwrap();
        (code.label, code.operations) = (Some(label.to_owned()), 1);
        code.fma_operations = Some(0);
        block.code = Arc::new(code);
        block.executions = Executions(executions.round() as u64);
        block.lanes = Lanes(lanes.round() as u64);
    };
    labelled(&mut block, "other", 1.0, 1.0);
    let set_time = |measurement: &mut Measurement, ns: f64| {
        let mut time = fixtures::time(1000.0, 0);
        time.median_ns = Nanoseconds(ns);
        time.ci95_ns = [Nanoseconds(ns * 0.9999), Nanoseconds(ns * 1.0001)];
        measurement.time = Some(time);
    };
    copy.time = None;
    let width = f64::from(copy.subgroup_width.unwrap().lanes());
    match what {
        Quantity::Efficiency => copy.efficiency_ratio = Some(Ratio(value)),
        Quantity::ActiveLanes => copy.active_lanes_mean = Some(value),
        Quantity::SubgroupOperations => labelled(&mut block, "body", value * MANY, MANY),
        Quantity::LaneSlots => labelled(&mut block, "body", value * MANY / width, MANY),
        Quantity::Time | Quantity::TimePer(_) | Quantity::TimeBeyond(_) => {
            set_time(&mut copy, value * 1000.0);
        }
        Quantity::CopyShare => {
            copy.bytes_moved_min = Some(1_000_000);
            // At 1e12 bytes a second a million bytes take 1000 ns.
            set_time(&mut copy, 1000.0 / value);
        }
        Quantity::PeakShare | Quantity::UsefulPeakShare => {
            labelled(&mut block, "body", MANY / width, MANY);
            let mut code = BlockCode::clone(&block.code);
            code.fma_operations = Some(1);
            block.code = Arc::new(code);
            set_time(&mut copy, MANY / value / 1e12 * 1e9);
        }
        Quantity::BlockLanes(label) => labelled(&mut block, label, MANY, value * MANY),
        Quantity::BlockExecutions(label) => labelled(&mut block, label, value, value),
        Quantity::EfficiencyAt(percent) => {
            let quantiles = BTreeMap::from([(*percent, Ratio(value))]);
            let spread = Some(Spread { subgroups: 1, efficiency_ratio_quantiles: quantiles });
            copy.trace = Some(Trace {
                dispatch: 0,
                workgroup: 0,
                subgroup: 0,
                blocks: Vec::new(),
                active: Vec::new(),
                beside: Vec::new(),
                spread,
            });
        }
        Quantity::Counter(name) => copy.counters = vec![counter(name, value)],
        Quantity::CounterRatio(above, below) => {
            copy.counters = vec![counter(above, value * 8.0), counter(below, 8.0)];
        }
        Quantity::MachineInstructions
        | Quantity::MachineExecuted
        | Quantity::MachineLanes
        | Quantity::MachineMatching(_) => {
            let word = match what {
                Quantity::MachineMatching(words) => {
                    words.split('|').next().unwrap().trim_start_matches('@').to_owned()
                }
                _ => "FFMA".to_owned(),
            };
            let instruction = |text: &str, executed: f64, threads: f64| Instruction {
                offset_bytes: 0,
                file: None,
                line: None,
                text: Some(format!("@P0 {text} R1")),
                inst_executed: executed as u64,
                thread_inst_executed: threads as u64,
                thread_inst_executed_pred_on: 0,
            };
            let instructions = match what {
                Quantity::MachineExecuted => vec![instruction(&word, value, value)],
                Quantity::MachineLanes => vec![instruction(&word, MANY, value * MANY)],
                _ => {
                    let mut all = vec![instruction(&word, 1.0, 1.0); value.round() as usize];
                    if *what != Quantity::MachineInstructions {
                        all.push(instruction("EXIT", 1.0, 1.0));
                    }
                    all
                }
            };
            let (function, architecture) = (String::new(), String::new());
            dispatch.machine_code = Some(MachineCode {
                function,
                architecture,
                instructions,
                sha256: None,
                arms: Vec::new(),
                near: Vec::new(),
            });
        }
        Quantity::Dispatches => {
            let again = dispatch.clone();
            copy.dispatches = vec![again; value.round() as usize];
        }
        Quantity::Invocations => {
            dispatch.workgroup_size = [1, 1, 1];
            dispatch.workgroups = Some([value.round() as u32, 1, 1]);
        }
        Quantity::OutputShown(name, index) => {
            let names = evidence::names(&copy.parameters, copy.subgroup_width);
            let index = formula::evaluate_text(index, &names).unwrap() as usize;
            copy.outputs_shown.insert(name.clone(), vec![value; index + 1]);
        }
        // Of the device, or worked out over several launches, which [`plant`] adds.
        Quantity::Width | Quantity::LanesInOrder | Quantity::LinkCycles => {}
    }
    if let Some(dispatch) = copy.dispatches.first_mut() {
        dispatch.blocks = vec![block];
    }
    copy
}

/// A value inside the limits, and one outside.
fn values(min: Option<f64>, max: Option<f64>, to: Option<f64>, within: f64) -> [f64; 2] {
    match (to, min, max) {
        (Some(to), ..) => {
            let reach = if to == 0.0 { within } else { to.abs() * within };
            [to, to + 2.0 * reach + to.abs().max(1.0)]
        }
        (_, Some(min), Some(max)) => [f64::midpoint(min, max), max * 1.5],
        // Of one instruction, less than half of one is none.
        (_, Some(min), None) => [min.abs() * 1.1 + 1e-3, min * 0.4],
        (_, None, Some(0.0)) => [0.0, 1.0],
        (_, None, max) => [max.unwrap() * 0.5, max.unwrap() * 1.5],
    }
}

/// Whether a check holds on records that were planted so that it does, or does not.
#[expect(clippy::too_many_lines, reason = "a case for each kind of check")]
fn tried(check: &Check, holds: bool) -> Verdict {
    let claim = Claim { checks: vec![check.clone()], ..any_claim() };
    let pick = usize::from(!holds);
    let width = width_of(&check.selectors());
    let mut run = check.scope().map_or_else(|| pattern().clone(), |scope| run_on(scope, width));
    let names =
        |selector: &Selector| evidence::names(&parameters_of(selector), Width::new(width).ok());
    let number = |limit: &Option<Formula>, names: &Names| {
        limit.as_ref().map(|limit| formula::evaluate(limit, names).unwrap())
    };
    let mut tables = Vec::new();
    match check {
        Check::Bound(Bound { what, of, min, max, .. }) => {
            for selector in &each_of(of, what) {
                let names = names(selector);
                let value = values(number(min, &names), number(max, &names), None, 0.0)[pick];
                // Times are planted in microseconds.
                let unit = if *what == Quantity::Time { 1000.0 } else { 1.0 };
                plant(&mut run, selector, what, value / unit);
            }
        }
        Check::Equality(Equality { what, of, to, within, .. }) => {
            for selector in &each_of(of, what) {
                let to = formula::evaluate(to, &names(selector)).unwrap();
                plant(&mut run, selector, what, values(None, None, Some(to), *within)[pick]);
            }
        }
        Check::Ratio(RatioCheck { what, of, over, min, max, to, within, .. }) => {
            // Both have to be at the values between which a difference is taken.
            let mut over = over.clone();
            if let Quantity::TimeBeyond(along) = what {
                let more = of.conditions.iter().filter(|condition| condition.name == *along);
                over.conditions.extend(more.cloned());
            }
            for selector in &each_of(of, what) {
                for over in &each_of(&over, what) {
                    let begun = run.measurements.len();
                    let names = names(selector);
                    let to = number(to, &names);
                    let value = values(number(min, &names), number(max, &names), to, *within)[pick];
                    // Executions are whole.
                    let unit = if *what == Quantity::MachineExecuted { 1e4 } else { 1.0 };
                    plant(&mut run, selector, what, value * unit);
                    plant(&mut run, over, what, unit);
                    joined_alike(&mut run.measurements[begun..], selector, over, None);
                }
            }
        }
        Check::Order(Order { what, of, over, along, goes, .. }) => {
            let rising = match (goes, holds) {
                (Goes::Up, true) | (Goes::Down, false) => [1.0, 2.0, 4.0],
                (Goes::Level, true) => [1.0; 3],
                _ => [4.0, 2.0, 1.0],
            };
            let named = of.points().into_iter().filter_map(|mut point| point.remove(along));
            let mut along_values: Vec<Value> = named.collect();
            along_values.sort_by(|a, b| a.partial_cmp(b).unwrap());
            along_values.dedup();
            // As many values as are named; the last goes on as the third does.
            let last = rising[2];
            let figures = rising.into_iter().chain(std::iter::repeat(last));
            for selector in &each_of(of, what) {
                let begun = run.measurements.len();
                for (value, at) in figures.clone().zip(&along_values) {
                    let mut at_point = |selector: &Selector, value| {
                        plant(&mut run, selector, what, value);
                        let measurement = run.measurements.last_mut().unwrap();
                        measurement.parameters.insert(along.clone(), at.clone());
                    };
                    at_point(selector, value);
                    if let Some(over) = over {
                        at_point(over, 1.0);
                    }
                }
                if let Some(over) = over {
                    joined_alike(&mut run.measurements[begun..], selector, over, Some(along));
                }
            }
        }
        Check::Verified(Verified { of, wrong, within, .. }) => {
            let right = holds != *wrong;
            let tolerance = within.map(|within| Tolerance { absolute: 0.0, relative: within });
            run.kernels
                .insert(of.kernel.clone(), KernelNote { tolerance, ..KernelNote::default() });
            for selector in &each_of(of, &Quantity::Time) {
                plant(&mut run, selector, &Quantity::Time, 1.0);
                let output = if right { Output::Verified } else { Output::Mismatch };
                run.measurements.last_mut().unwrap().output = output;
            }
        }
        Check::Fact(Fact { table, row, column, over, less, min, max, outcome, .. }) => {
            let value = match outcome {
                Some(wanted) if holds => wanted.clone(),
                Some(_) => "something else".to_owned(),
                None => values(*min, *max, None, 0.0)[pick].to_string(),
            };
            let mut cells = row.clone();
            while cells.len() <= *column {
                cells.push(String::new());
            }
            if *column >= row.len() {
                cells[*column] = value;
            }
            let mut rows = vec![cells];
            let other = |row: &Vec<String>, figure: &str| {
                let mut cells = row.clone();
                cells.resize(*column, String::new());
                cells.push(figure.to_owned());
                cells
            };
            rows.extend(over.iter().map(|row| other(row, "1")));
            rows.extend(less.iter().map(|row| other(row, "0")));
            // A cell of the row's own says that the row is there: without it, nothing is decided.
            if *column < row.len() && !holds {
                rows.clear();
            }
            tables.push(FactTable { name: table.clone(), rows });
        }
        Check::Arithmetic(_) | Check::Occupancy(_) => return tried_alone(check, holds),
    }
    // As in a record, without looking kernels up: planted parameters are not whole.
    let record = Record { name: "planted".to_owned(), run };
    judge(&claim, &[record], &tables).verdict
}

/// Whether a check that needs no record holds where its figure is what is claimed, or where something else is.
fn tried_alone(check: &Check, holds: bool) -> Verdict {
    let judged = |check: Check| judge(&Claim { checks: vec![check], ..any_claim() }, &[], &[]);
    // Its own formula or architecture has to give a figure at all.
    let found = judged(check.clone()).figures[0].value;
    let check = match check.clone() {
        Check::Arithmetic(check) => {
            let value = values(None, None, Some(check.to), check.within)[usize::from(!holds)];
            Check::Arithmetic(Arithmetic { formula: value.to_string(), ..check })
        }
        Check::Occupancy(check) => {
            Check::Occupancy(OccupancyCheck { to: found + f64::from(u8::from(!holds)), ..check })
        }
        other => other,
    };
    judged(check).verdict
}

/// Gives both launches of a ratio the same values of what only one of their selectors names, as one sweep would.
fn joined_alike(
    measurements: &mut [Measurement],
    selector: &Selector,
    over: &Selector,
    along: Option<&String>,
) {
    let (chosen, others) = (parameters_of(selector), parameters_of(over));
    for measurement in measurements {
        for condition in selector.conditions.iter().chain(&over.conditions) {
            let name = &condition.name;
            if name == WIDTH || along == Some(name) || (selector.fixes(name) && over.fixes(name)) {
                continue;
            }
            let names = |selector: &Selector| selector.conditions.iter().any(|c| c.name == *name);
            let value = if names(selector) { &chosen[name] } else { &others[name] };
            measurement.parameters.insert(name.clone(), value.clone());
        }
    }
}

/// Adds what a quantity is read from; a slope is two launches, one a parameter's double.
fn plant(run: &mut Run, selector: &Selector, what: &Quantity, value: f64) {
    match what {
        Quantity::Width => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width")]
            let width = Width::new((value as u32).next_power_of_two().min(64)).ok();
            run.devices[0].subgroup_width_run = width;
            let mut copy = planted(run, selector, &Quantity::Time, 1.0);
            copy.subgroup_width = width;
            run.measurements.push(copy);
        }
        Quantity::LanesInOrder => {
            run.devices[0].lane_is_local_index_mod_width = Some(value == 1.0);
            run.measurements.push(planted(run, selector, &Quantity::Time, 1.0));
        }
        Quantity::LinkCycles => plant_chains(run, selector, value),
        Quantity::TimePer(parameter) => {
            let named = selector.conditions.iter().find(|condition| condition.name == *parameter);
            let usual = || vec![Value::Integer(1000), Value::Integer(5000)];
            for at in named.map_or_else(usual, |condition| condition.values.clone()) {
                let mut copy = planted(run, selector, what, 1.0);
                let ns = value * at.number().unwrap();
                copy.parameters.insert(parameter.clone(), at);
                let time = copy.time.as_mut().unwrap();
                (time.median_ns, time.ci95_ns) = (Nanoseconds(ns), [Nanoseconds(ns); 2]);
                run.measurements.push(copy);
            }
        }
        Quantity::TimeBeyond(parameter) => {
            let named = selector.conditions.iter().find(|condition| condition.name == *parameter);
            // At the least value nothing but a launch.
            for (index, at) in named.unwrap().values.iter().enumerate() {
                let more = if index == 0 { 0.0 } else { value };
                let mut copy = planted(run, selector, what, 1.0 + more);
                copy.parameters.insert(parameter.clone(), at.clone());
                run.measurements.push(copy);
            }
        }
        _ => {
            let copy = planted(run, selector, what, value);
            run.measurements.push(copy);
        }
    }
}

/// Adds chains of an operation whose link takes so many cycles, and those of the clock: eight cycles of a nanosecond
/// each for 1,024 multiply-adds, of which a core of the device does 128 a cycle.
fn plant_chains(run: &mut Run, selector: &Selector, cycles: f64) {
    const TICK_NS: f64 = 0.001;
    run.devices[0].name = "NVIDIA H200".to_owned();
    run.devices[0].timestamp_period_ns = Some(TICK_NS);
    let named = |name: &str| parameters_of(selector)[name].clone();
    let alone = named("load") == Value::Name("alone".to_owned());
    let unit = Value::Name("multiply_add".to_owned());
    let chains =
        [(named("operation"), if alone { 1 } else { 2112 }, 32, cycles), (unit, 1, 1024, 8.0)];
    for (operation, workgroups, size, link_ns) in chains {
        for links in [1024_u32, 4096] {
            let mut copy = planted(run, selector, &Quantity::Time, 1.0);
            copy.parameters = [
                ("operation", operation.clone()),
                ("links", Value::Integer(links.into())),
                ("workgroups", Value::Integer(workgroups)),
                ("workgroup_size", Value::Integer(size)),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
            let time = copy.time.as_mut().unwrap();
            time.dispatches_per_sample = 1;
            for sample in &mut time.samples {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "ticks"
                )]
                let ticks = (f64::from(links) * link_ns / TICK_NS) as u64;
                sample.ticks_end = sample.ticks_begin + ticks;
            }
            run.measurements.push(copy);
        }
    }
    *run = fixtures::noted(run.clone());
}

/// A claim without checks; the ledger is read once.
fn any_claim() -> Claim {
    static FIRST: LazyLock<Claim> = LazyLock::new(|| ledger().unwrap().swap_remove(0));
    let (checks, doubt_checks) = (Vec::new(), Vec::new());
    let (doubt, doubt_opinion) = (None, None);
    let (doubt_untestable, doubt_tried) = (None, None);
    Claim {
        checks,
        doubt,
        doubt_checks,
        doubt_opinion,
        doubt_untestable,
        doubt_tried,
        ..FIRST.clone()
    }
}

/// A run whose devices and measurements are taken as patterns; it is made once.
fn pattern() -> &'static Run {
    static PATTERN: LazyLock<Run> = LazyLock::new(|| {
        let mut run = fixtures::run();
        run.measurements.truncate(1);
        run
    });
    &PATTERN
}

#[test]
fn every_claim_has_a_rule_or_a_reason() {
    let ledger = ledger().unwrap();
    assert_eq!(ledger.len(), 244);
    let untestable: Vec<&str> = ledger
        .iter()
        .filter(|claim| claim.untestable.is_some())
        .map(|claim| claim.id.as_str())
        .collect();
    assert!(untestable.len() <= 30, "{untestable:?}");
}

#[test]
fn every_doubt_has_a_rule_or_a_reason() {
    let ledger = ledger().unwrap();
    let doubted: Vec<&Claim> = ledger.iter().filter(|claim| claim.doubt.is_some()).collect();
    assert_eq!(doubted.len(), 199);
    let untestable = doubted.iter().filter(|claim| claim.doubt_untestable.is_some()).count();
    assert!(untestable <= 25, "{untestable}");
    let judged = doubted.iter().filter(|claim| !claim.doubt_checks.is_empty()).count();
    assert!(judged > 120, "{judged}");
}

#[test]
fn a_doubt_is_judged_in_the_way_that_the_ledger_names() {
    let judged = |claim: Claim| {
        let judged = judge(&claim, &[], &[]);
        (judged.doubt, judged.doubt_reason)
    };
    assert_eq!(judged(any_claim()), (None, String::new()));
    let doubt = Some("x".to_owned());
    let opinion = Claim { doubt: doubt.clone(), doubt_opinion: Some("y".into()), ..any_claim() };
    assert_eq!(judged(opinion), (Some(Verdict::NoClaim("y".into())), "y".into()));
    let (needed, tried) = (Some("z".into()), Some("a".into()));
    let open =
        Claim { doubt: doubt.clone(), doubt_untestable: needed, doubt_tried: tried, ..any_claim() };
    assert_eq!(judged(open), (Some(Verdict::NotTestable("z".into())), "z; tried: a".into()));
    let check = |to: u32| -> Check {
        let head = "is = 'arithmetic'\nsays = 'x'\nformula = '1 / 0.1'\nwithin = 0.01\nto = ";
        toml::from_str(&format!("{head}{to}")).unwrap()
    };
    for (to, verdict) in [(10, Verdict::Holds), (4, Verdict::Contradicted)] {
        let claim = Claim { doubt: doubt.clone(), doubt_checks: vec![check(to)], ..any_claim() };
        let (found, reason) = judged(claim);
        assert_eq!(found, Some(verdict));
        assert!(reason.starts_with("x: 10"), "{reason}");
    }
}

/// No rule that cannot fail, and none that cannot hold: each is tried on planted records both ways.
#[test]
fn each_check_holds_and_fails_on_records_that_were_planted_so() {
    let (mut tried_both_ways, mut wrong) = (0, Vec::new());
    for claim in ledger().unwrap() {
        for check in claim.checks.iter().chain(&claim.doubt_checks) {
            let verdicts = [tried(check, true), tried(check, false)];
            let of_the_row = matches!(check, Check::Fact(fact) if fact.column < fact.row.len());
            let as_planted = match &verdicts {
                [Verdict::Holds, Verdict::Contradicted] => !of_the_row,
                [Verdict::Holds, Verdict::NotTestable(_)] => of_the_row,
                _ => false,
            };
            if !as_planted {
                wrong.push(format!("{}: {}: {verdicts:?}", claim.id, check.says()));
            }
            tried_both_ways += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried_both_ways > 500, "{tried_both_ways}");
}

#[test]
fn arithmetic_and_occupancy_are_judged_by_the_figure_that_is_claimed() {
    let claim = |text: &str| {
        let check: Check = toml::from_str(text).unwrap();
        judge(&Claim { checks: vec![check], ..any_claim() }, &[], &[]).verdict
    };
    let formula = "is = 'arithmetic'\nsays = 'x'\nformula = '1 / 0.1'\nwithin = 0.01\n";
    assert_eq!(claim(&format!("{formula}to = 10")), Verdict::Holds);
    assert_eq!(claim(&format!("{formula}to = 4")), Verdict::Contradicted);
    let occupancy = "is = 'occupancy'\nsays = 'x'\narch = 'sm_80'\nregisters = 40\nmemory = 8192\n\
                     size = 256\nwhat = 'workgroups'\n";
    assert_eq!(claim(&format!("{occupancy}to = 6")), Verdict::Holds);
    assert_eq!(claim(&format!("{occupancy}to = 5")), Verdict::Contradicted);
}

#[test]
fn the_condition_is_what_tells_points_apart() {
    let check: Check = toml::from_str(
        "is = 'equality'\nsays = 'lanes'\nwhat = 'lanes:arm'\nof = 'f/k'\nto = 'W'\nwithin = 0.01",
    )
    .unwrap();
    let selector = &check.selectors()[0].clone();
    let records = [(16, 16.0), (32, 32.0), (64, 32.0), (128, 64.0)].map(|(width, lanes)| {
        let mut run = run_on(&Scope::default(), width);
        plant(&mut run, selector, &Quantity::BlockLanes("arm".to_owned()), lanes);
        Record { name: width.to_string(), run }
    });
    let claim = Claim { checks: vec![check], ..any_claim() };
    let judged = judge(&claim, &records, &[]);
    assert_eq!(judged.verdict, Verdict::HoldsOnlyWhere("W ≤ 32".to_owned()));
    assert_eq!(judge(&claim, &records[..2], &[]).verdict, Verdict::Holds);
    assert_eq!(judge(&claim, &records[2..], &[]).verdict, Verdict::Contradicted);
    let none = judge(&claim, &[], &[]).verdict;
    assert_eq!(none, Verdict::NotTestable("needs a record of f/k".to_owned()));
}

/// Points of a check on lanes at most a dozen an issue, by device, width and `n`.
fn judged_at(points: &[(&str, u32, i64, f64)]) -> Judged {
    let check: Check =
        toml::from_str("is = 'bound'\nsays = 'lanes'\nwhat = 'lanes:arm'\nof = 'f/k'\nmax = 12")
            .unwrap();
    let selector = &check.selectors()[0].clone();
    let record = |(index, (device, width, n, lanes)): (usize, &(&str, u32, i64, f64))| {
        let mut run = run_on(&Scope::default(), *width);
        run.devices[0].name = (*device).to_owned();
        run.devices[0].cpu_driver = *device == "llvmpipe";
        plant(&mut run, selector, &Quantity::BlockLanes("arm".to_owned()), *lanes);
        run.measurements[0].parameters = [("n".to_owned(), Value::Integer(*n))].into();
        Record { name: index.to_string(), run }
    };
    let records: Vec<Record> = points.iter().enumerate().map(record).collect();
    judge(&Claim { checks: vec![check], ..any_claim() }, &records, &[])
}

#[test]
fn a_condition_may_have_two_terms_and_may_be_what_fails() {
    let text = |points: &[(&str, u32, i64, f64)]| judged_at(points).verdict.text();
    let (few, many) = (8.0, 16.0);
    let kinds = [
        ("A", 32, 1, many),
        ("B", 32, 1, many),
        ("A", 8, 1, few),
        ("llvmpipe", 32, 1, few),
        ("llvmpipe", 8, 1, few),
    ];
    // Of those at 32 lanes only GPUs fail.
    assert_eq!(text(&kinds), "holds, but not where W ≥ 32 on GPUs");
    let both = kinds.map(|(device, width, n, lanes)| (device, width, n, 24.0 - lanes));
    assert_eq!(text(&both), "holds only where W ≥ 32 on GPUs");
    // Of one device nothing follows for others of its kind.
    assert_eq!(text(&both[1..]), "holds only on B (Vulkan)");
    let between = [("A", 32, 1, many), ("A", 32, 2, few), ("A", 32, 3, few), ("A", 32, 4, many)];
    assert_eq!(text(&between[1..]), "holds only where n ≤ 3");
    assert_eq!(text(&between), "holds only where n = 2 or 3");
    let long = [(0, many), (1, few), (2, few), (3, few), (4, few), (5, few), (9, many), (10, many)];
    let long: Vec<_> = long.map(|(n, lanes)| ("A", 32, n, lanes)).into();
    assert_eq!(text(&long), "holds, but not where n = 0 or 10 or 9");
    let devices = ["A", "B", "C", "D", "E", "F"];
    let one_fails: Vec<_> =
        devices.map(|device| (device, 32, 1, if device == "F" { many } else { few })).into();
    assert_eq!(text(&one_fails), "holds, but not on F (Vulkan)");
}

#[test]
fn of_several_conditions_each_says_that_it_is_of_another_figure() {
    let check = |max: u32| -> Check {
        let text =
            format!("is = 'bound'\nsays = 'lanes'\nwhat = 'lanes:arm'\nof = 'f/k'\nmax = {max}");
        toml::from_str(&text).unwrap()
    };
    let selector = check(8).selectors()[0].clone();
    let records = [(1, 4.0), (2, 12.0), (3, 20.0)].map(|(n, lanes)| {
        let mut run = run_on(&Scope::default(), 32);
        plant(&mut run, &selector, &Quantity::BlockLanes("arm".to_owned()), lanes);
        run.measurements[0].parameters = [("n".to_owned(), Value::Integer(n))].into();
        Record { name: n.to_string(), run }
    });
    let claim = Claim { checks: vec![check(8), check(16)], ..any_claim() };
    let text = judge(&claim, &records, &[]).verdict.text();
    assert_eq!(text, "holds only where n ≤ 1 for one figure, and where n ≤ 2 for another");
}

/// A point of a GPU with these parameters.
fn point<const N: usize>(value: f64, parameters: [(&str, i64); N]) -> Point {
    Point {
        value,
        low: value,
        high: value,
        width: None,
        parameters: parameters.map(|(name, value)| (name.to_owned(), Value::Integer(value))).into(),
        device: "A".to_owned(),
        device_id: "wgpu:0".to_owned(),
        code: String::new(),
        kind: "GPUs",
        interface: "Vulkan",
        record: String::new(),
        launches: Vec::new(),
    }
}

#[test]
fn where_nothing_tells_points_apart_that_is_said() {
    let point = |value: f64| point(value, [("n", 1)]);
    let points = [point(8.0), point(16.0), point(17.0)];
    let points = [(&points[0], true), (&points[1], false), (&points[2], false)];
    let expected =
        "at 1 of 3 points, which no common attribute tells from the others, such as n=1 on A";
    assert_eq!(condition::condition(&points, false), expected);
}

#[test]
fn a_launch_that_records_contradict_one_another_about_is_no_condition() {
    // The same launch twice on the same device; then another that is as claimed.
    let text = |points: &[(&str, u32, i64, f64)]| judged_at(points).verdict.text();
    let twice = [("A", 32, 1, 8.0), ("A", 32, 1, 16.0), ("A", 32, 2, 16.0)];
    assert_eq!(text(&twice), "contradicted");
    let other = [("A", 32, 1, 8.0), ("A", 32, 1, 16.0), ("A", 32, 2, 8.0)];
    assert_eq!(text(&other), "holds only where n ≥ 2");
}

#[test]
fn the_only_point_where_a_claim_holds_is_its_condition() {
    let point = |index: i64| {
        point(1.0, [("a", 0), ("b", 1), ("c", 2)].map(|(name, bit)| (name, index >> bit & 1)))
    };
    let points: Vec<Point> = (0..8).map(point).collect();
    let holding = |holds: &[usize]| {
        let points: Vec<(&Point, bool)> =
            points.iter().enumerate().map(|(at, point)| (point, holds.contains(&at))).collect();
        condition::condition(&points, false)
    };
    assert_eq!(holding(&[7]), "at one of 8 points: a=1, b=1, c=1 on A");
    assert!(holding(&[0, 7]).starts_with("at 2 of 8 points, which no common attribute tells"));
}

/// What is said of each two claims of the ledger that oppose each other, whatever their verdicts.
#[test]
fn of_opposed_claims_a_sentence_says_which_one_records_support() {
    let ledger = ledger().unwrap();
    let verdicts = [
        Verdict::Holds,
        Verdict::Contradicted,
        Verdict::HoldsOnlyWhere("W ≤ 32".to_owned()),
        Verdict::NotTestable("a GPU".to_owned()),
    ];
    let mut pairs = 0;
    for (index, claim) in ledger.iter().enumerate() {
        for other in ledger[index..].iter().filter(|other| claim.against.contains(&other.id)) {
            for a in &verdicts {
                for b in &verdicts {
                    check_pair([claim, other], [a, b]);
                }
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, 39);
}

fn check_pair(claims: [&Claim; 2], verdicts: [&Verdict; 2]) {
    let mut judged = claims.map(|claim| {
        judge(
            &Claim { checks: Vec::new(), opinion: Some(String::new()), ..claim.clone() },
            &[],
            &[],
        )
    });
    for (claim, verdict) in judged.iter_mut().zip(verdicts) {
        claim.verdict = verdict.clone();
    }
    pair::pair(&mut judged);
    let [(first, sentence), (second, again)] =
        judged.each_ref().map(|claim| (claim.claim.id.as_str(), claim.pairs[0].says.as_str()));
    assert_eq!(sentence, again, "both claims say the same");
    assert!(sentence.contains(first) && sentence.contains(second), "{sentence}");
    let supports =
        |id: &str| sentence.starts_with(&format!("The records support {id}, which holds"));
    let only = |verdict: &Verdict| matches!(verdict, Verdict::HoldsOnlyWhere(_));
    let is_open = |verdict: &Verdict| matches!(verdict, Verdict::NotTestable(_));
    let expected = match verdicts {
        [a, b] if is_open(a) || is_open(b) => sentence.contains("do not decide between"),
        [Verdict::Contradicted, Verdict::Contradicted] => sentence.contains("neither"),
        [_, Verdict::Contradicted] => supports(first),
        [Verdict::Contradicted, _] => supports(second),
        [a, b] if only(a) && only(b) => sentence.contains("both only under conditions"),
        [a, b] if only(a) || only(b) => {
            let throughout = if only(a) { second } else { first };
            sentence.contains(&format!("support {throughout} throughout"))
                && sentence.contains("W ≤ 32")
        }
        _ => sentence.contains("support both"),
    };
    assert!(expected, "{verdicts:?}: {sentence}");
}

#[test]
fn a_time_beyond_the_least_has_no_launch_in_it() {
    let check: Check = toml::from_str(
        "is = 'ratio'\nsays = 'x'\nwhat = 'time_beyond:n'\nof = 'f/two n=1|2|4'\nover = 'f/one'\n\
         to = 1\nwithin = 0.01\non = 'gpu'",
    )
    .unwrap();
    let mut run = run_on(&Scope::default(), 32);
    // Two launches in place of one, and then the same for each element, but for four of them.
    for (kernel, launch, at_four) in [("f/one", 3.0, 4.0), ("f/two", 6.0, 8.0)] {
        for (n, work) in [(1, 1.0), (2, 2.0), (4, at_four)] {
            let selector = Selector::try_from(format!("{kernel} n={n}")).unwrap();
            plant(&mut run, &selector, &Quantity::Time, launch + work);
        }
    }
    let claim = Claim { checks: vec![check], ..any_claim() };
    let judged = judge(&claim, &[Record { name: "planted".to_owned(), run }], &[]);
    assert_eq!(judged.verdict, Verdict::HoldsOnlyWhere("n ≤ 2".to_owned()));
    let values: Vec<f64> = judged.figures.iter().map(|figure| figure.value.round()).collect();
    assert_eq!(values, [1.0, 2.0], "7 less 1 over 4 less 1");
}

#[test]
fn guarded_instructions_are_told_from_others_of_their_kind() {
    let count = |words: &str, guarded: bool| {
        let mut run = run_on(&Scope::default(), 32);
        let selector = Selector::try_from("f/k".to_owned()).unwrap();
        plant(&mut run, &selector, &Quantity::MachineMatching("FFMA".to_owned()), 3.0);
        if !guarded {
            let code = run.measurements[0].dispatches[0].machine_code.as_mut().unwrap();
            for instruction in &mut code.instructions {
                instruction.text = instruction.text.take().map(|text| text.replace("@P0 ", ""));
            }
        }
        let record = Record { name: "planted".to_owned(), run };
        let what = Quantity::MachineMatching(words.to_owned());
        evidence::points(&[record], &what, &selector, &Scope::default())[0].value
    };
    assert_eq!((count("FFMA", true), count("FFMA", false)), (3.0, 3.0));
    assert_eq!((count("@FFMA", true), count("@FFMA", false)), (3.0, 0.0));
}

#[test]
fn a_time_whose_interval_crosses_a_limit_decides_nothing() {
    let check: Check = toml::from_str(
        "is = 'bound'\nsays = 'time'\nwhat = 'time'\nof = 'f/k'\nmax = 1000\non = 'gpu'",
    )
    .unwrap();
    let selector = &check.selectors()[0].clone();
    let mut run = run_on(&Scope::default(), 32);
    plant(&mut run, selector, &Quantity::Time, 1.0);
    let claim = Claim { checks: vec![check], ..any_claim() };
    let judged = judge(&claim, &[Record { name: "planted".to_owned(), run }], &[]);
    assert_eq!(judged.figures[0].as_claimed, None);
    assert_eq!(judged.verdict.name(), "not testable here");
}

/// Each quantity of counts, planted as claimed by today's rule and as not claimed by the rule of schema 1.
#[test]
fn what_another_rule_counted_is_no_point_and_the_verdict_says_so() {
    let words = [
        "efficiency",
        "active_lanes",
        "subgroup_operations",
        "lane_slots",
        "peak_share",
        "useful_peak_share",
        "lanes:arm",
        "executions:arm",
        "efficiency_at:10",
    ];
    let judged = |word: &str, min: f64, rules: &[u32]| {
        let check = format!("is = 'bound'\nsays = 'x'\nwhat = '{word}'\nof = 'f/k'\nmin = {min}");
        let check: Check = toml::from_str(&check).unwrap();
        let selector = &check.selectors()[0].clone();
        let record = |(index, rule): (usize, &u32)| {
            let mut run = run_on(&Scope::default(), 32);
            run.counting_rule = *rule;
            let value = if *rule == COUNTING_RULE { 0.5 } else { 0.125 };
            plant(&mut run, selector, check.quantity().unwrap(), value);
            Record { name: index.to_string(), run }
        };
        let records: Vec<Record> = rules.iter().enumerate().map(record).collect();
        judge(&Claim { checks: vec![check.clone()], ..any_claim() }, &records, &[])
    };
    let (old, today) = (COUNTING_RULE_OF_SCHEMA_1, COUNTING_RULE);
    for word in words {
        assert_eq!(judged(word, 0.25, &[today]).verdict, Verdict::Holds, "{word}");
        assert_eq!(judged(word, 0.25, &[old, today]).verdict, Verdict::Holds, "{word}");
        // Neither as claimed nor not.
        for min in [0.01, 1e9] {
            let alone = judged(word, min, &[old, old]);
            let Verdict::NotTestable(why) = &alone.verdict else { panic!("{word}: {alone:?}") };
            let reason = "of f/k counted by rule 2 (launches that another rule counted, and that are \
                        not judged: 2)";
            assert!(why.starts_with("needs ") && why.ends_with(reason), "{word}: {why}");
            assert_eq!((&alone.reason, &alone.figures), (why, &Vec::new()), "{word}");
        }
    }
    // Times are of no rule, nor is what the hardware counts, nor is a device's width.
    for (word, min) in [("time", 100.0), ("counter:x", 0.1), ("width", 0.5)] {
        assert_eq!(judged(word, min, &[old]).verdict, Verdict::Holds, "{word}");
    }
    // What is not there is needed, whatever the rule.
    let none = judged("efficiency", 0.25, &[]).verdict;
    assert_eq!(none, Verdict::NotTestable("needs a record of f/k".to_owned()));
}

#[test]
fn what_repeats_a_figure_of_counters_asks_for_them() {
    let repeat = |what: &str| {
        let check = format!("is = 'bound'\nsays = 'x'\nwhat = '{what}'\nof = 'f/k'\nmax = 1000");
        let check: Check = toml::from_str(&check).unwrap();
        let selector = &check.selectors()[0].clone();
        let mut run = run_on(&Scope::default(), 32);
        plant(&mut run, selector, check.quantity().unwrap(), 1.0);
        let claim = Claim { checks: vec![check], ..any_claim() };
        let judged = judge(&claim, &[Record { name: "planted".to_owned(), run }], &[]);
        judged.figures[0].repeat.ends_with(" --counters")
    };
    assert!(repeat("counter:smsp__inst_executed.sum") && repeat("machine:FFMA"));
    assert!(!repeat("active_lanes"));
}

#[test]
fn a_ledger_that_says_too_little_is_refused() {
    let head = "[[claim]]\nid = 'a'\nsource = 's'\nstatement = '.'\nfamily = 'f'\nexpected = 1\n\
                kind = ''\nmetric = ''\nportable = true\n";
    let refused = |more: &str| parse(&format!("{head}{more}")).unwrap_err().to_string();
    assert!(refused("").contains("it needs checks"));
    assert!(refused("opinion = 'x'\nuntestable = 'y'").contains("only one"));
    assert!(refused("opinion = 'x'\nagainst = ['b']").contains("no claim that names it in turn"));
    assert!(refused("judged = 1").contains("unknown field"));
    assert!(refused("opinion = 'x'\ndoubt = 'y'").contains("its doubt needs `doubt_checks`"));
    let two = "opinion = 'x'\ndoubt = 'y'\ndoubt_opinion = 'a'\ndoubt_untestable = 'b'";
    assert!(refused(two).contains("and only one"));
    assert!(refused("opinion = 'x'\ndoubt_opinion = 'y'").contains("and has none"));
    assert!(refused("untestable = 'x'").contains("says what was `tried`"));
    let untried = "opinion = 'x'\ndoubt = 'y'\ndoubt_untestable = 'z'";
    assert!(refused(untried).contains("says what was `tried`"));
    assert!(refused("opinion = 'x'\ntried = 'y'").contains("and nothing else does"));
    let check = "checks = [{ is = 'bound', says = 'z', what = 'time', of = 'f/k' }]";
    assert!(refused(check).contains("`z` has no limit"));
    let selector =
        "checks = [{ is = 'bound', says = 'z', what = 'time', of = 'f/k n~3', max = 1 }]";
    assert!(refused(selector).contains("`n~3` is no condition"));
    let quantity = "checks = [{ is = 'bound', says = 'z', what = 'speed', of = 'f/k', max = 1 }]";
    assert!(refused(quantity).contains("`speed` is no quantity"));
}
