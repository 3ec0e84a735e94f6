//! The WGSL by which a device is measured, on whichever interface.
//!
//! Input: nothing. Output: texts, and what their results mean. Each is a small kernel of its own with
//! buffers at group 0, binding 0, 1, …; `wgpu::probe` and `cuda::probe` run them.

use crate::record::{Device, Packing, Tag};
use crate::units::Width;

/// Invocations a workgroup in probes: every device takes 256.
pub(super) const WORKGROUP: u32 = 256;

/// Workgroups of the width probe.
pub(super) const WIDTH_WORKGROUPS: u32 = 4;

/// Which lanes vote together.
pub(super) const WIDTH: &str = "
struct Seen { size: u32, lane: u32, active_lanes: u32, first: u32 }
@group(0) @binding(0) var<storage, read_write> seen: array<Seen>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let bits = countOneBits(subgroupBallot(true));
    let active_lanes = bits.x + bits.y + bits.z + bits.w;
    let first = subgroupBroadcastFirst(local_index);
    seen[workgroup.x * 256u + local_index] = Seen(size, lane, active_lanes, first);
}";

/// A workgroup whose rows are a multiple of no width but 1, and few enough invocations for everyone.
pub(super) const ROWS: [u32; 3] = [3, 8, 2];

/// Who is first in each subgroup of a 3D workgroup.
pub(super) const PACKING: &str = "
@group(0) @binding(0) var<storage, read_write> firsts: array<u32, 48>;
@compute @workgroup_size(3, 8, 2)
fn main(@builtin(local_invocation_index) local_index: u32) {
    firsts[local_index] = subgroupBroadcastFirst(local_index);
}";

/// A multiply-add whose rounding shows.
pub(super) const FUSED: &str = "
@group(0) @binding(0) var<storage, read_write> values: array<f32, 4>;
@compute @workgroup_size(1)
fn main() { values[3] = fma(values[0], values[1], values[2]); }";

/// A loop whose trips are told.
pub(super) const LOOP: &str = "
@group(0) @binding(0) var<storage, read_write> values: array<u32, 4>;
@compute @workgroup_size(1)
fn main() {
    let bound = values[0];
    var hash = 1u;
    var trips = 0u;
    loop {
        if (trips >= bound) { break; }
        hash = hash * 1664525u + 1013904223u;
        trips += 1u;
    }
    values[1] = trips;
    values[2] = hash;
}";

/// A copy of 16 bytes an invocation.
pub(super) const COPY: &str = "
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_buffer: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    target_buffer[index] = source[index];
}";

/// Iterations of the loop limit's probe: twice what lavapipe allows.
pub(super) const LOOP_TRIPS: u32 = 131_072;

/// A kernel of `chains` independent chains of 16 multiply-adds an iteration.
pub(super) fn fma_kernel(chains: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..chains).map(line).collect::<String>();
    let start = each(&|c| format!("    var v{c} = f32(local_index + {c}u);\n"));
    let step = each(&|c| format!("        v{c} = fma(v{c}, a, b);\n")).repeat(16);
    let sum = (0..chains).map(|c| format!("v{c}")).collect::<Vec<_>>().join(" + ");
    format!(
        "struct Params {{ a: f32, b: f32, trips: u32 }}
@group(0) @binding(0) var<storage, read> params: Params;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {{
    let a = params.a;
    let b = params.b;
{start}    for (var i = 0u; i < params.trips; i++) {{
{step}    }}
    output[(workgroup.y * grid.x + workgroup.x) * 256u + local_index] = {sum};
}}"
    )
}

/// The words of a buffer.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Reads the width that the device runs, and how it numbers lanes, from what [`WIDTH`] wrote.
pub(super) fn judge_width(device: &mut Device, seen: &[u32]) {
    let invocations = (WORKGROUP * WIDTH_WORKGROUPS) as usize;
    let seen: Vec<[u32; 4]> = seen.as_chunks::<4>().0.to_vec();
    let lanes = seen.iter().map(|[_, _, active, _]| *active).max().unwrap_or(0);
    let Ok(width) = Width::new(lanes) else {
        device.flags.push(Tag::SubgroupWidthMisreported.into());
        return;
    };
    device.subgroup_width_run = Some(width);
    // Every invocation must see a full subgroup, and as many subgroups must have led as fit.
    let full = seen.iter().all(|[_, _, active, _]| *active == lanes);
    let leaders = (0_u32..)
        .zip(&seen)
        .filter(|(index, [_, _, _, first])| index % WORKGROUP == *first)
        .count();
    let consistent = full && leaders == invocations / width.index();
    let builtin = seen.iter().all(|[size, ..]| *size == lanes);
    let within = device.subgroup_width_min.is_none_or(|min| min <= width)
        && device.subgroup_width_max.is_none_or(|max| width <= max);
    if !(consistent && builtin && within) {
        device.flags.push(Tag::SubgroupWidthMisreported.into());
    }
    let linear = (0_u32..).zip(&seen).all(|(index, [_, lane, _, first])| {
        *lane == index % lanes && *first == index % WORKGROUP - lane
    });
    device.lane_is_local_index_mod_width = Some(linear && consistent);
}

/// Judges by the first invocation of each invocation's subgroup, both by local index.
pub(super) fn judge_packing(firsts: &[u32]) -> Packing {
    let begin_by = |begin: &dyn Fn(u32, u32) -> u32| {
        (0..=Width::MAX.ilog2())
            .any(|power| (0..).zip(firsts).all(|(index, first)| begin(index, 1 << power) == *first))
    };
    let row = ROWS[0];
    if begin_by(&|index, width| index / width * width) {
        Packing::Linear
    } else if begin_by(&|index, width| index / row * row + index % row / width * width) {
        Packing::Rows
    } else {
        Packing::Other
    }
}
