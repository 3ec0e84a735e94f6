// Conversions: floats saturate to the outermost integers that the float type holds exactly, and NaN
// gives 0.
// How these files are read: `mod.rs`.

//# i32_of
DEVICE i32 i32_of(f32 a) { return a > 2147483520.0f ? 2147483520 : __float2int_rz(a); }
DEVICE i32 i32_of(f64 a) { return a != a ? 0 : __double2int_rz(a); }

//# u32_of
DEVICE u32 u32_of(f32 a) { return a > 4294967040.0f ? 4294967040u : __float2uint_rz(a); }
DEVICE u32 u32_of(f64 a) { return a != a ? 0u : __double2uint_rz(a); }

//# i64_of
DEVICE i64 i64_of(f32 a) {
    return a != a ? 0ll : a > 9223371487098961920.0f ? 9223371487098961920ll : __float2ll_rz(a);
}
DEVICE i64 i64_of(f64 a) {
    return a != a ? 0ll : a > 9223372036854774784.0 ? 9223372036854774784ll : __double2ll_rz(a);
}

//# u64_of
DEVICE u64 u64_of(f32 a) {
    return a != a ? 0ull : a > 18446742974197923840.0f ? 18446742974197923840ull
                                                       : __float2ull_rz(a);
}
DEVICE u64 u64_of(f64 a) {
    return a != a ? 0ull : a > 18446744073709549568.0 ? 18446744073709549568ull
                                                      : __double2ull_rz(a);
}

//# finite_half: f16
// Infinities become the largest f16 on the way to an integer.
DEVICE f32 finite_half(f32 a) { return a != a ? 0.0f : fminf(fmaxf(a, -65504.0f), 65504.0f); }

//# short_of
DEVICE i16 i16_of(f32 a) { return i16(__float2int_rz(fminf(fmaxf(a, -32768.0f), 32767.0f))); }
DEVICE u16 u16_of(f32 a) { return u16(__float2uint_rz(fminf(fmaxf(a, 0.0f), 65535.0f))); }
