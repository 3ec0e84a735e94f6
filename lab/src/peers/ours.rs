//! Our side: the library's algorithms on buffers of known contents, verified and timed.
//!
//! Input: a work, a size, a number of copies of the buffers. Output: nanoseconds a call.

use anyhow::{Result, bail};
use lanescope::algorithms::multisplit::Multisplit;
use lanescope::algorithms::sort::{RadixTuning, Sort};
use lanescope::algorithms::{
    CompactCall, Element, Operation, Reduce, ReduceCall, ReduceTuning, Scan, ScanCall, ScanKind,
    ScanTuning, Softmax, SoftmaxCall, SoftmaxTuning,
};
use lanescope::statistics::median;
use wgpu::{Buffer, ComputePass};

use super::gpu::Gpu;
use super::{sorts, split};

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Work {
    /// The sum of n f32.
    ReduceF32,
    /// Inclusive prefix sums of n u32.
    ScanU32,
    /// Softmax of rows of f32, n elements in all.
    SoftmaxF32,
    /// The permutation of n class ids into order by class, 8 classes.
    #[value(name = "permutation_8")]
    Permutation8,
    /// n pairs of class id and u32 in order by class, 8 classes.
    #[value(name = "pairs_8")]
    Pairs8,
    /// The same of 256 classes.
    #[value(name = "pairs_256")]
    Pairs256,
    /// n pairs of u32 in order by whole keys.
    SortPairsU32,
    /// n u32 in order.
    SortKeysU32,
    /// Those of n u32 whose flag, a byte, is set: half of them.
    CompactHalf,
}

/// How the library divides the work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tuning {
    Reduce(ReduceTuning),
    Scan(ScanTuning),
    Softmax {
        columns: u32,
        tuning: SoftmaxTuning,
    },
    /// The library's own choice.
    Split,
    /// Of a sort; the library's own choice where left out.
    Sort(Option<RadixTuning>),
    /// Of a compaction; likewise.
    Compact(Option<ScanTuning>),
}

/// One call of the library on one copy of the buffers.
enum Call {
    Reduce(ReduceCall),
    Scan(ScanCall),
    Softmax(SoftmaxCall),
    Split(Multisplit),
    Sort(Sort),
    Compact(CompactCall),
}

/// The buffers of a work: copies that are used in turn, so that a cache holds none of them.
pub(crate) struct Sets {
    work: Work,
    n: u64,
    content: Vec<u8>,
    /// The content in order, once somebody has asked.
    order: std::cell::OnceCell<Vec<u64>>,
    buffers: Vec<(Buffer, Buffer)>,
    /// The same for partitions, which have more buffers.
    splits: Vec<split::Set>,
    /// And for sorts and compactions.
    sorts: Vec<sorts::Set>,
}

/// The work with one tuning, on each copy.
pub(crate) struct Ours {
    calls: Vec<Call>,
    next: std::cell::Cell<usize>,
}

impl Work {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ReduceF32 => "reduce_f32",
            Self::ScanU32 => "scan_u32",
            Self::SoftmaxF32 => "softmax_f32",
            Self::Permutation8 => "permutation_8",
            Self::Pairs8 => "pairs_8",
            Self::Pairs256 => "pairs_256",
            Self::SortPairsU32 => "sort_pairs_u32",
            Self::SortKeysU32 => "sort_keys_u32",
            Self::CompactHalf => "compact_half",
        }
    }

    /// Bytes that must move: each input once, each output once.
    pub(crate) fn bytes(self, n: u64) -> u64 {
        match self {
            Self::ReduceF32 => 4 * n + 4,
            Self::ScanU32 | Self::SoftmaxF32 | Self::Permutation8 | Self::SortKeysU32 => 8 * n,
            Self::Pairs8 | Self::Pairs256 | Self::SortPairsU32 => 16 * n,
            Self::CompactHalf => 7 * n,
        }
    }

    /// The classes of a partition.
    pub(crate) fn classes(self) -> Option<u32> {
        match self {
            Self::Permutation8 | Self::Pairs8 => Some(8),
            Self::Pairs256 => Some(256),
            _ => None,
        }
    }

    /// Whether it is a sort of whole keys or a compaction.
    pub(crate) fn sorts(self) -> bool {
        matches!(self, Self::SortPairsU32 | Self::SortKeysU32 | Self::CompactHalf)
    }

    pub(crate) fn tuning(self, gpu: &Gpu, columns: u32) -> Tuning {
        match self {
            Self::ReduceF32 => Tuning::Reduce(ReduceTuning::for_device(&gpu.device)),
            Self::ScanU32 => Tuning::Scan(ScanTuning::for_device(&gpu.device)),
            Self::SoftmaxF32 => {
                let tuning = SoftmaxTuning::for_columns(&gpu.device, columns);
                Tuning::Softmax { columns, tuning }
            }
            Self::Permutation8 | Self::Pairs8 | Self::Pairs256 => Tuning::Split,
            Self::SortPairsU32 | Self::SortKeysU32 => Tuning::Sort(None),
            Self::CompactHalf => Tuning::Compact(None),
        }
    }
}

