//! The simulator's speed, beside Oclgrind's and a driver's for CPUs, on the same work.
//!
//! Input: how many elements. Output: on standard output a JSON document: the sealed `uniform` kernel
//! (512 multiply-adds an element) on the simulator at each width, on one thread and on all; on the
//! driver where a device is named; and as `OpenCL` C on Oclgrind where `oclgrind-kernel` is there.
//! Times are the shortest of several runs.
//!
//! `cargo run --release -p lab -- speed --device wgpu:0`

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED, Workgroups};
use lanescope::program::Parsed;
use lanescope::record::{Tool, Value};
use lanescope::run::worker::WorkerRunner;
use lanescope::run::{Runner, TimeOptions, now_utc};
use lanescope::simulate::{Compiled, Config, Fma, Memory, Reconvergence, Schedule};
use lanescope::units::Width;
use serde_json::{Value as Json, json};

/// The simulator's speed.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Elements on the simulator and on the driver.
    #[arg(long, default_value_t = 1 << 20)]
    n: u32,
    /// Work-items on Oclgrind.
    #[arg(long, default_value_t = 1 << 15)]
    oclgrind_n: u32,
    /// A driver to compare with, `wgpu:N`.
    #[arg(long)]
    device: Option<String>,
    /// Runs of each, of which the shortest counts.
    #[arg(long, default_value_t = 3)]
    runs: u32,
}

/// The kernel in `OpenCL` C.
const OPENCL: &str = "__kernel void uniform_work(__global const float *input,
    __global float *output, float a, float b, uint n) {
  uint i = get_global_id(0);
  if (i >= n) return;
  float v = input[i];
  for (uint k = 0; k < 512; k++) v = fma(v, a, b);
  output[i] = v;
}
";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let n = i64::from(arguments.n);
    let chosen = BTreeMap::from([("n".to_owned(), Value::Integer(n))]);
    let catalogue = Catalogue::embedded()?;
    let kernel = catalogue.kernel("five_patterns/uniform").context("no uniform kernel")?;
    let launch = kernel.launch(DeviceClass::Gpu, &chosen, SEED)?;
    let simulator = simulator(&launch, arguments.runs)?;
    let driver = match &arguments.device {
        Some(device) => Some(driver(&launch, device)?),
        None => None,
    };
    let oclgrind = oclgrind(arguments)?;
    let tool = Tool::this();
    let document = json!({
        "what": "sealed uniform kernel: 512 multiply-adds an element; shortest of several runs",
        "tool": { "version": tool.version, "git_sha": tool.git_sha },
        "started_utc": now_utc(),
        "cores": std::thread::available_parallelism()?.get(),
        "elements": arguments.n,
        "simulator": simulator,
        "driver": driver,
        "oclgrind": oclgrind,
    });
    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&document)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Times something, in seconds: the shortest of several runs.
#[expect(clippy::disallowed_methods, reason = "speed is what it shows")]
fn shortest<T>(runs: u32, mut run: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let mut best: Option<(f64, T)> = None;
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        let result = run()?;
        let seconds = start.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
            best = Some((seconds, result));
        }
    }
    best.context("no run")
}

