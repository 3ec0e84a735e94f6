// What does it take for all workgroups of a launch to wait for one another?
//
// Dispatch: 128 invocations a workgroup, one an element; all workgroups must be on the device at once.
// Divergence expected: one lane of each workgroup waits for the others, 31 and the other warps for it.
//
// Phase 1 writes an element each; phase 2 reads its neighbours', so that it is wrong wherever a
// workgroup goes on too early. It writes to a buffer of its own: the article's version writes in place,
// while neighbours still read. The barrier is what cooperative groups' `grid.sync()` comes to, without
// its headers: an atomic counter that never goes back. It is good only where every workgroup is
// running. A cooperative launch has the driver see to that, or refuse; in an ordinary launch of too
// many, those that wait keep the others out, and only the limit on polls ends it: `outcome` is 1 for
// a workgroup that came through, 2 for one that gave up, 0 for one that never ran.

__shared__ unsigned came_through;

// Waits for all workgroups; whether they came.
__device__ bool all_are_here(unsigned* arrived, const unsigned polls_max) {
    __syncthreads();
    if (threadIdx.x == 0u) {
        const unsigned workgroups = gridDim.x * gridDim.y;
        __threadfence();
        const unsigned before = atomicAdd(arrived, 1u);
        const unsigned target = (before / workgroups + 1u) * workgroups;
        unsigned seen = before + 1u;
        for (unsigned polls = 0u; seen < target && polls < polls_max; polls++) {
            __nanosleep(100u);
            seen = atomicAdd(arrived, 0u);
        }
        __threadfence();
        came_through = seen >= target;
    }
    __syncthreads();
    return came_through != 0u;
}

extern "C" __global__ void __launch_bounds__(128)
both_phases(const unsigned* params, const unsigned* input, unsigned* middle, unsigned* output,
            unsigned* arrived, unsigned* outcome) {
    const unsigned workgroup = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned n = params[0];
    const unsigned index = workgroup * 128u + threadIdx.x;
    middle[index] = 2u * input[index] + 1u;
    if (!all_are_here(arrived, params[1])) {
        if (threadIdx.x == 0u) { outcome[workgroup] = 2u; }
        output[index] = 0u;
        return;
    }
    if (threadIdx.x == 0u) { outcome[workgroup] = 1u; }
    const unsigned left = index == 0u ? n - 1u : index - 1u;
    const unsigned right = index == n - 1u ? 0u : index + 1u;
    output[index] = middle[left] + middle[index] + middle[right];
}
