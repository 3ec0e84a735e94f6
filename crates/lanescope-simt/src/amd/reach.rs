//! What waves reach of memory: buffers and descriptors.
//!
//! Input: addresses as the code works them out. Output: loads, stores and atomics on
//! [`memory`](super::memory), lanes in ascending order. Every access is checked against its buffer:
//! outside, a load gives zero, a store does nothing, and both are counted. It knows no time:
//! nothing is cached, and what is stored is seen at once.

use super::fields::{Fields, OperandSource};
use super::memory::{GlobalMemory, Reduction};
use super::wave::{Half, Wave};

/// Why an access cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An address where nothing lies.
    #[error("there is nothing at address {0:#x}")]
    Address(u64),
    /// A descriptor that is no plain buffer.
    #[error("the buffer descriptor {0:#x?} is no plain range of bytes")]
    Descriptor([u32; 4]),
    /// An operation that is not known.
    #[error("{0} is not executed")]
    Unknown(&'static str),
}

/// What one instruction's accesses came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Further turns of the local data share because lanes wanted other words of the same bank.
    pub conflicts: u64,
    /// Accesses of a lane outside its buffer.
    pub outside: u64,
}

/// What an instruction reaches.
#[derive(Debug)]
pub struct Reach<'a> {
    /// Buffers.
    pub memory: GlobalMemory<'a>,
    /// The workgroup's local data share.
    pub local: &'a mut [u8],
    /// What is counted.
    pub tally: &'a mut Tally,
}

/// A range of a buffer as a descriptor says it.
#[derive(Clone, Copy)]
struct Range {
    buffer: usize,
    start: usize,
    size: u64,
}

