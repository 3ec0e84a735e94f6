//! The library's functions on random sizes, many times, in a child process with a time limit.
//!
//! Input: a driver, `LANESCOPE_COLLECTIVE_RUNS` for how many runs, and `LANESCOPE_COLLECTIVE_ELEMENTS`
//! for how many elements they may have. Output: none of them hangs, gives a wrong result, or writes
//! beyond its n. The child is this test program itself, started with [`CHILD`] set: a driver is chosen
//! by the environment, and a hang must not be ours. It says on standard output what it ran, so that
//! what it says can be kept.

use std::process::Command;
use std::time::{Duration, Instant};

use lanescope::algorithms::{
    Element, Operation, Reduce, ReduceTuning, Scan, ScanKind, ScanTuning, Softmax, SoftmaxTuning,
};
use lanescope::units::random::mix;
use wgpu::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoder, Device, DeviceDescriptor, Features,
    Instance, MapMode, PollType, Queue,
};

use crate::support::drivers::Driver;

/// Set in the child's environment to the number of runs.
pub(crate) const CHILD: &str = "LANESCOPE_COLLECTIVE_CHILD";

/// What outputs hold before a run.
const UNTOUCHED: u32 = 0xdead_beef;

/// The most elements of a run where nothing else is asked for: many tiles, but few for a large GPU.
const ELEMENTS: u64 = 40_000;

/// Runs where nothing else is asked for.
const RUNS: u64 = 60;

