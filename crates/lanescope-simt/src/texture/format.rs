//! The codec of texels: one table, from a format to its components and back.
//!
//! Input: a texel's bits or its components. Output: the other. Formats and their names are those of
//! WebGPU (<https://www.w3.org/TR/webgpu/#texture-formats>), the conversions those of Vulkan's
//! chapter "Fixed-Point Data Conversions" and of its packed floats
//! (<https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#fundamentals-fixedconv>).
//!
//! - A normalised integer c of b bits is c / (2^b − 1), a signed one max(c / (2^(b−1) − 1), −1); a float
//!   is clamped to that range, scaled, and rounded to the nearest integer, ties to even; NaN is 0.
//! - An integer that a channel does not hold is clamped to the nearest that it does.
//! - A normalised integer is multiplied by the reciprocal of its greatest value, rounded to `f32`, as lavapipe and
//!   SwiftShader do: in every other case that is the quotient itself, else its neighbour.
//! - `f16` and the packed floats are rounded towards zero, as Direct3D asks for (functional specification
//!   11.3, 3.2.2) and lavapipe does; Vulkan leaves it open, and SwiftShader rounds `f16` to the nearest.
//! - Components that a format lacks read as 0, alpha as 1.

use half::f16;
use serde::{Deserialize, Serialize};

/// What the components of a texel are when a shader reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampledKind {
    /// `f32`.
    Float,
    /// `u32`.
    Uint,
    /// `i32`.
    Sint,
    /// One `f32`, which is compared.
    Depth,
}

/// How the bits of a texel stand for components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    /// Unsigned integers over their greatest value.
    Unorm,
    /// As [`Coding::Unorm`], the first three components by sRGB's curve.
    Srgb,
    /// Signed integers over their greatest value.
    Snorm,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
    /// IEEE floats of 16 or 32 bits.
    Float,
    /// Unsigned floats of 11, 11 and 10 bits.
    PackedFloat,
    /// Mantissas of 9 bits with one exponent.
    SharedExponent,
}

/// A row of the table.
struct Row {
    name: &'static str,
    coding: Coding,
    /// Bits of each channel, from the lowest bit up.
    channels: &'static [u32],
    /// Whether red and blue are exchanged in memory.
    swapped: bool,
    depth: bool,
}

macro_rules! formats {
    ($($(#[$note:meta])? $variant:ident = $name:literal, $coding:ident $channels:expr $(, $flag:ident)?;)*) => {
        /// A format of texels, by WebGPU's names.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        pub enum TextureFormat {
            $(
                #[doc = concat!("`", $name, "`.")]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl TextureFormat {
            /// Every format.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => {
                        const ROW: Row = Row {
                            name: $name,
                            coding: Coding::$coding,
                            channels: &$channels,
                            swapped: matches!(stringify!($($flag)?).as_bytes(), b"swapped"),
                            depth: matches!(stringify!($($flag)?).as_bytes(), b"depth"),
                        };
                        &ROW
                    })*
                }
            }
        }
    };
}

