// Packing: four numbers or two in a word, and back.
// How these files are read: `mod.rs`.

//# pack_snorm8: vec4
DEVICE u32 snorm8(f32 a) {
    return u32(i32(floorf(0.5f + 127.0f * fminf(fmaxf(a, -1.0f), 1.0f)))) & 0xffu;
}
DEVICE u32 pack_snorm8(vec4<f32> v) {
    return snorm8(v.x) | snorm8(v.y) << 8 | snorm8(v.z) << 16 | snorm8(v.w) << 24;
}

//# pack_unorm8: vec4
DEVICE u32 unorm8(f32 a) { return u32(floorf(0.5f + 255.0f * fminf(fmaxf(a, 0.0f), 1.0f))); }
DEVICE u32 pack_unorm8(vec4<f32> v) {
    return unorm8(v.x) | unorm8(v.y) << 8 | unorm8(v.z) << 16 | unorm8(v.w) << 24;
}

//# pack_snorm16: vec2
DEVICE u32 snorm16(f32 a) {
    return u32(i32(floorf(0.5f + 32767.0f * fminf(fmaxf(a, -1.0f), 1.0f)))) & 0xffffu;
}
DEVICE u32 pack_snorm16(vec2<f32> v) { return snorm16(v.x) | snorm16(v.y) << 16; }

//# pack_unorm16: vec2
DEVICE u32 unorm16(f32 a) { return u32(floorf(0.5f + 65535.0f * fminf(fmaxf(a, 0.0f), 1.0f))); }
DEVICE u32 pack_unorm16(vec2<f32> v) { return unorm16(v.x) | unorm16(v.y) << 16; }

//# pack_half: vec2, f16
DEVICE u32 pack_half(vec2<f32> v) { return u32(f16(v.x).bits) | u32(f16(v.y).bits) << 16; }

//# pack_bytes: vec4
template <typename T> DEVICE u32 pack_bytes(vec4<T> v) {
    return (u32(v.x) & 0xffu) | (u32(v.y) & 0xffu) << 8 | (u32(v.z) & 0xffu) << 16 | u32(v.w) << 24;
}

//# pack_bytes_clamped: pack_bytes
DEVICE i32 clamp_byte(i32 a) { return max(-128, min(127, a)); }
DEVICE u32 clamp_byte(u32 a) { return min(255u, a); }
template <typename T> DEVICE u32 pack_bytes_clamped(vec4<T> v) {
    return pack_bytes(vec4<T>{clamp_byte(v.x), clamp_byte(v.y), clamp_byte(v.z), clamp_byte(v.w)});
}

//# unpack_snorm8: vec4
DEVICE f32 of_snorm8(u32 a) { return fmaxf(f32((signed char)(a & 0xffu)) / 127.0f, -1.0f); }
DEVICE vec4<f32> unpack_snorm8(u32 a) {
    return {of_snorm8(a), of_snorm8(a >> 8), of_snorm8(a >> 16), of_snorm8(a >> 24)};
}

//# unpack_unorm8: vec4
DEVICE f32 of_unorm8(u32 a) { return f32(a & 0xffu) / 255.0f; }
DEVICE vec4<f32> unpack_unorm8(u32 a) {
    return {of_unorm8(a), of_unorm8(a >> 8), of_unorm8(a >> 16), of_unorm8(a >> 24)};
}

//# unpack_snorm16: vec2
DEVICE f32 of_snorm16(u32 a) { return fmaxf(f32(i16(a & 0xffffu)) / 32767.0f, -1.0f); }
DEVICE vec2<f32> unpack_snorm16(u32 a) { return {of_snorm16(a), of_snorm16(a >> 16)}; }

//# unpack_unorm16: vec2
DEVICE f32 of_unorm16(u32 a) { return f32(a & 0xffffu) / 65535.0f; }
DEVICE vec2<f32> unpack_unorm16(u32 a) { return {of_unorm16(a), of_unorm16(a >> 16)}; }

//# unpack_half: vec2, f16
DEVICE vec2<f32> unpack_half(u32 a) {
    return {f32(f16_of_bits(u16(a & 0xffffu))), f32(f16_of_bits(u16(a >> 16)))};
}

//# unpack_bytes_signed: vec4
DEVICE i32 signed_byte(u32 a) { return i32((signed char)(a & 0xffu)); }
DEVICE vec4<i32> unpack_bytes_signed(u32 a) {
    return {signed_byte(a), signed_byte(a >> 8), signed_byte(a >> 16), signed_byte(a >> 24)};
}

//# unpack_bytes: vec4
DEVICE vec4<u32> unpack_bytes(u32 a) {
    return {a & 0xffu, (a >> 8) & 0xffu, (a >> 16) & 0xffu, a >> 24};
}