/// Element i of every input: a hash of i; as a float from 0 to 1.
fn word(work: Work, index: u64) -> u32 {
    let bits = lanescope::kernel::generate::mix(index) >> 32;
    let bits = u32::try_from(bits).unwrap_or(0);
    match work {
        Work::Permutation8 | Work::Pairs8 | Work::Pairs256 => {
            split::class(index, work.classes().unwrap_or(1))
        }
        Work::ScanU32 | Work::SortPairsU32 | Work::SortKeysU32 | Work::CompactHalf => bits,
        #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
        Work::ReduceF32 => ((bits >> 8) as f32 / 16_777_216.0).to_bits(),
        #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
        Work::SoftmaxF32 => ((bits >> 8) as f32 / 2_097_152.0 - 4.0).to_bits(),
    }
}

impl Sets {
    pub(crate) fn new(gpu: &Gpu, work: Work, n: u64, copies: usize) -> Result<Self> {
        let content: Vec<u8> = (0..n).flat_map(|i| word(work, i).to_le_bytes()).collect();
        let (mut buffers, mut splits, mut sorts) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..copies {
            if work.sorts() {
                sorts.push(sorts::Set::new(gpu, &content, work != Work::CompactHalf)?);
                continue;
            }
            if let Some(classes) = work.classes() {
                let pairs = work != Work::Permutation8;
                splits.push(split::Set::new(gpu, &content, classes, pairs)?);
                continue;
            }
            let input = gpu.buffer(n * 4);
            gpu.write(&input, &content)?;
            let output = gpu.buffer(if work == Work::ReduceF32 { 4 } else { n * 4 });
            buffers.push((input, output));
        }
        let order = std::cell::OnceCell::new();
        Ok(Self { work, n, content, order, buffers, splits, sorts })
    }

    /// Compiles the work with a tuning, runs it once and verifies what it wrote.
    pub(crate) fn ready(&self, gpu: &Gpu, tuning: Tuning) -> Result<Ours> {
        let device = &gpu.device;
        let calls: Result<Vec<Call>> = match tuning {
            Tuning::Reduce(tuning) => {
                let reduce = Reduce::new(device, Element::F32, Operation::Add, tuning)?;
                // One scratch for all: the calls of a sample run one after the other, as CUB's do.
                let scratch = reduce.scratch(device, self.n);
                let call = |(input, output): &(Buffer, Buffer)| {
                    Ok(Call::Reduce(reduce.prepare(device, input, self.n, output, &scratch)?))
                };
                self.buffers.iter().map(call).collect()
            }
            Tuning::Scan(tuning) => {
                let scan = Scan::new(device, Element::U32, ScanKind::Inclusive, tuning)?;
                let scratch = scan.scratch(device, self.n);
                let call = |(input, output): &(Buffer, Buffer)| {
                    Ok(Call::Scan(scan.prepare(device, input, self.n, output, &scratch)?))
                };
                self.buffers.iter().map(call).collect()
            }
            Tuning::Softmax { columns, tuning } => {
                let softmax = Softmax::new(device, tuning)?;
                let shape = (u32::try_from(self.n)? / columns, columns);
                let call = |(input, output): &(Buffer, Buffer)| {
                    Ok(Call::Softmax(softmax.prepare(device, input, shape, output)?))
                };
                self.buffers.iter().map(call).collect()
            }
            Tuning::Split => {
                let classes = self.work.classes().unwrap_or(1);
                let call = |set: &split::Set| Ok(Call::Split(set.ready(gpu, self.n, classes)?));
                self.splits.iter().map(call).collect()
            }
            Tuning::Sort(tuning) => {
                let pairs = self.work == Work::SortPairsU32;
                let call = |set: &sorts::Set| Ok(Call::Sort(set.sort(gpu, self.n, pairs, tuning)?));
                self.sorts.iter().map(call).collect()
            }
            Tuning::Compact(tuning) => {
                let call = |set: &sorts::Set| Ok(Call::Compact(set.compact(gpu, self.n, tuning)?));
                self.sorts.iter().map(call).collect()
            }
        };
        let ours = Ours { calls: calls?, next: std::cell::Cell::new(0) };
        for _ in 0..ours.calls.len().div_ceil(2) {
            ours.sample(gpu, 1)?;
        }
        self.verify_all(gpu, tuning)?;
        Ok(ours)
    }

