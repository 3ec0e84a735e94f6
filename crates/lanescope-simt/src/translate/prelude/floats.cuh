// Floats: functions that WGSL defines by a formula, and those that CUDA lacks.
// How these files are read: `mod.rs`.

//# fract_of
DEVICE f32 fract_of(f32 a) { return a - floorf(a); }
DEVICE f64 fract_of(f64 a) { return a - floor(a); }

//# mix_of
template <typename T> DEVICE T mix_of(T a, T b, T t) { return a * (T(1.0f) - t) + b * t; }

//# smooth_step_of
template <typename T> DEVICE T smooth_step_of(T low, T high, T x) {
    T t = (x - low) / (high - low);
    t = t < T(0.0f) ? T(0.0f) : T(1.0f) < t ? T(1.0f) : t;
    return t * t * (T(3.0f) - T(2.0f) * t);
}

//# fma_half: f16
DEVICE f16 fma_half(f16 a, f16 b, f16 c) {
    u16 bits;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return f16_of_bits(bits);
}

//# modf_fract
DEVICE f32 modf_fract(f32 a) { return isinf(a) ? copysignf(0.0f, a) : a - truncf(a); }
DEVICE f64 modf_fract(f64 a) { return isinf(a) ? copysign(0.0, a) : a - trunc(a); }

//# frexp_fract
DEVICE f32 frexp_fract(f32 a) {
    i32 power;
    return isinf(a) || isnan(a) ? a : frexpf(a, &power);
}
DEVICE f64 frexp_fract(f64 a) {
    i32 power;
    return isinf(a) || isnan(a) ? a : frexp(a, &power);
}

//# frexp_power
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
