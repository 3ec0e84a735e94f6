//! One wave: its registers, and how operands are read and results written.
//!
//! Input: decoded instructions' operands. Output: changed registers. A wave knows no memory, no
//! other wave and no opcode; `opcodes` holds what each does, in terms of the functions here.
//!
//! A vector register is kept as halves of 32 lanes: one for a wave of 32, two for one of 64. In a
//! wave of 64, vector registers beyond those allocated are *shared*: lanes l and l + 32 are one
//! storage (how gfx10 moves values between its halves), which is how they are kept here, too.

use super::fields::{DwordPart, EXEC, Fields, NULL, OperandSource, Permute, VCC};

/// The values of 32 lanes.
pub type Half = [u32; 32];

/// The inline constants by their code, as 32 bits: integers, then floating-point numbers.
pub(super) fn inline32(code: u8) -> u32 {
    match code {
        128..=192 => u32::from(code) - 128,
        193..=208 => (192 - i32::from(code)) as u32,
        _ => inline_real(code).to_bits(),
    }
}

/// The floating-point number of an inline constant.
fn inline_real(code: u8) -> f32 {
    match code {
        240 => 0.5,
        241 => -0.5,
        242 => 1.0,
        243 => -1.0,
        244 => 2.0,
        245 => -2.0,
        246 => 4.0,
        247 => -4.0,
        _ => 0.5 / std::f32::consts::PI,
    }
}

/// What kind of value 64 or 16 bits hold: it decides what an inline constant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// Bits or an integer.
    Bits,
    /// A floating-point number.
    Real,
}

/// The registers of one wave.
#[derive(Clone, Debug)]
pub struct Wave {
    /// Scalar registers; VCC, M0 and EXEC among them.
    scalars: [u32; 128],
    /// The scalar condition code.
    pub scc: bool,
    /// The index of the next instruction.
    pub next: usize,
    /// Halves: 1 or 2.
    halves: usize,
    /// Vector registers of a lane's own.
    own: usize,
    /// Vector registers, half by half, and the shared ones behind them.
    vectors: Vec<Half>,
    /// All ones where EXEC has the lane on.
    masks: [Half; 2],
    /// Lanes that EXEC has on.
    active: u32,
    /// Halves with a lane on.
    active_halves: u32,
    /// What is kept of a denormal number of 32 bits: its sign, or all.
    pub kept32: u32,
}

/// How many shared vector registers a wave of 64 has room for.
pub(super) const SHARED: usize = 16;

/// Registers behind the last, which the further words of an operand in the last one reach.
const BEHIND: usize = 4;

impl Wave {
    /// A wave of `width` lanes (32 or 64), with `vectors` vector registers of each lane's own, all
    /// zero, and every lane on.
    pub fn new(width: u32, vectors: usize) -> Self {
        let halves = if width == 64 { 2 } else { 1 };
        let mut wave = Self {
            scalars: [0; 128],
            scc: false,
            next: 0,
            halves,
            own: vectors,
            vectors: vec![[0; 32]; vectors * halves + SHARED + BEHIND],
            masks: [[0; 32]; 2],
            active: 0,
            active_halves: 0,
            kept32: 0x8000_0000,
        };
        wave.set_mask(EXEC, u64::MAX);
        wave
    }

    /// Lanes: 32 or 64.
    pub fn width(&self) -> u32 {
        self.halves as u32 * 32
    }

    /// Halves of 32 lanes: 1 or 2.
    pub fn halves(&self) -> usize {
        self.halves
    }

    /// Vector registers that the wave has: each lane's own, and in a wave of 64 the shared ones.
    pub fn vectors(&self) -> usize {
        self.own + if self.halves == 2 { SHARED } else { 0 }
    }

    /// Lanes that are on.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Halves with a lane on.
    pub fn active_halves(&self) -> u32 {
        self.active_halves
    }

    /// EXEC, bit l for lane l.
    pub fn exec(&self) -> u64 {
        self.mask(EXEC)
    }

    /// Whether a lane is on.
    pub fn is_on(&self, lane: usize) -> bool {
        self.exec() >> lane & 1 != 0
    }

    /// A scalar register.
    pub fn scalar(&self, register: u8) -> u32 {
        self.scalars[usize::from(register) & 127]
    }

    /// Writes a scalar register; null swallows it, and EXEC changes who is on.
    pub fn set_scalar(&mut self, register: u8, value: u32) {
        let register = register & 127;
        if register != NULL {
            self.scalars[usize::from(register)] = value;
            if register >= EXEC {
                self.refresh();
            }
        }
    }

    /// Two scalar registers, the low word first.
    pub fn scalar64(&self, register: u8) -> u64 {
        let high = if register == NULL { 0 } else { self.scalar(register + 1) };
        u64::from(self.scalar(register)) | u64::from(high) << 32
    }

