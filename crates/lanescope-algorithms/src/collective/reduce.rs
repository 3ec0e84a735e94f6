//! Reduction of an array to one element.
//!
//! Input: a buffer of n elements. Output: commands that leave their sum, product, maximum, … in
//! another buffer. One dispatch, or one for each part where the array is larger than a binding may
//! be, and one for the parts' results. How it is done stands in `shaders/reduce/device.wgsl`.

use wgpu::{Buffer, CommandEncoder, ComputePass, ComputePassDescriptor, Device, DeviceType};

use super::{
    AlgorithmError, BufferPart, CollectiveDispatch, CollectiveStage, ELEMENT_BYTES, Element,
    Operation, binding_bytes_max, check_device, check_items, check_length, check_workgroup,
    element_line, make_zeroed, padded_bytes, params, specialise, workgroup_size,
};

/// The shader's text, the catalogue's.
use crate::shaders::REDUCE as SHADER;

/// How the work is divided; start from [`ReduceTuning::for_device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceTuning {
    /// Invocations a workgroup: a power of two from 128 to what the device takes.
    pub workgroup_size: u32,
    /// Vectors of four that an invocation loads before it adds them up, 1 to 16.
    pub items: u32,
    /// The most workgroups, 1 to 65,535.
    pub workgroups_max: u32,
}

impl ReduceTuning {
    /// What was fastest on an H200, with workgroups no larger than the device takes: few and large
    /// ones, two for each of its 132 processors, since each adds to the same counter in the end. For
    /// CPU drivers what was fastest on lavapipe: more elements in a row for each of fewer.
    pub fn for_device(device: &Device) -> Self {
        if device.adapter_info().device_type == DeviceType::Cpu {
            return Self {
                workgroup_size: workgroup_size(device, 256),
                items: 16,
                workgroups_max: 64,
            };
        }
        Self { workgroup_size: workgroup_size(device, 1024), items: 4, workgroups_max: 264 }
    }
}

/// A reduction for one type and operation on one device.
#[derive(Clone, Debug)]
pub struct Reduce {
    stage: CollectiveStage,
    tuning: ReduceTuning,
}

/// What a reduction keeps between its workgroups.
#[derive(Clone, Debug)]
pub struct ReduceScratch {
    state: Buffer,
    results: Buffer,
    n_max: u64,
}

/// A reduction of one array, ready to be recorded any number of times, one after the other.
#[derive(Clone, Debug)]
pub struct ReduceCall {
    steps: Vec<CollectiveDispatch>,
}

impl Reduce {
    /// Compiles the reduction.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::NoSubgroups`] and [`AlgorithmError::SubgroupTooNarrow`] for devices on which
    /// it does not run, [`AlgorithmError::NotForType`] for bits of floats, and
    /// [`AlgorithmError::Tuning`].
    pub fn new(
        device: &Device,
        element: Element,
        operation: Operation,
        tuning: ReduceTuning,
    ) -> Result<Self, AlgorithmError> {
        check_device(device)?;
        check_workgroup(device, tuning.workgroup_size)?;
        check_items("items", tuning.items)?;
        if !(1..=65_535).contains(&tuning.workgroups_max) {
            let (name, value) = ("workgroups_max", tuning.workgroups_max);
            let allowed = "from 1 to 65535".to_owned();
            return Err(AlgorithmError::Tuning { name, value, allowed });
        }
        let text = Self::shader(element, operation, tuning)?;
        Ok(Self { stage: CollectiveStage::new(device, "reduce", &text, "main"), tuning })
    }

    /// Makes the buffers that reductions of up to `n` elements need beside their own; they can be
    /// shared by calls that run one after the other.
    pub fn scratch(&self, device: &Device, n: u64) -> ReduceScratch {
        let words = 1 + 2 * u64::from(self.tuning.workgroups_max);
        let parts = n.div_ceil(part_elements(device)).max(1);
        ReduceScratch {
            state: make_zeroed(device, "reduce state", words * 4),
            results: make_zeroed(device, "reduce parts", padded_bytes(parts)),
            n_max: n,
        }
    }

