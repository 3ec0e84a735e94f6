//! Operations of a subgroup on textures.
//!
//! Input: a strand's registers, the static part of the operation, the bound textures and samplers.
//! Output: registers or texels changed. Lanes go from the lowest up. What a texel's bits mean, and how a
//! filter combines texels, is `texture`'s. A texel that does not exist reads as zeros and is not
//! written; both are reported.

use std::cell::RefCell;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use super::access::{change_wide, change_word, go_on, observe, watch};
use super::mask::{Mask, for_each_lane};
use super::observe::AccessKind;
use super::op::{
    At, Change, Coordinate, Form, Owner, Reg, SampledLevel, TexelParts, TextureAction, TextureOp,
    Touch,
};
use super::reach::{Pattern, Reach};
use super::report::ReportKind;
use super::strand::{Strand, Surroundings};
use super::table::LaunchContext;
use crate::texture::{LevelOfDetail, SamplePoint, Sampled, TextureLayout, TextureView};

/// A texture and the words of its texels.
#[derive(Clone, Copy)]
struct Texels<'a> {
    layout: &'a TextureLayout,
    words: &'a [AtomicU32],
    /// Words from one texel to the next.
    each: usize,
}

impl<'a> Texels<'a> {
    fn new(context: &LaunchContext<'a>, root: u16) -> Option<Self> {
        let layout = context.textures[usize::from(root)]?;
        let each = layout.format.bytes().div_ceil(4) as usize;
        Some(Self { layout, words: context.words[usize::from(root)], each })
    }

    fn words_of(&self, texel: usize) -> &'a [AtomicU32] {
        &self.words[texel * self.each..][..self.each]
    }

    fn read(&self, texel: usize) -> [u32; 4] {
        let words = self.words_of(texel).iter().rev();
        let bits =
            words.fold(0, |bits, word| bits << 32 | u128::from(word.load(Ordering::Relaxed)));
        self.layout.format.decode(bits)
    }

    fn write(&self, texel: usize, components: [u32; 4]) {
        let mut bits = self.layout.format.encode(components);
        for word in self.words_of(texel) {
            #[expect(clippy::cast_possible_truncation, reason = "word by word")]
            word.store(bits as u32, Ordering::Relaxed);
            bits >>= 32;
        }
    }
}

/// An integer coordinate of a lane.
fn whole<const N: usize>(file: &[[u32; N]], at: Coordinate, lane: usize) -> i64 {
    let word = file[usize::from(at.register)][lane];
    if at.signed { i64::from(word.cast_signed()) } else { i64::from(word) }
}

/// A level or a sample of a lane; what is negative is over every limit.
fn number<const N: usize>(file: &[[u32; N]], at: Option<Coordinate>, lane: usize) -> u32 {
    at.map_or(0, |at| u32::try_from(whole(file, at, lane)).unwrap_or(u32::MAX))
}

/// The texel that a lane names; `None` if it does not exist.
fn texel<const N: usize>(
    file: &[[u32; N]],
    op: &TextureOp,
    texels: &Texels<'_>,
    lane: usize,
    [level, sample]: [Option<Coordinate>; 2],
) -> Option<usize> {
    let mut at = [0; 3];
    for (at, coordinate) in at.iter_mut().zip(&op.at) {
        *at = whole(file, *coordinate, lane);
    }
    if let Some(layer) = op.layer {
        at[2] = whole(file, layer, lane);
    }
    let (level, sample) = (number(file, level, lane), number(file, sample, lane));
    texels.layout.index(level, at, sample)
}

// Textures

