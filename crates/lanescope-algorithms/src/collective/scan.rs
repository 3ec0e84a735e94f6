//! Prefix sums of an array.
//!
//! Input: a buffer of n elements. Output: commands that leave every prefix sum in another buffer,
//! and the sum of all. One dispatch reads and writes everything once, after a small one that
//! resets its state; as much for each part where the array is larger than a binding may be. How it is done stands in `shaders/scan/device.wgsl`.

use wgpu::{Buffer, CommandEncoder, ComputePass, ComputePassDescriptor, Device};

use super::{
    AlgorithmError, BufferPart, CollectiveDispatch, CollectiveStage, ELEMENT_BYTES, Element,
    binding_bytes_max, check_device, check_items, check_length, check_workgroup, element_line,
    grid, make_zeroed, padded_bytes, params, specialise, workgroup_size,
};

/// The shader's text, the catalogue's.
use crate::shaders::SCAN as SHADER;

/// Bytes of a tile's state.
pub(super) const STATE_BYTES: u64 = 8;

/// How the work is divided; start from [`ScanTuning::for_device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanTuning {
    /// Invocations a workgroup: a power of two from 128 to what the device takes.
    pub workgroup_size: u32,
    /// Vectors of four of each invocation, 1 to 16: a tile has workgroup size · items · 4 elements.
    pub items: u32,
    /// How often a workgroup looks in vain before it sums up a tile itself, at least 1.
    pub spins: u32,
}

impl ScanTuning {
    /// What was fastest on an H200, with workgroups no larger than the device takes.
    pub fn for_device(device: &Device) -> Self {
        Self { workgroup_size: workgroup_size(device, 512), items: 4, spins: 256 }
    }

    /// What was fastest for [`super::Compact`] of n elements on an H200: of few elements small tiles, so that
    /// each core has some.
    pub fn for_compaction(device: &Device, n: u64) -> Self {
        let (most, items) = match n {
            0..=0x8_0000 => (512, 1),
            0x8_0001..=0x20_0000 => (1024, 1),
            _ => (512, 2),
        };
        Self { workgroup_size: workgroup_size(device, most), items, spins: 256 }
    }
}

/// Which sums are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScanKind {
    /// Element i is the sum of elements 0 to i.
    Inclusive,
    /// Element i is the sum of elements 0 to i − 1; element 0 is 0.
    Exclusive,
}

/// A place in the scan's text at which what is built on it puts text of its own. Places are named here and not in the text,
/// which the catalogue's kernel compiles as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanHook {
    /// An expression: vector `first + k * place.width` of a tile that has all its vectors.
    LoadWhole,
    /// An expression: vector `first + k * width`; beyond the last one any will do.
    Load,
    /// Statements, once the tile's own sums are known and before it publishes them.
    BeforePublishing,
    /// Statements for each vector `index`, of which `items[k] + before` are the sums; beyond the last one too.
    Write,
}

impl ScanHook {
    /// What stands there in the scan, and nowhere else in it.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::LoadWhole => "input[first + k * place.width]",
            Self::Load => "input[min(first + k * width, vectors_count() - 1u)]",
            Self::BeforePublishing => "    // Publish this tile's sum.\n",
            Self::Write => {
                "        if (index < vectors_count()) {
            store(index, items[k] + before);
        }
"
            }
        }
    }

    /// The scan's text with something else at these places.
    pub(super) fn fill(text: &str, filled: &[(Self, &str)]) -> String {
        let replacements = filled.iter().map(|(hook, text)| (hook.text(), (*text).to_owned()));
        specialise(text, &replacements.collect::<Vec<_>>())
    }
}

/// A scan for one type on one device.
///
/// lavapipe leaves every loop after 65,535 iterations, without a word. There, scans of many millions of
/// elements come out wrong: a thread that begins in the middle of the array sums up what comes before
/// it, and does not get to the end.
#[derive(Clone, Debug)]
pub struct Scan {
    pub(super) main: CollectiveStage,
    reset: CollectiveStage,
    tuning: ScanTuning,
}

/// What a scan keeps between its workgroups, and the sum of all.
#[derive(Clone, Debug)]
pub struct ScanScratch {
    pub(super) state: Buffer,
    pub(super) totals: Buffer,
    pub(super) n_max: u64,
}

/// A scan of one array, ready to be recorded any number of times, one after the other.
#[derive(Clone, Debug)]
pub struct ScanCall {
    steps: Vec<CollectiveDispatch>,
    total: Buffer,
    total_offset: u64,
}

impl Scan {
    /// Compiles the scan.
    ///
    /// Sums of integers wrap. Sums of floats depend on the order of addition, and that on which
    /// workgroup was faster: two runs may differ in their last bits.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::NoSubgroups`] and [`AlgorithmError::SubgroupTooNarrow`] for devices on which
    /// it does not run, and [`AlgorithmError::Tuning`].
    pub fn new(
        device: &Device,
        element: Element,
        kind: ScanKind,
        tuning: ScanTuning,
    ) -> Result<Self, AlgorithmError> {
        Self::with_shader(device, tuning, || Self::shader(element, kind, tuning))
    }