    fn verify(&self, gpu: &Gpu, output: &Buffer, tuning: Tuning) -> Result<()> {
        let bytes = gpu.read(output, output.size())?;
        let found = bytes.as_chunks::<4>().0;
        let given = self.content.as_chunks::<4>().0;
        let float = |word: &[u8; 4]| f64::from(f32::from_le_bytes(*word));
        match tuning {
            Tuning::Reduce(_) => {
                let sum: f64 = given.iter().map(float).sum();
                let difference = (float(&found[0]) - sum).abs();
                if difference > 1e-5 * sum {
                    bail!("the sum is {}, not {sum}", float(&found[0]));
                }
            }
            Tuning::Scan(_) => {
                let mut sum = 0_u32;
                for (index, (given, found)) in given.iter().zip(found).enumerate() {
                    sum = sum.wrapping_add(u32::from_le_bytes(*given));
                    if sum != u32::from_le_bytes(*found) {
                        bail!("prefix sum {index} is {}, not {sum}", u32::from_le_bytes(*found));
                    }
                }
            }
            Tuning::Split | Tuning::Sort(_) | Tuning::Compact(_) => {}
            Tuning::Softmax { columns, .. } => {
                let columns = usize::try_from(columns)?;
                for (row, (given, found)) in
                    given.chunks(columns).zip(found.chunks(columns)).enumerate()
                {
                    let sum: f64 = given.iter().map(|word| float(word).exp()).sum();
                    for (given, found) in given.iter().zip(found) {
                        let expected = float(given).exp() / sum;
                        if (float(found) - expected).abs() > 1e-5 * expected {
                            bail!("row {row} has {} for {expected}", float(found));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Verifies every copy's output again, after timing.
    pub(crate) fn verify_all(&self, gpu: &Gpu, tuning: Tuning) -> Result<()> {
        let classes = self.work.classes().unwrap_or(1);
        self.splits.iter().try_for_each(|set| set.verify(gpu, &self.content, classes))?;
        self.sorts.iter().try_for_each(|set| match self.work {
            Work::CompactHalf => set.verify_compact(gpu, &self.content),
            work => {
                let order = self.order.get_or_init(|| sorts::ordered(&self.content));
                set.verify_sort(gpu, order, work == Work::SortPairsU32)
            }
        })?;
        self.buffers.iter().try_for_each(|(_, output)| self.verify(gpu, output, tuning))
    }

    pub(crate) fn work(&self) -> Work {
        self.work
    }
}

impl Ours {
    /// Takes a sample of `repeats` calls on the copies in turn: nanoseconds a call.
    pub(crate) fn sample(&self, gpu: &Gpu, repeats: u32) -> Result<f64> {
        let calls = |count: u32, pass: &mut ComputePass<'_>| {
            for _ in 0..count {
                self.calls[self.next.get()].record(pass);
                self.next.set((self.next.get() + 1) % self.calls.len());
            }
        };
        let time = gpu.time(|pass| calls(1, pass), |pass| calls(repeats, pass))?;
        Ok(time / f64::from(repeats))
    }
}

impl Ours {
    /// Nanoseconds of each dispatch of a sort: what its first k take, less what one fewer takes, medians.
    pub(crate) fn sample_steps(&self, gpu: &Gpu, samples: u32) -> Result<Vec<f64>> {
        let Some(Call::Sort(sort)) = self.calls.first() else { return Ok(Vec::new()) };
        let first = |count: usize, pass: &mut ComputePass<'_>| {
            (0..count).for_each(|index| sort.encode_step(pass, index));
        };
        let mut before = 0.0;
        let mut found = Vec::new();
        for count in 1..=sort.steps() {
            let times: Result<Vec<f64>> = (0..samples)
                .map(|_| gpu.time(|pass| first(sort.steps(), pass), |pass| first(count, pass)))
                .collect();
            let time = median(&times?).unwrap_or(0.0);
            found.push(time - before);
            before = time;
        }
        Ok(found)
    }
}

impl Call {
    fn record(&self, pass: &mut ComputePass<'_>) {
        match self {
            Self::Reduce(call) => call.record(pass),
            Self::Scan(call) => call.record(pass),
            Self::Softmax(call) => call.record(pass),
            // `status` holds zero from the start, as no id is out of range.
            Self::Split(split) => split.encode_in(pass),
            Self::Sort(sort) => sort.encode_in(pass),
            Self::Compact(call) => call.record(pass),
        }
    }
}
