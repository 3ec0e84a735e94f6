//! The interpreter: runs one strand of a subgroup until it ends or has to wait.
//!
//! Input: the code, the memories and a [`Strand`], whose state is all explicit. Output: an
//! [`Event`] that says why it stopped; the strand can be resumed. Inner loops run over all lanes
//! of a register with a constant trip count, so that they vectorise for the features that the
//! caller dispatched to; what is not a loop over lanes is out of line (`access`, `subgroup`). It
//! does not choose who runs next: `schedule` does.

#![expect(clippy::inline_always, reason = "code must be inlined to get the dispatched features")]

use super::access;
use super::mask::{Mask, bits, for_each_lane};
use super::op::{Op, Reg, with_pure};
use super::scalar;
use super::strand::{Event, Strand, Surroundings};
use super::subgroup;
use super::textures;

/// A boolean of the register file.
#[inline(always)]
fn b(value: bool) -> u32 {
    u32::from(value)
}

/// A word as `f32`.
#[inline(always)]
fn f(word: u32) -> f32 {
    f32::from_bits(word)
}

/// A word as `i32`.
#[inline(always)]
fn s(word: u32) -> i32 {
    word.cast_signed()
}

/// The destination and what lies below it; operands always do.
#[inline(always)]
fn split<const N: usize>(file: &mut [[u32; N]], d: Reg) -> (&[[u32; N]], &mut [u32; N]) {
    let (low, high) = file.split_at_mut(usize::from(d));
    (low, &mut high[0])
}

#[inline(always)]
fn unary<const N: usize>(file: &mut [[u32; N]], d: Reg, a: Reg, f: impl Fn(u32) -> u32) {
    #[inline(always)]
    fn lanes<const N: usize>(d: &mut [u32; N], a: &[u32; N], f: impl Fn(u32) -> u32) {
        for lane in 0..N {
            d[lane] = f(a[lane]);
        }
    }
    let (low, d) = split(file, d);
    lanes(d, &low[usize::from(a)], f);
}

#[inline(always)]
fn binary<const N: usize>(
    file: &mut [[u32; N]],
    d: Reg,
    [a, c]: [Reg; 2],
    f: impl Fn(u32, u32) -> u32,
) {
    #[inline(always)]
    fn lanes<const N: usize>(
        d: &mut [u32; N],
        a: &[u32; N],
        c: &[u32; N],
        f: impl Fn(u32, u32) -> u32,
    ) {
        for lane in 0..N {
            d[lane] = f(a[lane], c[lane]);
        }
    }
    let (low, d) = split(file, d);
    lanes(d, &low[usize::from(a)], &low[usize::from(c)], f);
}

#[inline(always)]
fn ternary<const N: usize>(
    file: &mut [[u32; N]],
    d: Reg,
    [a, c, e]: [Reg; 3],
    f: impl Fn(u32, u32, u32) -> u32,
) {
    #[inline(always)]
    fn lanes<const N: usize>(
        d: &mut [u32; N],
        [a, c, e]: [&[u32; N]; 3],
        f: impl Fn(u32, u32, u32) -> u32,
    ) {
        for lane in 0..N {
            d[lane] = f(a[lane], c[lane], e[lane]);
        }
    }
    let (low, d) = split(file, d);
    lanes(d, [&low[usize::from(a)], &low[usize::from(c)], &low[usize::from(e)]], f);
}

/// Two different registers, the first to write.
#[inline(always)]
fn pair<const N: usize>(file: &mut [[u32; N]], d: Reg, a: Reg) -> (&mut [u32; N], &[u32; N]) {
    let (d, a) = (usize::from(d), usize::from(a));
    if d < a {
        let (low, high) = file.split_at_mut(a);
        (&mut low[d], &high[0])
    } else {
        let (low, high) = file.split_at_mut(d);
        (&mut high[0], &low[a])
    }
}

/// For each set of eight lanes, words of ones for those that are in it.
static TAKEN: [[u32; 8]; 256] = {
    let mut taken = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let mut lane = 0;
        while lane < 8 {
            taken[set][lane] = if set >> lane & 1 == 1 { u32::MAX } else { 0 };
            lane += 1;
        }
        set += 1;
    }
    taken
};

