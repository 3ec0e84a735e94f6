//! Memory accesses of a subgroup.
//!
//! Input: a strand's offset registers and the static part of the access. Output: loaded registers
//! or changed memory. A lane whose access would not lie wholly inside its variable or buffer reads
//! zero or writes nothing, and is reported; each function says whether the launch may go on, which
//! in strict mode it may not after such a lane: the error is what the report would be.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use super::exchange::Watch;
use super::mask::{Mask, for_each_lane};
use super::observe::{Access, AccessKind, Space};
use super::op::{
    At, AtomicOp, Change, FOLLOW_NONE, Form, OFFSET_INVALID, ROOT_WORKGROUP, Reg, SITE_NONE,
    SiteId, Touch,
};
use super::report::ReportKind;
use super::scalar;
use super::strand::{Strand, Surroundings};
use super::table::{LaunchContext, Root};

/// The words and the size in bytes of a root.
fn memory<'a>(
    context: &LaunchContext<'a>,
    workgroup: &'a [AtomicU32],
    root: u16,
) -> (&'a [AtomicU32], u32) {
    if root == ROOT_WORKGROUP {
        #[expect(clippy::cast_possible_truncation, reason = "workgroup memory is limited")]
        let bytes = workgroup.len() as u32 * 4;
        (workgroup, bytes)
    } else {
        (context.words[usize::from(root)], context.sizes[usize::from(root)])
    }
}

// Bounds

/// The lanes of `exec` whose access lies inside, and the offsets of their first byte.
fn inside<const N: usize>(dynamic: &[u32; N], exec: Mask, at: &At, size: u32) -> (Mask, [u32; N]) {
    let mut offsets = [0; N];
    let mut valid = 0;
    let room = size.checked_sub(at.end);
    for_each_lane(exec, |lane| {
        let offset = dynamic[lane];
        if offset != OFFSET_INVALID && room.is_some_and(|room| offset <= room) {
            offsets[lane] = offset + at.offset;
            valid |= 1 << lane;
        }
    });
    (valid, offsets)
}

/// Tells the observer.
fn observe<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    kind: AccessKind,
    at: &At,
    active: Mask,
    offsets: &[u32],
) {
    if active == 0 {
        return;
    }
    if let Some(observer) = around.observer.as_deref_mut() {
        let space = match around.context.roots[usize::from(at.root)] {
            Root::Workgroup => Space::Workgroup,
            Root::Buffer { group, binding, .. } => Space::Buffer { group, binding },
            Root::Immediates { .. } => Space::Immediates,
        };
        let kind = if at.atomic { AccessKind::Atomic } else { kind };
        let size_bytes = u32::from(at.count) * at.form.bytes();
        let place = strand.place;
        observer.access(&Access { place, space, kind, active, offsets, size_bytes });
    }
}

// Threads and exchange

/// Tells who watches what workgroups do with the same words; `changed` are the lanes of an atomic
/// operation that left another value.
fn watch<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    touch: Touch,
    at: &At,
    [active, changed]: [Mask; 2],
    offsets: &[u32; N],
) {
    let workgroup = strand.place.workgroup;
    match around.watch {
        Watch::Nothing => {}
        Watch::Apart(tags) => tags.note(workgroup, touch, at, active, offsets),
        Watch::Exchange(exchange) => {
            // Only those that read have something that follows.
            exchange.note(workgroup, at, [active, changed], offsets);
        }
    }
}

// Strict mode

/// Reports the lanes `missed`; in strict mode a fault of theirs is an error.
pub(super) fn go_on<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    kind: ReportKind,
    site: SiteId,
    missed: Mask,
) -> Result<(), ReportKind> {
    if missed == 0 {
        return Ok(());
    }
    let width = around.context.width as usize;
    around.tally.report(kind, site, strand.place, missed, width);
    let stops = around.context.strict && site != SITE_NONE && kind.is_fault();
    if stops { Err(kind) } else { Ok(()) }
}

// Memory

/// Loads of addresses that differ by lane.
#[inline(never)]
pub(super) fn load<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    dst: Reg,
    dynamic: Reg,
    at: &At,
) -> Result<(), ReportKind> {
    let (words, size) = memory(around.context, &around.group.memory, at.root);
    let (valid, offsets) = inside(&strand.registers[usize::from(dynamic)], exec, at, size);
    let guard =
        at.locked.then(|| around.context.lock.lock().unwrap_or_else(PoisonError::into_inner));
    for part in 0..at.count {
        let target = &mut strand.registers[usize::from(dst) + usize::from(part)];
        let shift = u32::from(part) * at.form.bytes();
        if valid != exec {
            *target = [0; N];
        }
        match at.form {
            Form::Words => for_each_lane(valid, |lane| {
                target[lane] = words[(offsets[lane] + shift) as usize / 4].load(Ordering::Relaxed);
            }),
            Form::Half | Form::Short | Form::Ushort | Form::Byte => for_each_lane(valid, |lane| {
                target[lane] = load_part(words, offsets[lane] + shift, at.form);
            }),
        }
    }
    drop(guard);
    watch(strand, around, Touch::Read, at, [valid, 0], &offsets);
    observe(strand, around, AccessKind::Load, at, valid, &offsets);
    go_on(strand, around, ReportKind::ReadOutOfBounds, at.site, exec & !valid)
}

