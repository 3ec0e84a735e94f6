//! Memory accesses of a subgroup.
//!
//! Input: a strand's offset registers and the static part of the access. Output: loaded registers
//! or changed memory. A lane whose access would not lie wholly inside its variable or buffer reads
//! zero or writes nothing, and is reported; each function says whether the launch may go on, which
//! in strict mode it may not after such a lane: the error is what the report would be. Where all lanes
//! access words in a row, or the same ones, it is done for all at once.

#![expect(clippy::inline_always, reason = "what each access does is compiled into each kind")]

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::line;
use super::exchange::{AtomicTouch, Watch};
use super::mask::{Mask, for_each_lane};
use super::observe::{Access, AccessKind, PassedBarrier, Space, SubgroupPlace};
use super::op::{
    At, AtomicOp, Change, Combination, FOLLOW_NONE, FollowId, Form, OFFSET_INVALID, Owner,
    ROOT_WORKGROUP, Reg, SITE_NONE, SiteId, Touch,
};
use super::reach::{Pattern, Reach};
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

/// Tells the observer.
pub(super) fn observe<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    kind: AccessKind,
    at: &At,
    reach: &Reach<N>,
    values: &[[u32; N]],
) {
    let Reach { valid: active, ref offsets, .. } = *reach;
    if active == 0 {
        return;
    }
    if let Some(observer) = around.observer.as_deref_mut() {
        let space = match around.context.roots[usize::from(at.root)] {
            Root::Workgroup => Space::Workgroup,
            Root::Buffer { group, binding, .. } => Space::Buffer { group, binding },
            Root::Texture { group, binding, .. } => Space::Texture { group, binding },
            Root::Immediates { .. } => Space::Immediates,
        };
        let changes = kind != AccessKind::Load;
        let kind = if at.atomic { AccessKind::Atomic } else { kind };
        let part_bytes = at.form.bytes();
        let size_bytes = u32::from(at.count) * part_bytes;
        let place = strand.place;
        let (values, line) = (values.as_flattened(), at.line);
        observer.access(&Access {
            place,
            space,
            kind,
            changes,
            active,
            offsets,
            size_bytes,
            part_bytes,
            values,
            line,
        });
    }
}

/// Tells the observer that the lanes of a subgroup have met.
#[inline(never)]
pub(super) fn subgroup_barrier<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    site: SiteId,
    [orders_workgroup, orders_storage]: [bool; 2],
) {
    let line = line(around.context.sites.get(site as usize));
    if let Some(observer) = around.observer.as_deref_mut() {
        let SubgroupPlace { workgroup, subgroup } = strand.place;
        let subgroup = Some(subgroup);
        observer.barrier(&PassedBarrier {
            workgroup,
            subgroup,
            line,
            orders_workgroup,
            orders_storage,
        });
    }
}

// Threads and exchange

/// Tells who watches what workgroups do with the same words; `changed` are the lanes of an atomic
/// operation that left another value.
#[inline(always)]
pub(super) fn watch<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    touch: Touch,
    at: &At,
    changed: Mask,
    reach: &Reach<N>,
) {
    let workgroup = strand.place.workgroup;
    match around.watch {
        Watch::Nothing => {}
        Watch::Apart(tags) => tags.note(workgroup, touch, at, reach),
        Watch::Exchange(exchange) => {
            // Only those that read have something that follows.
            exchange.note(workgroup, at, [reach.valid, changed], &reach.offsets);
        }
    }
}

/// Tells what a subgroup does with atomics, where others of its workgroup may exchange values by them;
/// `writing` are the lanes that write, `changed` those of them that leave another value.
#[inline(never)]
fn watch_subgroups<const N: usize>(
    strand: &Strand<N>,
    around: &mut Surroundings<'_>,
    combination: Option<Combination>,
    at: &At,
    [writing, changed]: [Mask; 2],
    reach: &Reach<N>,
) {
    let among_workgroups = match &*around.watch {
        Watch::Exchange(exchange) => Some(exchange.exchanged_accesses()),
        Watch::Nothing | Watch::Apart(_) => None,
    };
    let known = |follow: &FollowId| {
        around.tally.exchanged.contains(follow)
            || among_workgroups.is_some_and(|accesses| accesses.contains(follow))
    };
    if around.context.decisive[usize::from(at.root)].iter().all(known) {
        return;
    }
    let mut lanes = [reach.valid, writing, changed];
    if reach.pattern == Pattern::Same {
        // One touches the words for all.
        lanes = lanes.map(|mask| Mask::from(mask != 0));
    }
    let (subgroup, offsets) = (strand.place.subgroup, &reach.offsets);
    let touch = AtomicTouch { subgroup, at, combination, lanes, offsets };
    around.group.exchange.note(&touch, &mut around.tally.exchanged);
}

