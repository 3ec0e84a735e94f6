// CUDA on a processor, for tests: each thread of a block is a fiber, and a fiber that comes to a
// `_sync` function waits until every lane of its mask has come to one with the same mask. Which fiber
// runs next is random, so that nothing may depend on lanes being together by themselves.
//
// A translation is included after this file, and `main` after that. Blocks run one after the other.

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <ucontext.h>

#define __device__
#define __global__
#define __shared__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __maxnreg__(registers)

struct Triple {
    unsigned x, y, z;
};

// The fibers

enum class Kind { None, Value, Barrier, Active };

struct Fiber {
    ucontext_t context;
    jmp_buf paused;
    bool begun = false;
    std::vector<char> stack;
    Triple thread;
    bool ended = false;
    // What it waits for.
    Kind waits = Kind::None;
    unsigned mask = 0;
    uint64_t given = 0;
    // What every lane of the mask gave.
    uint64_t taken[32];
};

static std::vector<Fiber> fibers;
static size_t current;
static jmp_buf scheduler;
static Triple blockIdx, gridDim, blockDim;
static uint64_t choices = 88172645463325252ull;
// Whether a mask may name lanes that have ended, which then need not come, as CUDA has it. Translations
// name none.
static bool ended_may_be_named = false;

#define threadIdx (fibers[current].thread)

[[noreturn]] static void fault(const char* what) {
    fprintf(stderr, "%s in block %u, %u, %u, thread %zu\n", what, blockIdx.x, blockIdx.y, blockIdx.z,
            current);
    exit(3);
}

// A context is only made once: jumps save no signals, which would be a system call each.
static void yield() {
    if (_setjmp(fibers[current].paused) == 0) { _longjmp(scheduler, 1); }
}

static void resume(Fiber& fiber) {
    if (_setjmp(scheduler) != 0) { return; }
    if (fiber.begun) { _longjmp(fiber.paused, 1); }
    fiber.begun = true;
    setcontext(&fiber.context);
}

// Whether everybody that a fiber waits for is there; then all may go on.
static void release(size_t fiber) {
    Fiber& asking = fibers[fiber];
    if (asking.waits == Kind::Barrier) {
        for (const Fiber& other : fibers) {
            if (!other.ended && other.waits != Kind::Barrier) { return; }
        }
        for (Fiber& other : fibers) { other.waits = Kind::None; }
        return;
    }
    const size_t first = fiber / 32 * 32;
    const unsigned mask = asking.mask;
    for (size_t lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1)) { continue; }
        if (first + lane >= fibers.size()) { fault("a mask names a lane that does not exist"); }
        const Fiber& other = fibers[first + lane];
        if (other.ended && ended_may_be_named) { continue; }
        if (other.ended) { fault("a mask names a lane that has ended"); }
        if (other.waits != Kind::Value || other.mask != mask) { return; }
    }
    uint64_t values[32] = {};
    for (size_t lane = 0; lane < 32; lane++) {
        const Fiber& other = fibers[first + lane];
        if (mask >> lane & 1 && !other.ended) { values[lane] = other.given; }
    }
    for (size_t lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1) || fibers[first + lane].ended) { continue; }
        memcpy(fibers[first + lane].taken, values, sizeof values);
        fibers[first + lane].waits = Kind::None;
    }
}

// What each lane of a mask gives, where all have come.
static const uint64_t* together(unsigned mask, uint64_t value) {
    Fiber& own = fibers[current];
    if (!(mask >> (current % 32) & 1)) { fault("a lane is not in its own mask"); }
    own.waits = Kind::Value;
    own.mask = mask;
    own.given = value;
    release(current);
    while (fibers[current].waits != Kind::None) { yield(); }
    return fibers[current].taken;
}

static void __syncthreads() {
    fibers[current].waits = Kind::Barrier;
    release(current);
    while (fibers[current].waits != Kind::None) { yield(); }
}

static void (*body)();

static void begin() {
    body();
    fibers[current].ended = true;
    // Those that wait at a barrier wait for one fewer.
    for (size_t other = 0; other < fibers.size(); other++) {
        if (!fibers[other].ended && fibers[other].waits == Kind::Barrier) {
            release(other);
            break;
        }
    }
    // And so do those of its warp that it was named with.
    const size_t first = current / 32 * 32;
    for (size_t other = first; ended_may_be_named && other < std::min(first + 32, fibers.size()); other++) {
        if (!fibers[other].ended && fibers[other].waits == Kind::Value) { release(other); }
    }
    yield();
}