formats! {
    R8Unorm = "r8unorm", Unorm [8];
    R8Snorm = "r8snorm", Snorm [8];
    R8Uint = "r8uint", Uint [8];
    R8Sint = "r8sint", Sint [8];
    R16Unorm = "r16unorm", Unorm [16];
    R16Snorm = "r16snorm", Snorm [16];
    R16Uint = "r16uint", Uint [16];
    R16Sint = "r16sint", Sint [16];
    R16Float = "r16float", Float [16];
    Rg8Unorm = "rg8unorm", Unorm [8; 2];
    Rg8Snorm = "rg8snorm", Snorm [8; 2];
    Rg8Uint = "rg8uint", Uint [8; 2];
    Rg8Sint = "rg8sint", Sint [8; 2];
    R32Uint = "r32uint", Uint [32];
    R32Sint = "r32sint", Sint [32];
    R32Float = "r32float", Float [32];
    Rg16Unorm = "rg16unorm", Unorm [16; 2];
    Rg16Snorm = "rg16snorm", Snorm [16; 2];
    Rg16Uint = "rg16uint", Uint [16; 2];
    Rg16Sint = "rg16sint", Sint [16; 2];
    Rg16Float = "rg16float", Float [16; 2];
    Rgba8Unorm = "rgba8unorm", Unorm [8; 4];
    Rgba8UnormSrgb = "rgba8unorm-srgb", Srgb [8; 4];
    Rgba8Snorm = "rgba8snorm", Snorm [8; 4];
    Rgba8Uint = "rgba8uint", Uint [8; 4];
    Rgba8Sint = "rgba8sint", Sint [8; 4];
    Bgra8Unorm = "bgra8unorm", Unorm [8; 4], swapped;
    Bgra8UnormSrgb = "bgra8unorm-srgb", Srgb [8; 4], swapped;
    Rgb10a2Uint = "rgb10a2uint", Uint [10, 10, 10, 2];
    Rgb10a2Unorm = "rgb10a2unorm", Unorm [10, 10, 10, 2];
    Rg11b10Ufloat = "rg11b10ufloat", PackedFloat [11, 11, 10];
    Rgb9e5Ufloat = "rgb9e5ufloat", SharedExponent [9, 9, 9];
    R64Uint = "r64uint", Uint [64];
    Rg32Uint = "rg32uint", Uint [32; 2];
    Rg32Sint = "rg32sint", Sint [32; 2];
    Rg32Float = "rg32float", Float [32; 2];
    Rgba16Unorm = "rgba16unorm", Unorm [16; 4];
    Rgba16Snorm = "rgba16snorm", Snorm [16; 4];
    Rgba16Uint = "rgba16uint", Uint [16; 4];
    Rgba16Sint = "rgba16sint", Sint [16; 4];
    Rgba16Float = "rgba16float", Float [16; 4];
    Rgba32Uint = "rgba32uint", Uint [32; 4];
    Rgba32Sint = "rgba32sint", Sint [32; 4];
    Rgba32Float = "rgba32float", Float [32; 4];
    Depth16Unorm = "depth16unorm", Unorm [16], depth;
    Depth32Float = "depth32float", Float [32], depth;
}

impl TextureFormat {
    /// Its name in WebGPU.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Bytes of a texel: 1, 2, 4, 8 or 16.
    pub fn bytes(self) -> u32 {
        match self.row().coding {
            Coding::SharedExponent => 4,
            _ => self.row().channels.iter().sum::<u32>() / 8,
        }
    }

    /// The format that holds the same bits as plain numbers, where this one has sRGB's curve.
    #[must_use]
    pub fn without_srgb(self) -> Self {
        match self {
            Self::Rgba8UnormSrgb => Self::Rgba8Unorm,
            Self::Bgra8UnormSrgb => Self::Bgra8Unorm,
            other => other,
        }
    }

    /// What a shader reads of it.
    pub fn kind(self) -> SampledKind {
        let row = self.row();
        match row.coding {
            _ if row.depth => SampledKind::Depth,
            Coding::Uint => SampledKind::Uint,
            Coding::Sint => SampledKind::Sint,
            Coding::Unorm
            | Coding::Srgb
            | Coding::Snorm
            | Coding::Float
            | Coding::PackedFloat
            | Coding::SharedExponent => SampledKind::Float,
        }
    }

    /// How many components it has, 1 to 4.
    pub fn components(self) -> usize {
        self.row().channels.len()
    }

    /// The least and the greatest value of a component that it holds; floats are unbounded.
    pub fn range(self, component: usize) -> [f64; 2] {
        let row = self.row();
        let bits = row.channels.get(component).or(row.channels.first()).copied().unwrap_or(32);
        let power = |bits: u32| 2_f64.powi(bits.cast_signed());
        match row.coding {
            Coding::Unorm | Coding::Srgb => [0.0, 1.0],
            Coding::Snorm => [-1.0, 1.0],
            Coding::Uint => [0.0, power(bits) - 1.0],
            Coding::Sint => [-power(bits - 1), power(bits - 1) - 1.0],
            Coding::Float => [f64::NEG_INFINITY, f64::INFINITY],
            Coding::PackedFloat | Coding::SharedExponent => [0.0, f64::INFINITY],
        }
    }

