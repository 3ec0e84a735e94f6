//! Softmax of the rows of a matrix.
//!
//! Input: a buffer of rows of f32. Output: commands that leave exp(x) / Σ exp(x) of each row in
//! another buffer: one dispatch that reads and writes everything once. How it is done stands in
//! `shaders/softmax/rows.wgsl`.

use wgpu::{Buffer, CommandEncoder, ComputePass, ComputePassDescriptor, Device};

use super::{
    AlgorithmError, BufferPart, CollectiveDispatch, CollectiveStage, ELEMENT_BYTES,
    binding_bytes_max, check_device, check_items, check_length, check_workgroup, grid, params,
    specialise, workgroup_size,
};

/// The shader's text, the catalogue's.
use crate::shaders::SOFTMAX as SHADER;

/// The largest workgroup that was faster than smaller ones.
const WORKGROUP_MAX: u32 = 512;

/// How the work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftmaxTuning {
    /// Invocations a workgroup: a power of two from 128 to what the device takes.
    pub workgroup_size: u32,
    /// Vectors of four of each invocation, 1 to 16: a row has at most workgroup size · items · 4
    /// elements.
    pub items: u32,
}

impl SoftmaxTuning {
    /// What was fastest where it was measured, of what the device takes: two vectors of four for
    /// each invocation, a workgroup of 512 at most, and as many vectors as the row then needs.
    pub fn for_columns(device: &Device, columns: u32) -> Self {
        Self::of_workgroups(workgroup_size(device, WORKGROUP_MAX), columns)
    }

    /// The same where workgroups have at most `workgroup_size_max` invocations, a power of two.
    pub fn of_workgroups(workgroup_size_max: u32, columns: u32) -> Self {
        let wanted = columns.div_ceil(8).next_power_of_two().clamp(128, WORKGROUP_MAX);
        let workgroup_size = wanted.min(workgroup_size_max);
        Self { workgroup_size, items: columns.div_ceil(workgroup_size * 4).max(1) }
    }
}

/// A softmax of rows on one device.
#[derive(Clone, Debug)]
pub struct Softmax {
    stage: CollectiveStage,
    tuning: SoftmaxTuning,
}

/// The softmax of one matrix, ready to be recorded any number of times.
#[derive(Clone, Debug)]
pub struct SoftmaxCall {
    step: Option<CollectiveDispatch>,
}

impl Softmax {
    /// Compiles the softmax.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::NoSubgroups`] and [`AlgorithmError::SubgroupTooNarrow`] for devices on which
    /// it does not run, and [`AlgorithmError::Tuning`].
    pub fn new(device: &Device, tuning: SoftmaxTuning) -> Result<Self, AlgorithmError> {
        check_device(device)?;
        check_workgroup(device, tuning.workgroup_size)?;
        check_items("items", tuning.items)?;
        let text = specialise(
            SHADER,
            &[
                (
                    "const WORKGROUP = 256u;",
                    format!("const WORKGROUP = {}u;", tuning.workgroup_size),
                ),
                ("const ITEMS = 4u;", format!("const ITEMS = {}u;", tuning.items)),
            ],
        );
        Ok(Self { stage: CollectiveStage::new(device, "softmax", &text, "main"), tuning })
    }

    /// Makes ready the softmax of each of `rows` rows of `columns` elements, row after row in `input`
    /// and then in `output`. Both need [`wgpu::BufferUsages::STORAGE`] and may not be the same.
    ///
    /// Elements must be finite.
    ///
    /// # Errors
    ///
    /// [`AlgorithmError::Tuning`] for columns that are no multiple of four or more than the tuning
    /// holds, [`AlgorithmError::BufferTooShort`], and [`AlgorithmError::TooMany`] where the matrix is
    /// larger than a binding may be.
    pub fn prepare(
        &self,
        device: &Device,
        input: &Buffer,
        (rows, columns): (u32, u32),
        output: &Buffer,
    ) -> Result<SoftmaxCall, AlgorithmError> {
        let columns_max = self.tuning.workgroup_size * self.tuning.items * 4;
        if columns == 0 || !columns.is_multiple_of(4) || columns > columns_max {
            let allowed = format!("a multiple of 4 from 4 to {columns_max}");
            return Err(AlgorithmError::Tuning { name: "columns", value: columns, allowed });
        }
        let n = u64::from(rows) * u64::from(columns);
        let max = binding_bytes_max(device) / ELEMENT_BYTES;
        if n > max {
            return Err(AlgorithmError::TooMany { n, max });
        }
        check_length("input", input, n)?;
        check_length("output", output, n)?;
        if rows == 0 {
            return Ok(SoftmaxCall { step: None });
        }
        let params = params(device, &[rows, columns / 4]);
        let part = |buffer| BufferPart { buffer, offset: 0, size: Some(n * ELEMENT_BYTES) };
        let parts = [(0, BufferPart::whole(&params)), (1, part(input)), (2, part(output))];
        Ok(SoftmaxCall { step: Some(self.stage.step(device, &parts, grid(u64::from(rows)))) })
    }
}

impl SoftmaxCall {
    /// Records the softmax into a compute pass of the caller's.
    pub fn record(&self, pass: &mut ComputePass<'_>) {
        if let Some(step) = &self.step {
            step.record(pass);
        }
    }

    /// Records the softmax into a compute pass of its own.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        self.record(&mut encoder.begin_compute_pass(&ComputePassDescriptor::default()));
    }
}