// Lets those lanes of one warp go on that ask who is active; whether there were any.
static bool bring_together() {
    for (size_t first = 0; first < fibers.size(); first += 32) {
        unsigned mask = 0;
        for (size_t lane = 0; lane < 32 && first + lane < fibers.size(); lane++) {
            const Fiber& fiber = fibers[first + lane];
            if (!fiber.ended && fiber.waits == Kind::Active) { mask |= 1u << lane; }
        }
        for (size_t lane = 0; lane < 32; lane++) {
            if (!(mask >> lane & 1)) { continue; }
            fibers[first + lane].taken[0] = mask;
            fibers[first + lane].waits = Kind::None;
        }
        if (mask != 0) { return true; }
    }
    return false;
}

static void run_block() {
    const size_t count = size_t(blockDim.x) * blockDim.y * blockDim.z;
    fibers.clear();
    fibers.resize(count);
    for (size_t i = 0; i < count; i++) {
        Fiber& fiber = fibers[i];
        fiber.thread = {unsigned(i % blockDim.x), unsigned(i / blockDim.x % blockDim.y),
                        unsigned(i / blockDim.x / blockDim.y)};
        fiber.stack.resize(256 << 10);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, begin, 0);
    }
    size_t left = count;
    while (left > 0) {
        choices ^= choices << 13;
        choices ^= choices >> 7;
        choices ^= choices << 17;
        const size_t first = choices % count;
        size_t tried = 0;
        for (; tried < count; tried++) {
            current = (first + tried) % count;
            if (!fibers[current].ended && fibers[current].waits == Kind::None) { break; }
        }
        if (tried == count && bring_together()) { continue; }
        if (tried == count) { fault("lanes wait for one another"); }
        resume(fibers[current]);
        left -= fibers[current].ended;
    }
}

// CUDA's functions

template <typename T> static uint64_t to_bits(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T> static T of_bits(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static unsigned __ballot_sync(unsigned mask, int predicate) {
    const uint64_t* values = together(mask, predicate != 0);
    unsigned votes = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (mask >> lane & 1 && values[lane]) { votes |= 1u << lane; }
    }
    return votes;
}
[[maybe_unused]] static int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) == mask;
}
[[maybe_unused]] static int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
template <typename T> static T __shfl_sync(unsigned mask, T value, int lane) {
    if (lane < 0 || lane > 31 || !(mask >> lane & 1)) { fault("a lane shuffles from no active lane"); }
    return of_bits<T>(together(mask, to_bits(value))[lane]);
}
[[maybe_unused]] static void __syncwarp(unsigned mask) { together(mask, 0); }
[[maybe_unused]] static void __threadfence_block() {}

[[maybe_unused]] static int __popc(unsigned a) { return __builtin_popcount(a); }
[[maybe_unused]] static int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
[[maybe_unused]] static int __clz(int a) { return a == 0 ? 32 : __builtin_clz(unsigned(a)); }
[[maybe_unused]] static int __clzll(long long a) {
    return a == 0 ? 64 : __builtin_clzll((unsigned long long)(a));
}
[[maybe_unused]] static int __ffs(int a) { return __builtin_ffs(a); }
[[maybe_unused]] static unsigned __brev(unsigned a) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) { result |= (a >> bit & 1u) << (31 - bit); }
    return result;
}
[[maybe_unused]] static unsigned long long __brevll(unsigned long long a) {
    return (unsigned long long)(__brev(unsigned(a))) << 32 | __brev(unsigned(a >> 32));
}