    /// The components of a texel whose bits stand in the low end of `bits`: the bits of `f32`, `u32` or
    /// `i32`. A 64-bit component takes the first two, low word first.
    pub fn decode(self, bits: u128) -> [u32; 4] {
        let row = self.row();
        let one = match self.kind() {
            SampledKind::Float | SampledKind::Depth => 1_f32.to_bits(),
            SampledKind::Uint | SampledKind::Sint => 1,
        };
        let mut texel = [0, 0, 0, one];
        let mut rest = bits;
        match row.coding {
            Coding::SharedExponent => {
                let scale = 2_f32.powi(((word(rest) >> 27).cast_signed()) - 15 - 9);
                for (channel, shift) in texel.iter_mut().zip([0, 9, 18]) {
                    *channel = (small((word(rest) >> shift) & 511) * scale).to_bits();
                }
            }
            Coding::Uint if row.channels[0] == 64 => {
                texel[..2].copy_from_slice(&[word(rest), word(rest >> 32)]);
            }
            _ => {
                for (index, (channel, &bits)) in texel.iter_mut().zip(row.channels).enumerate() {
                    let raw = word(rest) & low_bits(bits);
                    rest >>= bits;
                    *channel = decode_channel(row.coding, raw, bits, index);
                }
            }
        }
        if row.swapped {
            texel.swap(0, 2);
        }
        texel
    }

    /// The bits of a texel from its components, those that it lacks left out; the other way of
    /// [`TextureFormat::decode`].
    pub fn encode(self, mut components: [u32; 4]) -> u128 {
        let row = self.row();
        if row.swapped {
            components.swap(0, 2);
        }
        match row.coding {
            Coding::SharedExponent => u128::from(shared_exponent(components)),
            Coding::Uint if row.channels[0] == 64 => {
                u128::from(components[0]) | u128::from(components[1]) << 32
            }
            _ => {
                let (mut texel, mut at) = (0, 0);
                for (index, &bits) in row.channels.iter().enumerate() {
                    let raw = encode_channel(row.coding, components[index], bits, index);
                    texel |= u128::from(raw & low_bits(bits)) << at;
                    at += bits;
                }
                texel
            }
        }
    }
}

impl std::fmt::Display for TextureFormat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low word")]
fn word(bits: u128) -> u32 {
    bits as u32
}

fn low_bits(bits: u32) -> u32 {
    u32::MAX >> (32 - bits.clamp(1, 32))
}

/// An integer of at most 24 bits as a float.
#[expect(clippy::cast_precision_loss, reason = "at most 24 bits")]
fn small(value: u32) -> f32 {
    value as f32
}

/// `raw` of `bits` bits with its sign.
fn sign_extend(raw: u32, bits: u32) -> i32 {
    (raw << (32 - bits)).cast_signed() >> (32 - bits)
}