    /// Writes two scalar registers.
    pub fn set_scalar64(&mut self, register: u8, value: u64) {
        if register & 127 != NULL {
            self.set_scalar(register, value as u32);
            self.set_scalar(register + 1, (value >> 32) as u32);
        }
    }

    /// A mask of lanes from the registers: one in a wave of 32, else two.
    pub fn mask(&self, register: u8) -> u64 {
        if self.halves == 2 { self.scalar64(register) } else { u64::from(self.scalar(register)) }
    }

    /// Writes a mask of lanes.
    pub fn set_mask(&mut self, register: u8, mask: u64) {
        if self.halves == 2 {
            self.set_scalar64(register, mask);
        } else {
            self.set_scalar(register, mask as u32);
        }
    }

    /// Works out anew what follows from EXEC.
    fn refresh(&mut self) {
        let exec = self.exec();
        self.active = exec.count_ones();
        self.active_halves = 0;
        for half in 0..self.halves {
            let bits = (exec >> (32 * half)) as u32;
            self.active_halves += u32::from(bits != 0);
            for (lane, mask) in self.masks[half].iter_mut().enumerate() {
                *mask = 0_u32.wrapping_sub(bits >> lane & 1);
            }
        }
    }

    /// Whether any lane of a half is on.
    pub fn half_is_on(&self, half: usize) -> bool {
        (self.exec() >> (32 * half)) as u32 != 0
    }

    /// A source of a scalar instruction, 32 bits.
    pub fn read(&self, source: OperandSource) -> u32 {
        match source {
            OperandSource::Scalar(register) => self.scalar(register),
            OperandSource::Inline(code) => inline32(code),
            OperandSource::Literal(word) => word,
            OperandSource::VccZero => u32::from(self.mask(VCC) == 0),
            OperandSource::ExecZero => u32::from(self.exec() == 0),
            OperandSource::Scc => u32::from(self.scc),
            OperandSource::Vector(register) => self.vectors[self.slot(register, 0)][0],
        }
    }

    /// A source of 64 bits: literals are extended by zeros, inline integers by their sign.
    pub fn read64(&self, source: OperandSource, kind: OperandKind) -> u64 {
        match (source, kind) {
            (OperandSource::Scalar(register), _) => self.scalar64(register),
            (OperandSource::Literal(word), OperandKind::Real) => u64::from(word) << 32,
            (OperandSource::Inline(code @ 240..), OperandKind::Real) => {
                if code == 248 {
                    (0.5 / std::f64::consts::PI).to_bits()
                } else {
                    f64::from(inline_real(code)).to_bits()
                }
            }
            (OperandSource::Inline(code @ ..=208), _) => i64::from(inline32(code) as i32) as u64,
            (source, _) => u64::from(self.read(source)),
        }
    }

    /// Where half `half` of a vector register lies.
    fn slot(&self, register: u8, half: usize) -> usize {
        let register = usize::from(register);
        if register < self.own {
            register * self.halves + half
        } else {
            self.own * (self.halves - 1) + register
        }
    }

    /// Half of a vector register.
    pub fn vector(&self, register: u8, half: usize) -> &Half {
        &self.vectors[self.slot(register, half)]
    }

    /// Half of a vector register, to be written whatever EXEC says: how a wave begins.
    pub fn vector_mut(&mut self, register: u8, half: usize) -> &mut Half {
        let slot = self.slot(register, half);
        &mut self.vectors[slot]
    }

    /// One lane of a vector register.
    pub fn lane(&self, register: u8, lane: usize) -> u32 {
        self.vector(register, lane / 32)[lane % 32]
    }

    /// Writes one lane of a vector register, whatever EXEC says.
    pub fn set_lane(&mut self, register: u8, lane: usize, value: u32) {
        self.vector_mut(register, lane / 32)[lane % 32] = value;
    }

    /// Half of a source, 32 bits a lane.
    #[inline]
    pub fn half(&self, source: OperandSource, half: usize) -> Half {
        match source {
            OperandSource::Vector(register) => *self.vector(register, half),
            other => [self.read(other); 32],
        }
    }

    /// Half of a source, 64 bits a lane.
    pub fn half64(&self, source: OperandSource, half: usize, kind: OperandKind) -> [u64; 32] {
        let OperandSource::Vector(register) = source else {
            return [self.read64(source, kind); 32];
        };
        let (low, high) = (self.vector(register, half), self.vector(register + 1, half));
        std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
    }

    /// Writes the lanes of a half that are on.
    #[inline]
    pub fn write_half(&mut self, register: u8, half: usize, values: &Half) {
        let slot = self.slot(register, half);
        let (target, mask) = (&mut self.vectors[slot], &self.masks[half]);
        for lane in 0..32 {
            target[lane] = (target[lane] & !mask[lane]) | (values[lane] & mask[lane]);
        }
    }