template <typename To, typename From> static To saturated(From a) {
    if (a != a) { return 0; }
    const From low = From(std::numeric_limits<To>::min());
    const From high = From(std::numeric_limits<To>::max());
    if (a <= low) { return std::numeric_limits<To>::min(); }
    if (a >= high) { return std::numeric_limits<To>::max(); }
    return To(a);
}
[[maybe_unused]] static int __float2int_rz(float a) { return saturated<int>(a); }
[[maybe_unused]] static unsigned __float2uint_rz(float a) { return saturated<unsigned>(a); }
[[maybe_unused]] static long long __float2ll_rz(float a) { return saturated<long long>(a); }
[[maybe_unused]] static unsigned long long __float2ull_rz(float a) {
    return saturated<unsigned long long>(a);
}
[[maybe_unused]] static int __double2int_rz(double a) { return saturated<int>(a); }
[[maybe_unused]] static unsigned __double2uint_rz(double a) { return saturated<unsigned>(a); }
[[maybe_unused]] static long long __double2ll_rz(double a) { return saturated<long long>(a); }
[[maybe_unused]] static unsigned long long __double2ull_rz(double a) {
    return saturated<unsigned long long>(a);
}
[[maybe_unused]] static int __float_as_int(float a) { return of_bits<int>(to_bits(a)); }
[[maybe_unused]] static unsigned __float_as_uint(float a) { return of_bits<unsigned>(to_bits(a)); }
[[maybe_unused]] static float __int_as_float(int a) { return of_bits<float>(to_bits(a)); }
[[maybe_unused]] static float __uint_as_float(unsigned a) { return of_bits<float>(to_bits(a)); }
[[maybe_unused]] static long long __double_as_longlong(double a) {
    return of_bits<long long>(to_bits(a));
}
[[maybe_unused]] static double __longlong_as_double(long long a) {
    return of_bits<double>(to_bits(a));
}

[[maybe_unused]] static int __dp4a(int a, int b, int c) {
    for (int byte = 0; byte < 4; byte++) {
        c += int((signed char)(a >> 8 * byte)) * int((signed char)(b >> 8 * byte));
    }
    return c;
}
[[maybe_unused]] static unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int byte = 0; byte < 4; byte++) { c += (a >> 8 * byte & 0xffu) * (b >> 8 * byte & 0xffu); }
    return c;
}

using std::isinf;
using std::isnan;
using std::max;
using std::min;
[[maybe_unused]] static float rsqrtf(float a) { return 1.0f / std::sqrt(a); }
[[maybe_unused]] static double rsqrt(double a) { return 1.0 / std::sqrt(a); }

// Nobody else runs while a fiber does.
template <typename T> static T exchanged(T* place, T value) { return std::exchange(*place, value); }
#define LOCKSTEP_ATOMIC(name, expression)                                                        \
    template <typename T> static T name(T* place, T value) {                                     \
        const T old = *place;                                                                    \
        return exchanged(place, T(expression));                                                  \
    }
LOCKSTEP_ATOMIC(atomicMin, old < value ? old : value)
LOCKSTEP_ATOMIC(atomicMax, old < value ? value : old)
LOCKSTEP_ATOMIC(atomicAnd, old & value)
LOCKSTEP_ATOMIC(atomicOr, old | value)
LOCKSTEP_ATOMIC(atomicXor, old ^ value)
LOCKSTEP_ATOMIC(atomicExch, value)
[[maybe_unused]] static int atomicAdd(int* place, int value) {
    return exchanged(place, int(unsigned(*place) + unsigned(value)));
}
[[maybe_unused]] static int atomicSub(int* place, int value) {
    return exchanged(place, int(unsigned(*place) - unsigned(value)));
}
template <typename T> static T atomicAdd(T* place, T value) {
    return exchanged(place, T(*place + value));
}
template <typename T> static T atomicSub(T* place, T value) {
    return exchanged(place, T(*place - value));
}
template <typename T> static T atomicCAS(T* place, T compare, T value) {
    const T old = *place;
    if (old == compare) { *place = value; }
    return old;
}

// Halves, where the translation has the machine's instructions.
[[maybe_unused]] static unsigned short half_of(float value) {
    return of_bits<unsigned short>(to_bits(_Float16(value)));
}
[[maybe_unused]] static float float_of(unsigned short bits) {
    return float(of_bits<_Float16>(bits));
}
[[maybe_unused]] static unsigned short half_fma(unsigned short a, unsigned short b,
                                                unsigned short c) {
    const double sum = std::fma(double(float_of(a)), double(float_of(b)), double(float_of(c)));
    return of_bits<unsigned short>(to_bits(_Float16(sum)));
}

// Launches

static void** parameters;

template <typename... A, size_t... I>
static void call(void (*kernel)(A...), std::index_sequence<I...>) {
    kernel(*(std::remove_const_t<A>*)(parameters[I])...);
}
template <typename... A> static void call(void (*kernel)(A...)) {
    call(kernel, std::index_sequence_for<A...>{});
}