/// Reads less than a word.
fn load_part(words: &[AtomicU32], offset: u32, form: Form) -> u32 {
    let word = words[offset as usize / 4].load(Ordering::Relaxed) >> (offset % 4 * 8);
    match form {
        Form::Words => word,
        Form::Half => scalar::half_to_float(word & 0xffff),
        Form::Short => scalar::sign_extend_short(word),
        Form::Ushort => word & 0xffff,
        Form::Byte => u32::from(word & 0xff != 0),
    }
}

/// Writes less than a word and leaves its neighbours alone.
fn store_part(words: &[AtomicU32], offset: u32, form: Form, value: u32) {
    let (value, mask) = match form {
        Form::Words => (value, u32::MAX),
        Form::Half => (scalar::float_to_half(value), 0xffff),
        Form::Short | Form::Ushort => (value & 0xffff, 0xffff),
        Form::Byte => (value, 0xff),
    };
    let shift = offset % 4 * 8;
    let change = |word: u32| Some(word & !(mask << shift) | value << shift);
    let word = &words[offset as usize / 4];
    let changed = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    debug_assert!(changed.is_ok(), "the change always gives a word");
}

/// Loads of an address that is the same for all lanes.
#[inline(never)]
pub(super) fn load_uniform<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    (dst, count): (Reg, u16),
    root: u16,
    offset: u32,
    site: SiteId,
) -> Result<(), ReportKind> {
    let (words, size) = memory(around.context, &around.group.memory, root);
    let end = u64::from(offset) + u64::from(count) * 4;
    let valid = end <= u64::from(size);
    for part in 0..usize::from(count) {
        let word =
            if valid { words[offset as usize / 4 + part].load(Ordering::Relaxed) } else { 0 };
        strand.registers[usize::from(dst) + part] = [word; N];
    }
    if around.observer.is_some() || !matches!(around.watch, Watch::Nothing) {
        let (form, follow) = (Form::Words, FOLLOW_NONE);
        let at =
            At { root, offset, end: 0, count, form, atomic: false, locked: false, site, follow };
        let active = if valid { exec } else { 0 };
        // The words are the same for all lanes: one touches them for all.
        let one = active & active.wrapping_neg();
        watch(strand, around, Touch::Read, &at, [one, 0], &[offset; N]);
        observe(strand, around, AccessKind::Load, &at, active, &[offset; N]);
    }
    let missed = if valid { 0 } else { exec };
    go_on(strand, around, ReportKind::ReadOutOfBounds, site, missed)
}

/// Stores; lanes that write the same place do it from the lowest up.
#[inline(never)]
pub(super) fn store<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    src: Reg,
    dynamic: Reg,
    at: &At,
) -> Result<(), ReportKind> {
    let (words, size) = memory(around.context, &around.group.memory, at.root);
    let (valid, offsets) = inside(&strand.registers[usize::from(dynamic)], exec, at, size);
    let guard =
        at.locked.then(|| around.context.lock.lock().unwrap_or_else(PoisonError::into_inner));
    for part in 0..at.count {
        let source = &strand.registers[usize::from(src) + usize::from(part)];
        let shift = u32::from(part) * at.form.bytes();
        match at.form {
            Form::Words => for_each_lane(valid, |lane| {
                let word = &words[(offsets[lane] + shift) as usize / 4];
                word.store(source[lane], Ordering::Relaxed);
            }),
            Form::Half | Form::Short | Form::Ushort | Form::Byte => for_each_lane(valid, |lane| {
                store_part(words, offsets[lane] + shift, at.form, source[lane]);
            }),
        }
    }
    drop(guard);
    watch(strand, around, Touch::Write, at, [valid, valid], &offsets);
    observe(strand, around, AccessKind::Store, at, valid, &offsets);
    go_on(strand, around, ReportKind::WriteOutOfBounds, at.site, exec & !valid)
}

// Atomics

