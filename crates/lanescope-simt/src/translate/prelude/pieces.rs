//! The texts of the prelude, in an order in which each follows what it needs.
//!
//! Input: nothing. Output: [`PIECES`]. Integer rules are WGSL's and those of `simulate`: `x / 0` is
//! x, `x % 0` is 0, the most negative number divided by −1 is itself; conversions from floats saturate
//! to the outermost values that the float type holds exactly, and give 0 for NaN.

use super::Piece;

const fn piece(name: &'static str, needs: &'static [&'static str], text: &'static str) -> Piece {
    Piece { name, needs, text }
}

/// All pieces.
pub(super) const PIECES: &[Piece] = &[
    // Types
    piece(
        "f16",
        &[],
        "
// Half precision: rounded after each operation.
struct f16 {
    u16 bits;
    f16() = default;
    __device__ __forceinline__ explicit f16(f32 value) {
        asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(value));
    }
    __device__ __forceinline__ operator f32() const {
        f32 value;
        asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(value) : \"h\"(bits));
        return value;
    }
};
DEVICE f16 operator+(f16 a, f16 b) { return f16(f32(a) + f32(b)); }
DEVICE f16 operator-(f16 a, f16 b) { return f16(f32(a) - f32(b)); }
DEVICE f16 operator*(f16 a, f16 b) { return f16(f32(a) * f32(b)); }
DEVICE f16 operator/(f16 a, f16 b) { return f16(f32(a) / f32(b)); }
DEVICE f16 operator-(f16 a) { return f16(-f32(a)); }
DEVICE f16 f16_of_bits(u16 bits) {
    f16 value;
    value.bits = bits;
    return value;
}
",
    ),
    piece(
        "vec2",
        &[],
        "
template <typename T> struct alignas(2 * sizeof(T)) vec2 {
    T x, y;
    __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
};
",
    ),
    piece(
        "vec3",
        &[],
        "
// Twelve bytes, where a number is four: arrays and structures pad it as WGSL does.
template <typename T> struct vec3 {
    T x, y, z;
    __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
};
",
    ),
    piece(
        "vec4",
        &[],
        "
template <typename T> struct alignas(4 * sizeof(T)) vec4 {
    T x, y, z, w;
    __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
};
",
    ),
    piece(
        "component2",
        &["vec2"],
        "
template <typename T> DEVICE T component(vec2<T> v, u32 i) {
    return i == 0u ? v.x : i == 1u ? v.y : T{};
}
",
    ),
    piece(
        "component3",
        &["vec3"],
        "
template <typename T> DEVICE T component(vec3<T> v, u32 i) {
    return i == 0u ? v.x : i == 1u ? v.y : i == 2u ? v.z : T{};
}
",
    ),
    piece(
        "component4",
        &["vec4"],
        "
template <typename T> DEVICE T component(vec4<T> v, u32 i) {
    return i == 0u ? v.x : i == 1u ? v.y : i == 2u ? v.z : i == 3u ? v.w : T{};
}
",
    ),
    piece(
        "array",
        &[],
        "
template <typename T, u32 N> struct array {
    T at[N];
    __device__ __forceinline__ T& operator[](u32 i) { return at[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return at[i]; }
};
",
    ),
    piece(
        "array_of_vec3",
        &["array", "vec3"],
        "
template <typename T, u32 N> struct array<vec3<T>, N> {
    struct alignas(4 * sizeof(T)) element { vec3<T> value; };
    element at[N];
    __device__ __forceinline__ vec3<T>& operator[](u32 i) { return at[i].value; }
    __device__ __forceinline__ const vec3<T>& operator[](u32 i) const { return at[i].value; }
};
",
    ),
    piece(
        "runtime_array",
        &[],
        "
// As many elements as the buffer holds.
template <typename T> struct alignas(T) runtime_array {
    __device__ __forceinline__ T& operator[](u32 i) { return ((T*)this)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return ((const T*)this)[i]; }
};
",
    ),
    piece(
        "runtime_array_of_vec3",
        &["runtime_array", "vec3"],
        "
template <typename T> struct alignas(4 * sizeof(T)) runtime_array<vec3<T>> {
    struct alignas(4 * sizeof(T)) element { vec3<T> value; };
    __device__ __forceinline__ vec3<T>& operator[](u32 i) { return ((element*)this)[i].value; }
    __device__ __forceinline__ const vec3<T>& operator[](u32 i) const {
        return ((const element*)this)[i].value;
    }
};
",
    ),
    piece(
        "matrix",
        &["array"],
        "
template <u32 C, typename Column> struct matrix {
    array<Column, C> columns;
    __device__ __forceinline__ Column& operator[](u32 i) { return columns[i]; }
    __device__ __forceinline__ const Column& operator[](u32 i) const { return columns[i]; }
};
",
    ),
    // Control flow
    piece(
        "leaving",
        &[],
        "
// Where a lane is on its way to, while the others of its subgroup go on.
enum Leaving { STAYS, BREAKS, CONTINUES, RETURNS };
",
    ),
    // Memory
    piece(
        "load_atomic",
        &[],
        "
template <typename T> DEVICE T load_atomic(const T& place) { return *(const volatile T*)&place; }
",
    ),
    piece(
        "store_atomic",
        &[],
        "
template <typename T> DEVICE void store_atomic(T& place, T value) { *(volatile T*)&place = value; }
",
    ),
    piece(
        "atomic_long",
        &[],
        "
DEVICE i64 atomicAdd(i64* place, i64 value) { return i64(atomicAdd((u64*)place, u64(value))); }
DEVICE i64 atomicExch(i64* place, i64 value) { return i64(atomicExch((u64*)place, u64(value))); }
DEVICE i64 atomicCAS(i64* place, i64 compare, i64 value) {
    return i64(atomicCAS((u64*)place, u64(compare), u64(value)));
}
",
    ),
    piece(
        "zero_memory",
        &[],
        "
// Workgroup memory begins as zeros: each invocation clears every `step`-th word.
DEVICE void zero_memory(void* memory, u32 bytes, u32 first, u32 step) {
    const u32 words = bytes / 4u;
    for (u32 i = first; i < words; i += step) { ((u32*)memory)[i] = 0u; }
    for (u32 i = 4u * words + first; i < bytes; i += step) { ((unsigned char*)memory)[i] = 0; }
}
",
    ),
    // Subgroups
    piece(
        "lane_value",
        &[],
        "
// The value that a lane of the mask has.
template <typename T> DEVICE T lane_value(u32 mask, T value, u32 lane) {
    return __shfl_sync(mask, value, i32(lane));
}
DEVICE bool lane_value(u32 mask, bool value, u32 lane) {
    return __shfl_sync(mask, i32(value), i32(lane)) != 0;
}
DEVICE i16 lane_value(u32 mask, i16 value, u32 lane) {
    return i16(__shfl_sync(mask, i32(value), i32(lane)));
}
DEVICE u16 lane_value(u32 mask, u16 value, u32 lane) {
    return u16(__shfl_sync(mask, u32(value), i32(lane)));
}
",
    ),
    piece(
        "lane_value_half",
        &["f16", "lane_value"],
        "
DEVICE f16 lane_value(u32 mask, f16 value, u32 lane) {
    return f16_of_bits(lane_value(mask, value.bits, lane));
}
",
    ),
    piece(
        "shuffle",
        &["lane_value"],
        "
// A lane that is not active has nothing to give: the asking lane keeps its own value.
template <typename T> DEVICE T shuffle(u32 mask, T value, u32 source, u32 lane) {
    const bool active = source < 32u && (mask >> source & 1u) != 0u;
    return lane_value(mask, value, active ? source : lane);
}
",
    ),
    piece(
        "index_of",
        &[],
        "
DEVICE u32 index_of(u64 index) { return index > 0xffffffffull ? 0xffffffffu : u32(index); }
",
    ),
    // Integers
    piece(
        "divide",
        &[],
        "
// x / 0 is x; the most negative number divided by -1 is itself.
DEVICE u32 divide(u32 a, u32 b) { return b == 0u ? a : a / b; }
DEVICE u64 divide(u64 a, u64 b) { return b == 0ull ? a : a / b; }
DEVICE i32 divide(i32 a, i32 b) {
    return b == 0 || (b == -1 && a == i32(0x80000000u)) ? a : a / b;
}
DEVICE i64 divide(i64 a, i64 b) {
    return b == 0 || (b == -1 && a == i64(0x8000000000000000ull)) ? a : a / b;
}
",
    ),
    piece(
        "remainder_of",
        &[],
        "
// x % 0 is 0; the remainder of a division by -1 too.
DEVICE u32 remainder_of(u32 a, u32 b) { return b == 0u ? 0u : a % b; }
DEVICE u64 remainder_of(u64 a, u64 b) { return b == 0ull ? 0ull : a % b; }
DEVICE i32 remainder_of(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : a % b; }
DEVICE i64 remainder_of(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
",
    ),
    piece(
        "abs_of",
        &[],
        "
DEVICE i32 abs_of(i32 a) { return a < 0 ? i32(0u - u32(a)) : a; }
DEVICE i64 abs_of(i64 a) { return a < 0 ? i64(0ull - u64(a)) : a; }
",
    ),
    piece(
        "sign_of",
        &[],
        "
template <typename T> DEVICE T sign_of(T a) { return a > T(0) ? T(1) : a < T(0) ? T(-1) : a; }
",
    ),
    piece(
        "count_ones",
        &[],
        "
DEVICE u32 count_ones(u32 a) { return u32(__popc(a)); }
DEVICE u32 count_ones(u64 a) { return u32(__popcll(a)); }
DEVICE u32 count_ones(u16 a) { return count_ones(u32(a)); }
",
    ),
    piece(
        "leading_zeros",
        &[],
        "
DEVICE u32 leading_zeros(u32 a) { return u32(__clz(i32(a))); }
DEVICE u32 leading_zeros(u64 a) { return u32(__clzll(i64(a))); }
DEVICE u32 leading_zeros(u16 a) { return leading_zeros(u32(a)) - 16u; }
",
    ),
    piece(
        "reverse_bits",
        &[],
        "
DEVICE u32 reverse_bits(u32 a) { return __brev(a); }
DEVICE u64 reverse_bits(u64 a) { return __brevll(a); }
DEVICE u16 reverse_bits(u16 a) { return u16(__brev(u32(a)) >> 16); }
",
    ),
    piece(
        "trailing_zeros",
        &["leading_zeros", "reverse_bits"],
        "
template <typename T> DEVICE u32 trailing_zeros(T a) { return leading_zeros(reverse_bits(a)); }
",
    ),
    piece(
        "first_trailing_bit",
        &["trailing_zeros"],
        "
template <typename T> DEVICE T first_trailing_bit(T a) {
    return a == T(0) ? T(~T(0)) : T(trailing_zeros(a));
}
",
    ),
    piece(
        "first_leading_bit",
        &["leading_zeros"],
        "
template <typename T> DEVICE T first_leading_bit(T a) {
    return a == T(0) ? T(~T(0)) : T(8u * u32(sizeof(T)) - 1u - leading_zeros(a));
}
",
    ),
    piece(
        "extract_bits",
        &[],
        "
// Offset and count are cut to the bits that there are.
template <typename T> DEVICE T extract_bits(T a, u32 offset, u32 count) {
    const u32 bits = 8u * u32(sizeof(T));
    offset = offset < bits ? offset : bits;
    count = count < bits - offset ? count : bits - offset;
    return count == 0u ? T(0) : T(T(a << (bits - offset - count)) >> (bits - count));
}
",
    ),
    piece(
        "insert_bits",
        &[],
        "
template <typename T> DEVICE T insert_bits(T a, T bits_new, u32 offset, u32 count) {
    const u32 bits = 8u * u32(sizeof(T));
    offset = offset < bits ? offset : bits;
    count = count < bits - offset ? count : bits - offset;
    if (count == 0u) { return a; }
    const T field = T(T(T(~T(0)) >> (bits - count)) << offset);
    return T((a & T(~field)) | (T(bits_new << offset) & field));
}
",
    ),
    // Conversions
    piece(
        "i32_of",
        &[],
        "
DEVICE i32 i32_of(f32 a) { return a > 2147483520.0f ? 2147483520 : __float2int_rz(a); }
DEVICE i32 i32_of(f64 a) { return a != a ? 0 : __double2int_rz(a); }
",
    ),
    piece(
        "u32_of",
        &[],
        "
DEVICE u32 u32_of(f32 a) { return a > 4294967040.0f ? 4294967040u : __float2uint_rz(a); }
DEVICE u32 u32_of(f64 a) { return a != a ? 0u : __double2uint_rz(a); }
",
    ),
    piece(
        "i64_of",
        &[],
        "
DEVICE i64 i64_of(f32 a) {
    return a != a ? 0ll : a > 9223371487098961920.0f ? 9223371487098961920ll : __float2ll_rz(a);
}
DEVICE i64 i64_of(f64 a) {
    return a != a ? 0ll : a > 9223372036854774784.0 ? 9223372036854774784ll : __double2ll_rz(a);
}
",
    ),
    piece(
        "u64_of",
        &[],
        "
DEVICE u64 u64_of(f32 a) {
    return a != a ? 0ull : a > 18446742974197923840.0f ? 18446742974197923840ull
                                                       : __float2ull_rz(a);
}
DEVICE u64 u64_of(f64 a) {
    return a != a ? 0ull : a > 18446744073709549568.0 ? 18446744073709549568ull
                                                      : __double2ull_rz(a);
}
",
    ),
    piece(
        "finite_half",
        &["f16"],
        "
// Infinities become the largest f16 on the way to an integer.
DEVICE f32 finite_half(f32 a) { return a != a ? 0.0f : fminf(fmaxf(a, -65504.0f), 65504.0f); }
",
    ),
    piece(
        "short_of",
        &[],
        "
DEVICE i16 i16_of(f32 a) { return i16(__float2int_rz(fminf(fmaxf(a, -32768.0f), 32767.0f))); }
DEVICE u16 u16_of(f32 a) { return u16(__float2uint_rz(fminf(fmaxf(a, 0.0f), 65535.0f))); }
",
    ),
    // Floats
    piece(
        "fract_of",
        &[],
        "
DEVICE f32 fract_of(f32 a) { return a - floorf(a); }
DEVICE f64 fract_of(f64 a) { return a - floor(a); }
",
    ),
    piece(
        "mix_of",
        &[],
        "
template <typename T> DEVICE T mix_of(T a, T b, T t) { return a * (T(1.0f) - t) + b * t; }
",
    ),
    piece(
        "smooth_step_of",
        &[],
        "
template <typename T> DEVICE T smooth_step_of(T low, T high, T x) {
    T t = (x - low) / (high - low);
    t = t < T(0.0f) ? T(0.0f) : T(1.0f) < t ? T(1.0f) : t;
    return t * t * (T(3.0f) - T(2.0f) * t);
}
",
    ),
    piece(
        "fma_half",
        &["f16"],
        "
DEVICE f16 fma_half(f16 a, f16 b, f16 c) {
    u16 bits;
    asm(\"fma.rn.f16 %0, %1, %2, %3;\" : \"=h\"(bits) : \"h\"(a.bits), \"h\"(b.bits), \"h\"(c.bits));
    return f16_of_bits(bits);
}
",
    ),
    piece(
        "modf_fract",
        &[],
        "
DEVICE f32 modf_fract(f32 a) { return isinf(a) ? copysignf(0.0f, a) : a - truncf(a); }
DEVICE f64 modf_fract(f64 a) { return isinf(a) ? copysign(0.0, a) : a - trunc(a); }
",
    ),
    piece(
        "frexp_fract",
        &[],
        "
DEVICE f32 frexp_fract(f32 a) {
    i32 power;
    return isinf(a) || isnan(a) ? a : frexpf(a, &power);
}
DEVICE f64 frexp_fract(f64 a) {
    i32 power;
    return isinf(a) || isnan(a) ? a : frexp(a, &power);
}
",
    ),
    piece(
        "frexp_power",
        &[],
        "
DEVICE i32 frexp_power(f32 a) {
    i32 power = 0;
    if (!(isinf(a) || isnan(a))) { frexpf(a, &power); }
    return power;
}
DEVICE i32 frexp_power(f64 a) {
    i32 power = 0;
    if (!(isinf(a) || isnan(a))) { frexp(a, &power); }
    return power;
}
",
    ),
    // Packing
    piece(
        "pack_snorm8",
        &["vec4"],
        "
DEVICE u32 snorm8(f32 a) {
    return u32(i32(floorf(0.5f + 127.0f * fminf(fmaxf(a, -1.0f), 1.0f)))) & 0xffu;
}
DEVICE u32 pack_snorm8(vec4<f32> v) {
    return snorm8(v.x) | snorm8(v.y) << 8 | snorm8(v.z) << 16 | snorm8(v.w) << 24;
}
",
    ),
    piece(
        "pack_unorm8",
        &["vec4"],
        "
DEVICE u32 unorm8(f32 a) { return u32(floorf(0.5f + 255.0f * fminf(fmaxf(a, 0.0f), 1.0f))); }
DEVICE u32 pack_unorm8(vec4<f32> v) {
    return unorm8(v.x) | unorm8(v.y) << 8 | unorm8(v.z) << 16 | unorm8(v.w) << 24;
}
",
    ),
    piece(
        "pack_snorm16",
        &["vec2"],
        "
DEVICE u32 snorm16(f32 a) {
    return u32(i32(floorf(0.5f + 32767.0f * fminf(fmaxf(a, -1.0f), 1.0f)))) & 0xffffu;
}
DEVICE u32 pack_snorm16(vec2<f32> v) { return snorm16(v.x) | snorm16(v.y) << 16; }
",
    ),
    piece(
        "pack_unorm16",
        &["vec2"],
        "
DEVICE u32 unorm16(f32 a) { return u32(floorf(0.5f + 65535.0f * fminf(fmaxf(a, 0.0f), 1.0f))); }
DEVICE u32 pack_unorm16(vec2<f32> v) { return unorm16(v.x) | unorm16(v.y) << 16; }
",
    ),
    piece(
        "pack_half",
        &["vec2", "f16"],
        "
DEVICE u32 pack_half(vec2<f32> v) { return u32(f16(v.x).bits) | u32(f16(v.y).bits) << 16; }
",
    ),
    piece(
        "pack_bytes",
        &["vec4"],
        "
template <typename T> DEVICE u32 pack_bytes(vec4<T> v) {
    return (u32(v.x) & 0xffu) | (u32(v.y) & 0xffu) << 8 | (u32(v.z) & 0xffu) << 16 | u32(v.w) << 24;
}
",
    ),
    piece(
        "pack_bytes_clamped",
        &["pack_bytes"],
        "
DEVICE i32 clamp_byte(i32 a) { return max(-128, min(127, a)); }
DEVICE u32 clamp_byte(u32 a) { return min(255u, a); }
template <typename T> DEVICE u32 pack_bytes_clamped(vec4<T> v) {
    return pack_bytes(vec4<T>{clamp_byte(v.x), clamp_byte(v.y), clamp_byte(v.z), clamp_byte(v.w)});
}
",
    ),
    piece(
        "unpack_snorm8",
        &["vec4"],
        "
DEVICE f32 of_snorm8(u32 a) { return fmaxf(f32((signed char)(a & 0xffu)) / 127.0f, -1.0f); }
DEVICE vec4<f32> unpack_snorm8(u32 a) {
    return {of_snorm8(a), of_snorm8(a >> 8), of_snorm8(a >> 16), of_snorm8(a >> 24)};
}
",
    ),
    piece(
        "unpack_unorm8",
        &["vec4"],
        "
DEVICE f32 of_unorm8(u32 a) { return f32(a & 0xffu) / 255.0f; }
DEVICE vec4<f32> unpack_unorm8(u32 a) {
    return {of_unorm8(a), of_unorm8(a >> 8), of_unorm8(a >> 16), of_unorm8(a >> 24)};
}
",
    ),
    piece(
        "unpack_snorm16",
        &["vec2"],
        "
DEVICE f32 of_snorm16(u32 a) { return fmaxf(f32(i16(a & 0xffffu)) / 32767.0f, -1.0f); }
DEVICE vec2<f32> unpack_snorm16(u32 a) { return {of_snorm16(a), of_snorm16(a >> 16)}; }
",
    ),
    piece(
        "unpack_unorm16",
        &["vec2"],
        "
DEVICE f32 of_unorm16(u32 a) { return f32(a & 0xffffu) / 65535.0f; }
DEVICE vec2<f32> unpack_unorm16(u32 a) { return {of_unorm16(a), of_unorm16(a >> 16)}; }
",
    ),
    piece(
        "unpack_half",
        &["vec2", "f16"],
        "
DEVICE vec2<f32> unpack_half(u32 a) {
    return {f32(f16_of_bits(u16(a & 0xffffu))), f32(f16_of_bits(u16(a >> 16)))};
}
",
    ),
    piece(
        "unpack_bytes_signed",
        &["vec4"],
        "
DEVICE i32 signed_byte(u32 a) { return i32((signed char)(a & 0xffu)); }
DEVICE vec4<i32> unpack_bytes_signed(u32 a) {
    return {signed_byte(a), signed_byte(a >> 8), signed_byte(a >> 16), signed_byte(a >> 24)};
}
",
    ),
    piece(
        "unpack_bytes",
        &["vec4"],
        "
DEVICE vec4<u32> unpack_bytes(u32 a) {
    return {a & 0xffu, (a >> 8) & 0xffu, (a >> 16) & 0xffu, a >> 24};
}
",
    ),
];