    /// Makes ready the reduction of the first `n` elements of `input` into the first element of
    /// `output`; for n = 0 that is the operation's identity, such as 0 for a sum.
    ///
    /// Both need [`wgpu::BufferUsages::STORAGE`]. `input` must reach to the end of the last vector of
    /// four, and may not be `output`.
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
        scratch: &ReduceScratch,
    ) -> Result<ReduceCall, AlgorithmError> {
        check_length("input", input, n)?;
        check_length("output", output, 0)?;
        if n > scratch.n_max {
            return Err(AlgorithmError::TooMany { n, max: scratch.n_max });
        }
        let part_elements = part_elements(device);
        let parts = n.div_ceil(part_elements).max(1);
        let ReduceScratch { state, results, .. } = scratch;
        if parts == 1 {
            return Ok(ReduceCall {
                steps: vec![self.step(device, (input, 0), n, state, output, 0)],
            });
        }
        let mut steps = Vec::new();
        for part in 0..parts {
            let first = part * part_elements;
            let count = part_elements.min(n - first);
            let input = (input, first * ELEMENT_BYTES);
            steps.push(self.step(device, input, count, state, results, part));
        }
        steps.push(self.step(device, (results, 0), parts, state, output, 0));
        Ok(ReduceCall { steps })
    }

    /// One dispatch: `n` elements from an offset on, into element `index` of `output`.
    fn step(
        &self,
        device: &Device,
        (input, offset): (&Buffer, u64),
        n: u64,
        state: &Buffer,
        output: &Buffer,
        index: u64,
    ) -> CollectiveDispatch {
        let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let params = params(device, &[word(n), word(index)]);
        let input = BufferPart { buffer: input, offset, size: Some(padded_bytes(n).max(16)) };
        let per_iteration = u64::from(self.tuning.workgroup_size) * u64::from(self.tuning.items);
        let iterations = (n / 4).div_ceil(per_iteration).max(1);
        let workgroups = word(iterations).min(self.tuning.workgroups_max);
        let parts = [
            (0, BufferPart::whole(&params)),
            (1, input),
            (2, BufferPart::whole(state)),
            (3, BufferPart::whole(output)),
        ];
        self.stage.step(device, &parts, [workgroups, 1])
    }

    /// The WGSL for a type, an operation and a division of the work.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::NotForType`] for an operation on bits and floats.
    pub fn shader(
        element: Element,
        operation: Operation,
        tuning: ReduceTuning,
    ) -> Result<String, AlgorithmError> {
        let range = match element {
            Element::F32 => "const LOWEST = -0x1.fffffep+127f;\nconst HIGHEST = 0x1.fffffep+127f;",
            Element::U32 => "const LOWEST = 0u;\nconst HIGHEST = 0xffffffffu;",
            Element::I32 => "const LOWEST = i32(-2147483648);\nconst HIGHEST = 2147483647i;",
        };
        let (identity, combined, subgroup) = match operation {
            Operation::Add => ("Element(0)", "a + b", "subgroupAdd"),
            Operation::Product => ("Element(1)", "a * b", "subgroupMul"),
            Operation::Max => ("LOWEST", "max(a, b)", "subgroupMax"),
            Operation::Min => ("HIGHEST", "min(a, b)", "subgroupMin"),
            Operation::And => ("~Element(0)", "a & b", "subgroupAnd"),
            Operation::Or => ("Element(0)", "a | b", "subgroupOr"),
            Operation::Xor => ("Element(0)", "a ^ b", "subgroupXor"),
        };
        let of_bits = matches!(operation, Operation::And | Operation::Or | Operation::Xor);
        if of_bits && element == Element::F32 {
            return Err(AlgorithmError::NotForType { operation, element });
        }
        Ok(specialise(
            SHADER,
            &[
                (
                    "const LOWEST = -0x1.fffffep+127f;\nconst HIGHEST = 0x1.fffffep+127f;",
                    range.into(),
                ),
                ("alias Element = f32;", element_line(element)),
                ("const IDENTITY = Element(0);", format!("const IDENTITY = {identity};")),
                ("return a + b;", format!("return {combined};")),
                ("subgroupAdd(a)", format!("{subgroup}(a)")),
                (
                    "const WORKGROUP = 256u;",
                    format!("const WORKGROUP = {}u;", tuning.workgroup_size),
                ),
                ("const ITEMS = 4u;", format!("const ITEMS = {}u;", tuning.items)),
            ],
        ))
    }
}

impl ReduceCall {
    /// Records the reduction into a compute pass of the caller's.
    pub fn record(&self, pass: &mut ComputePass<'_>) {
        for step in &self.steps {
            step.record(pass);
        }
    }

    /// Records the reduction into a compute pass of its own.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        self.record(&mut encoder.begin_compute_pass(&ComputePassDescriptor::default()));
    }
}

/// The elements of one dispatch at most: what one binding holds.
fn part_elements(device: &Device) -> u64 {
    binding_bytes_max(device) / ELEMENT_BYTES
}