/// Executes an operation on a texture.
#[inline(never)]
#[expect(clippy::too_many_lines, reason = "a match, one arm an action")]
pub(super) fn texture<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    op: &TextureOp,
) -> Result<(), ReportKind> {
    let context = around.context;
    let Some(texels) = Texels::new(context, op.root) else { return Ok(()) };
    match op.action {
        TextureAction::Load { dst, parts, level, sample } => {
            let mut found = AccessedTexels::new();
            let file = &mut strand.registers;
            for_each_lane(exec, |lane| {
                let texel = texel(file, op, &texels, lane, [level, sample]);
                found.note(lane, texel);
                // As if all its bits were zero: a format without alpha has an alpha of 1.
                let missing = || texels.layout.format.decode(0);
                let components = texel.map_or_else(missing, |texel| texels.read(texel));
                put(file, dst, parts, lane, components);
            });
            found.tell(strand, around, exec, op, &texels, (Touch::Read, AccessKind::Load))
        }
        TextureAction::Store { src, parts } => {
            let mut found = AccessedTexels::new();
            let file = &strand.registers;
            for_each_lane(exec, |lane| {
                let texel = texel(file, op, &texels, lane, [None, None]);
                found.note(lane, texel);
                if let Some(texel) = texel {
                    texels.write(texel, get(file, src, parts, lane));
                }
            });
            found.tell(strand, around, exec, op, &texels, (Touch::Write, AccessKind::Store))
        }
        TextureAction::Atomic { change, value, compare, touch } => {
            let mut found = AccessedTexels::new();
            let file = &strand.registers;
            let wide = matches!(change, Change::Wide(_));
            let guard = wide.then(|| context.lock.lock().unwrap_or_else(PoisonError::into_inner));
            for_each_lane(exec, |lane| {
                let texel = texel(file, op, &texels, lane, [None, None]);
                found.note(lane, texel);
                let Some(texel) = texel else { return };
                let word = |register: Reg| file[usize::from(register)][lane];
                let both =
                    |register: Reg| u64::from(word(register)) | u64::from(word(register + 1)) << 32;
                match change {
                    Change::Word(change) => {
                        let expected = compare.map(word);
                        let cell = &texels.words_of(texel)[0];
                        change_word(cell, change, word(value), expected, context.alone);
                    }
                    Change::Wide(change) => {
                        let expected = compare.map(both);
                        change_wide(texels.words_of(texel), change, both(value), expected);
                    }
                }
            });
            drop(guard);
            found.tell(strand, around, exec, op, &texels, (touch, AccessKind::Atomic))
        }
        TextureAction::Sample { .. } | TextureAction::Gather { .. } => {
            sample(strand, around, exec, op, &texels);
            Ok(())
        }
        TextureAction::Size { dst, count, level } => {
            let file = &mut strand.registers;
            for_each_lane(exec, |lane| {
                let level = number(file, level, lane).min(texels.layout.levels - 1);
                let size = texels.layout.level_size(level);
                for (register, extent) in (usize::from(dst)..).zip(size).take(usize::from(count)) {
                    file[register][lane] = extent;
                }
            });
            Ok(())
        }
        TextureAction::Levels { dst } => fill(strand, exec, dst, texels.layout.levels),
        TextureAction::Layers { dst } => {
            let layers = texels.layout.size[2];
            let layers = if op.view == TextureView::CubeArray { layers / 6 } else { layers };
            fill(strand, exec, dst, layers)
        }
        TextureAction::Samples { dst } => fill(strand, exec, dst, texels.layout.samples),
    }
}

/// Writes the same word to a register of the active lanes.
fn fill<const N: usize>(
    strand: &mut Strand<N>,
    exec: Mask,
    dst: Reg,
    word: u32,
) -> Result<(), ReportKind> {
    let register = &mut strand.registers[usize::from(dst)];
    for_each_lane(exec, |lane| register[lane] = word);
    Ok(())
}

/// Puts a texel's components into a lane's registers.
fn put<const N: usize>(
    file: &mut [[u32; N]],
    dst: Reg,
    parts: TexelParts,
    lane: usize,
    components: [u32; 4],
) {
    let dst = usize::from(dst);
    match parts {
        TexelParts::One => file[dst][lane] = components[0],
        TexelParts::Four => {
            for (register, component) in (dst..).zip(components) {
                file[register][lane] = component;
            }
        }
        TexelParts::Wide => {
            let [low, high, ..] = components;
            for (register, word) in (dst..).zip([low, high, 0, 0, 0, 0, 1, 0]) {
                file[register][lane] = word;
            }
        }
    }
}

/// A texel's components from a lane's registers.
fn get<const N: usize>(file: &[[u32; N]], src: Reg, parts: TexelParts, lane: usize) -> [u32; 4] {
    let word = |part: usize| file[usize::from(src) + part][lane];
    match parts {
        TexelParts::One => [word(0), 0, 0, 0],
        TexelParts::Four => [0, 1, 2, 3].map(word),
        TexelParts::Wide => [word(0), word(1), 0, 0],
    }
}

/// The texels that the lanes of a subgroup access with one operation.
struct AccessedTexels<const N: usize> {
    valid: Mask,
    texels: [usize; N],
}

impl<const N: usize> AccessedTexels<N> {
    fn new() -> Self {
        Self { valid: 0, texels: [0; N] }
    }

    fn note(&mut self, lane: usize, texel: Option<usize>) {
        if let Some(texel) = texel {
            self.valid |= 1 << lane;
            self.texels[lane] = texel;
        }
    }

    /// Tells who watches, and reports the lanes whose texel does not exist.
    fn tell(
        &self,
        strand: &Strand<N>,
        around: &mut Surroundings<'_>,
        exec: Mask,
        op: &TextureOp,
        texels: &Texels<'_>,
        (touch, kind): (Touch, AccessKind),
    ) -> Result<(), ReportKind> {
        let apart = texels.each * 4;
        let at = at(op, texels.each, kind);
        watch(strand, around, touch, &at, self.valid, &self.reach(apart));
        self.show(strand, around, op, texels, kind);
        let missed = match kind {
            AccessKind::Load => ReportKind::ReadOutOfBounds,
            AccessKind::Store | AccessKind::Atomic => ReportKind::WriteOutOfBounds,
        };
        go_on(strand, around, missed, op.site, exec & !self.valid)
    }

