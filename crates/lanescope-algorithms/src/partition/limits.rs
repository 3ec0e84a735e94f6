//! Limits of a device, and of what is partitioned.
//!
//! Input: nothing. Output: numbers; what fits them is `tuning`'s matter.

/// The most classes.
pub const CLASSES_MAX: u32 = 256;

/// The most workgroups of a dispatch along one dimension on every device, and the most chunks.
pub(super) const WORKGROUPS_MAX: u32 = 65_535;

/// What a device can do, as far as a partition is cut to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most invocations of a workgroup in one dimension.
    pub invocations_max: u32,
    /// The most workgroup memory of a workgroup, in bytes.
    pub workgroup_bytes_max: u32,
    /// The most workgroups of a dispatch in one dimension.
    pub workgroups_max: u32,
    /// The most bytes of a storage buffer that can be bound.
    pub storage_bytes_max: u64,
    /// Whether shaders may have `subgroupBarrier()`: naga's and wgpu's `SUBGROUP_BARRIER`, which WebGPU does not have.
    pub subgroup_barrier: bool,
}

impl Limits {
    /// What every WebGPU device has: the defaults of the specification's table of limits
    /// (<https://www.w3.org/TR/webgpu/#limits>), which are `wgpu::Limits::default()` too.
    pub const WEBGPU: Self = Self {
        invocations_max: 256,
        workgroup_bytes_max: 16_384,
        workgroups_max: 65_535,
        storage_bytes_max: 128 << 20,
        subgroup_barrier: false,
    };
}
