//! Chains of dependent operations: what one link takes.
//!
//! Input: a run with a kernel whose note calls it chains, at several numbers of links. Output: for each device, operation
//! and load the slope of the time over the links, in nanoseconds, as a ratio to a multiply-add's, and
//! in cycles where the clock is known.
//!
//! # The clock
//!
//! No driver tells a shader its clock. One core with a full workgroup does a known number of
//! multiply-adds in each cycle, which its maker publishes (`occupancy/limits.toml`), and a measured
//! number in a nanosecond: the quotient is the clock at which these very samples ran. All chains of a
//! run are sampled side by side, round by round, so that a clock that moves moves all of them.

use std::collections::BTreeMap;

use super::names::device_label;
use super::rounds::{overlap, ticks_by_round};
use crate::{
    occupancy,
    record::{ChainsNote, Device, Measurement, Reading, Run, Value},
    statistics,
    units::Nanoseconds,
};

/// How many links a core's worth of invocations are needed for the clock.
const CORE_INVOCATIONS: u32 = 1024;

/// The chains of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// The device's name for people.
    pub label: String,
    /// The length of a cycle, where it is known.
    pub cycle: Option<Nanoseconds>,
    /// How it is known, a sentence.
    pub cycle_source: Option<String>,
    /// Operations in the order of measurement, each at a load.
    pub rows: Vec<LatencyRow>,
}

/// How much else the device does while a chain runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// One small workgroup alone: what is seen is the latency.
    Alone,
    /// Many workgroups: what is seen is the throughput.
    Saturated,
}

/// One operation at one load.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyRow {
    /// The operation.
    pub operation: String,
    /// The load.
    pub load: Load,
    /// Time of one link of every chain that runs.
    pub link: Nanoseconds,
    /// That over a multiply-add's at the same load.
    pub ratio: Option<f64>,
    /// [`LatencyRow::link`] in cycles.
    pub cycles: Option<f64>,
}

/// A chain's place in the table: operation, workgroups, invocations a workgroup.
type LatencyKey = (String, i64, i64);

/// Time of one link by round, in nanoseconds.
type Slopes = BTreeMap<u32, f64>;

/// Makes the table of each device that has timed chains of two lengths.
pub fn latencies(run: &Run) -> Vec<Latencies> {
    let chains = run.kernels.iter().filter_map(|(kernel, note)| match &note.reading {
        Some(Reading::Chains(chains)) => Some((kernel.as_str(), chains)),
        Some(Reading::Undefined | Reading::PartialSums) | None => None,
    });
    let latencies_of = |(kernel, chains)| {
        let devices = run.devices.iter();
        devices.filter_map(move |device| find_latencies(run, device, kernel, chains))
    };
    chains.flat_map(latencies_of).collect()
}

fn find_latencies(run: &Run, device: &Device, kernel: &str, of: &ChainsNote) -> Option<Latencies> {
    let period = device.timestamp_period_ns?;
    let mut chains: indexmap::IndexMap<LatencyKey, BTreeMap<i64, &Measurement>> =
        indexmap::IndexMap::new();
    let timed = run.measurements.iter().filter(|measurement| measurement.time.is_some());
    for measured in
        timed.filter(|measurement| measurement.kernel == kernel && measurement.device == device.id)
    {
        let number = |name: &str| match measured.parameters.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let operation = measured.parameters.get(&of.operation)?.to_string();
        let key = (operation, number(&of.workgroups)?, number(&of.workgroup_size)?);
        chains.entry(key).or_default().insert(number(&of.links)?, measured);
    }
    let slopes: indexmap::IndexMap<LatencyKey, Slopes> = chains
        .into_iter()
        .filter_map(|(key, lengths)| Some((key, slope(&lengths, period)?)))
        .collect();
    let core = i64::from(CORE_INVOCATIONS);
    let known = occupancy::of_device(&device.name).ok().flatten();
    let rate = known.as_ref().and_then(|known| known.multiply_adds_per_cycle);
    let cycles = slopes.get(&(of.unit.clone(), 1, core)).zip(rate).map(|(link, rate)| {
        let each = |ns: &f64| ns * f64::from(rate) / f64::from(CORE_INVOCATIONS);
        link.iter().map(|(round, ns)| (*round, each(ns))).collect::<Slopes>()
    });
    let rows: Vec<LatencyRow> = slopes
        .iter()
        .filter(|((_, workgroups, size), _)| *workgroups > 1 || *size < core)
        .filter_map(|((operation, workgroups, size), link)| {
            let load = if *workgroups == 1 { Load::Alone } else { Load::Saturated };
            let unit = slopes.get(&(of.unit.clone(), *workgroups, *size));
            Some(LatencyRow {
                operation: operation.clone(),
                load,
                link: Nanoseconds(median(link)?),
                ratio: unit.and_then(|unit| median(&quotients(link, unit))),
                cycles: cycles.as_ref().and_then(|cycle| median(&quotients(link, cycle))),
            })
        })
        .collect();
    let cycle = cycles.as_ref().and_then(median).map(Nanoseconds);
    let source = cycle.and(rate).zip(known).map(|(rate, known)| {
        format!(
            "from the measured multiply-adds of one workgroup of {CORE_INVOCATIONS}, of which a core \
             of {} does {rate} a cycle",
            known.name
        )
    });
    (!rows.is_empty()).then(|| Latencies {
        label: device_label(run, &device.id),
        cycle,
        cycle_source: source,
        rows,
    })
}

