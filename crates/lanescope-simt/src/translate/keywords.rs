//! Words that the translation may not use for the shader's own things.
//!
//! Input: nothing. Output: the set that `naga::proc::Namer` keeps away from: the keywords of C++20
//! and CUDA, what NVRTC predefines as macros, and every name that the prelude declares or the
//! translation calls.

use std::sync::LazyLock;

use naga::proc::KeywordSet;

use super::prelude;

/// All reserved words.
pub(super) static KEYWORDS: LazyLock<KeywordSet> = LazyLock::new(|| {
    let words = [CPP, CUDA, CALLED, OWN].into_iter().flat_map(str::split_ascii_whitespace);
    words.chain(prelude::names()).collect()
});

/// C++20.
const CPP: &str = "
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq main std final override import module NULL NAN INFINITY offsetof errno";

/// CUDA's variables, qualifiers and types.
const CUDA: &str = "
    threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 int2 int3 int4 uint2 uint4 float2 float3
    float4 double2 size_t clock_t cudaStream_t asm_volatile half half2";

/// Functions of CUDA's that the translation calls.
const CALLED: &str = "
    fabsf fabs cosf cos coshf cosh sinf sin sinhf sinh tanf tan tanhf tanh acosf acos asinf asin
    atanf atan atan2f atan2 asinhf asinh acoshf acosh atanhf atanh ceilf ceil floorf floor rintf rint
    truncf trunc expf exp exp2f exp2 logf log log2f log2 powf pow sqrtf sqrt rsqrtf rsqrt fmaf fma
    fminf fmin fmaxf fmax fmodf fmod ldexpf ldexp frexpf frexp copysignf copysign isnan isinf min max
    abs atomicAdd atomicSub atomicMin atomicMax atomicAnd atomicOr atomicXor atomicExch atomicCAS";

/// What the translation itself declares.
const OWN: &str = "
    Private own Lengths lengths mask leaving result wgsl STAYS BREAKS CONTINUES RETURNS Leaving
    DEVICE i16 u16 i32 u32 i64 u64 f16 f32 f64 x y z w";
