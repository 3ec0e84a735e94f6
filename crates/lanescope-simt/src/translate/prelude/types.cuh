// Types: half precision, vectors, arrays and matrices, laid out in memory as WGSL lays them out.
// How these files are read: `mod.rs`.

//# f16
// Half precision: rounded after each operation.
struct f16 {
    u16 bits;
    f16() = default;
    __device__ __forceinline__ explicit f16(f32 value) {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    }
    __device__ __forceinline__ operator f32() const {
        f32 value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
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

//# vec2
template <typename T> struct alignas(2 * sizeof(T)) vec2 {
    T x, y;
    __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
};

//# vec3
// Twelve bytes, where a number is four: arrays and structures pad it as WGSL does.
template <typename T> struct vec3 {
    T x, y, z;
    __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
};

//# vec4
template <typename T> struct alignas(4 * sizeof(T)) vec4 {
    T x, y, z, w;
    __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
};

//# component2: vec2
template <typename T> DEVICE T component(vec2<T> v, u32 i) {
    return i == 0u ? v.x : i == 1u ? v.y : T{};
}

//# component3: vec3
template <typename T> DEVICE T component(vec3<T> v, u32 i) {
    return i == 0u ? v.x : i == 1u ? v.y : i == 2u ? v.z : T{};
}

//# component4: vec4
template <typename T> DEVICE T component(vec4<T> v, u32 i) {
    return i == 0u ? v.x : i == 1u ? v.y : i == 2u ? v.z : i == 3u ? v.w : T{};
}

//# array
template <typename T, u32 N> struct array {
    T at[N];
    __device__ __forceinline__ T& operator[](u32 i) { return at[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return at[i]; }
};

//# array_of_vec3: array, vec3
template <typename T, u32 N> struct array<vec3<T>, N> {
    struct alignas(4 * sizeof(T)) element { vec3<T> value; };
    element at[N];
    __device__ __forceinline__ vec3<T>& operator[](u32 i) { return at[i].value; }
    __device__ __forceinline__ const vec3<T>& operator[](u32 i) const { return at[i].value; }
};

//# runtime_array
// As many elements as the buffer holds.
template <typename T> struct alignas(T) runtime_array {
    __device__ __forceinline__ T& operator[](u32 i) { return ((T*)this)[i]; }
    __device__ __forceinline__ const T& operator[](u32 i) const { return ((const T*)this)[i]; }
};

//# runtime_array_of_vec3: runtime_array, vec3
template <typename T> struct alignas(4 * sizeof(T)) runtime_array<vec3<T>> {
    struct alignas(4 * sizeof(T)) element { vec3<T> value; };
    __device__ __forceinline__ vec3<T>& operator[](u32 i) { return ((element*)this)[i].value; }
    __device__ __forceinline__ const vec3<T>& operator[](u32 i) const {
        return ((const element*)this)[i].value;
    }
};

//# matrix: array
template <u32 C, typename Column> struct matrix {
    array<Column, C> columns;
    __device__ __forceinline__ Column& operator[](u32 i) { return columns[i]; }
    __device__ __forceinline__ const Column& operator[](u32 i) const { return columns[i]; }
};
