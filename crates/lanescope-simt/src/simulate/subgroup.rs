//! Subgroup operations, and functions of 64-bit scalars.
//!
//! Input: the register file and the active mask. Output: the destination registers of the active
//! lanes. Everything here goes lane by lane, from the lowest up; it is out of the interpreter's
//! match because none of it vectorises.

use super::access::go_on;
use super::mask::{Mask, bits, for_each_lane};
use super::op::{Reg, Scan, Shuffle, SiteId};
use super::report::ReportKind;
use super::strand::{Strand, Surroundings};

fn wide<const N: usize>(file: &[[u32; N]], register: Reg, lane: usize) -> u64 {
    let register = usize::from(register);
    u64::from(file[register][lane]) | u64::from(file[register + 1][lane]) << 32
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of a 64-bit scalar")]
fn set_wide<const N: usize>(file: &mut [[u32; N]], register: Reg, lane: usize, value: u64) {
    let register = usize::from(register);
    file[register][lane] = value as u32;
    file[register + 1][lane] = (value >> 32) as u32;
}

// Subgroup operations

/// `subgroupBallot`: bit i of the four words is set where lane i is active and its predicate holds.
#[inline(never)]
pub(super) fn ballot<const N: usize>(file: &mut [[u32; N]], exec: Mask, dst: Reg, predicate: Reg) {
    let votes = exec & bits(&file[usize::from(predicate)]);
    for word in 0..4 {
        #[expect(clippy::cast_possible_truncation, reason = "32 lanes a word")]
        let votes = (votes >> (32 * word)) as u32;
        file[usize::from(dst) + word] = [votes; N];
    }
}

/// Reductions and scans, from the lowest active lane upward: a sum of floats is
/// `((l0 + l1) + l2) + …`.
#[inline(never)]
pub(super) fn collective<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    fold: fn(u32, u32) -> u32,
    [dst, src, identity]: [Reg; 3],
    scan: Scan,
) {
    let [dst, src, identity] = [dst, src, identity].map(usize::from);
    let mut total = None;
    for_each_lane(exec, |lane| {
        let value = file[src][lane];
        let before = total;
        let after = before.map_or(value, |before| fold(before, value));
        total = Some(after);
        file[dst][lane] = match scan {
            Scan::Exclusive => before.unwrap_or(file[identity][lane]),
            Scan::Inclusive | Scan::Reduce => after,
        };
    });
    if let (Scan::Reduce, Some(total)) = (scan, total) {
        file[dst] = [total; N];
    }
}

/// [`collective`] of 64-bit scalars.
#[inline(never)]
pub(super) fn collective_wide<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    fold: fn(u64, u64) -> u64,
    [dst, src, identity]: [Reg; 3],
    scan: Scan,
) {
    let mut total = None;
    for_each_lane(exec, |lane| {
        let value = wide(file, src, lane);
        let before = total;
        let after = before.map_or(value, |before| fold(before, value));
        total = Some(after);
        let result = match scan {
            Scan::Exclusive => before.unwrap_or(wide(file, identity, lane)),
            Scan::Inclusive | Scan::Reduce => after,
        };
        set_wide(file, dst, lane, result);
    });
    if let (Scan::Reduce, Some(total)) = (scan, total) {
        for_each_lane(exec, |lane| set_wide(file, dst, lane, total));
    }
}

/// Broadcasts, shuffles and quad operations. A lane that names an inactive lane, or one outside
/// the subgroup, gets its own value, and is reported; as an edge where that is ordinary.
#[inline(never)]
pub(super) fn shuffle<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    mode: Shuffle,
    [dst, src, index]: [Reg; 3],
    count: u16,
    site: SiteId,
) -> Result<(), ReportKind> {
    let width = around.context.width as usize;
    let (dst, src, index) = (usize::from(dst), usize::from(src), usize::from(index));
    let file = &mut strand.registers;
    let first = exec.trailing_zeros() as usize;
    let launched = strand.launched;
    let (mut missed, mut edge): (Mask, Mask) = (0, 0);
    for_each_lane(exec, |lane| {
        let index = file[index][lane] as usize;
        let source = match mode {
            Shuffle::First => first,
            Shuffle::Lane => index,
            Shuffle::Down => lane.saturating_add(index),
            Shuffle::Up => lane.wrapping_sub(index),
            Shuffle::Xor => lane ^ index,
            Shuffle::Quad if index > 3 => usize::MAX,
            Shuffle::Quad => (lane & !3) | index,
        };
        let active = source < width && (exec >> source) & 1 == 1;
        if !active {
            let outside = matches!(mode, Shuffle::Down | Shuffle::Up);
            let empty = if source < width { (launched >> source) & 1 == 0 } else { outside };
            let noted = if empty { &mut edge } else { &mut missed };
            *noted |= 1 << lane;
        }
        let source = if active { source } else { lane };
        for part in 0..usize::from(count) {
            file[dst + part][lane] = file[src + part][source];
        }
    });
    go_on(strand, around, ReportKind::EdgeSource, site, edge)?;
    go_on(strand, around, ReportKind::InactiveSource, site, missed)
}

// Functions of 64-bit scalars

#[inline(never)]
pub(super) fn wide1<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    f: fn(u64) -> u64,
    d: Reg,
    a: Reg,
) {
    for_each_lane(exec, |lane| {
        let value = f(wide(file, a, lane));
        set_wide(file, d, lane, value);
    });
}

#[inline(never)]
pub(super) fn wide2<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    f: fn(u64, u64) -> u64,
    d: Reg,
    [a, b]: [Reg; 2],
) {
    for_each_lane(exec, |lane| {
        let value = f(wide(file, a, lane), wide(file, b, lane));
        set_wide(file, d, lane, value);
    });
}

#[inline(never)]
pub(super) fn fma_double<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    d: Reg,
    operands: [Reg; 3],
    fused: bool,
) {
    for_each_lane(exec, |lane| {
        let [a, b, c] = operands.map(|register| f64::from_bits(wide(file, register, lane)));
        let value = if fused { a.mul_add(b, c) } else { a * b + c };
        set_wide(file, d, lane, value.to_bits());
    });
}

#[inline(never)]
pub(super) fn wide_test<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    f: fn(u64, u64) -> u32,
    d: Reg,
    [a, b]: [Reg; 2],
) {
    for_each_lane(exec, |lane| {
        file[usize::from(d)][lane] = f(wide(file, a, lane), wide(file, b, lane));
    });
}

#[inline(never)]
pub(super) fn widen<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    f: fn(u32) -> u64,
    d: Reg,
    a: Reg,
) {
    for_each_lane(exec, |lane| {
        let value = f(file[usize::from(a)][lane]);
        set_wide(file, d, lane, value);
    });
}

#[inline(never)]
pub(super) fn narrow<const N: usize>(
    file: &mut [[u32; N]],
    exec: Mask,
    f: fn(u64) -> u32,
    d: Reg,
    a: Reg,
) {
    for_each_lane(exec, |lane| file[usize::from(d)][lane] = f(wide(file, a, lane)));
}
