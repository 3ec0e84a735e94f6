//! How fast `algorithms::multisplit` is: medians of timestamps on a wgpu device.
//!
//! Input: cases as arguments, `mode:path:threads:rows:tiles_per_chunk:classes:log2_n` with mode
//! `order`, `inverse` or `pairs` and path `few`, `many`, `runs`, or `fold` for `few` without a dispatch
//! that adds up counts; `auto` in place of `path:threads:rows:tiles_per_chunk` takes the
//! library's own choice. Output: a JSON line for each case, with the time of each dispatch and
//! whether the result is the stable partition that the processor works out.
//!
//! `cargo run --release -p lab -- split-speed order:few:256:2:4:8:26`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::process::ExitCode;

use anyhow::{Context, bail};
use lanescope::algorithms::multisplit::{
    Buffers, Multisplit, Order, Pairs, Path, Tuning, check, words_of,
};
use lanescope::statistics::median;
use wgpu::{Buffer, BufferUsages, Device, Features, Queue};

/// Samples of a case.
const SAMPLES: usize = 21;

/// The shortest sample in nanoseconds.
const SAMPLE_NS_MIN: f64 = 400_000.0;

/// Work before the first sample, in nanoseconds.
const WARM_UP_NS: f64 = 150e6;

/// What is measured.
struct Case {
    text: String,
    mode: String,
    tuning: Option<Tuning>,
    classes: u32,
    n: u32,
}

/// An open device.
struct Gpu {
    device: Device,
    queue: Queue,
    period_ns: f64,
}

/// How fast partitions are on a device.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to time, `mode:path:threads:rows:tiles_per_chunk:classes:log2_n`.
    cases: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let gpu = open()?;
    let mut input = Input::new(&gpu, 1, 1)?;
    for text in &arguments.cases {
        let case = parse(text)?;
        if (input.n, input.classes) != (case.n, case.classes) {
            input = Input::new(&gpu, case.n, case.classes)?;
        }
        let line = measure(&gpu, &case, &input).unwrap_or_else(
            |error| serde_json::json!({"case": text, "error": format!("{error:#}")}),
        );
        println!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(text: &str) -> anyhow::Result<Case> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |index: usize| -> anyhow::Result<u32> {
        Ok(parts.get(index).with_context(|| format!("`{text}` is too short"))?.parse()?)
    };
    let (tuning, rest) = match parts.get(1) {
        Some(&"auto") => (None, 2),
        Some(name @ (&"few" | &"many" | &"fold" | &"runs")) => {
            let path = match *name {
                "many" => Path::Many,
                "runs" => Path::Runs,
                _ => Path::Few,
            };
            let (threads, rows, tiles_per_chunk) = (number(2)?, number(3)?, number(4)?);
            let fold = *name == "fold";
            (Some(Tuning { path, threads, rows, tiles_per_chunk, fold }), 5)
        }
        other => bail!("{other:?} is no path"),
    };
    let (text, mode) = (text.to_owned(), parts[0].to_owned());
    Ok(Case { text, mode, tuning, classes: number(rest)?, n: 1 << number(rest + 1)? })
}

fn open() -> anyhow::Result<Gpu> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let number = std::env::var("SPLIT_ADAPTER").map_or(Ok(0), |number| number.parse::<usize>())?;
    let adapter = adapters.into_iter().nth(number).context("there is no adapter")?;
    let wanted = Features::SUBGROUP
        | Features::TIMESTAMP_QUERY
        | Features::TIMESTAMP_QUERY_INSIDE_PASSES
        | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: adapter.features() & wanted,
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    let period_ns = f64::from(queue.get_timestamp_period());
    Ok(Gpu { device, queue, period_ns })
}

impl Gpu {
    fn buffer(&self, words: u32) -> Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(words) * 4,
            usage: BufferUsages::STORAGE
                | BufferUsages::COPY_SRC
                | BufferUsages::COPY_DST
                | BufferUsages::QUERY_RESOLVE,
            mapped_at_creation: false,
        })
    }

    fn fill_buffer(&self, words: &[u32]) -> anyhow::Result<Buffer> {
        let buffer = self.buffer(words_of(u32::try_from(words.len())?));
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        self.queue.submit([]);
        Ok(buffer)
    }

    fn read(&self, buffer: &Buffer, words: usize) -> anyhow::Result<Vec<u32>> {
        let size = words as u64 * 4;
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let view = staging.slice(..).get_mapped_range().map_err(|e| anyhow::anyhow!("{e:?}"))?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }

    /// Nanoseconds of `repeats` runs of the steps in one pass.
    fn sample(&self, split: &Multisplit, steps: &[usize], repeats: u32) -> anyhow::Result<f64> {
        let queries = self.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let resolved = self.buffer(4);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: &queries,
                    beginning_of_pass_write_index: Some(0),
                    end_of_pass_write_index: Some(1),
                }),
            });
            for _ in 0..repeats {
                for step in steps {
                    split.encode_step(&mut pass, *step);
                }
            }
        }
        encoder.resolve_query_set(&queries, 0..2, &resolved, 0);
        self.queue.submit([encoder.finish()]);
        let words = self.read(&resolved, 4)?;
        let ticks: &[u64] = &[
            u64::from(words[0]) | u64::from(words[1]) << 32,
            u64::from(words[2]) | u64::from(words[3]) << 32,
        ];
        #[expect(clippy::cast_precision_loss, reason = "short spans of ticks")]
        Ok((ticks[1] - ticks[0]) as f64 * self.period_ns / f64::from(repeats))
    }

    fn median(&self, split: &Multisplit, steps: &[usize]) -> anyhow::Result<f64> {
        // Clocks fall while results are checked, and take a while to rise.
        let mut spent_ns = 0.0;
        while spent_ns < WARM_UP_NS {
            spent_ns += self.sample(split, steps, 8)? * 8.0;
        }
        let mut repeats = 1;
        while self.sample(split, steps, repeats)? * f64::from(repeats) < SAMPLE_NS_MIN
            && repeats < 256
        {
            repeats *= 2;
        }
        let samples: Result<Vec<f64>, _> =
            (0..SAMPLES).map(|_| self.sample(split, steps, repeats)).collect();
        median(&samples?).context("no samples")
    }
}