    /// Shows the access to the observer, its texels in tiles, as in a device's memory.
    fn show(
        &self,
        strand: &Strand<N>,
        around: &mut Surroundings<'_>,
        op: &TextureOp,
        texels: &Texels<'_>,
        kind: AccessKind,
    ) {
        if around.observer.is_some() {
            let bytes = texels.layout.format.bytes() as usize;
            let form = match bytes {
                1 => Form::Byte,
                2 => Form::Ushort,
                _ => Form::Words,
            };
            let at = At { form, ..at(op, texels.each, kind) };
            let mut reach = self.reach(bytes);
            for_each_lane(self.valid, |lane| {
                let offset = texels.layout.tiled_offset(self.texels[lane]);
                reach.offsets[lane] = u32::try_from(offset).unwrap_or(u32::MAX - 15);
            });
            observe(strand, around, kind, &at, &reach, &[]);
        }
    }

    /// Where the lanes access, in bytes.
    fn reach(&self, apart: usize) -> Reach<N> {
        #[expect(clippy::cast_possible_truncation, reason = "offsets hold every bound memory")]
        let offsets = self.texels.map(|texel| (texel * apart) as u32);
        Reach { valid: self.valid, offsets, pattern: Pattern::Scattered }
    }
}

/// The static part of an access to texels of so many words.
fn at(op: &TextureOp, words: usize, kind: AccessKind) -> At {
    At {
        root: op.root,
        offset: 0,
        end: 0,
        count: u16::try_from(words).unwrap_or(1),
        form: Form::Words,
        atomic: kind == AccessKind::Atomic,
        locked: false,
        site: op.site,
        line: op.line,
        owner: Owner::Anybody,
        follow: op.follow,
    }
}

// Samplers

/// Reads with a sampler.
#[expect(clippy::too_many_lines, reason = "one sample's coordinates, level and texels in a row")]
fn sample<const N: usize>(
    strand: &mut Strand<N>,
    around: &mut Surroundings<'_>,
    exec: Mask,
    op: &TextureOp,
    texels: &Texels<'_>,
) {
    let context = around.context;
    let looked_at = around.observer.is_some();
    // The texels of each lane, one list for each place in the order of reading.
    let touched: RefCell<Vec<AccessedTexels<N>>> = RefCell::default();
    let file = &mut strand.registers;
    for_each_lane(exec, |lane| {
        let count = RefCell::new(0);
        let read = |texel: usize| {
            if looked_at {
                let mut touched = touched.borrow_mut();
                let mut count = count.borrow_mut();
                if touched.len() <= *count {
                    touched.push(AccessedTexels::new());
                }
                touched[*count].note(lane, Some(texel));
                *count += 1;
            }
            texels.read(texel)
        };
        let sampled = Sampled { layout: texels.layout, view: op.view, texel: &read };
        let float = |register: Reg| f32::from_bits(file[usize::from(register)][lane]);
        let floats = |registers: &[Reg]| {
            let mut all = [0.0; 3];
            for (value, register) in all.iter_mut().zip(registers) {
                *value = float(*register);
            }
            all
        };
        let place: Vec<Reg> = op.at.iter().map(|at| at.register).collect();
        let point = |offset, level, reference: Option<Reg>, clamp_to_edge| SamplePoint {
            at: floats(&place),
            layer: op.layer.map_or(0, |layer| whole(file, layer, lane)),
            offset,
            level,
            reference: reference.map(float),
            clamp_to_edge,
        };
        match op.action {
            TextureAction::Sample {
                dst,
                parts,
                sampler,
                ref level,
                offset,
                reference,
                clamp_to_edge,
            } => {
                #[expect(clippy::cast_precision_loss, reason = "levels are few")]
                let level = match level {
                    SampledLevel::Zero => LevelOfDetail::Exact(0.0),
                    SampledLevel::Exact(level) => LevelOfDetail::Exact(float(*level)),
                    SampledLevel::Whole(level) => {
                        LevelOfDetail::Exact(whole(file, *level, lane) as f32)
                    }
                    SampledLevel::Gradient(x, y) => LevelOfDetail::Gradient(floats(x), floats(y)),
                };
                let point = point(offset, level, reference, clamp_to_edge);
                let settings = context.samplers[usize::from(sampler)];
                let components = sampled.sample(settings, &point).map(f32::to_bits);
                put(file, dst, parts, lane, components);
            }
            TextureAction::Gather { dst, sampler, component, offset, reference } => {
                let point = point(offset, LevelOfDetail::Exact(0.0), reference, false);
                let settings = context.samplers[usize::from(sampler)];
                let components = sampled.gather(settings, &point, usize::from(component));
                put(file, dst, TexelParts::Four, lane, components);
            }
            TextureAction::Load { .. }
            | TextureAction::Store { .. }
            | TextureAction::Atomic { .. }
            | TextureAction::Size { .. }
            | TextureAction::Levels { .. }
            | TextureAction::Layers { .. }
            | TextureAction::Samples { .. } => {}
        }
    });
    for found in touched.into_inner() {
        found.show(strand, around, op, texels, AccessKind::Load);
    }
}