/// Starts the child on a driver and waits for it, for a while.
pub(crate) fn stress(driver: &Driver) {
    let asked = std::env::var("LANESCOPE_COLLECTIVE_RUNS").ok();
    let runs = asked.and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .envs(driver.environment())
        .env(CHILD, runs.to_string())
        .spawn()
        .unwrap();
    // SwiftShader takes some 50 ms a run, more where the processors are busy.
    let limit = Duration::from_secs(120 + runs / 2);
    #[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return;
        }
        if begin.elapsed() > limit {
            child.kill().unwrap();
            panic!("{runs} runs took longer than {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

struct Gpu {
    device: Device,
    queue: Queue,
    /// What it is, in words.
    name: String,
}

impl Gpu {
    /// Opens the driver's only adapter; bindings may have `binding_bytes` at most.
    fn open(binding_bytes: Option<u64>) -> Self {
        let adapters =
            pollster::block_on(Instance::default().enumerate_adapters(wgpu::Backends::VULKAN));
        let adapter = adapters.first().expect("the driver has an adapter");
        let mut required_limits = adapter.limits();
        if let Some(bytes) = binding_bytes {
            required_limits.max_storage_buffer_binding_size = bytes;
        }
        let (device, queue) = pollster::block_on(adapter.request_device(&DeviceDescriptor {
            required_features: Features::SUBGROUP,
            required_limits,
            ..DeviceDescriptor::default()
        }))
        .unwrap();
        let info = adapter.get_info();
        let name = format!(
            "{}, {} {}, subgroups of {} to {} lanes",
            info.name,
            info.driver,
            info.driver_info,
            info.subgroup_min_size,
            info.subgroup_max_size
        );
        Self { device, queue, name }
    }

    fn buffer(&self, words: &[u32]) -> Buffer {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(16).max(16), 0xab);
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// Runs what `record` records and reads `buffer`.
    fn run(&self, buffer: &Buffer, record: impl FnOnce(&mut CommandEncoder)) -> Vec<u32> {
        let staging = self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        record(&mut encoder);
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        let index = self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(MapMode::Read, |mapped| mapped.unwrap());
        self.device.poll(PollType::Wait { submission_index: Some(index), timeout: None }).unwrap();
        let view = staging.slice(..).get_mapped_range().unwrap();
        view.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// The kinds of sizes, in the order of [`size`]'s.
const KINDS: [&str; 6] = [
    "0 or 1 elements",
    "a prime",
    "one below a power of two",
    "one above a power of two",
    "a power of two",
    "any number",
];

/// Primes near powers of two.
const PRIMES: [u64; 20] = [
    2, 3, 5, 7, 127, 251, 509, 1021, 2039, 4093, 8191, 16_381, 32_749, 65_537, 131_071, 262_147,
    524_287, 1_048_583, 2_097_143, 4_194_301,
];

/// A size of at most `max` elements that fills nothing evenly, and its kind.
fn size(random: u64, max: u64) -> (usize, u64) {
    let primes = &PRIMES[..PRIMES.partition_point(|prime| *prime <= max)];
    let power = 1_u64 << ((random >> 8) % u64::from(max.ilog2()));
    match random & 7 {
        0 => (0, random >> 16 & 1),
        1 | 2 => (1, primes[usize::try_from(random >> 16).unwrap_or(0) % primes.len()]),
        3 => (2, power - 1),
        4 => (3, power + 1),
        5 => (4, power),
        _ => (5, (random >> 16) % max),
    }
}

/// What the child does: so many runs, a panic at the first that is wrong.
pub(crate) fn child(runs: u64) {
    let gpu = Gpu::open(None);
    let asked = std::env::var("LANESCOPE_COLLECTIVE_ELEMENTS").ok();
    let max = asked.map_or(ELEMENTS, |elements| elements.parse().unwrap());
    let tuning = ReduceTuning { workgroup_size: 128, items: 1, workgroups_max: 7 };
    let sum = Reduce::new(
        &gpu.device,
        Element::F32,
        Operation::Add,
        ReduceTuning::for_device(&gpu.device),
    );
    let xor = Reduce::new(&gpu.device, Element::U32, Operation::Xor, tuning);
    let (sum, xor) = (sum.unwrap(), xor.unwrap());
    // One scratch for all sizes: each call must leave it fit for any other.
    let (for_sum, for_xor) = (sum.scratch(&gpu.device, max), xor.scratch(&gpu.device, max));
    let scans = [
        (ScanKind::Inclusive, ScanTuning::for_device(&gpu.device)),
        (ScanKind::Exclusive, ScanTuning { workgroup_size: 128, items: 1, spins: 1 }),
    ];
    let scans = scans.map(|(kind, tuning)| {
        let scan = Scan::new(&gpu.device, Element::U32, kind, tuning).unwrap();
        let scratch = scan.scratch(&gpu.device, max);
        (kind, scan, scratch)
    });
    let mut sizes = Sizes { of_kind: [0; KINDS.len()], most: 0 };
    for run in 0..runs {
        let (kind, n) = size(mix(run ^ 0x5ca1_ab1e), max);
        sizes.of_kind[kind] += 1;
        sizes.most = sizes.most.max(n);
        let words: Vec<u32> = (0..n).map(|i| (mix(run << 32 | i) >> 40) as u32).collect();
        let input = gpu.buffer(&words);
        let word = gpu.buffer(&[UNTOUCHED]);
        let call = xor.prepare(&gpu.device, &input, n, &word, &for_xor).unwrap();
        let found = gpu.run(&word, |encoder| call.encode(encoder));
        assert_eq!(found[0], words.iter().fold(0, |a, b| a ^ b), "run {run}: xor of {n}");

        let (kind, scan, scratch) = &scans[usize::try_from(run % 2).unwrap()];
        check_scan(&gpu, (*kind, scan, scratch), &words, &input);

        #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
        let floats: Vec<f32> = words.iter().map(|word| *word as f32).collect();
        let bits: Vec<u32> = floats.iter().map(|value| value.to_bits()).collect();
        let input = gpu.buffer(&bits);
        let call = sum.prepare(&gpu.device, &input, n, &word, &for_sum).unwrap();
        let found = f64::from(f32::from_bits(gpu.run(&word, |encoder| call.encode(encoder))[0]));
        let expected: f64 = floats.iter().map(|value| f64::from(*value)).sum();
        assert!((found - expected).abs() <= 3e-6 * expected, "run {run}: sum of {n}: {found}");
    }
    sizes.print(&gpu, runs);
    check_softmax(&gpu);
    check_errors(&gpu);
    check_parts();
    check_limit(&gpu);
}

/// How many runs had sizes of each kind.
struct Sizes {
    of_kind: [u64; KINDS.len()],
    most: u64,
}

impl Sizes {
    /// Says what was run, once nothing of it was wrong.
    #[expect(clippy::print_stdout, reason = "what the child says is kept as a record of its runs")]
    fn print(&self, gpu: &Gpu, runs: u64) {
        println!("{}", gpu.name);
        println!("{runs} runs of a reduction of u32, a scan with look-back and a reduction of f32");
        for (kind, count) in KINDS.iter().zip(self.of_kind) {
            println!("{count:>6} of {kind}");
        }
        println!("{} elements at most; every run ended and was right", self.most);
    }
}

/// The most elements of [`check_limit`]: lavapipe's bindings hold as many.
const LIMIT_MAX: u64 = 1 << 25;

/// Reductions of arrays that fill a binding as large as the device takes, and of one that is a little
/// larger: in parts. Not scans: lavapipe leaves every loop after 65,535 iterations, which its second
/// thread, beginning in the middle of the array, needs for what its look-back has to sum up itself.
fn check_limit(gpu: &Gpu) {
    let limit = gpu.device.limits().max_storage_buffer_binding_size / 4;
    let device = &gpu.device;
    let tuning = ReduceTuning::for_device(device);
    let xor = Reduce::new(device, Element::U32, Operation::Xor, tuning).unwrap();
    for n in [limit.min(LIMIT_MAX), limit.min(LIMIT_MAX) + 5] {
        let words: Vec<u32> = (0..n).map(|i| (mix(i) >> 32) as u32).collect();
        let (input, word) = (gpu.buffer(&words), gpu.buffer(&[UNTOUCHED]));
        let call = xor.prepare(device, &input, n, &word, &xor.scratch(device, n)).unwrap();
        let found = gpu.run(&word, |encoder| call.encode(encoder));
        assert_eq!(found[0], words.iter().fold(0, |a, b| a ^ b), "xor of {n}");
    }
}

/// Arrays larger than a binding may be are worked on in parts.
fn check_parts() {
    // Seven parts of 2^14 elements at most.
    let gpu = Gpu::open(Some(1 << 16));
    let tuning = ReduceTuning { workgroup_size: 128, items: 1, workgroups_max: 5 };
    let sum = Reduce::new(&gpu.device, Element::U32, Operation::Add, tuning).unwrap();
    let tuning = ScanTuning { workgroup_size: 128, items: 1, spins: 4 };
    let scan = Scan::new(&gpu.device, Element::U32, ScanKind::Inclusive, tuning).unwrap();
    for n in [16_384, 16_385, 100_003] {
        let words: Vec<u32> = (0..n).map(|i| (mix(i) >> 32) as u32).collect();
        let (input, word) = (gpu.buffer(&words), gpu.buffer(&[UNTOUCHED]));
        let call =
            sum.prepare(&gpu.device, &input, n, &word, &sum.scratch(&gpu.device, n)).unwrap();
        let found = gpu.run(&word, |encoder| call.encode(encoder));
        assert_eq!(found[0], words.iter().fold(0, |a: u32, b| a.wrapping_add(*b)), "sum of {n}");
        let scratch = scan.scratch(&gpu.device, n);
        check_scan(&gpu, (ScanKind::Inclusive, &scan, &scratch), &words, &input);
    }
}

/// What cannot be done is refused with the reason.
fn check_errors(gpu: &Gpu) {
    let device = &gpu.device;
    let reduce = ReduceTuning::for_device(device);
    let error = Reduce::new(device, Element::F32, Operation::Xor, reduce).unwrap_err();
    assert_eq!(error.to_string(), "xor is no operation of f32");
    let odd = ReduceTuning { workgroup_size: 200, ..reduce };
    let error = Reduce::new(device, Element::F32, Operation::Add, odd).unwrap_err();
    assert!(error.to_string().contains("workgroup_size = 200"), "{error}");
    let spinless = ScanTuning { spins: 0, ..ScanTuning::for_device(device) };
    let error = Scan::new(device, Element::U32, ScanKind::Inclusive, spinless).unwrap_err();
    assert!(error.to_string().contains("spins = 0"), "{error}");
    let sum = Reduce::new(device, Element::F32, Operation::Add, reduce).unwrap();
    let scratch = sum.scratch(device, 100);
    let four = gpu.buffer(&[0; 4]);
    let error = sum.prepare(device, &four, 5, &four, &scratch).unwrap_err();
    assert!(error.to_string().contains("5 elements need 32"), "{error}");
    let many = gpu.buffer(&[0; 128]);
    let error = sum.prepare(device, &many, 101, &four, &scratch).unwrap_err();
    assert!(error.to_string().contains("101 elements are more than 100"), "{error}");
    let softmax = Softmax::new(device, SoftmaxTuning::for_columns(device, 32)).unwrap();
    let error = softmax.prepare(device, &many, (1, 30), &four).unwrap_err();
    assert!(error.to_string().contains("columns = 30"), "{error}");
}

fn check_scan(
    gpu: &Gpu,
    (kind, scan, scratch): (ScanKind, &Scan, &lanescope::algorithms::ScanScratch),
    words: &[u32],
    input: &Buffer,
) {
    let n = words.len();
    let output = gpu.buffer(&vec![UNTOUCHED; n.next_multiple_of(4).max(4)]);
    let call = scan.prepare(&gpu.device, input, n as u64, &output, scratch).unwrap();
    let found = gpu.run(&output, |encoder| call.encode(encoder));
    let mut sum = 0_u32;
    for (index, word) in words.iter().enumerate() {
        let before = sum;
        sum = sum.wrapping_add(*word);
        let expected = if kind == ScanKind::Inclusive { sum } else { before };
        assert_eq!(found[index], expected, "{kind:?} scan of {n}: element {index}");
    }
    assert!(found[n..].iter().all(|word| *word == UNTOUCHED), "a scan of {n} wrote beyond it");
    if n > 0 {
        let (total, offset) = call.total();
        let found = gpu.run(total, |_| {});
        assert_eq!(found[usize::try_from(offset / 4).unwrap()], sum, "the total of {n}");
    }
}

fn check_softmax(gpu: &Gpu) {
    for columns in [4_u32, 32, 1024, 4096] {
        let rows = 3;
        let tuning = SoftmaxTuning::for_columns(&gpu.device, columns);
        let softmax = Softmax::new(&gpu.device, tuning).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
        let values: Vec<f32> =
            (0..u64::from(rows * columns)).map(|i| (mix(i) >> 40) as f32 / 1e5 - 80.0).collect();
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        let (input, output) = (gpu.buffer(&bits), gpu.buffer(&vec![UNTOUCHED; bits.len()]));
        let call = softmax.prepare(&gpu.device, &input, (rows, columns), &output).unwrap();
        let found = gpu.run(&output, |encoder| call.encode(encoder));
        for (row, found) in values.chunks(columns as usize).zip(found.chunks(columns as usize)) {
            let greatest = row.iter().copied().fold(f32::MIN, f32::max);
            let exp = |value: &f32| f64::from(value - greatest).exp();
            let sum: f64 = row.iter().map(exp).sum();
            for (value, found) in row.iter().zip(found) {
                let (found, expected) = (f64::from(f32::from_bits(*found)), exp(value) / sum);
                assert!((found - expected).abs() <= 1e-4 * expected + 1e-30, "{found} {expected}");
            }
        }
    }
}