/// What cases of one size and number of classes share.
struct Input {
    n: u32,
    classes: u32,
    keys: Vec<u32>,
    payload: Vec<u32>,
    keys_buffer: Buffer,
    payload_buffer: Buffer,
    written: [Buffer; 2],
}

impl Input {
    fn new(gpu: &Gpu, n: u32, classes: u32) -> anyhow::Result<Self> {
        let key = |i: u64| {
            let mixed = lanescope::kernel::generate::mix(i ^ 0x5eed);
            u32::try_from(((mixed >> 32) * u64::from(classes)) >> 32).unwrap_or(0)
        };
        let keys: Vec<u32> = (0..u64::from(n)).map(key).collect();
        let payload: Vec<u32> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let (keys_buffer, payload_buffer) = (gpu.fill_buffer(&keys)?, gpu.fill_buffer(&payload)?);
        let written = [gpu.buffer(words_of(n)), gpu.buffer(words_of(n))];
        Ok(Self { n, classes, keys, payload, keys_buffer, payload_buffer, written })
    }
}

fn measure(gpu: &Gpu, case: &Case, input: &Input) -> anyhow::Result<serde_json::Value> {
    let &Case { n, classes, .. } = case;
    let written = &input.written;
    let (offsets, status) = (gpu.buffer(classes + 1), gpu.buffer(1));
    let order = Order {
        permutation: &written[0],
        inverse: (case.mode == "inverse").then_some(&written[1]),
    };
    let pairs = Pairs {
        payload: &input.payload_buffer,
        payload_sorted: &written[0],
        keys_sorted: &written[1],
    };
    let buffers = Buffers {
        keys: &input.keys_buffer,
        offsets: &offsets,
        status: &status,
        order: (case.mode != "pairs").then_some(order),
        pairs: (case.mode == "pairs").then_some(pairs),
    };
    let limits = gpu.device.limits();
    let tuning =
        case.tuning.unwrap_or_else(|| Tuning::choose(&limits, n, classes, case.mode == "pairs"));
    let split = Multisplit::with_tuning(&gpu.device, n, classes, &buffers, tuning)?;
    let all: Vec<usize> = (0..split.steps()).collect();
    let median_ns = gpu.median(&split, &all)?;
    // Timing the last alone leaves its input as it was; timing the first alone does not.
    let scatter_ns = gpu.median(&split, &[split.steps() - 1])?;
    let count_ns = gpu.median(&split, &[0])?;
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    split.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    check(gpu.read(&status, 1)?[0], classes)?;
    let right = verify(gpu, case, input)?;
    Ok(serde_json::json!({
        "case": case.text, "tuning": format!("{tuning:?}"), "right": right,
        "median_us": round(median_ns), "count_us": round(count_ns),
        "scan_us": round(median_ns - count_ns - scatter_ns), "write_us": round(scatter_ns),
    }))
}

fn round(ns: f64) -> f64 {
    (ns / 10.0).round() / 100.0
}

/// Whether what was written is the stable partition.
fn verify(gpu: &Gpu, case: &Case, input: &Input) -> anyhow::Result<bool> {
    let Input { keys, payload, written, .. } = input;
    let mut next = vec![0_u32; case.classes as usize + 1];
    for key in keys {
        next[*key as usize + 1] += 1;
    }
    for i in 1..next.len() {
        next[i] += next[i - 1];
    }
    let first = gpu.read(&written[0], keys.len())?;
    let second = if case.mode == "order" { Vec::new() } else { gpu.read(&written[1], keys.len())? };
    let mut right = true;
    for (i, key) in keys.iter().enumerate() {
        let place = next[*key as usize];
        next[*key as usize] += 1;
        let (at, index) = (place as usize, u32::try_from(i)?);
        right &= match case.mode.as_str() {
            "pairs" => first[at] == payload[i] && second[at] == *key,
            "inverse" => first[at] == index && second[i] == place,
            _ => first[at] == index,
        };
    }
    Ok(right)
}
