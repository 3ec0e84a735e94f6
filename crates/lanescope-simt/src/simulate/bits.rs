//! Functions of the bits of integers, of 16, 32 and 64 bits.
//!
//! Input and output: words as registers hold them (`op`), 16-bit integers extended. Positions count
//! from the lowest bit; where there is none, every bit of the answer is set. Offsets and counts of
//! fields are clamped to the type's width, as WGSL says.

#![expect(clippy::cast_possible_truncation, reason = "16-bit integers are kept in 32 bits")]

/// Writes the functions for an integer type: `$reg` is how registers hold it, `$from` reads one.
macro_rules! bit_functions {
    ($name:ident, $doc:literal, $unsigned:ty, $signed:ty, $reg:ty, $unsigned_reg:expr, $signed_reg:expr) => {
        #[doc = $doc]
        pub(super) mod $name {
            type Unsigned = $unsigned;
            type Signed = $signed;
            type Register = $reg;

            const BITS: u32 = Unsigned::BITS;

            /// A result in a register of the unsigned type.
            fn unsigned(value: Unsigned) -> Register {
                $unsigned_reg(value)
            }

            /// A result in a register of the signed type.
            pub(in crate::simulate) fn signed(a: Register) -> Register {
                $signed_reg(a as Unsigned as Signed)
            }

            pub(in crate::simulate) fn trailing_zeros(a: Register) -> Register {
                Register::from((a as Unsigned).trailing_zeros())
            }

            pub(in crate::simulate) fn leading_zeros(a: Register) -> Register {
                Register::from((a as Unsigned).leading_zeros())
            }

            pub(in crate::simulate) fn count_ones(a: Register) -> Register {
                Register::from((a as Unsigned).count_ones())
            }

            pub(in crate::simulate) fn reverse_bits(a: Register) -> Register {
                unsigned((a as Unsigned).reverse_bits())
            }

            pub(in crate::simulate) fn first_trailing(a: Register) -> Register {
                let a = a as Unsigned;
                if a == 0 { unsigned(Unsigned::MAX) } else { Register::from(a.trailing_zeros()) }
            }

            pub(in crate::simulate) fn first_leading(a: Register) -> Register {
                let a = a as Unsigned;
                if a == 0 { unsigned(Unsigned::MAX) } else { Register::from(a.ilog2()) }
            }

            /// The highest bit that differs from the sign.
            pub(in crate::simulate) fn first_leading_signed(a: Register) -> Register {
                let a = a as Unsigned;
                first_leading(unsigned(if a.cast_signed() < 0 { !a } else { a }))
            }

            /// Offset and count as WGSL clamps them; `None` if no bit is left.
            fn field(offset: u32, count: u32) -> Option<(u32, u32)> {
                let offset = offset.min(BITS);
                let count = count.min(BITS - offset);
                (count > 0).then_some((offset, count))
            }

            pub(in crate::simulate) fn extract(a: Register, offset: u32, count: u32) -> Register {
                let Some((offset, count)) = field(offset, count) else { return 0 };
                unsigned((a as Unsigned) << (BITS - offset - count) >> (BITS - count))
            }

            pub(in crate::simulate) fn extract_signed(
                a: Register,
                offset: u32,
                count: u32,
            ) -> Register {
                let Some((offset, count)) = field(offset, count) else { return 0 };
                let high = ((a as Unsigned) << (BITS - offset - count)).cast_signed();
                signed(unsigned((high >> (BITS - count)).cast_unsigned()))
            }

            pub(in crate::simulate) fn insert(
                a: Register,
                new: Register,
                offset: u32,
                count: u32,
            ) -> Register {
                let Some((offset, count)) = field(offset, count) else { return a };
                let mask = (Unsigned::MAX >> (BITS - count)) << offset;
                unsigned((a as Unsigned) & !mask | ((new as Unsigned) << offset) & mask)
            }
        }
    };
}

bit_functions!(short, "Of `i16` and `u16`.", u16, i16, u32, u32::from, |a: i16| i32::from(a)
    .cast_unsigned());
bit_functions!(word, "Of `i32` and `u32`.", u32, i32, u32, u32::from, i32::cast_unsigned);
bit_functions!(long, "Of `i64` and `u64`.", u64, i64, u64, u64::from, i64::cast_unsigned);

/// `extractBits` of 64 bits; the field's offset is the low word of the pair, its count the high one.
pub(super) fn extract_long(a: u64, field: u64) -> u64 {
    long::extract(a, field as u32, (field >> 32) as u32)
}

/// [`extract_long`] of a signed number.
pub(super) fn extract_long_signed(a: u64, field: u64) -> u64 {
    long::extract_signed(a, field as u32, (field >> 32) as u32)
}

/// `a` with zeros in a field.
pub(super) fn clear_long(a: u64, field: u64) -> u64 {
    long::insert(a, 0, field as u32, (field >> 32) as u32)
}

/// Zero with `new` in a field.
pub(super) fn place_long(new: u64, field: u64) -> u64 {
    long::insert(0, new, field as u32, (field >> 32) as u32)
}