/// Time of one link in each round that sampled the shortest and the longest chain.
fn slope(lengths: &BTreeMap<i64, &Measurement>, period: f64) -> Option<Slopes> {
    let ((short, first), (long, last)) = (lengths.first_key_value()?, lengths.last_key_value()?);
    #[expect(clippy::cast_precision_loss, reason = "numbers of links lie far below 2^53")]
    let links = (long - short) as f64;
    if links <= 0.0 || !overlap(first, last) {
        return None;
    }
    let begin = ticks_by_round(first);
    let slopes = ticks_by_round(last)
        .into_iter()
        .filter_map(|(round, ticks)| Some((round, (ticks - begin.get(&round)?) * period / links)));
    Some(slopes.collect::<Slopes>()).filter(|slopes| !slopes.is_empty())
}

/// Divides round by round.
fn quotients(dividend: &Slopes, divisor: &Slopes) -> Slopes {
    let pair = |(round, ns): (&u32, &f64)| {
        let by = divisor.get(round).filter(|by| **by > 0.0)?;
        Some((*round, ns / by))
    };
    dividend.iter().filter_map(pair).collect()
}

fn median(slopes: &Slopes) -> Option<f64> {
    statistics::median(&slopes.values().copied().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::record::DeviceKind;

    /// A run in which one link takes `link_ns` beside 5 µs for the launch, at a clock that doubles
    /// half-way.
    fn run() -> Run {
        let mut run = fixtures::run();
        let gpu =
            run.devices.iter_mut().find(|device| device.kind != DeviceKind::Simulator).unwrap();
        gpu.name = "NVIDIA H200".to_owned();
        let (id, period) = (gpu.id.clone(), gpu.timestamp_period_ns.unwrap());
        let pattern =
            run.measurements.iter().find(|measurement| measurement.device == id).unwrap().clone();
        run.measurements.clear();
        for (operation, size, link_ns) in
            [("multiply_add", 32, 2.0), ("shuffle", 32, 13.0), ("multiply_add", 1024, 4.0)]
        {
            for links in [1024_i64, 4096] {
                let mut copy = pattern.clone();
                copy.kernel = "shuffle/latency".to_owned();
                copy.parameters = [
                    ("operation", Value::Name(operation.to_owned())),
                    ("links", Value::Integer(links)),
                    ("workgroups", Value::Integer(1)),
                    ("workgroup_size", Value::Integer(size)),
                ]
                .map(|(name, value)| (name.to_owned(), value))
                .into();
                let time = copy.time.as_mut().unwrap();
                time.dispatches_per_sample = 1;
                for (index, sample) in time.samples.iter_mut().enumerate() {
                    let slow = if index < 5 { 2.0 } else { 1.0 };
                    #[expect(
                        clippy::cast_precision_loss,
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "made-up figures"
                    )]
                    let ticks = (slow * (5000.0 + links as f64 * link_ns) / period) as u64;
                    sample.ticks_end = sample.ticks_begin + ticks;
                }
                run.measurements.push(copy);
            }
        }
        fixtures::noted(run)
    }

    #[test]
    fn a_link_is_the_slope_and_the_clock_follows_from_a_full_core() {
        let tables = latencies(&run());
        assert_eq!(tables.len(), 1);
        let table = &tables[0];
        let operations: Vec<&str> = table.rows.iter().map(|row| row.operation.as_str()).collect();
        assert_eq!(operations, ["multiply_add", "shuffle"], "the clock's own chain is no row");
        let shuffle = &table.rows[1];
        assert!((shuffle.link.0 - 13.0).abs() < 0.01, "{shuffle:?}");
        assert!((shuffle.ratio.unwrap() - 6.5).abs() < 0.01, "{shuffle:?}");
        // 1,024 lanes at 128 a cycle: eight cycles in 4 ns.
        assert!((table.cycle.unwrap().0 - 0.5).abs() < 0.001, "{:?}", table.cycle);
        assert!((shuffle.cycles.unwrap() - 26.0).abs() < 0.05, "{shuffle:?}");
        assert!(table.cycle_source.as_ref().unwrap().contains("sm_90 does 128 a cycle"));
    }

    #[test]
    fn parameters_are_those_that_the_note_names() {
        let mut other = run();
        let expected = latencies(&other);
        for note in other.kernels.values_mut() {
            let Some(Reading::Chains(names)) = &mut note.reading else { continue };
            names.operation = "what".to_owned();
            (names.links, names.workgroups) = ("length".to_owned(), "groups".to_owned());
            names.workgroup_size = "size".to_owned();
        }
        assert_eq!(latencies(&other), [], "parameters of these names there are none");
        for measurement in &mut other.measurements {
            measurement.parameters = std::mem::take(&mut measurement.parameters)
                .into_iter()
                .map(|(name, value)| {
                    let renamed = match name.as_str() {
                        "operation" => "what",
                        "links" => "length",
                        "workgroups" => "groups",
                        _ => "size",
                    };
                    (renamed.to_owned(), value)
                })
                .collect();
        }
        assert_eq!(latencies(&other), expected);
    }

    #[test]
    fn a_device_of_unknown_kind_has_ratios_and_no_cycles() {
        let mut unknown = run();
        unknown.devices.iter_mut().for_each(|device| device.name = "Something".to_owned());
        let table = &latencies(&unknown)[0];
        assert_eq!((table.cycle, table.rows[1].cycles), (None, None));
        assert!(table.rows[1].ratio.is_some());
        assert!(latencies(&fixtures::run()).is_empty());
    }
}