/// The simulator at each width.
#[expect(clippy::cast_precision_loss, reason = "rates are shown to a few digits")]
fn simulator(launch: &Launch, runs: u32) -> anyhow::Result<Vec<Json>> {
    let parsed = Parsed::new(&launch.file, &launch.source)?;
    let dispatch = launch.dispatches.first().context("no dispatch")?;
    let Workgroups::Direct(workgroups) = dispatch.workgroups else {
        anyhow::bail!("the dispatch is not direct")
    };
    let program = parsed.resolve(&dispatch.entry_point, &launch.overrides)?;
    let compiled = Compiled::new(&program)?;
    let mut rows = Vec::new();
    for lanes in [4, 8, 16, 32, 64, 128] {
        let mut seconds = Vec::new();
        let mut operations = (0, 0);
        for threads in [Some(1), None] {
            let config = Config {
                width: Width::new(lanes)?,
                reconvergence: Reconvergence::Maximal,
                fma: Fma::Fused,
                steps_max: 1 << 32,
                operations_max: u64::MAX,
                schedule: Schedule::InOrder,
                strict: false,
                threads,
                zero_workgroup_memory: true,
            };
            let mut memory = Memory::new();
            for binding in program.bindings()? {
                let buffer = launch.buffer(&binding.name).context("a buffer is missing")?;
                memory.bind(binding.group, binding.binding, &launch.contents(buffer));
            }
            let (least, outcome) =
                shortest(runs, || Ok(compiled.run(workgroups, &mut memory, &config)?))?;
            seconds.push(least);
            let counts = outcome.blocks.iter().zip(program.blocks());
            operations = counts.fold((0, 0), |(issued, done), (counts, block)| {
                (issued + counts.executions.0 * block.ops, done + counts.lanes.0 * block.ops)
            });
        }
        rows.push(json!({
            "subgroup_width": lanes,
            "one_thread_s": seconds[0],
            "all_threads_s": seconds[1],
            "threads_speedup_ratio": seconds[0] / seconds[1],
            "one_thread_subgroup_instructions_per_s": operations.0 as f64 / seconds[0],
            "one_thread_lane_operations_per_s": operations.1 as f64 / seconds[0],
            "all_threads_lane_operations_per_s": operations.1 as f64 / seconds[1],
        }));
    }
    Ok(rows)
}

/// The driver's own time for a dispatch.
fn driver(launch: &Launch, device: &str) -> anyhow::Result<Json> {
    let mut runner = WorkerRunner::open(device, false, Duration::from_secs(120))?;
    let options = TimeOptions {
        budget: Duration::from_secs(15),
        samples_min: 5,
        noise_ratio_max: 0.02,
        counting: None,
    };
    let launches = std::slice::from_ref(launch);
    let timed = runner.time(launches, &options, &mut |_| {}).remove(0)?;
    let time = timed.and_then(|timed| timed.time).context("no usable sample")?;
    Ok(json!({
        "name": runner.device().name,
        "driver": runner.device().driver,
        "median_s": time.median_ns.0 / 1e9,
    }))
}

/// Oclgrind's time, less that of a launch of no work.
#[expect(clippy::disallowed_methods, reason = "what Oclgrind reads, in a temporary folder")]
fn oclgrind(arguments: &Arguments) -> anyhow::Result<Option<Json>> {
    let Ok(version) = Command::new("oclgrind-kernel").arg("--version").output() else {
        return Ok(None);
    };
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("uniform.cl");
    std::fs::write(&source, OPENCL)?;
    let time = |elements: u32| {
        let description = folder.path().join(format!("uniform-{elements}.sim"));
        let size = arguments.oclgrind_n.max(256) * 4;
        std::fs::write(
            &description,
            format!(
                "{}\nuniform_work\n{} 1 1\n256 1 1\n<size={size} fill=0>\n<size={size} fill=0>\n\
                 <size=4 float> 1.01\n<size=4 float> 0.001\n<size=4 uint> {elements}\n",
                source.display(),
                arguments.oclgrind_n
            ),
        )?;
        shortest(arguments.runs, || {
            let output = Command::new("oclgrind-kernel").arg(&description).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Ok(())
        })
    };
    let (idle, ()) = time(0)?;
    let (busy, ()) = time(arguments.oclgrind_n)?;
    Ok(Some(json!({
        "version": String::from_utf8_lossy(&version.stdout).trim(),
        "work_items": arguments.oclgrind_n,
        "start_s": idle,
        "work_s": busy - idle,
        "ns_per_work_item": (busy - idle) * 1e9 / f64::from(arguments.oclgrind_n),
    })))
}