fn decode_channel(coding: Coding, raw: u32, bits: u32, index: usize) -> u32 {
    match coding {
        Coding::Uint => raw,
        Coding::Sint => sign_extend(raw, bits).cast_unsigned(),
        Coding::Unorm => (small(raw) * (1.0 / small(low_bits(bits)))).to_bits(),
        Coding::Srgb if index < 3 => from_srgb(small(raw) / 255.0).to_bits(),
        Coding::Srgb => (small(raw) / 255.0).to_bits(),
        Coding::Snorm => {
            #[expect(clippy::cast_precision_loss, reason = "at most 16 bits")]
            let value = sign_extend(raw, bits) as f32;
            (value * (1.0 / small(low_bits(bits - 1)))).max(-1.0).to_bits()
        }
        Coding::Float if bits == 16 => f16::from_bits(half_word(raw)).to_f32().to_bits(),
        Coding::Float => raw,
        Coding::PackedFloat => {
            // An f16 has the same exponent and more bits of mantissa.
            let shift = 15 - bits;
            f16::from_bits(half_word(raw << shift)).to_f32().to_bits()
        }
        Coding::SharedExponent => 0,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn half_word(raw: u32) -> u16 {
    raw as u16
}

fn encode_channel(coding: Coding, component: u32, bits: u32, index: usize) -> u32 {
    let value = f32::from_bits(component);
    match coding {
        Coding::Uint => component.min(low_bits(bits)),
        Coding::Sint => {
            let max = low_bits(bits - 1).cast_signed();
            component.cast_signed().clamp(-max - 1, max).cast_unsigned()
        }
        Coding::Unorm => unorm(value, bits),
        Coding::Srgb if index < 3 => unorm(to_srgb(value), bits),
        Coding::Srgb => unorm(value, bits),
        Coding::Snorm => {
            let scaled = clamp(value, -1.0) * small(low_bits(bits - 1));
            #[expect(clippy::cast_possible_truncation, reason = "within the channel's range")]
            let rounded = scaled.round_ties_even() as i32;
            rounded.cast_unsigned()
        }
        Coding::Float if bits == 16 => u32::from(truncated_half(value)),
        Coding::Float => component,
        Coding::PackedFloat => packed_float(value, bits),
        Coding::SharedExponent => 0,
    }
}

/// The bits of an `f16`, rounded towards zero.
fn truncated_half(value: f32) -> u16 {
    let nearest = f16::from_f32(value);
    let grown = nearest.to_f32().abs() > value.abs();
    // One bit less is the next number towards zero, the greatest after infinity too.
    nearest.to_bits() - u16::from(grown)
}

/// A float between `low` and 1; NaN is 0.
fn clamp(value: f32, low: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(low, 1.0) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the channel's greatest value"
)]
fn unorm(value: f32, bits: u32) -> u32 {
    (clamp(value, 0.0) * small(low_bits(bits))).round_ties_even() as u32
}

/// An unsigned float of 5 bits of exponent and the rest mantissa. What is negative is 0, what is too large
/// the greatest number, as the specification of `B10G11R11_UFLOAT_PACK32` has it.
fn packed_float(value: f32, bits: u32) -> u32 {
    let mantissa = bits - 5;
    let infinity = 31 << mantissa;
    if value.is_nan() {
        return infinity | 1;
    }
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return infinity;
    }
    // The unit in the last place, of subnormal numbers too.
    let exponent = ((value.to_bits() >> 23).cast_signed() - 127).max(-14);
    let step = 2_f32.powi(exponent - mantissa.cast_signed());
    let rounded = (value / step).floor() * step;
    let greatest = f16::from_bits(half_word((infinity - 1) << (15 - bits))).to_f32();
    let half = f16::from_f32(rounded.min(greatest)).to_bits();
    u32::from(half) >> (15 - bits)
}

/// `rgb9e5ufloat`, as `EXT_texture_shared_exponent` works it out.
fn shared_exponent(components: [u32; 4]) -> u32 {
    let greatest = 511.0 / 512.0 * 65_536.0;
    let [red, green, blue, _] = components.map(|bits| {
        let value = f32::from_bits(bits);
        if value.is_nan() { 0.0 } else { value.clamp(0.0, greatest) }
    });
    let most = red.max(green).max(blue);
    let floor = (most.to_bits() >> 23).cast_signed() - 127;
    let mut exponent = floor.max(-16) + 16;
    if (most / 2_f32.powi(exponent - 24) + 0.5).floor() >= 512.0 {
        exponent += 1;
    }
    let scale = 2_f32.powi(exponent - 24);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 512 by the choice of the exponent"
    )]
    let mantissa = |value: f32| (value / scale + 0.5).floor() as u32;
    mantissa(red) | mantissa(green) << 9 | mantissa(blue) << 18 | exponent.cast_unsigned() << 27
}

/// sRGB's curve of IEC 61966-2-1, to a linear value.
fn from_srgb(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn to_srgb(value: f32) -> f32 {
    let value = clamp(value, 0.0);
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 }
}
