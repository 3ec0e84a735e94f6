//! Times the library's algorithms beside what a CUDA user would pick instead.
//!
//! Input: which works and sizes, and the commands of the peers (`lab/benches/peers/README.md`). Output: a
//! table on standard error, and with `--out` rows merged into a JSON file. Samples alternate, ours,
//! theirs, ours, theirs; both sides make as many calls a sample, on as many copies of the buffers.
//!
//! `cargo run --release -p lab -- peers --work reduce_f32 --cub lab/benches/peers/cub --out peers.json`

#![expect(clippy::print_stderr, reason = "a program for the terminal")]
#![expect(
    clippy::disallowed_methods,
    reason = "it reads a clock, and writes the file it is asked to"
)]

mod cuda;
mod gpu;
mod ours;
mod peer;
mod sampling;
mod sorts;
mod split;
mod tune;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use cuda::Cuda;
use gpu::Gpu;
use lanescope::record::{PeerRow, Peers};
use lanescope::run::cuda::copies::Copies;
use lanescope::statistics::median;
use ours::{Ours, Sets, Tuning, Work};
use peer::Peer;
use sampling::{WARM_UP, repeats};

/// Caches are cold when the copies together are larger than any cache.
const COLD_BYTES: u64 = 256 << 20;

/// The most copies of small buffers.
const COPIES_MAX: u64 = 512;

/// The most copies of what is compiled for each copy.
const COPIES_COMPILED_MAX: u64 = 8;

/// Times the library's algorithms beside their peers.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to time; all where it is left out.
    #[arg(long, value_enum)]
    work: Vec<Work>,
    /// Sizes as powers of two.
    #[arg(long, value_delimiter = ',', default_values_t = [16, 20, 24, 26, 28])]
    pow2: Vec<u32>,
    /// Elements of a row, for softmax.
    #[arg(long, default_value_t = 4096)]
    columns: u32,
    /// The command of the program that uses CUB.
    #[arg(long)]
    cub: Option<String>,
    /// The command of the script that uses `PyTorch`'s softmax.
    #[arg(long)]
    torch: Option<String>,
    /// The command of the script that uses `PyTorch`'s argsort.
    #[arg(long)]
    argsort: Option<String>,
    /// The command of the program that uses the crate `lampshade`.
    #[arg(long)]
    lampshade: Option<String>,
    /// The command of the program that uses the crate `wgpu_sort`.
    #[arg(long)]
    wgpu_sort: Option<String>,
    /// Part of the adapter's name.
    #[arg(long)]
    adapter: Option<String>,
    /// The number of a CUDA device that runs the same WGSL, translated, in place of an adapter.
    #[arg(long, value_name = "NUMBER")]
    cuda: Option<usize>,
    /// Samples of each side.
    #[arg(long, default_value_t = 41)]
    samples: u32,
    /// Time ways of dividing the work instead, without peers.
    #[arg(long)]
    tune: bool,
    /// The JSON file that takes the rows.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// What takes our samples of one work at one size.
trait Side {
    /// Takes a sample of so many calls on the copies in turn: nanoseconds a call.
    fn sample(&mut self, repeats: u32) -> Result<f64>;
    /// Verifies every copy's output.
    fn verify(&self) -> Result<()>;
}

/// The library on a device of wgpu's.
struct Vulkan<'a> {
    gpu: &'a Gpu,
    sets: &'a Sets,
    tuning: Tuning,
    ours: Ours,
}

impl Side for Vulkan<'_> {
    fn sample(&mut self, repeats: u32) -> Result<f64> {
        self.ours.sample(self.gpu, repeats)
    }

    fn verify(&self) -> Result<()> {
        self.sets.verify_all(self.gpu, self.tuning)
    }
}

/// The same WGSL on a device of CUDA's.
struct Translated<'a> {
    cuda: &'a Cuda,
    copies: Copies,
}

impl Side for Translated<'_> {
    fn sample(&mut self, repeats: u32) -> Result<f64> {
        self.cuda.sample(&mut self.copies, repeats)
    }

    fn verify(&self) -> Result<()> {
        self.cuda.verify(&self.copies)
    }
}

