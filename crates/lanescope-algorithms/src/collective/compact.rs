//! Stable selection by flags.
//!
//! Input: n elements of 32 bits and a flag for each. Output: commands that leave the elements whose
//! flag is not zero in another buffer, in their order, and how many there are. It is the scan of
//! [`super::scan`] over the flags, which writes elements in place of sums: one dispatch reads everything
//! once, after a small one that resets its state. What it reads and writes instead stands in
//! `shaders/scan/compact.part.wgsl`.

use wgpu::{Buffer, CommandEncoder, ComputePass, ComputePassDescriptor, Device};

use super::scan::{STATE_BYTES, Scan, ScanHook, ScanScratch};
use super::{
    AlgorithmError, BufferPart, CollectiveDispatch, ELEMENT_BYTES, Element, ScanKind, ScanTuning,
    check_length, grid, params, specialise,
};
use crate::partition::{Limits, meeting};
use crate::shaders;

/// How flags lie in their buffer; an element is kept where its flag is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flags {
    /// A word of 32 bits each.
    Words,
    /// A byte each.
    Bytes,
}

/// A compaction for one kind of flags on one device.
#[derive(Clone, Debug)]
pub struct Compact {
    scan: Scan,
    flags: Flags,
}

/// A compaction of one array, ready to be recorded any number of times, one after the other.
#[derive(Clone, Debug)]
pub struct CompactCall {
    steps: Vec<CollectiveDispatch>,
    count: Buffer,
}

impl Flags {
    /// The least bytes of a buffer of flags for `n` elements: fours of flags are read whole.
    pub fn bytes(self, n: u64) -> u64 {
        match self {
            Self::Words => n.next_multiple_of(4) * ELEMENT_BYTES,
            Self::Bytes => n.next_multiple_of(4),
        }
    }
}

impl Compact {
    /// Compiles the compaction. A device that was opened with `Features::SUBGROUP_BARRIER` does it sooner.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::NoSubgroups`] and [`AlgorithmError::SubgroupTooNarrow`] for devices on which
    /// it does not run, and [`AlgorithmError::Tuning`].
    pub fn new(device: &Device, flags: Flags, tuning: ScanTuning) -> Result<Self, AlgorithmError> {
        let barrier = Limits::from(device).subgroup_barrier;
        let scan = Scan::with_shader(device, tuning, || Self::shader(flags, tuning, barrier))?;
        Ok(Self { scan, flags })
    }

    /// Makes the buffers that compactions of up to `n` elements need beside their own; they can be shared
    /// by calls that run one after the other.
    pub fn scratch(&self, device: &Device, n: u64) -> ScanScratch {
        self.scan.scratch(device, n)
    }

    /// Makes ready the selection of the first `n` of `elements` into `output`.
    ///
    /// All buffers need [`wgpu::BufferUsages::STORAGE`] and must differ. `elements` and `output` hold `n`
    /// elements of 32 bits with the last vector of four filled up, `flags` has [`Flags::bytes`]. What
    /// `output` holds beyond the elements that are kept is left as it is.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::BufferTooShort`], and [`AlgorithmError::TooMany`] for more elements than
    /// `scratch` was made for or a binding holds.
    pub fn prepare(
        &self,
        device: &Device,
        (elements, flags): (&Buffer, &Buffer),
        n: u64,
        output: &Buffer,
        scratch: &ScanScratch,
    ) -> Result<CompactCall, AlgorithmError> {
        let max = scratch.n_max.min(self.scan.part_elements(device));
        if n > max {
            return Err(AlgorithmError::TooMany { n, max });
        }
        check_length("elements", elements, n)?;
        check_length("output", output, n)?;
        let (size, needed) = (flags.size(), self.flags.bytes(n));
        if size < needed {
            return Err(AlgorithmError::BufferTooShort { name: "flags", size, n, needed });
        }
        let tiles = n.div_ceil(self.scan.tile_elements());
        // Nothing is kept of nothing, and the count is that of a dispatch.
        let params = params(device, &[u32::try_from(n).unwrap_or(u32::MAX), 0]);
        let part = |buffer, size| BufferPart { buffer, offset: 0, size: Some(size) };
        let state = part(&scratch.state, STATE_BYTES * tiles.max(1));
        let mut steps = Vec::new();
        if n > 0 {
            steps.push(self.scan.reset(device, state, tiles));
            let words = n.next_multiple_of(4) * ELEMENT_BYTES;
            let bindings = [
                (0, BufferPart::whole(&params)),
                (1, part(flags, needed)),
                (2, part(output, words)),
                (3, state),
                (4, BufferPart::whole(&scratch.totals)),
                (5, part(elements, words)),
            ];
            steps.push(self.scan.main.step(device, &bindings, grid(tiles)));
        }
        Ok(CompactCall { steps, count: scratch.totals.clone() })
    }

    /// The shader for a kind of flags and a division of the work, with `subgroupBarrier()` or with barriers of the
    /// whole workgroup.
    pub fn shader(flags: Flags, tuning: ScanTuning, subgroup_barrier: bool) -> String {
        // Elements are on their way while tiles are waited for.
        let elements = "    var fours: array<vec4<u32>, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        fours[k] = elements_of(first + k * width);
    }
";
        let write = "        store_kept(index, items[k] + before, fours[k], place);\n";
        let scan = ScanHook::fill(
            &Scan::shader(Element::U32, ScanKind::Inclusive, tuning),
            &[
                (ScanHook::LoadWhole, "flags_of(first + k * place.width)"),
                (ScanHook::Load, "flags_of(first + k * width)"),
                (ScanHook::BeforePublishing, elements),
                (ScanHook::Write, write),
            ],
        );
        let barrier = if subgroup_barrier { "subgroupBarrier();" } else { "workgroupBarrier();" };
        let part = match flags {
            Flags::Words => shaders::COMPACT.to_owned(),
            Flags::Bytes => specialise(
                shaders::COMPACT,
                &[
                    ("alias Flags = vec4<u32>;", "alias Flags = u32;".to_owned()),
                    ("(0u, 0u, 0u, 0u)", "(0u, 8u, 16u, 24u)".to_owned()),
                    ("FLAG_BITS = 0xffffffffu", "FLAG_BITS = 0xffu".to_owned()),
                ],
            ),
        };
        scan + &part + &meeting(barrier)
    }
}

impl CompactCall {
    /// Records the compaction into a compute pass of the caller's.
    pub fn record(&self, pass: &mut ComputePass<'_>) {
        for step in &self.steps {
            step.record(pass);
        }
    }

    /// Records the compaction into a compute pass of its own.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        self.record(&mut encoder.begin_compute_pass(&ComputePassDescriptor::default()));
    }

    /// Where the number of elements that are kept lies once the commands have run, a u32: a buffer that
    /// can be copied from and bound as storage, and an offset in bytes. The next call with the same
    /// scratch overwrites it; for n = 0 it is 0.
    pub fn count(&self) -> (&Buffer, u64) {
        let offset = if self.steps.is_empty() { 0 } else { ELEMENT_BYTES };
        (&self.count, offset)
    }
}
