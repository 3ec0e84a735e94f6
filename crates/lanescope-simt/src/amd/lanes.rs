//! Moves between lanes that run through the local data share's crossbar, without its memory.
//!
//! Input: a wave and an instruction. Output: changed vector registers. On gfx10 they move within 32
//! lanes, in a wave of 64 as well. A lane that EXEC has off gives zero.

use super::fields::Fields;
use super::reach::{Fault, Reach};
use super::wave::{Half, Wave};

/// Each lane reads the lane that its address names.
///
/// # Errors
///
/// None: the signature is what all that reaches memory has.
pub fn pull(wave: &mut Wave, i: &Fields, _: &mut Reach<'_>) -> Result<(), Fault> {
    let offset = i.access.offset | i.access.offset_second << 8;
    move_lanes(wave, i, 1, |wave, half| {
        let addresses = wave.half(i.sources[0], half);
        addresses.map(|address| (address.wrapping_add(offset) >> 2 & 31) as usize)
    });
    Ok(())
}

/// Each lane writes the lane that its address names; of several the highest wins.
///
/// # Errors
///
/// None, as [`pull`].
pub fn push(wave: &mut Wave, i: &Fields, _: &mut Reach<'_>) -> Result<(), Fault> {
    let offset = i.access.offset | i.access.offset_second << 8;
    for half in 0..wave.halves() {
        let (addresses, values) = (wave.half(i.sources[0], half), wave.half(i.sources[1], half));
        let mut result: Half = [0; 32];
        for lane in 0..32 {
            if wave.is_on(32 * half + lane) {
                let target = addresses[lane].wrapping_add(offset) >> 2 & 31;
                result[target as usize] = values[lane];
            }
        }
        wave.write_half(i.destination, half, &result);
    }
    Ok(())
}

/// Each lane reads the lane that the constant pattern names: by masks that are applied to its number;
/// within quads where bit 15 is set; where bit 14 is as well, as a rotation among the lanes whose numbers are
/// alike in the bits of 0 to 4 that are set, by as many lanes as bits 5 to 9 say, down where bit 10 is set.
///
/// # Errors
///
/// [`Fault::Unknown`] for the pattern of Fourier transforms.
pub fn swizzle(wave: &mut Wave, i: &Fields, _: &mut Reach<'_>) -> Result<(), Fault> {
    let pattern = i.access.offset as usize | (i.access.offset_second as usize) << 8;
    if pattern >= 0xe000 {
        return Err(Fault::Unknown("ds_swizzle_b32 for Fourier transforms"));
    }
    move_lanes(wave, i, 0, |_, _| {
        std::array::from_fn(|lane| {
            if pattern >= 0xc000 {
                let (alike, by) = (pattern & 31, pattern >> 5 & 31);
                let turned = if pattern >> 10 & 1 == 0 { lane + by } else { lane + 32 - by };
                lane & alike | turned & 31 & !alike
            } else if pattern >= 0x8000 {
                (lane & !3) + (pattern >> (2 * (lane & 3)) & 3)
            } else {
                (lane & (pattern & 31) | pattern >> 5 & 31) ^ (pattern >> 10 & 31)
            }
        })
    });
    Ok(())
}

/// Moves the lanes of each half as `from` says for it.
///
/// `source`: which of the instruction's sources holds the values.
fn move_lanes(
    wave: &mut Wave,
    i: &Fields,
    source: usize,
    from: impl Fn(&Wave, usize) -> [usize; 32],
) {
    let source = i.sources[source];
    for half in 0..wave.halves() {
        let (from, values) = (from(wave, half), wave.half(source, half));
        let result = from.map(|lane| if wave.is_on(32 * half + lane) { values[lane] } else { 0 });
        wave.write_half(i.destination, half, &result);
    }
}