impl Reach<'_> {
    /// Scalar loads from an address.
    ///
    /// # Errors
    ///
    /// [`Fault::Address`] where nothing lies.
    pub fn load_scalars(&mut self, wave: &mut Wave, i: &Fields, count: u8) -> Result<(), Fault> {
        let OperandSource::Scalar(base) = i.sources[0] else { return Ok(()) };
        let offset = i64::from(i.immediate) + i64::from(wave.read(i.sources[1]));
        let address = wave.scalar64(base).wrapping_add_signed(offset) & !3;
        let words = self.memory.scalars(address, usize::from(count));
        let words = words.ok_or(Fault::Address(address))?;
        for (word, register) in words.iter().zip(i.destination..i.destination + count) {
            wave.set_scalar(register, *word);
        }
        Ok(())
    }

    /// Scalar loads from a buffer.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the descriptor is none.
    pub fn load_uniform(&mut self, wave: &mut Wave, i: &Fields, count: u8) -> Result<(), Fault> {
        let range = self.range(wave, i.sources[0])?;
        let offset = (i.immediate as u32).wrapping_add(wave.read(i.sources[1])) & !3;
        for word in 0..count {
            let value = self.get(range, u64::from(offset) + 4 * u64::from(word), 4);
            wave.set_scalar(i.destination + word, value);
        }
        Ok(())
    }

    /// The range that a descriptor in four scalar registers says.
    fn range(&self, wave: &Wave, source: OperandSource) -> Result<Range, Fault> {
        let OperandSource::Scalar(first) = source else {
            return Err(Fault::Unknown("a descriptor"));
        };
        let words = [0, 1, 2, 3].map(|word| wave.scalar(first + word));
        let [start, high, size, _] = words;
        // Bits 16 to 31 are stride and swizzle.
        if high >> 16 != 0 {
            return Err(Fault::Descriptor(words));
        }
        let buffer = (high as usize).checked_sub(1).filter(|b| *b < self.memory.buffers());
        let buffer = buffer.ok_or(Fault::Descriptor(words))?;
        Ok(Range { buffer, start: start as usize, size: u64::from(size) })
    }

    /// Does what `act` does with the place of `bytes` at an offset of a range; nothing and a count
    /// where they lie outside.
    #[inline]
    fn access<R>(
        &mut self,
        range: Range,
        offset: u64,
        bytes: usize,
        act: impl FnOnce(&mut GlobalMemory<'_>, usize) -> Option<R>,
    ) -> Option<R> {
        let inside = offset + bytes as u64 <= range.size;
        let start = range.start + offset as usize;
        let done = if inside { act(&mut self.memory, start) } else { None };
        if done.is_none() {
            self.tally.outside += 1;
        }
        done
    }

    /// Up to four bytes at an offset; zero outside.
    fn get(&mut self, range: Range, offset: u64, bytes: usize) -> u32 {
        let read = self
            .access(range, offset, bytes, |memory, start| memory.read(range.buffer, start, bytes));
        read.unwrap_or(0)
    }

    /// Puts up to four bytes at an offset; nothing outside.
    fn put(&mut self, range: Range, offset: u64, bytes: usize, value: u32) {
        self.access(range, offset, bytes, |memory, start| {
            memory.write(range.buffer, start, bytes, value)
        });
    }

    /// The range of a buffer instruction, and half a wave's offsets in it.
    fn offsets(&self, wave: &Wave, i: &Fields) -> Result<(Range, [[u64; 32]; 2]), Fault> {
        if let Some(unknown) = i.access.unknown {
            return Err(Fault::Unknown(unknown));
        }
        if i.access.index_enable {
            return Err(Fault::Unknown("a buffer access by index"));
        }
        let range = self.range(wave, i.sources[1])?;
        let constant = u64::from(i.access.offset) + u64::from(wave.read(i.sources[2]));
        let mut offsets = [[constant; 32]; 2];
        if i.access.offset_enable {
            for (half, offsets) in offsets.iter_mut().enumerate().take(wave.halves()) {
                for (offset, source) in offsets.iter_mut().zip(wave.half(i.sources[0], half)) {
                    *offset += u64::from(source);
                }
            }
        }
        Ok((range, offsets))
    }

    /// A buffer load of whole words.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the descriptor or a field is not known.
    pub fn load(&mut self, wave: &mut Wave, i: &Fields, words: u8) -> Result<(), Fault> {
        self.load_words(wave, i, words, |reach, range, offset| reach.get(range, offset, 4))
    }

    /// A buffer load of a byte or of two, extended to a word.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn load_part(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        bytes: usize,
        signed: bool,
    ) -> Result<(), Fault> {
        self.load_words(wave, i, 1, |reach, range, offset| {
            extend(reach.get(range, offset, bytes), bytes, signed)
        })
    }

    /// A buffer load into half of a register; the other half stays.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn load_half(&mut self, wave: &mut Wave, i: &Fields, high: bool) -> Result<(), Fault> {
        let (range, offsets) = self.offsets(wave, i)?;
        for (half, offsets) in offsets.iter().enumerate().take(wave.halves()) {
            let mut values = *wave.vector(i.destination, half);
            for_active(wave, half, |lane| {
                let value = self.get(range, offsets[lane], 2);
                values[lane] = join_halves(values[lane], value, high);
            });
            wave.write_half(i.destination, half, &values);
        }
        Ok(())
    }

    fn load_words(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        words: u8,
        get: impl Fn(&mut Self, Range, u64) -> u32,
    ) -> Result<(), Fault> {
        let (range, offsets) = self.offsets(wave, i)?;
        for (half, offsets) in offsets.iter().enumerate().take(wave.halves()) {
            for word in 0..words {
                let mut values: Half = [0; 32];
                for_active(wave, half, |lane| {
                    values[lane] = get(self, range, offsets[lane] + 4 * u64::from(word));
                });
                wave.write_half(i.destination + word, half, &values);
            }
        }
        Ok(())
    }

    /// A buffer store of whole words.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn store(&mut self, wave: &mut Wave, i: &Fields, words: u8) -> Result<(), Fault> {
        let (range, offsets) = self.offsets(wave, i)?;
        for (half, offsets) in offsets.iter().enumerate().take(wave.halves()) {
            for word in 0..words {
                let values = wave.vector(i.destination + word, half);
                for_active(wave, half, |lane| {
                    self.put(range, offsets[lane] + 4 * u64::from(word), 4, values[lane]);
                });
            }
        }
        Ok(())
    }

    /// A buffer store of a byte or of two, from bit `shift` of the register on.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn store_part(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        bytes: usize,
        shift: u32,
    ) -> Result<(), Fault> {
        let (range, offsets) = self.offsets(wave, i)?;
        for (half, offsets) in offsets.iter().enumerate().take(wave.halves()) {
            let values = wave.vector(i.destination, half);
            for_active(wave, half, |lane| {
                self.put(range, offsets[lane], bytes, values[lane] >> shift);
            });
        }
        Ok(())
    }

    /// A buffer atomic: the new value of each word from the old one and the lane's.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn change(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        f: impl Fn(u32, u32) -> u32,
    ) -> Result<(), Fault> {
        self.change_words(wave, i, 0, |old, given, _| f(old, given))
    }

    /// A buffer atomic whose result does not depend on the order of lanes and workgroups, but for
    /// what it returns.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    #[inline]
    pub fn reduce(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        reduction: Reduction,
    ) -> Result<(), Fault> {
        match self.memory {
            GlobalMemory::View(_) if !i.access.returns => self.gather(wave, i, reduction),
            _ => self.change(wave, i, |old, given| reduction.apply(old, given)),
        }
    }

    /// The same in a view, where nothing is returned.
    fn gather(&mut self, wave: &Wave, i: &Fields, reduction: Reduction) -> Result<(), Fault> {
        let (range, offsets) = self.offsets(wave, i)?;
        for (half, offsets) in offsets.iter().enumerate().take(wave.halves()) {
            let given = wave.vector(i.destination, half);
            for_active(wave, half, |lane| {
                self.access(range, offsets[lane], 4, |memory, start| match memory {
                    GlobalMemory::View(view) => {
                        view.reduce(range.buffer, start, reduction, given[lane])
                    }
                    GlobalMemory::Whole(_) => None,
                });
            });
        }
        Ok(())
    }

    /// A buffer atomic that stores the first register where the word equals the second.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn exchange(&mut self, wave: &mut Wave, i: &Fields) -> Result<(), Fault> {
        self.change_words(
            wave,
            i,
            1,
            |old, given, expected| if old == expected { given } else { old },
        )
    }

    /// `beside`: how many registers behind the first the third argument of `f` lies.
    fn change_words(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        beside: u8,
        f: impl Fn(u32, u32, u32) -> u32,
    ) -> Result<(), Fault> {
        let (range, offsets) = self.offsets(wave, i)?;
        for (half, offsets) in offsets.iter().enumerate().take(wave.halves()) {
            let given = *wave.vector(i.destination, half);
            let beside = *wave.vector(i.destination + beside, half);
            let mut before: Half = [0; 32];
            for_active(wave, half, |lane| {
                let old = self.access(range, offsets[lane], 4, |memory, start| {
                    let new = |old| f(old, given[lane], beside[lane]);
                    memory.change(range.buffer, start, new)
                });
                before[lane] = old.unwrap_or(0);
            });
            if i.access.returns {
                wave.write_half(i.destination, half, &before);
            }
        }
        Ok(())
    }
}

/// Calls `f` for each lane of a half that is on, in ascending order.
pub(super) fn for_active(wave: &Wave, half: usize, mut f: impl FnMut(usize)) {
    let mut left = (wave.exec() >> (32 * half)) as u32;
    while left != 0 {
        f(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// A byte or two, extended to a word.
pub(super) fn extend(value: u32, bytes: usize, signed: bool) -> u32 {
    match (bytes, signed) {
        (1, true) => value as u8 as i8 as u32,
        (2, true) => value as u16 as i16 as u32,
        _ => value,
    }
}

/// A word with one of its halves replaced.
pub(super) fn join_halves(word: u32, half: u32, high: bool) -> u32 {
    if high { word & 0xffff | half << 16 } else { word & 0xffff_0000 | half & 0xffff }
}