    /// Writes the lanes of a half that are on, 64 bits a lane.
    pub fn write_half64(&mut self, register: u8, half: usize, values: &[u64; 32]) {
        self.write_half(register, half, &values.map(|value| value as u32));
        self.write_half(register + 1, half, &values.map(|value| (value >> 32) as u32));
    }

    /// An operation of one source a lane.
    #[inline]
    pub fn lanes1(&mut self, i: &Fields, f: impl Fn(u32) -> u32) {
        if !i.is_plain() {
            return self.run_shaped(i, 1, &|s| f(s[0]));
        }
        for half in 0..self.halves {
            if self.half_is_on(half) {
                let a = self.half(i.sources[0], half);
                let mut result = [0; 32];
                for lane in 0..32 {
                    result[lane] = f(a[lane]);
                }
                self.write_half(i.destination, half, &result);
            }
        }
    }

    /// An operation of two sources a lane.
    #[inline]
    pub fn lanes2(&mut self, i: &Fields, f: impl Fn(u32, u32) -> u32) {
        if !i.is_plain() {
            return self.run_shaped(i, 2, &|s| f(s[0], s[1]));
        }
        for half in 0..self.halves {
            if self.half_is_on(half) {
                let (a, b) = (self.half(i.sources[0], half), self.half(i.sources[1], half));
                let mut result = [0; 32];
                for lane in 0..32 {
                    result[lane] = f(a[lane], b[lane]);
                }
                self.write_half(i.destination, half, &result);
            }
        }
    }

    /// An operation of three sources a lane.
    #[inline]
    pub fn lanes3(&mut self, i: &Fields, f: impl Fn(u32, u32, u32) -> u32) {
        if !i.is_plain() {
            return self.run_shaped(i, 3, &|s| f(s[0], s[1], s[2]));
        }
        for half in 0..self.halves {
            if self.half_is_on(half) {
                let [a, b, c] = i.sources.map(|source| self.half(source, half));
                let mut result = [0; 32];
                for lane in 0..32 {
                    result[lane] = f(a[lane], b[lane], c[lane]);
                }
                self.write_half(i.destination, half, &result);
            }
        }
    }

    /// A comparison: bit l of the result for lane l, zero where EXEC has it off.
    #[inline]
    pub fn compare(&mut self, i: &Fields, f: impl Fn(u32, u32) -> bool) {
        let mut mask = 0;
        for half in 0..self.halves {
            let [a, b] = self.pair(i, half);
            let mut bits = 0_u32;
            for lane in 0..32 {
                bits |= u32::from(f(a[lane], b[lane])) << lane;
            }
            mask |= u64::from(bits) << (32 * half);
        }
        self.set_mask(i.scalar_destination, mask & self.exec());
    }

    /// A comparison of 64 bits a lane.
    pub fn compare64(&mut self, i: &Fields, kind: OperandKind, f: impl Fn(u64, u64) -> bool) {
        let mut mask = 0;
        for half in 0..self.halves {
            let [a, b, _] = self.sources64(i, half, kind);
            for lane in 0..32 {
                mask |= u64::from(f(a[lane], b[lane])) << (32 * half + lane);
            }
        }
        self.set_mask(i.scalar_destination, mask & self.exec());
    }

    /// The sources of half a wave, 64 bits a lane, with their signs as the instruction wants them.
    pub fn sources64(&self, i: &Fields, half: usize, kind: OperandKind) -> [[u64; 32]; 3] {
        const SIGN: u64 = 1 << 63;
        let mut place = 0;
        i.sources.map(|source| {
            let (absolute, negate) = (i.absolute >> place & 1 != 0, i.negate >> place & 1 != 0);
            place += 1;
            let values = self.half64(source, half, kind);
            if !absolute && !negate {
                return values;
            }
            values.map(|value| {
                let value = if absolute { value & !SIGN } else { value };
                if negate { value ^ SIGN } else { value }
            })
        })
    }

    /// An operation on 64 bits a lane.
    pub fn lanes64(&mut self, i: &Fields, kind: OperandKind, f: impl Fn([u64; 3]) -> u64) {
        for half in 0..self.halves {
            if self.half_is_on(half) {
                let [a, b, c] = self.sources64(i, half, kind);
                let result = std::array::from_fn(|lane| f([a[lane], b[lane], c[lane]]));
                self.write_half64(i.destination, half, &result);
            }
        }
    }

    /// The first two sources of half a wave, as modifiers, DPP and SDWA shape them.
    #[inline]
    fn pair(&self, i: &Fields, half: usize) -> [Half; 2] {
        if i.is_plain() {
            return [self.half(i.sources[0], half), self.half(i.sources[1], half)];
        }
        let [a, b, _] = self.shaped_sources(i, half, 2);
        [a, b]
    }

