//! What the capturer costs a program that asks for nothing: how long compute passes take.
//!
//! Input: a build of this program without the capturer, where there is one. Output: a table in Markdown of the time of
//! a pass on a device as it is, on what `wrap` gives back where nothing is asked for, and on a device that is
//! wrapped for a capture by which no dispatch is meant; each over the first row. A pass is recorded and submitted by
//! itself. Each row is run in turn with the others, in a process of its own.
//!
//! ```text
//! cargo build --release -p lab --no-default-features && cp target/release/lab without
//! cargo run --release -p lab -- passes --without ./without
//! ```

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, ensure};
use lanescope::statistics::median;
use wgpu::{Device, Queue};

/// What a pass computes.
const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    words[id.x] += id.x;
}";

/// Dispatches of a pass.
const DISPATCHES: u32 = 8;

/// Bytes of its buffer.
const BYTES: u64 = 256;

/// Passes before the first that is timed.
const WARM_UP: u32 = 100;

/// Compute passes with and without the capturer.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A build of this program without the capturer: the first row.
    #[arg(long)]
    without: Option<PathBuf>,
    /// Passes of a run.
    #[arg(long, default_value_t = 1000)]
    passes: u32,
    /// Runs of each row.
    #[arg(long, default_value_t = 15)]
    rounds: u32,
    /// Runs the passes once on a device had in this way, and prints the nanoseconds of one.
    #[arg(long, hide = true)]
    on: Option<Way>,
}

/// How a device is had.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Way {
    /// As wgpu gives it.
    Plain,
    /// As `wrap` gives it back where nothing is asked for.
    Unasked,
    /// Wrapped for a capture by which no dispatch is meant.
    Asked,
}

/// A row of the table.
struct Row {
    name: &'static str,
    program: PathBuf,
    way: &'static str,
    /// Nanoseconds of a pass, for each run.
    times: Vec<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let Some(way) = arguments.on {
        println!("{}", pass_ns(way, arguments.passes.max(1))?);
        return Ok(ExitCode::SUCCESS);
    }
    let this = std::env::current_exe()?;
    let row = |name, program: &PathBuf, way| Row {
        name,
        program: program.clone(),
        way,
        times: Vec::new(),
    };
    let without = arguments.without.iter();
    let mut rows: Vec<Row> =
        without.map(|program| row("wgpu without `custom`", program, "plain")).collect();
    rows.push(row("wgpu with `custom`", &this, "plain"));
    if cfg!(feature = "capture") {
        rows.push(row("`wrap`, nothing asked for", &this, "unasked"));
        rows.push(row("`wrap_with`, no dispatch meant", &this, "asked"));
    }
    for _ in 0..arguments.rounds.max(1) {
        for row in &mut rows {
            let time = row.time(arguments.passes)?;
            row.times.push(time);
        }
    }
    println!("| device | a pass, median | least | over the first row |\n|---|---|---|---|");
    let first = rows.first().and_then(|row| median(&row.times)).context("no row was run")?;
    for row in &rows {
        let middle = median(&row.times).context("no row was run")?;
        let least = row.times.iter().copied().fold(f64::INFINITY, f64::min);
        let (middle_us, least_us, ratio) = (middle / 1e3, least / 1e3, middle / first);
        println!("| {} | {middle_us:.2} µs | {least_us:.2} µs | {ratio:.3} |", row.name);
    }
    println!(
        "\n{} passes of {DISPATCHES} dispatches, {} runs each",
        arguments.passes, arguments.rounds
    );
    Ok(ExitCode::SUCCESS)
}

impl Row {
    /// The time of a pass in one process.
    fn time(&self, passes: u32) -> anyhow::Result<f64> {
        let passes = passes.to_string();
        let output = Command::new(&self.program)
            .args(["passes", "--on", self.way, "--passes", &passes])
            .env_remove("LANESCOPE_CAPTURE")
            .output()
            .with_context(|| format!("{}", self.program.display()))?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {told}", self.name);
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse().with_context(|| format!("{}: {text}", self.name))
    }
}

/// A device had in a way.
fn open(way: Way) -> anyhow::Result<(Device, Queue)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter =
        pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let descriptor = wgpu::DeviceDescriptor::default();
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
    wrapped(way, device, queue)
}

#[cfg(feature = "capture")]
fn wrapped(way: Way, device: Device, queue: Queue) -> anyhow::Result<(Device, Queue)> {
    Ok(match way {
        Way::Plain => (device, queue),
        Way::Unasked => lanescope_capture::wrap(device, queue)?,
        Way::Asked => {
            let request = lanescope_capture::CaptureRequest::parse("label=another_pipeline")?;
            lanescope_capture::wrap_with(device, queue, request)
        }
    })
}

#[cfg(not(feature = "capture"))]
fn wrapped(way: Way, device: Device, queue: Queue) -> anyhow::Result<(Device, Queue)> {
    ensure!(matches!(way, Way::Plain), "this program was built without the capturer");
    Ok((device, queue))
}

/// Says that a frame ends, as a program with the capturer does.
#[cfg(feature = "capture")]
fn end_frame(way: Way, device: &Device) {
    if !matches!(way, Way::Plain) {
        lanescope_capture::end_frame(device);
    }
}

#[cfg(not(feature = "capture"))]
fn end_frame(_: Way, _: &Device) {}

/// How long a pass takes, in nanoseconds: from the first command to when all have ended.
#[expect(clippy::disallowed_methods, reason = "the time of calls is what is measured")]
fn pass_ns(way: Way, passes: u32) -> anyhow::Result<f64> {
    let (device, queue) = open(way)?;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("a pass"),
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let words = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: BYTES,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }],
    });
    let run = |passes: u32| {
        for _ in 0..passes {
            let mut encoder =
                device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for _ in 0..DISPATCHES {
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
            drop(pass);
            queue.submit([encoder.finish()]);
            end_frame(way, &device);
        }
        device.poll(wgpu::PollType::wait_indefinitely())
    };
    run(WARM_UP)?;
    let begin = Instant::now();
    run(passes)?;
    Ok(begin.elapsed().as_secs_f64() * 1e9 / f64::from(passes))
}