/// Atomic operations, lane by lane from the lowest up.
#[inline(never)]
pub(super) fn atomic<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    dynamic: Reg,
    atomic: &AtomicOp,
) -> Result<(), ReportKind> {
    let AtomicOp { ref at, change, value, compare, result, touch } = *atomic;
    let (words, size) = memory(around.context, &around.group.memory, at.root);
    let (valid, offsets) = inside(&strand.registers[usize::from(dynamic)], exec, at, size);
    let file = &mut strand.registers;
    let read = |file: &[[u32; N]], register: Reg, lane: usize| file[usize::from(register)][lane];
    let wide = |file: &[[u32; N]], register: Reg, lane: usize| {
        u64::from(read(file, register, lane)) | u64::from(read(file, register + 1, lane)) << 32
    };
    let guard =
        at.locked.then(|| around.context.lock.lock().unwrap_or_else(PoisonError::into_inner));
    let mut changed = 0;
    for_each_lane(exec, |lane| {
        let index = offsets[lane] as usize / 4;
        let within = (valid >> lane) & 1 == 1;
        let (old, new, exchanged) = match change {
            _ if !within => (0, 0, false),
            Change::Word(f) => {
                let operand = read(file, value, lane);
                let expected = compare.map(|register| read(file, register, lane));
                let (old, new) = change_word(&words[index], f, operand, expected);
                (u64::from(old), u64::from(new), expected == Some(old))
            }
            Change::Wide(f) => {
                let operand = wide(file, value, lane);
                let expected = compare.map(|register| wide(file, register, lane));
                let (old, new) = change_wide(&words[index..index + 2], f, operand, expected);
                (old, new, expected == Some(old))
            }
        };
        changed |= Mask::from(old != new) << lane;
        if let Some(result) = result {
            let result = usize::from(result);
            #[expect(clippy::cast_possible_truncation, reason = "the low word")]
            let low = old as u32;
            file[result][lane] = low;
            let flag = match change {
                Change::Word(_) => result + 1,
                Change::Wide(_) => {
                    file[result + 1][lane] = (old >> 32) as u32;
                    result + 2
                }
            };
            if compare.is_some() {
                file[flag][lane] = u32::from(exchanged);
            }
        }
    });
    drop(guard);
    watch(strand, around, touch, at, [valid, changed], &offsets);
    observe(strand, around, AccessKind::Atomic, at, valid, &offsets);
    go_on(strand, around, ReportKind::WriteOutOfBounds, at.site, exec & !valid)
}

/// Changes a word; with `expected` only where it is that. Gives the old word and the new.
fn change_word(
    word: &AtomicU32,
    change: fn(u32, u32) -> u32,
    operand: u32,
    expected: Option<u32>,
) -> (u32, u32) {
    let order = Ordering::Relaxed;
    if let Some(expected) = expected {
        return match word.compare_exchange(expected, operand, order, order) {
            Ok(old) => (old, operand),
            Err(old) => (old, old),
        };
    }
    let changed = word.fetch_update(order, order, |old| Some(change(old, operand)));
    let old = changed.unwrap_or_else(|old| old);
    (old, change(old, operand))
}

/// [`change_word`] of two words, under the lock.
fn change_wide(
    words: &[AtomicU32],
    change: fn(u64, u64) -> u64,
    operand: u64,
    expected: Option<u64>,
) -> (u64, u64) {
    let [low, high] = [0, 1].map(|word| u64::from(words[word].load(Ordering::Relaxed)));
    let old = low | high << 32;
    let new = match expected {
        Some(expected) if expected != old => return (old, old),
        Some(_) => operand,
        None => change(old, operand),
    };
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    for (word, half) in words.iter().zip([new as u32, (new >> 32) as u32]) {
        word.store(half, Ordering::Relaxed);
    }
    (old, new)
}

// Variables in registers

/// Reads a variable in registers at an offset that differs by lane.
#[inline(never)]
pub(super) fn gather<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    [dst, base, offset]: [Reg; 3],
    count: u16,
    site: SiteId,
) -> Result<(), ReportKind> {
    let [dst, base, offset] = [dst, base, offset].map(usize::from);
    let file = &mut strand.registers;
    let mut missed = 0;
    for_each_lane(exec, |lane| {
        let offset = file[offset][lane];
        if offset == OFFSET_INVALID {
            missed |= 1 << lane;
        }
        for part in 0..usize::from(count) {
            let valid = offset != OFFSET_INVALID;
            file[dst + part][lane] =
                if valid { file[base + offset as usize + part][lane] } else { 0 };
        }
    });
    go_on(strand, around, ReportKind::ReadOutOfBounds, site, missed)
}

/// Writes a variable in registers at an offset that differs by lane.
#[inline(never)]
pub(super) fn scatter<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    [base, offset, src]: [Reg; 3],
    count: u16,
    site: SiteId,
) -> Result<(), ReportKind> {
    let [base, offset, src] = [base, offset, src].map(usize::from);
    let file = &mut strand.registers;
    let mut missed = 0;
    for_each_lane(exec, |lane| {
        let offset = file[offset][lane];
        if offset == OFFSET_INVALID {
            missed |= 1 << lane;
            return;
        }
        for part in 0..usize::from(count) {
            file[base + offset as usize + part][lane] = file[src + part][lane];
        }
    });
    go_on(strand, around, ReportKind::WriteOutOfBounds, site, missed)
}

// Uniform loads

/// Reports a `workgroupUniformLoad` whose pointer differs from another invocation's.
#[inline(never)]
pub(super) fn check_uniform<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    offset: Reg,
    key: u32,
    site: SiteId,
) -> Result<(), ReportKind> {
    let offsets = &strand.registers[usize::from(offset)];
    let own = offsets[exec.trailing_zeros() as usize % N];
    let common = *around.group.uniform.entry(key).or_insert(own);
    let mut different = 0;
    for_each_lane(exec, |lane| {
        if offsets[lane] != common {
            different |= 1 << lane;
        }
    });
    go_on(strand, around, ReportKind::DivergentUniformLoad, site, different)
}