/// Copies the lanes of `exec`.
#[inline(always)]
fn blend<const N: usize>(d: &mut [u32; N], a: &[u32; N], exec: Mask) {
    let sets = exec.to_le_bytes();
    let chunks = d.as_chunks_mut::<8>().0.iter_mut().zip(a.as_chunks::<8>().0);
    for ((d, a), set) in chunks.zip(sets) {
        // Read from a table: what is known to be a mask becomes a masked store, which takes some processors
        // twenty times as long as a whole one.
        let taken = &TAKEN[usize::from(set)];
        let mut mixed = *d;
        for lane in 0..8 {
            mixed[lane] = (d[lane] & !taken[lane]) | (a[lane] & taken[lane]);
        }
        *d = mixed;
    }
}

/// Runs `strand` until it stops.
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "the interpreter's match, one arm an instruction")]
pub(super) fn run<const N: usize>(strand: &mut Strand<N>, around: &mut Surroundings<'_>) -> Event {
    let context = around.context;
    let code = context.code;
    let mut pc = strand.pc;
    let mut exec = strand.exec;
    let event = loop {
        let op = code[pc];
        pc += 1;
        macro_rules! execute {
            (
                unary { $($u:ident($uf:expr);)* }
                binary { $($b:ident($bf:expr);)* }
                ternary { $($t:ident($tf:expr);)* }
                $($arms:tt)*
            ) => {
                match op {
                    $(Op::$u(d, a) => unary(&mut strand.registers, d, a, $uf),)*
                    $(Op::$b(d, a, c) => binary(&mut strand.registers, d, [a, c], $bf),)*
                    $(Op::$t(d, a, c, e) => ternary(&mut strand.registers, d, [a, c, e], $tf),)*
                    $($arms)*
                }
            };
        }
        with_pure! { execute
            // Variables
            Op::Copy(d, a) => {
                let (d, a) = pair(&mut strand.registers, d, a);
                *d = *a;
            }
            Op::Store(d, a) => {
                let (d, a) = pair(&mut strand.registers, d, a);
                if exec == strand.launched {
                    *d = *a;
                } else {
                    blend(d, a, exec);
                }
            }
            Op::Fill { dst, count, src } => {
                let value = strand.registers[usize::from(src)];
                let dst = usize::from(dst);
                strand.registers[dst..dst + usize::from(count)].fill(value);
            }
            Op::Index { dst, base, index, length, stride } => {
                ternary(&mut strand.registers, dst, [base, index, length], |base, index, length| {
                    let offset = base.wrapping_add(index.wrapping_mul(stride));
                    let valid = (index < length) & (base != u32::MAX);
                    if valid { offset } else { u32::MAX }
                });
            }
            // Subgroups
            Op::Block { copy, ops } => {
                around.fuel -= i64::from(ops);
                around.tally.block(copy, exec);
                if let Some(observer) = around.observer.as_deref_mut()
                    && observer.block(strand.place, context.copies[copy as usize], exec).is_break()
                {
                    around.observer = None;
                }
            }
            // If
            Op::If { condition, slot, invert, splits, target } => {
                let set = bits(&strand.registers[usize::from(condition)]);
                let set = if invert { !set } else { set };
                let (accept, reject) = (exec & set, exec & !set);
                if splits && context.late && accept != 0 && reject != 0 {
                    pc -= 1;
                    break Event::Split { others: reject };
                }
                strand.slots[usize::from(slot)] = reject;
                exec = accept;
                if exec == 0 {
                    pc = target as usize;
                }
            }
            Op::Else { slot, target } => {
                std::mem::swap(&mut exec, &mut strand.slots[usize::from(slot)]);
                if exec == 0 {
                    pc = target as usize;
                }
            }
            Op::Join { slot, target } => {
                exec |= strand.slots[usize::from(slot)];
                if exec == 0 {
                    pc = target as usize;
                }
            }
            // Break, Continue, Return
            Op::BreakIf { condition, slot, invert, copy, target } => {
                let set = bits(&strand.registers[usize::from(condition)]);
                let leaving = exec & if invert { !set } else { set };
                if leaving != 0 {
                    around.tally.block(copy, leaving);
                    let block = context.copies[copy as usize];
                    if let Some(observer) = around.observer.as_deref_mut()
                        && observer.block(strand.place, block, leaving).is_break()
                    {
                        around.observer = None;
                    }
                    strand.slots[usize::from(slot)] |= leaving;
                    exec &= !leaving;
                    if exec == 0 {
                        pc = target as usize;
                    }
                }
            }
            Op::Leave { slot, target } => {
                strand.slots[usize::from(slot)] |= exec;
                exec = 0;
                pc = target as usize;
            }
            // Switch
            Op::Switch { rest, exits } => {
                strand.slots[usize::from(rest)] = exec;
                strand.slots[usize::from(exits)] = 0;
                exec = 0;
            }
            Op::Case { selector, value, rest, slot } => {
                let file = &strand.registers;
                let rest = usize::from(rest);
                let (selector, value) = (&file[usize::from(selector)], &file[usize::from(value)]);
                let waiting = strand.slots[rest];
                let taken = waiting & equal(selector, value);
                strand.slots[rest] = waiting & !taken;
                strand.slots[usize::from(slot)] |= taken;
            }
            Op::CaseDefault { rest, slot } => {
                let waiting = strand.slots[usize::from(rest)];
                strand.slots[usize::from(slot)] |= waiting;
            }
            Op::SwitchSplit { first, arms } => {
                if context.late {
                    break Event::SplitArms { first, arms };
                }
            }
            Op::CaseBegin { slot, target } => {
                exec |= strand.slots[usize::from(slot)];
                if exec == 0 {
                    pc = target as usize;
                }
            }
            // Loop
            Op::LoopBegin { exits } => {
                strand.slots[usize::from(exits)] = 0;
                if context.late {
                    break Event::LoopEnter;
                }
            }
            Op::LoopHead { continued } => strand.slots[usize::from(continued)] = 0,
            Op::LoopBack { head, site } => {
                if exec != 0 {
                    pc = head as usize;
                    around.fuel -= 1;
                    if around.fuel <= 0 {
                        break Event::Yield { site };
                    }
                }
            }
            Op::LoopBackUnless { condition, exits, head, site } => {
                let leaving = exec & bits(&strand.registers[usize::from(condition)]);
                strand.slots[usize::from(exits)] |= leaving;
                exec &= !leaving;
                if exec != 0 {
                    pc = head as usize;
                    around.fuel -= 1;
                    if around.fuel <= 0 {
                        break Event::Yield { site };
                    }
                }
            }
            Op::LoopEnd { exits, target } => {
                exec = strand.slots[usize::from(exits)];
                if context.late {
                    break Event::LoopLeave { target: target as usize };
                }
                if exec == 0 {
                    pc = target as usize;
                }
            }
            Op::Clear { slot } => strand.slots[usize::from(slot)] = 0,
            // Barriers
            Op::Barrier { site, workgroup: _, storage: _ } => break Event::Barrier { site },
            Op::SubgroupBarrier { site, workgroup, storage } => {
                access::subgroup_barrier(strand, around, site, [workgroup, storage]);
            }
            Op::CheckUniform { offset, key, site } => {
                if let Err(kind) = access::check_uniform(strand, around, exec, offset, key, site) {
                    break Event::Fault { kind, site };
                }
            }
            // Memory
            Op::Gather { dst, count, base, offset, site } => {
                if let Err(kind) = access::gather(strand, around, exec, [dst, base, offset], count, site) {
                    break Event::Fault { kind, site };
                }
            }
            Op::Scatter { base, offset, src, count, site } => {
                if let Err(kind) = access::scatter(strand, around, exec, [base, offset, src], count, site) {
                    break Event::Fault { kind, site };
                }
            }
            Op::LoadUniform { dst, count, root, offset, site } => {
                if let Err(kind) = access::load_uniform(strand, around, exec, (dst, count), root, offset, site) {
                    break Event::Fault { kind, site };
                }
            }
            Op::Load { dst, dynamic, at } => {
                let at = &context.accesses[at as usize];
                if let Err(kind) = access::load(strand, around, exec, dst, dynamic, at) {
                    break Event::Fault { kind, site: at.site };
                }
                if context.pauses && around.fuel <= 0 {
                    break Event::Pause;
                }
            }
            Op::MemoryStore { src, dynamic, at } => {
                let at = &context.accesses[at as usize];
                if let Err(kind) = access::store(strand, around, exec, src, dynamic, at) {
                    break Event::Fault { kind, site: at.site };
                }
                if context.pauses && around.fuel <= 0 {
                    break Event::Pause;
                }
            }
            Op::Atomic { dynamic, with } => {
                let atomic = &context.atomics[with as usize];
                if let Err(kind) = access::atomic(strand, around, exec, dynamic, atomic) {
                    break Event::Fault { kind, site: atomic.at.site };
                }
                if context.pauses && around.fuel <= 0 {
                    break Event::Pause;
                }
            }
            Op::Texture { with } => {
                let texture = &context.texture_ops[with as usize];
                if let Err(kind) = textures::texture(strand, around, exec, texture) {
                    break Event::Fault { kind, site: texture.site };
                }
                if context.pauses && around.fuel <= 0 {
                    break Event::Pause;
                }
            }
            // Subgroup operations
            Op::Ballot { dst, predicate } => {
                subgroup::ballot(&mut strand.registers, exec, dst, predicate);
            }
            Op::Collective { fold, dst, src, identity, scan } => {
                subgroup::collective(&mut strand.registers, exec, fold, [dst, src, identity], scan);
            }
            Op::CollectiveWide { fold, dst, src, identity, scan } => {
                let registers = [dst, src, identity];
                subgroup::collective_wide(&mut strand.registers, exec, fold, registers, scan);
            }
            Op::Shuffle { mode, dst, src, index, count, site } => {
                let registers = [dst, src, index];
                let done = subgroup::shuffle(strand, around, exec, mode, registers, count, site);
                if let Err(kind) = done {
                    break Event::Fault { kind, site };
                }
            }
            // Functions of one lane
            Op::Map1(f, d, a) => {
                let (low, d) = split(&mut strand.registers, d);
                let a = &low[usize::from(a)];
                for_each_lane(exec, |lane| d[lane] = f(a[lane]));
            }
            Op::Map2(f, d, [a, c]) => {
                let (low, d) = split(&mut strand.registers, d);
                let [a, c] = [a, c].map(|register| &low[usize::from(register)]);
                for_each_lane(exec, |lane| d[lane] = f(a[lane], c[lane]));
            }
            Op::Map3(f, d, [a, c, e]) => {
                let (low, d) = split(&mut strand.registers, d);
                let [a, c, e] = [a, c, e].map(|register| &low[usize::from(register)]);
                for_each_lane(exec, |lane| d[lane] = f(a[lane], c[lane], e[lane]));
            }
            Op::Map4(f, d, [a, c, e, g]) => {
                let (low, d) = split(&mut strand.registers, d);
                let [a, c, e, g] = [a, c, e, g].map(|register| &low[usize::from(register)]);
                for_each_lane(exec, |lane| d[lane] = f(a[lane], c[lane], e[lane], g[lane]));
            }
            Op::FmaHalf(d, operands) => {
                let fma = if context.fused { scalar::fma_half } else { scalar::mul_add_half };
                let (low, d) = split(&mut strand.registers, d);
                let [a, c, e] = operands.map(|register| &low[usize::from(register)]);
                for_each_lane(exec, |lane| d[lane] = fma(a[lane], c[lane], e[lane]));
            }
            Op::FmaDouble(d, operands) => {
                subgroup::fma_double(&mut strand.registers, exec, d, operands, context.fused);
            }
            Op::Wide1(f, d, a) => subgroup::wide1(&mut strand.registers, exec, f, d, a),
            Op::Wide2(f, d, operands) => {
                subgroup::wide2(&mut strand.registers, exec, f, d, operands);
            }
            Op::WideTest(f, d, operands) => {
                subgroup::wide_test(&mut strand.registers, exec, f, d, operands);
            }
            Op::Widen(f, d, a) => subgroup::widen(&mut strand.registers, exec, f, d, a),
            Op::Narrow(f, d, a) => subgroup::narrow(&mut strand.registers, exec, f, d, a),
            Op::End => break Event::Done,
        }
    };
    strand.pc = pc;
    strand.exec = exec;
    event
}

/// The lanes whose words are equal, inactive ones included.
#[inline(always)]
fn equal<const N: usize>(left: &[u32; N], right: &[u32; N]) -> Mask {
    let mut same = [0; N];
    for lane in 0..N {
        same[lane] = u32::from(left[lane] == right[lane]);
    }
    bits(&same)
}
