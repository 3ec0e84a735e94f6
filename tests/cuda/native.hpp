// What the kernels in CUDA C++ use beside what translations do; included after `lockstep.hpp`.
//
// Lanes that wait for one another by polling let others run: each has a program counter of its own.
// `__activemask` gives what a machine gives that brings lanes together as soon as it can: when nobody
// can go on, those of one warp that ask are together.

[[maybe_unused]] static unsigned __activemask() {
    Fiber& own = fibers[current];
    own.waits = Kind::Active;
    while (fibers[current].waits != Kind::None) { yield(); }
    return unsigned(fibers[current].taken[0]);
}

// From a lane that the mask does not name, or that has ended, comes what is not defined: here the own
// value, or nothing.
template <typename T> static T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
    const uint64_t* values = together(mask, to_bits(value));
    const size_t from = current % 32 + delta;
    return from < 32 && mask >> from & 1 ? of_bits<T>(values[from]) : value;
}

template <typename T> static unsigned __match_any_sync(unsigned mask, T value) {
    const uint64_t* values = together(mask, to_bits(value));
    unsigned alike = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (mask >> lane & 1 && values[lane] == to_bits(value)) { alike |= 1u << lane; }
    }
    return alike;
}
template <typename T> static unsigned __match_all_sync(unsigned mask, T value, int* all) {
    *all = __match_any_sync(mask, value) == mask;
    return *all ? mask : 0u;
}

[[maybe_unused]] static void __threadfence() {}
[[maybe_unused]] static void __nanosleep(unsigned) { yield(); }

template <typename T> static T polled_cas(T* place, T compare, T value) {
    yield();
    return atomicCAS(place, compare, value);
}
template <typename T> static T polled_add(T* place, T value) {
    yield();
    return atomicAdd(place, value);
}
#define atomicCAS polled_cas
#define atomicAdd polled_add