/// The lanes whose words are not what memory holds.
fn differing<const N: usize>(
    words: &[AtomicU32],
    values: &[[u32; N]],
    at: &At,
    reach: &Reach<N>,
) -> Mask {
    let mut differing = 0;
    for (values, part) in values.iter().zip(0..) {
        let shift = part * at.form.bytes();
        for_each_lane(reach.valid, |lane| {
            let word = &words[(reach.offsets[lane] + shift) as usize / 4];
            differing |= Mask::from(word.load(Ordering::Relaxed) != values[lane]) << lane;
        });
    }
    differing
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
    let reach = Reach::new(&strand.registers[usize::from(dynamic)], exec, at, size);
    let valid = reach.valid;
    let guard =
        at.locked.then(|| around.context.lock.lock().unwrap_or_else(PoisonError::into_inner));
    let count = usize::from(at.count);
    let registers = usize::from(dst)..usize::from(dst) + count;
    for (target, part) in strand.registers[registers].iter_mut().zip(0..) {
        if valid != exec {
            *target = [0; N];
        }
        let shift = part * at.form.bytes();
        match (at.form, reach.pattern) {
            (Form::Words, Pattern::Row) => {
                let row = words[reach.row(at.count)].iter().skip(part as usize).step_by(count);
                for (value, word) in target.iter_mut().zip(row) {
                    *value = word.load(Ordering::Relaxed);
                }
            }
            (Form::Words, Pattern::Same) => {
                let word = &words[(reach.offsets[0] + shift) as usize / 4];
                *target = [word.load(Ordering::Relaxed); N];
            }
            (Form::Words, Pattern::Scattered) => for_each_lane(valid, |lane| {
                let word = &words[(reach.offsets[lane] + shift) as usize / 4];
                target[lane] = word.load(Ordering::Relaxed);
            }),
            (Form::Half | Form::Short | Form::Ushort | Form::Byte, _) => {
                for_each_lane(valid, |lane| {
                    target[lane] = load_part(words, reach.offsets[lane] + shift, at.form);
                });
            }
        }
    }
    drop(guard);
    watch(strand, around, Touch::Read, at, 0, &reach);
    if at.atomic && around.group.exchange.watches() {
        watch_subgroups(strand, around, None, at, [0; 2], &reach);
    }
    observe(strand, around, AccessKind::Load, at, &reach, &[]);
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
        let (atomic, locked, owner) = (false, false, Owner::Anybody);
        let line = line(around.context.sites.get(site as usize));
        let at =
            At { root, offset, end: 0, count, form, atomic, locked, site, follow, line, owner };
        let active = if valid { exec } else { 0 };
        // The words are the same for all lanes: one touches them for all.
        let lowest = active & active.wrapping_neg();
        let (offsets, pattern) = ([offset; N], Pattern::Scattered);
        watch(strand, around, Touch::Read, &at, 0, &Reach { valid: lowest, offsets, pattern });
        let reach = Reach { valid: active, offsets, pattern };
        observe(strand, around, AccessKind::Load, &at, &reach, &[]);
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
    let reach = Reach::new(&strand.registers[usize::from(dynamic)], exec, at, size);
    let valid = reach.valid;
    let guard =
        at.locked.then(|| around.context.lock.lock().unwrap_or_else(PoisonError::into_inner));
    let count = usize::from(at.count);
    let registers = usize::from(src)..usize::from(src) + count;
    let watches = at.atomic && around.group.exchange.watches();
    let mut changed = 0;
    if watches {
        changed = differing(words, &strand.registers[registers.clone()], at, &reach);
    }
    for (source, part) in strand.registers[registers].iter().zip(0..) {
        let shift = part * at.form.bytes();
        match (at.form, reach.pattern) {
            (Form::Words, Pattern::Row) => {
                let row = words[reach.row(at.count)].iter().skip(part as usize).step_by(count);
                for (&value, word) in source.iter().zip(row) {
                    word.store(value, Ordering::Relaxed);
                }
            }
            (Form::Words, Pattern::Same | Pattern::Scattered) => for_each_lane(valid, |lane| {
                let word = &words[(reach.offsets[lane] + shift) as usize / 4];
                word.store(source[lane], Ordering::Relaxed);
            }),
            (Form::Half | Form::Short | Form::Ushort | Form::Byte, _) => {
                for_each_lane(valid, |lane| {
                    store_part(words, reach.offsets[lane] + shift, at.form, source[lane]);
                });
            }
        }
    }
    drop(guard);
    watch(strand, around, Touch::Write, at, valid, &reach);
    if watches {
        let combination = Some(Combination::Overwrites);
        watch_subgroups(strand, around, combination, at, [valid, changed], &reach);
    }
    let values = &strand.registers[usize::from(src)..usize::from(src) + count];
    observe(strand, around, AccessKind::Store, at, &reach, values);
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
    let AtomicOp { ref at, change, value, compare, result, touch, combination } = *atomic;
    let (words, size) = memory(around.context, &around.group.memory, at.root);
    let reach = Reach::new(&strand.registers[usize::from(dynamic)], exec, at, size);
    let valid = reach.valid;
    // Nobody else changes words meanwhile where one worker runs, or the memory is its workgroup's.
    let alone = around.context.alone || at.root == ROOT_WORKGROUP;
    let file = &mut strand.registers;
    let read = |file: &[[u32; N]], register: Reg, lane: usize| file[usize::from(register)][lane];
    let wide = |file: &[[u32; N]], register: Reg, lane: usize| {
        u64::from(read(file, register, lane)) | u64::from(read(file, register + 1, lane)) << 32
    };
    let guard =
        at.locked.then(|| around.context.lock.lock().unwrap_or_else(PoisonError::into_inner));
    let mut changed = 0;
    for_each_lane(exec, |lane| {
        let index = reach.offsets[lane] as usize / 4;
        let within = (valid >> lane) & 1 == 1;
        let (old, new, exchanged) = match change {
            _ if !within => (0, 0, false),
            Change::Word(f) => {
                let operand = read(file, value, lane);
                let expected = compare.map(|register| read(file, register, lane));
                let (old, new) = change_word(&words[index], f, operand, expected, alone);
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
    watch(strand, around, touch, at, changed, &reach);
    if around.group.exchange.watches() {
        let writing = if combination == Combination::Overwrites { valid } else { changed };
        watch_subgroups(strand, around, Some(combination), at, [writing, changed], &reach);
    }
    observe(strand, around, AccessKind::Atomic, at, &reach, &[]);
    go_on(strand, around, ReportKind::WriteOutOfBounds, at.site, exec & !valid)
}

/// Changes a word; with `expected` only where it is that. Gives the old word and the new.
pub(super) fn change_word(
    word: &AtomicU32,
    change: fn(u32, u32) -> u32,
    operand: u32,
    expected: Option<u32>,
    alone: bool,
) -> (u32, u32) {
    let order = Ordering::Relaxed;
    if alone {
        let old = word.load(order);
        let new = match expected {
            Some(expected) if expected != old => return (old, old),
            Some(_) => operand,
            None => change(old, operand),
        };
        word.store(new, order);
        return (old, new);
    }
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
pub(super) fn change_wide(
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
    let offset = offsets[exec.trailing_zeros() as usize % N];
    let common = *around.group.uniform.entry(key).or_insert(offset);
    let mut different = 0;
    for_each_lane(exec, |lane| {
        if offsets[lane] != common {
            different |= 1 << lane;
        }
    });
    go_on(strand, around, ReportKind::DivergentUniformLoad, site, different)
}
