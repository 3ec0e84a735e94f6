//! How soon `profile` answers: from the device being open to the counts being there.
//!
//! Input: a device. Output: on standard output a JSON document with, for each of the five patterns
//! at its default n for GPUs, how it was counted and the times of some answers, each from a process
//! of its own that has just opened the device: the parts of the self-test that the kernel needs, two
//! counted runs, and reading back what they found. Exit code 1 where an answer takes longer than
//! the limit.
//!
//! `cargo run --release -p lab -- answers --device wgpu:0`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED};
use lanescope::record::{Device, Method, Tool};
use lanescope::run::profile::repeated::RepeatedRunner;
use lanescope::run::worker::WorkerRunner;
use lanescope::run::{CountRequest, Counted, Runner, now_utc, trust};
use serde_json::{Value as Json, json};

/// How soon `profile` answers on a device.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The device, `wgpu:N`.
    #[arg(long, default_value = "wgpu:0")]
    device: String,
    /// Answers of each kernel.
    #[arg(long, default_value_t = 5)]
    times: u32,
    /// Seconds within which each answer must be there.
    #[arg(long, default_value_t = 0.5)]
    limit: f64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let catalogue = Catalogue::embedded()?;
    let mut kernels = Vec::new();
    let mut worst: f64 = 0.0;
    let mut device = None;
    for kernel in catalogue.kernels().filter(|kernel| kernel.family() == "five_patterns") {
        let launch = kernel.launch(DeviceClass::Gpu, &BTreeMap::new(), SEED)?;
        let mut seconds = Vec::new();
        let mut last = None;
        for _ in 0..arguments.times.max(1) {
            let (counted, opened) = answer(&launch, &arguments.device, &catalogue)?;
            let took = counted.answer_ns.context("no time was taken")?.0 * 1e-9;
            seconds.push(took);
            worst = worst.max(took);
            device = Some(opened);
            last = Some(counted);
        }
        eprintln!("{}: {seconds:.3?} s", launch.kernel);
        kernels.push(json!({
            "kernel": launch.kernel,
            "parameters": launch.parameters,
            "method": last.map(|counted| counted.method),
            "answers_s": seconds,
        }));
    }
    let document = document(arguments, device, kernels, worst);
    println!("{}", serde_json::to_string_pretty(&document)?);
    Ok(if worst <= arguments.limit { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens the device in a new process and counts as `profile` does.
fn answer(
    launch: &Launch,
    device: &str,
    catalogue: &Catalogue,
) -> anyhow::Result<(Counted, Device)> {
    let constructs = trust::constructs(launch)?;
    let runner = Box::new(WorkerRunner::open(device, false, Duration::from_secs(120))?);
    let mut twice = RepeatedRunner::new(runner, catalogue, &constructs, None)?;
    let counted =
        twice.count_once(launch, &CountRequest::once(Method::Executed).with_histogram())?;
    Ok((counted, twice.device().clone()))
}

fn document(arguments: &Arguments, device: Option<Device>, kernels: Vec<Json>, worst: f64) -> Json {
    let tool = Tool::this();
    json!({
        "tool": "lanescope answers",
        "version": tool.version,
        "git_sha": tool.git_sha,
        "git_dirty": tool.git_dirty,
        "started_utc": now_utc(),
        "argv": std::env::args().skip(1).collect::<Vec<_>>(),
        "device": device,
        "limit_s": arguments.limit,
        "worst_s": worst,
        "kernels": kernels,
    })
}
