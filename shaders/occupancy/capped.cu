// What does a kernel cost that is held to fewer registers than it takes, and are more warps worth it?
//
// Dispatch: one invocation an element, 256 a workgroup.
// Divergence expected: none.
//
// Each invocation works on so many values, turn after turn: each becomes a mean of itself and of the one
// before it. Every index is known when it is compiled, so that all values lie in registers if there are
// enough. `none` leaves that to the compiler. `blocks_2`, `_4` and `_8` ask by `__launch_bounds__` that
// so many workgroups fit on a core, which leaves a lane 128, 64 and 32 registers of the 65,536; `cap_64`
// and `cap_32` ask for no more than that by `__maxnreg__`. What does not fit goes to memory.

// Compilers before CUDA 12.4 do not know the cap by its name: the same registers by workgroups.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1204
#define __maxnreg__(registers) __launch_bounds__(256, 65536 / 256 / registers)
#endif

template <int VALUES>
__device__ float mean_of(const float x, const unsigned turns, const float a) {
    float held[VALUES];
#pragma unroll
    for (int k = 0; k < VALUES; k++) { held[k] = x / VALUES * (k + 1); }
    float before = x;
#pragma unroll 1
    for (unsigned turn = 0u; turn < turns; turn++) {
#pragma unroll
        for (int k = 0; k < VALUES; k++) {
            before = fmaf(held[k] - before, a, before);
            held[k] = before;
        }
    }
    return before;
}

#define HELD(limit, bound, values)                                                               \
    extern "C" __global__ void bound limit##_##values(const unsigned* params, const float* input, \
                                                      float* output) {                           \
        const unsigned index = blockIdx.x * 256u + threadIdx.x;                                  \
        output[index] = mean_of<values>(input[index], params[0], 0.25f);                         \
    }
#define EACH(values)                                  \
    HELD(none, __launch_bounds__(256), values)        \
    HELD(blocks_2, __launch_bounds__(256, 2), values) \
    HELD(blocks_4, __launch_bounds__(256, 4), values) \
    HELD(blocks_8, __launch_bounds__(256, 8), values) \
    HELD(cap_64, __maxnreg__(64), values)             \
    HELD(cap_32, __maxnreg__(32), values)

EACH(48)
EACH(144)