    /// The sources of half a wave, as modifiers, DPP and SDWA shape them.
    pub fn shaped_sources(&self, i: &Fields, half: usize, count: usize) -> [Half; 3] {
        let mut values = [[0; 32]; 3];
        for (place, value) in values.iter_mut().enumerate().take(count) {
            *value = self.half(i.sources[place], half);
            if let (0, Some(permute)) = (place, &i.permute) {
                *value = self.permute(value, half, permute).0;
            }
            if let (Some(parts), 0..2) = (&i.parts, place) {
                let part = parts.sources[place];
                *value = value.map(|value| part_of(value, part));
            }
            if i.absolute >> place & 1 != 0 {
                *value = value.map(|value| value & 0x7fff_ffff);
            }
            if i.negate >> place & 1 != 0 {
                *value = value.map(|value| value ^ 0x8000_0000);
            }
        }
        values
    }

    /// The lanes of a row moved as DPP says, and the lanes that are written.
    fn permute(&self, values: &Half, half: usize, permute: &Permute) -> (Half, u32) {
        let exec = (self.exec() >> (32 * half)) as u32;
        let mut written = 0;
        let moved = std::array::from_fn(|lane| {
            let row = lane & 16;
            let source = permute.from[lane & 15];
            let from = row + usize::from(source & 15);
            let readable =
                source != Permute::NONE && (permute.fetch_inactive || exec >> from & 1 != 0);
            let in_row = permute.row_mask >> (2 * half + row / 16) & 1 != 0;
            let in_bank = permute.bank_mask >> (lane % 16 / 4) & 1 != 0;
            let write = in_row && in_bank && (readable || permute.zero_fill);
            written |= u32::from(write) << lane;
            if readable { values[from] } else { 0 }
        });
        (moved, written)
    }

    /// An operation whose sources or result are shaped.
    pub fn run_shaped(&mut self, i: &Fields, count: usize, f: &dyn Fn([u32; 3]) -> u32) {
        for half in 0..self.halves {
            if !self.half_is_on(half) {
                continue;
            }
            let [a, b, c] = self.shaped_sources(i, half, count);
            let mut result: Half = std::array::from_fn(|lane| f([a[lane], b[lane], c[lane]]));
            self.finish(i, half, &mut result);
        }
    }

    /// Shapes a result, and writes it where DPP's masks let it.
    pub fn finish(&mut self, i: &Fields, half: usize, result: &mut Half) {
        if i.output_multiplier != 0 || i.clamp {
            *result = result.map(|value| output(value, i.output_multiplier, i.clamp));
        }
        let before = *self.vector(i.destination, half);
        if let Some(parts) = &i.parts {
            for (value, old) in result.iter_mut().zip(before) {
                *value = place(*value, old, parts.destination, parts.unused);
            }
        }
        if let Some(permute) = &i.permute {
            let (_, written) = self.permute(&before, half, permute);
            for (lane, value) in result.iter_mut().enumerate() {
                if written >> lane & 1 == 0 {
                    *value = before[lane];
                }
            }
        }
        self.write_half(i.destination, half, result);
    }
}

/// A part of a dword, extended to one.
fn part_of(value: u32, part: DwordPart) -> u32 {
    let (shift, bits) = match part.code {
        code @ 0..=3 => (8 * u32::from(code), 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => return value,
    };
    let left = value << (32 - bits - shift);
    if part.signed { (left as i32 >> (32 - bits)) as u32 } else { left >> (32 - bits) }
}

/// A result put into a part of the destination.
fn place(value: u32, old: u32, part: u8, unused: u8) -> u32 {
    let (shift, bits) = match part {
        code @ 0..=3 => (8 * u32::from(code), 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => return value,
    };
    let mask = (u32::MAX >> (32 - bits)) << shift;
    let placed = (value << shift) & mask;
    match unused {
        0 => placed,
        1 => {
            let sign = value >> (bits - 1) & 1 != 0;
            let above = if shift + bits < 32 { u32::MAX << (shift + bits) } else { 0 };
            if sign { placed | above } else { placed }
        }
        _ => placed | (old & !mask),
    }
}

/// The output modifiers of a 32-bit floating-point result.
fn output(value: u32, multiplier: u8, clamp: bool) -> u32 {
    let value = f32::from_bits(value);
    let value = match multiplier {
        1 => value * 2.0,
        2 => value * 4.0,
        3 => value * 0.5,
        _ => value,
    };
    // Not a number becomes zero.
    let value = if clamp { if value > 0.0 { value.min(1.0) } else { 0.0 } } else { value };
    value.to_bits()
}
