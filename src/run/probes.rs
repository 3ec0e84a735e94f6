//! The WGSL by which a device is measured, on whichever interface.
//!
//! Input: nothing. Output: texts and their programs, and what their results mean. Each is a small kernel of its own with
//! buffers at group 0, binding 0, 1, …; `gpu::probe` runs them.

use super::{RunError, RunErrorKind};
use crate::program::{Overrides, Parsed, Program, ProgramError};
use crate::record::{Device, Packing, Tag};
use crate::units::Width;

/// Invocations a workgroup in probes: every device takes 256.
pub(super) const WORKGROUP: u32 = 256;

/// Workgroups of the width probe.
pub(crate) const WIDTH_WORKGROUPS: u32 = 4;

/// Which lanes vote together.
pub(crate) const WIDTH: &str = include_str!("probes/width.wgsl");

/// A workgroup whose rows are a multiple of no width but 1, and few enough invocations for everyone.
pub(super) const ROWS: [u32; 3] = [3, 8, 2];

/// Who is first in each subgroup of a 3D workgroup.
pub(super) const PACKING: &str = include_str!("probes/packing.wgsl");

/// A multiply-add whose rounding shows.
pub(super) const FUSED: &str = include_str!("probes/fused.wgsl");

/// A loop whose trip count is given by the host.
pub(super) const LOOP: &str = include_str!("probes/loop.wgsl");

/// A copy of 16 bytes an invocation.
pub(super) const COPY: &str = include_str!("probes/copy.wgsl");

/// Iterations of the loop limit's probe: twice what lavapipe allows.
pub(super) const LOOP_TRIPS: u32 = 131_072;

/// A kernel of `chains` independent chains of 16 multiply-adds an iteration.
///
/// The text of its file is that of one chain: the lines that are a chain's stand there once.
pub(super) fn fma_kernel(chains: usize) -> String {
    let each = |line: &str| -> String {
        (0..chains)
            .map(|c| line.replace("v0", &format!("v{c}")).replace("0u", &format!("{c}u")))
            .collect()
    };
    let sum = (0..chains).map(|c| format!("v{c}")).collect::<Vec<_>>().join(" + ");
    FMA.replace(FMA_START, &each(FMA_START))
        .replace(FMA_STEP, &each(FMA_STEP).repeat(16))
        .replace("= v0;", &format!("= {sum};"))
}

/// The kernel of one chain, of one multiply-add.
const FMA: &str = include_str!("probes/multiply_add.wgsl");

/// How a chain starts.
const FMA_START: &str = "    var v0 = f32(local_index + 0u);\n";

/// A chain's multiply-add.
const FMA_STEP: &str = "        v0 = fma(v0, a, b);\n";

/// The program of a probe.
///
/// # Errors
///
/// [`RunErrorKind::BadInput`]: a fault of lanescope's own.
pub(crate) fn program(text: &str) -> Result<Program, RunError> {
    let internal = |error: ProgramError| {
        RunError::new(RunErrorKind::BadInput, format!("a probe of lanescope's own: {error}"))
    };
    Parsed::new("probe.wgsl", text)
        .and_then(|parsed| parsed.resolve("main", &Overrides::new()))
        .map_err(internal)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    #[test]
    fn every_probe_is_a_kernel_by_itself() {
        for (name, text) in [
            ("width", WIDTH),
            ("packing", PACKING),
            ("fused", FUSED),
            ("loop", LOOP),
            ("copy", COPY),
            ("multiply_add", FMA),
        ] {
            let parsed = Parsed::new(name, text).unwrap();
            parsed.resolve("main", &Overrides::new()).unwrap();
        }
    }

    #[test]
    fn each_chain_has_its_multiply_adds() {
        let text = fma_kernel(3);
        let program = Parsed::new("fma", &text).unwrap();
        let program = program.resolve("main", &Overrides::new()).unwrap();
        let in_loop = program.blocks().iter().map(|block| block.fma_ops).max();
        assert_eq!(in_loop, Some(3 * 16), "{text}");
        for c in 0..3 {
            assert_eq!(text.matches(&format!("v{c} = fma(v{c}, a, b);")).count(), 16, "{text}");
            assert!(text.contains(&format!("var v{c} = f32(local_index + {c}u);")), "{text}");
        }
        assert!(text.contains("= v0 + v1 + v2;"), "{text}");
    }
}
