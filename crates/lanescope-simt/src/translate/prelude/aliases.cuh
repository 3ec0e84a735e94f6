// WGSL's names of scalar types, which stand before everything.
// How these files are read: `mod.rs`.

//# aliases
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define DEVICE static __device__ __forceinline__