    /// Compiles what `text` gives, which has the entry points of a scan, once the tuning is known to fit.
    pub(super) fn with_shader(
        device: &Device,
        tuning: ScanTuning,
        text: impl FnOnce() -> String,
    ) -> Result<Self, AlgorithmError> {
        check_device(device)?;
        check_workgroup(device, tuning.workgroup_size)?;
        check_items("items", tuning.items)?;
        if tuning.spins == 0 {
            let allowed = "at least 1".to_owned();
            return Err(AlgorithmError::Tuning { name: "spins", value: 0, allowed });
        }
        let text = text();
        Ok(Self {
            main: CollectiveStage::new(device, "scan", &text, "main"),
            reset: CollectiveStage::new(device, "scan reset", &text, "reset"),
            tuning,
        })
    }

    /// Makes the buffers that scans of up to `n` elements need beside their own; they can be shared by
    /// calls that run one after the other.
    pub fn scratch(&self, device: &Device, n: u64) -> ScanScratch {
        let part = self.part_elements(device);
        let tiles = part.min(n).div_ceil(self.tile_elements());
        let state = make_zeroed(device, "scan state", STATE_BYTES * tiles);
        let totals = make_zeroed(device, "scan totals", (n.div_ceil(part) + 1) * ELEMENT_BYTES);
        ScanScratch { state, totals, n_max: n }
    }

    /// Makes ready the scan of the first `n` elements of `input` into those of `output`.
    ///
    /// Both need [`wgpu::BufferUsages::STORAGE`], must reach to the end of the last vector of four,
    /// and may not be the same. Nothing is written for n = 0.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::BufferTooShort`], and [`AlgorithmError::TooMany`] for more elements than
    /// `scratch` was made for.
    pub fn prepare(
        &self,
        device: &Device,
        input: &Buffer,
        n: u64,
        output: &Buffer,
        scratch: &ScanScratch,
    ) -> Result<ScanCall, AlgorithmError> {
        if n > scratch.n_max {
            return Err(AlgorithmError::TooMany { n, max: scratch.n_max });
        }
        check_length("input", input, n)?;
        check_length("output", output, n)?;
        let tile = self.tile_elements();
        let part_elements = self.part_elements(device);
        let parts = n.div_ceil(part_elements);
        let mut steps = Vec::new();
        let mut first = 0;
        for part in 0..parts {
            let count = part_elements.min(n - first);
            let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
            let params = params(device, &[word(count), word(part)]);
            let slice = |buffer| BufferPart {
                buffer,
                offset: first * ELEMENT_BYTES,
                size: Some(padded_bytes(count)),
            };
            // No more of the state than this part has tiles.
            let tiles = count.div_ceil(tile);
            let state =
                BufferPart { buffer: &scratch.state, offset: 0, size: Some(STATE_BYTES * tiles) };
            steps.push(self.reset(device, state, tiles));
            let bindings = [
                (0, BufferPart::whole(&params)),
                (1, slice(input)),
                (2, slice(output)),
                (3, state),
                (4, BufferPart::whole(&scratch.totals)),
            ];
            steps.push(self.main.step(device, &bindings, grid(tiles)));
            first += count;
        }
        Ok(ScanCall { steps, total: scratch.totals.clone(), total_offset: parts * ELEMENT_BYTES })
    }

    /// The dispatch that clears the state of so many tiles.
    pub(super) fn reset(
        &self,
        device: &Device,
        state: BufferPart<'_>,
        tiles: u64,
    ) -> CollectiveDispatch {
        let words = (STATE_BYTES / 4 * tiles).div_ceil(u64::from(self.tuning.workgroup_size));
        self.reset.step(device, &[(3, state)], grid(words))
    }

    /// The elements of one dispatch at most: whole tiles that one binding holds.
    pub(super) fn part_elements(&self, device: &Device) -> u64 {
        let tile = self.tile_elements();
        binding_bytes_max(device) / ELEMENT_BYTES / tile * tile
    }

    /// The elements that one workgroup scans.
    pub(super) fn tile_elements(&self) -> u64 {
        u64::from(self.tuning.workgroup_size) * u64::from(self.tuning.items) * 4
    }

    /// The shader for a type, a kind and a division of the work.
    pub fn shader(element: Element, kind: ScanKind, tuning: ScanTuning) -> String {
        let exclusive = kind == ScanKind::Exclusive;
        specialise(
            SHADER,
            &[
                ("alias Element = u32;", element_line(element)),
                (
                    "const WORKGROUP = 256u;",
                    format!("const WORKGROUP = {}u;", tuning.workgroup_size),
                ),
                ("const ITEMS = 4u;", format!("const ITEMS = {}u;", tuning.items)),
                ("const SPINS = 256u;", format!("const SPINS = {}u;", tuning.spins)),
                ("const EXCLUSIVE = false;", format!("const EXCLUSIVE = {exclusive};")),
            ],
        )
    }
}

impl ScanCall {
    /// Records the scan into a compute pass of the caller's.
    pub fn record(&self, pass: &mut ComputePass<'_>) {
        for step in &self.steps {
            step.record(pass);
        }
    }

    /// Records the scan into a compute pass of its own.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        self.record(&mut encoder.begin_compute_pass(&ComputePassDescriptor::default()));
    }

    /// Where the sum of all elements lies once the commands have run: a buffer that can be copied
    /// from and bound as storage, and an offset in bytes. The next call with the same scratch
    /// overwrites it.
    pub fn total(&self) -> (&Buffer, u64) {
        (&self.total, self.total_offset)
    }
}