/// A work at a size on so many copies of its buffers.
#[derive(Clone, Copy)]
struct Point {
    work: Work,
    n: u64,
    copies: u64,
    cold: bool,
}

/// What our times are of: the device's name, and its copy rate in bytes a second.
struct Device {
    name: String,
    copy_rate: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    match arguments.cuda {
        Some(number) => on_cuda(number, arguments)?,
        None => on_wgpu(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The points that are asked for.
fn points(arguments: &Arguments) -> Vec<Point> {
    let all = <Work as clap::ValueEnum>::value_variants();
    let works = if arguments.work.is_empty() { all } else { &arguments.work };
    let mut points = Vec::new();
    for &work in works {
        for &pow2 in &arguments.pow2 {
            let n = 1_u64 << pow2;
            for cold in [true, false] {
                let copies =
                    if cold { (COLD_BYTES / work.bytes(n)).clamp(1, COPIES_MAX) } else { 1 };
                // A partition is compiled for each copy: of small ones only warm times are taken.
                let compiled = work.classes().is_some() || work.sorts();
                let many = compiled && copies > COPIES_COMPILED_MAX;
                if (cold || work.bytes(n) <= COLD_BYTES) && !many {
                    points.push(Point { work, n, copies, cold });
                }
            }
        }
    }
    points
}

/// Times the library through wgpu.
fn on_wgpu(arguments: &Arguments) -> Result<()> {
    let gpu = Gpu::open(arguments.adapter.as_deref())?;
    let device = Device { name: gpu.name.clone(), copy_rate: gpu.copy_rate()? };
    eprintln!("{}: copies {:.0} GB/s", device.name, device.copy_rate / 1e9);
    for point in points(arguments) {
        let Point { work, n, copies, .. } = point;
        let sets = Sets::new(&gpu, work, n, usize::try_from(copies)?)?;
        if arguments.tune {
            let shape = (n, arguments.columns);
            tune::tune(&gpu, &sets, shape, arguments.samples, device.copy_rate)?;
            continue;
        }
        for peer in peers(work, arguments) {
            let tuning = work.tuning(&gpu, arguments.columns);
            let ours = sets.ready(&gpu, tuning);
            let ours = ours.with_context(|| format!("{} of {n}", work.name()))?;
            let mut side = Vulkan { gpu: &gpu, sets: &sets, tuning, ours };
            let repeats = repeats(side.sample(10)?);
            compare(&device, &mut side, arguments, peer, point, repeats)?;
        }
    }
    Ok(())
}

/// Times the same WGSL through CUDA.
fn on_cuda(number: usize, arguments: &Arguments) -> Result<()> {
    anyhow::ensure!(!arguments.tune, "ways of dividing the work are timed through wgpu alone");
    let mut cuda = Cuda::open(number)?;
    let device = Device { name: cuda.name(), copy_rate: cuda.copy_rate()? };
    eprintln!("{}: copies {:.0} GB/s", device.name, device.copy_rate / 1e9);
    for point in points(arguments) {
        let Point { work, n, copies, .. } = point;
        if work.classes().is_some() || work.sorts() {
            eprintln!("{} is more than one kernel of the catalogue: left out", work.name());
            continue;
        }
        for peer in peers(work, arguments) {
            let made = cuda.ready(work, (n, arguments.columns), usize::try_from(copies)?);
            let made = made.with_context(|| format!("{} of {n}", work.name()))?;
            let mut side = Translated { cuda: &cuda, copies: made };
            // A sample begins with the first copy: all others come between two of its uses.
            let repeats = repeats(side.sample(10)?).max(u32::try_from(copies)?);
            compare(&device, &mut side, arguments, peer, point, repeats)?;
        }
    }
    Ok(())
}

/// The peers of a work that there are commands for; one without a command where there are none.
fn peers(work: Work, arguments: &Arguments) -> Vec<(&'static str, Option<&String>)> {
    let Arguments { cub, torch, argsort, lampshade, wgpu_sort, .. } = arguments;
    let all = match work {
        Work::ReduceF32 | Work::Pairs8 | Work::Pairs256 => vec![("cub", cub)],
        Work::ScanU32 | Work::SortKeysU32 | Work::CompactHalf => {
            vec![("cub", cub), ("lampshade", lampshade)]
        }
        Work::SortPairsU32 => {
            vec![("cub", cub), ("lampshade", lampshade), ("wgpu_sort", wgpu_sort)]
        }
        Work::SoftmaxF32 => vec![("torch", torch)],
        Work::Permutation8 => vec![("cub", cub), ("torch", argsort)],
    };
    let given: Vec<_> = all
        .iter()
        .map(|(name, command)| (*name, command.as_ref()))
        .filter(|p| p.1.is_some())
        .collect();
    if given.is_empty() { vec![(all[0].0, None)] } else { given }
}

/// Times one work at one size beside a peer, where there is a command for it, and merges the row into
/// the file, where there is one.
fn compare(
    device: &Device,
    ours: &mut dyn Side,
    arguments: &Arguments,
    (peer, command): (&str, Option<&String>),
    Point { work, n, copies, cold }: Point,
    repeats: u32,
) -> Result<()> {
    let mut words = vec![work.name().to_owned(), n.to_string()];
    if work == Work::SoftmaxF32 {
        words.push(arguments.columns.to_string());
    }
    words.extend([copies.to_string(), repeats.to_string()]);
    let mut theirs = command.map(|command| Peer::start(command, &words)).transpose()?;
    let (mut our_samples, mut their_samples) = (Vec::new(), Vec::new());
    // A GPU that was idle takes a while to reach its clocks: samples before that do not count.
    let begin = Instant::now();
    while our_samples.len() < arguments.samples as usize {
        let sample = ours.sample(repeats)?;
        let beside = theirs.as_mut().map(Peer::sample).transpose()?;
        if begin.elapsed() > WARM_UP {
            our_samples.push(sample);
            their_samples.extend(beside);
        }
    }
    ours.verify()?;
    let our_median = median(&our_samples).context("there are no samples")?;
    #[expect(clippy::cast_precision_loss, reason = "bytes lie far below 2^53")]
    let share = work.bytes(n) as f64 / (our_median * 1e-9) / device.copy_rate;
    let state = if cold { "cold" } else { "warm" };
    let Some(their_median) = median(&their_samples) else {
        eprintln!("{} {n} {state}: {:.2} µs, {share:.3} of copy", work.name(), our_median / 1e3);
        return Ok(());
    };
    let ratio = their_median / our_median;
    eprintln!(
        "{} {n} {state}: {:.2} µs, {share:.3} of copy; {peer} {:.2} µs: {ratio:.3}× its speed",
        work.name(),
        our_median / 1e3,
        their_median / 1e3
    );
    let row = PeerRow {
        work: work.name().to_owned(),
        n,
        peer: peer.to_owned(),
        peer_median_ns: their_median,
        device: device.name.clone(),
        median_ns: our_median,
        speed_ratio: ratio,
        bytes_moved: work.bytes(n),
        copy_rate_ratio: share,
        cold,
    };
    arguments.out.as_deref().map_or(Ok(()), |out| merge(out, row))
}

/// Puts a row into the file, in place of an older one of the same measurement.
fn merge(path: &Path, row: PeerRow) -> Result<()> {
    let mut file: Peers = if path.exists() {
        serde_json::from_str(&std::fs::read_to_string(path)?)
            .with_context(|| format!("{} cannot be read", path.display()))?
    } else {
        Peers { schema: 1, rows: Vec::new() }
    };
    anyhow::ensure!(file.schema == 1, "{} has schema {}", path.display(), file.schema);
    let key =
        |row: &PeerRow| (row.work.clone(), row.n, row.peer.clone(), row.device.clone(), row.cold);
    file.rows.retain(|other| key(other) != key(&row));
    file.rows.push(row);
    file.rows.sort_by_key(key);
    std::fs::write(path, serde_json::to_string_pretty(&file)? + "\n")?;
    Ok(())
}
