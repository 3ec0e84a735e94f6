//! The local data share: loads, stores and atomics of a workgroup's own memory.
//!
//! Input: a wave, an instruction and what it reaches. Output: changed registers or memory, lanes in
//! ascending order, and counts: of accesses outside, which load zero and store nothing, and of
//! conflicts.

use super::fields::{Fields, OperandSource};
use super::reach::{Fault, Reach, extend, for_active, join_halves};
use super::wave::{Half, Wave};

/// Banks of the local data share, each 4 bytes wide.
const BANKS: usize = 32;

/// The most words that an instruction loads or stores for a lane.
const WORDS: usize = 4;

impl Reach<'_> {
    /// The offset of an instruction with one.
    fn local_offset(i: &Fields) -> u32 {
        i.access.offset | i.access.offset_second << 8
    }

    fn local_known(i: &Fields) -> Result<(), Fault> {
        i.access.unknown.map_or(Ok(()), |unknown| Err(Fault::Unknown(unknown)))
    }

    /// Where `bytes` of the local data share lie; nothing and a count where they lie outside.
    fn local_place(&mut self, address: u32, bytes: usize) -> Option<&mut [u8]> {
        let start = address as usize;
        let found = self.local.get_mut(start..start + bytes);
        if found.is_none() {
            self.tally.outside += 1;
        }
        found
    }

    fn local_get(&mut self, address: u32, bytes: usize) -> u32 {
        self.local_place(address, bytes).map_or(0, |found| {
            let mut word = [0; 4];
            word[..found.len()].copy_from_slice(found);
            u32::from_le_bytes(word)
        })
    }

    fn local_put(&mut self, address: u32, bytes: usize, value: u32) {
        if let Some(found) = self.local_place(address, bytes) {
            found.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }

    /// Counts the turns that the busiest bank takes beyond those that as many words need where no two meet in a bank; of
    /// half a wave, whose lanes want the words at these addresses, at most [`WORDS`] each.
    ///
    /// Lanes that want the same word are served together. What an instruction wants of all its words is one access: a
    /// lower bound, since wide accesses take their turns in parts.
    fn count_conflicts(&mut self, wave: &Wave, half: usize, addresses: &[Half]) {
        const NONE: u8 = u8::MAX;
        let (mut words, mut next) = ([0_u32; 32 * WORDS], [NONE; 32 * WORDS]);
        let (mut first, mut counts) = ([NONE; BANKS], [0_u8; BANKS]);
        let mut distinct: u8 = 0;
        for addresses in addresses {
            for_active(wave, half, |lane| {
                let word = addresses[lane] / 4;
                let bank = word as usize % BANKS;
                let mut at = first[bank];
                while at != NONE && words[usize::from(at)] != word {
                    at = next[usize::from(at)];
                }
                if at == NONE {
                    let place = usize::from(distinct);
                    (words[place], next[place]) = (word, first[bank]);
                    first[bank] = distinct;
                    counts[bank] += 1;
                    distinct += 1;
                }
            });
        }
        let most = counts.iter().max().copied().map_or(0, usize::from);
        let least = usize::from(distinct).div_ceil(BANKS);
        self.tally.conflicts += (most - least) as u64;
    }

    /// Half a wave's addresses at an offset.
    fn local_addresses(wave: &Wave, i: &Fields, half: usize, offset: u32) -> Half {
        wave.half(i.sources[0], half).map(|address| address.wrapping_add(offset))
    }

    /// The addresses of words behind one another, from half a wave's addresses on.
    fn local_places(addresses: &Half) -> [Half; WORDS] {
        let mut word = 0;
        [(); WORDS].map(|()| {
            let places = addresses.map(|address| address.wrapping_add(word));
            word += 4;
            places
        })
    }

    /// The addresses of `count` words behind one another, one or two, from each of two addresses on.
    fn local_pairs([first, second]: &[Half; 2], count: usize) -> [Half; WORDS] {
        let mut places = Self::local_places(first);
        places[count..2 * count].copy_from_slice(&Self::local_places(second)[..count]);
        places
    }

    /// Loads of `words` words from one address.
    ///
    /// # Errors
    ///
    /// [`Fault::Unknown`] for the global data share.
    pub fn load_local(&mut self, wave: &mut Wave, i: &Fields, words: u8) -> Result<(), Fault> {
        Self::local_known(i)?;
        self.local_loads(wave, i, i.destination, Self::local_offset(i), words);
        Ok(())
    }

    /// Loads of `words` words from each of two addresses; offsets count in `unit` bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn load_local_twice(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        words: u8,
        unit: u32,
    ) -> Result<(), Fault> {
        Self::local_known(i)?;
        // The address register may be one of the destinations.
        let addresses =
            [0, 1].map(
                |half: usize| {
                    if half < wave.halves() { wave.half(i.sources[0], half) } else { [0; 32] }
                },
            );
        let offsets = [i.access.offset, i.access.offset_second].map(|offset| offset * unit);
        let count = usize::from(words);
        for (half, address) in addresses.iter().enumerate().take(wave.halves()) {
            let at = offsets.map(|offset| address.map(|a| a.wrapping_add(offset)));
            let at = Self::local_pairs(&at, count);
            let at = &at[..2 * count];
            self.count_conflicts(wave, half, at);
            for (register, at) in (i.destination..).zip(at) {
                let values = self.local_words(wave, half, at);
                wave.write_half(register, half, &values);
            }
        }
        Ok(())
    }

    fn local_loads(&mut self, wave: &mut Wave, i: &Fields, first: u8, offset: u32, words: u8) {
        for half in 0..wave.halves() {
            let at = Self::local_places(&Self::local_addresses(wave, i, half, offset));
            let at = &at[..usize::from(words)];
            self.count_conflicts(wave, half, at);
            for (register, at) in (first..).zip(at) {
                let values = self.local_words(wave, half, at);
                wave.write_half(register, half, &values);
            }
        }
    }

    fn local_words(&mut self, wave: &Wave, half: usize, addresses: &Half) -> Half {
        let mut values = [0; 32];
        for_active(wave, half, |lane| values[lane] = self.local_get(addresses[lane], 4));
        values
    }

    /// Loads of a byte or of two.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn load_local_part(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        bytes: usize,
        signed: bool,
    ) -> Result<(), Fault> {
        Self::local_known(i)?;
        for half in 0..wave.halves() {
            let addresses = Self::local_addresses(wave, i, half, Self::local_offset(i));
            self.count_conflicts(wave, half, &[addresses]);
            let mut values = [0; 32];
            for_active(wave, half, |lane| {
                values[lane] = extend(self.local_get(addresses[lane], bytes), bytes, signed);
            });
            wave.write_half(i.destination, half, &values);
        }
        Ok(())
    }

    /// Loads of two bytes into half of a register; the other half stays.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn load_local_half(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        high: bool,
    ) -> Result<(), Fault> {
        Self::local_known(i)?;
        for half in 0..wave.halves() {
            let addresses = Self::local_addresses(wave, i, half, Self::local_offset(i));
            self.count_conflicts(wave, half, &[addresses]);
            let mut values = *wave.vector(i.destination, half);
            for_active(wave, half, |lane| {
                let value = self.local_get(addresses[lane], 2);
                values[lane] = join_halves(values[lane], value, high);
            });
            wave.write_half(i.destination, half, &values);
        }
        Ok(())
    }

    /// Stores of `words` words at one address.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn store_local(&mut self, wave: &mut Wave, i: &Fields, words: u8) -> Result<(), Fault> {
        Self::local_known(i)?;
        let offset = Self::local_offset(i);
        for half in 0..wave.halves() {
            let at = Self::local_places(&Self::local_addresses(wave, i, half, offset));
            self.count_conflicts(wave, half, &at[..usize::from(words)]);
        }
        self.local_stores(wave, i, i.sources[1], offset, words);
        Ok(())
    }

    /// Stores of `words` words at each of two addresses; offsets count in `unit` bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn store_local_twice(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        words: u8,
        unit: u32,
    ) -> Result<(), Fault> {
        Self::local_known(i)?;
        let offsets = [i.access.offset, i.access.offset_second].map(|offset| offset * unit);
        let count = usize::from(words);
        for half in 0..wave.halves() {
            let at = offsets.map(|offset| Self::local_addresses(wave, i, half, offset));
            self.count_conflicts(wave, half, &Self::local_pairs(&at, count)[..2 * count]);
        }
        self.local_stores(wave, i, i.sources[1], offsets[0], words);
        self.local_stores(wave, i, i.sources[2], offsets[1], words);
        Ok(())
    }

    fn local_stores(
        &mut self,
        wave: &Wave,
        i: &Fields,
        from: OperandSource,
        offset: u32,
        words: u8,
    ) {
        let OperandSource::Vector(first) = from else { return };
        for half in 0..wave.halves() {
            let at = Self::local_places(&Self::local_addresses(wave, i, half, offset));
            for (register, at) in (first..).zip(&at[..usize::from(words)]) {
                let values = wave.vector(register, half);
                for_active(wave, half, |lane| self.local_put(at[lane], 4, values[lane]));
            }
        }
    }

    /// Stores of a byte or of two, from bit `shift` of the register on.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn store_local_part(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        bytes: usize,
        shift: u32,
    ) -> Result<(), Fault> {
        Self::local_known(i)?;
        for half in 0..wave.halves() {
            let addresses = Self::local_addresses(wave, i, half, Self::local_offset(i));
            self.count_conflicts(wave, half, &[addresses]);
            let values = wave.half(i.sources[1], half);
            for_active(wave, half, |lane| {
                self.local_put(addresses[lane], bytes, values[lane] >> shift);
            });
        }
        Ok(())
    }

    /// An atomic: the new value of each word from the old one and the lane's.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn change_local(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        returns: bool,
        f: impl Fn(u32, u32) -> u32,
    ) -> Result<(), Fault> {
        self.changed_local(wave, i, returns, |old, given, _| f(old, given))
    }

    /// An atomic that stores the third source where the word equals the second.
    ///
    /// # Errors
    ///
    /// As [`Self::load_local`].
    pub fn exchange_local(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        returns: bool,
    ) -> Result<(), Fault> {
        self.changed_local(
            wave,
            i,
            returns,
            |old, expected, given| {
                if old == expected { given } else { old }
            },
        )
    }

    fn changed_local(
        &mut self,
        wave: &mut Wave,
        i: &Fields,
        returns: bool,
        f: impl Fn(u32, u32, u32) -> u32,
    ) -> Result<(), Fault> {
        Self::local_known(i)?;
        for half in 0..wave.halves() {
            let addresses = Self::local_addresses(wave, i, half, Self::local_offset(i));
            self.count_conflicts(wave, half, &[addresses]);
            let [given, beside] = [1, 2].map(|n: usize| wave.half(i.sources[n], half));
            let mut before: Half = [0; 32];
            for_active(wave, half, |lane| {
                if let Some(word) = self.local_place(addresses[lane], 4) {
                    let old = u32::from_le_bytes(std::array::from_fn(|byte| word[byte]));
                    word.copy_from_slice(&f(old, given[lane], beside[lane]).to_le_bytes());
                    before[lane] = old;
                }
            });
            if returns {
                wave.write_half(i.destination, half, &before);
            }
        }
        Ok(())
    }
}
