//! What counting costs: the time of modules that count over the time of plain ones.
//!
//! Input: a device. Output: on standard output a JSON document with, for each launch, the medians of
//! the plain module, of derived and of executed counting, and whether the two gave the same counts;
//! geometric means for each set. Exit code 1 where counts differ.
//!
//! `cargo run --release -p lab -- overhead --device wgpu:0`

#![expect(clippy::print_stderr, reason = "a program for the terminal")]

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use lanescope::instrument::CounterScheme;
use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED};
use lanescope::record::{self, Tool, Value};
use lanescope::run::worker::WorkerRunner;
use lanescope::run::{CountRequest, Counted, Runner, TimeOptions, now_utc};
use serde_json::{Value as Json, json};

/// What counting costs on a device.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The device, `wgpu:N`.
    #[arg(long, default_value = "wgpu:0")]
    device: String,
    /// Elements of each launch.
    #[arg(long, default_value_t = 1 << 20)]
    n: i64,
    /// Seconds for the samples of each set and method.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
}

/// Launches that are judged together.
struct Set {
    name: &'static str,
    launches: Vec<Launch>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut device = WorkerRunner::open(&arguments.device, true, Duration::from_secs(120))?;
    let mut same = true;
    let mut sets = Vec::new();
    for set in sets_of(arguments.n)? {
        let (json, equal) = measure(&set, arguments, &mut device)?;
        same &= equal;
        sets.push(json);
    }
    let tool = Tool::this();
    let document = json!({
        "what": "time of modules that count over time of plain modules, medians of samples",
        "tool": { "version": tool.version, "git_sha": tool.git_sha },
        "started_utc": now_utc(),
        "device": device.device(),
        "sets": sets,
    });
    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&document)?)?;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The five patterns with constant trip counts and with trip counts from a buffer, and loops with
/// branches in them.
fn sets_of(n: i64) -> anyhow::Result<Vec<Set>> {
    let catalogue = Catalogue::embedded()?;
    let launches_of = |family: &str, form: Option<&str>| -> anyhow::Result<Vec<Launch>> {
        let mut chosen = BTreeMap::from([("n".to_owned(), Value::Integer(n))]);
        chosen.extend(form.map(|form| ("form".to_owned(), Value::Name(form.to_owned()))));
        let kernels = catalogue.select(family)?;
        kernels
            .into_iter()
            .map(|kernel| Ok(kernel.launch(DeviceClass::Gpu, &chosen, SEED)?))
            .collect()
    };
    Ok(vec![
        Set {
            name: "five_patterns, sealed",
            launches: launches_of("five_patterns", Some("sealed"))?,
        },
        Set {
            name: "five_patterns, opaque",
            launches: launches_of("five_patterns", Some("opaque"))?,
        },
        Set { name: "hot_loops", launches: launches_of("hot_loops", None)? },
    ])
}

/// Medians of a set by method, in nanoseconds.
fn times(
    set: &Set,
    arguments: &Arguments,
    device: &mut WorkerRunner,
    counting: Option<CounterScheme>,
) -> anyhow::Result<Vec<f64>> {
    let options = TimeOptions {
        budget: Duration::from_secs_f64(arguments.seconds),
        samples_min: 15,
        noise_ratio_max: 0.005,
        counting,
    };
    device
        .time(&set.launches, &options, &mut |_| {})
        .into_iter()
        .zip(&set.launches)
        .map(|(timed, launch)| {
            let time = timed?.and_then(|timed| timed.time);
            let time = time.with_context(|| format!("{} gave no usable sample", launch.kernel))?;
            Ok(time.median_ns.0)
        })
        .collect()
}

fn count(
    launch: &Launch,
    device: &mut WorkerRunner,
    method: record::Method,
) -> anyhow::Result<Counted> {
    Ok(device.count_once(launch, &CountRequest::once(method))?)
}

/// Measures a set; tells also whether all counts were the same.
fn measure(
    set: &Set,
    arguments: &Arguments,
    device: &mut WorkerRunner,
) -> anyhow::Result<(Json, bool)> {
    let plain = times(set, arguments, device, None)?;
    let derived = times(set, arguments, device, Some(CounterScheme::Derived))?;
    let executed = times(set, arguments, device, Some(CounterScheme::Executed))?;
    let mut rows = Vec::new();
    let (mut all_same, mut logarithms) = (true, [0.0, 0.0]);
    for (index, launch) in set.launches.iter().enumerate() {
        let (by_derivation, by_execution) = (
            count(launch, device, record::Method::Derived)?,
            count(launch, device, record::Method::Executed)?,
        );
        let same = by_derivation.dispatches == by_execution.dispatches;
        if !same {
            eprintln!("{}: derived counts are not the executed ones", launch.kernel);
        }
        all_same &= same;
        let ratios = [derived[index] / plain[index], executed[index] / plain[index]];
        for (sum, ratio) in logarithms.iter_mut().zip(ratios) {
            *sum += ratio.ln();
        }
        rows.push(json!({
            "kernel": launch.kernel,
            "parameters": launch.parameters,
            "plain_ns": plain[index],
            "derived_ns": derived[index],
            "executed_ns": executed[index],
            "derived_time_ratio": ratios[0],
            "executed_time_ratio": ratios[1],
            "derived_counts_equal_executed": same,
        }));
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of kernels")]
    let means = logarithms.map(|sum: f64| (sum / rows.len() as f64).exp());
    eprintln!("{}: derived {:.2}, executed {:.2}", set.name, means[0], means[1]);
    let set = json!({
        "set": set.name,
        "derived_time_ratio_geometric_mean": means[0],
        "executed_time_ratio_geometric_mean": means[1],
        "kernels": rows,
    });
    Ok((set, all_same))
}
