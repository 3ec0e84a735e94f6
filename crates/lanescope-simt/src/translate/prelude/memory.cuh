// Memory: atomic loads and stores, and workgroup memory that begins as zeros.
// How these files are read: `mod.rs`.

//# load_atomic
template <typename T> DEVICE T load_atomic(const T& place) { return *(const volatile T*)&place; }

//# store_atomic
template <typename T> DEVICE void store_atomic(T& place, T value) { *(volatile T*)&place = value; }

//# atomic_long
DEVICE i64 atomicAdd(i64* place, i64 value) { return i64(atomicAdd((u64*)place, u64(value))); }
DEVICE i64 atomicExch(i64* place, i64 value) { return i64(atomicExch((u64*)place, u64(value))); }
DEVICE i64 atomicCAS(i64* place, i64 compare, i64 value) {
    return i64(atomicCAS((u64*)place, u64(compare), u64(value)));
}

//# zero_memory
// Workgroup memory begins as zeros: each invocation clears every `step`-th word.
DEVICE void zero_memory(void* memory, u32 bytes, u32 first, u32 step) {
    const u32 words = bytes / 4u;
    for (u32 i = first; i < words; i += step) { ((u32*)memory)[i] = 0u; }
    for (u32 i = 4u * words + first; i < bytes; i += step) { ((unsigned char*)memory)[i] = 0; }
}
