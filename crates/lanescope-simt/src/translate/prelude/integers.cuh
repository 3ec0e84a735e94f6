// Integers: WGSL's rules and those of `simulate`, where C++ has none.
// How these files are read: `mod.rs`.

//# divide
// x / 0 is x; the most negative number divided by -1 is itself.
DEVICE u32 divide(u32 a, u32 b) { return b == 0u ? a : a / b; }
DEVICE u64 divide(u64 a, u64 b) { return b == 0ull ? a : a / b; }
DEVICE i32 divide(i32 a, i32 b) {
    return b == 0 || (b == -1 && a == i32(0x80000000u)) ? a : a / b;
}
DEVICE i64 divide(i64 a, i64 b) {
    return b == 0 || (b == -1 && a == i64(0x8000000000000000ull)) ? a : a / b;
}

//# remainder_of
// x % 0 is 0; the remainder of a division by -1 too.
DEVICE u32 remainder_of(u32 a, u32 b) { return b == 0u ? 0u : a % b; }
DEVICE u64 remainder_of(u64 a, u64 b) { return b == 0ull ? 0ull : a % b; }
DEVICE i32 remainder_of(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : a % b; }
DEVICE i64 remainder_of(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }

//# abs_of
DEVICE i32 abs_of(i32 a) { return a < 0 ? i32(0u - u32(a)) : a; }
DEVICE i64 abs_of(i64 a) { return a < 0 ? i64(0ull - u64(a)) : a; }

//# sign_of
template <typename T> DEVICE T sign_of(T a) { return a > T(0) ? T(1) : a < T(0) ? T(-1) : a; }

//# count_ones
DEVICE u32 count_ones(u32 a) { return u32(__popc(a)); }
DEVICE u32 count_ones(u64 a) { return u32(__popcll(a)); }
DEVICE u32 count_ones(u16 a) { return count_ones(u32(a)); }

//# leading_zeros
DEVICE u32 leading_zeros(u32 a) { return u32(__clz(i32(a))); }
DEVICE u32 leading_zeros(u64 a) { return u32(__clzll(i64(a))); }
DEVICE u32 leading_zeros(u16 a) { return leading_zeros(u32(a)) - 16u; }

//# reverse_bits
DEVICE u32 reverse_bits(u32 a) { return __brev(a); }
DEVICE u64 reverse_bits(u64 a) { return __brevll(a); }
DEVICE u16 reverse_bits(u16 a) { return u16(__brev(u32(a)) >> 16); }

//# trailing_zeros: leading_zeros, reverse_bits
template <typename T> DEVICE u32 trailing_zeros(T a) { return leading_zeros(reverse_bits(a)); }

//# first_trailing_bit: trailing_zeros
template <typename T> DEVICE T first_trailing_bit(T a) {
    return a == T(0) ? T(~T(0)) : T(trailing_zeros(a));
}

//# first_leading_bit: leading_zeros
template <typename T> DEVICE T first_leading_bit(T a) {
    return a == T(0) ? T(~T(0)) : T(8u * u32(sizeof(T)) - 1u - leading_zeros(a));
}

//# extract_bits
// Offset and count are cut to the bits that there are.
template <typename T> DEVICE T extract_bits(T a, u32 offset, u32 count) {
    const u32 bits = 8u * u32(sizeof(T));
    offset = offset < bits ? offset : bits;
    count = count < bits - offset ? count : bits - offset;
    return count == 0u ? T(0) : T(T(a << (bits - offset - count)) >> (bits - count));
}

//# insert_bits
template <typename T> DEVICE T insert_bits(T a, T bits_new, u32 offset, u32 count) {
    const u32 bits = 8u * u32(sizeof(T));
    offset = offset < bits ? offset : bits;
    count = count < bits - offset ? count : bits - offset;
    if (count == 0u) { return a; }
    const T field = T(T(T(~T(0)) >> (bits - count)) << offset);
    return T((a & T(~field)) | (T(bits_new << offset) & field));
}
