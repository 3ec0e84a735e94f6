// Does a lock come free whose holder and waiters are lanes of one warp?
//
// Dispatch: 64 invocations a workgroup; the lanes of each warp contend for a lock of their own.
// Divergence expected: total, one lane at a time holds the lock.
//
// Two forms, one entry point each. `after_loop`: the lane that has the lock leaves the loop for the
// guarded part. Where a warp has one program counter and lanes come together after the loop, it waits
// there for the others, which wait for it: a hang, which here ends at the limit on polls. Where each
// lane has its own, the scheduler comes back to it, and all 32 get the lock. `inside_loop`: the holder
// does its work and frees the lock before it leaves the loop, which any machine can run. `bounded_lock`
// is the same in WGSL, for the simulator and for every other device.

// Tries to take a lock; whether it was free.
__device__ bool taken(unsigned* lock) {
    const bool free = atomicCAS(lock, 0u, 1u) == 0u;
    if (free) { __threadfence(); }
    return free;
}

// Counts up without an atomic operation, which is wrong unless the lock is held, and frees the lock.
__device__ void count_and_free(unsigned* lock, unsigned* guarded) {
    volatile unsigned* place = guarded;
    *place = *place + 1u;
    __threadfence();
    atomicExch(lock, 0u);
}

extern "C" __global__ void __launch_bounds__(64)
after_loop(const unsigned* params, unsigned* locks, unsigned* guarded, unsigned* got,
           unsigned* polls_made) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    const unsigned warp = index / 32u;
    unsigned tries = 0u;
    bool mine = false;
    while (tries < params[0]) {
        mine = taken(&locks[warp]);
        if (mine) { break; }
        tries++;
    }
    if (mine) { count_and_free(&locks[warp], &guarded[warp]); }
    got[index] = mine ? 1u : 0u;
    polls_made[index] = tries;
}

extern "C" __global__ void __launch_bounds__(64)
inside_loop(const unsigned* params, unsigned* locks, unsigned* guarded, unsigned* got,
            unsigned* polls_made) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    const unsigned warp = index / 32u;
    unsigned tries = 0u;
    bool mine = false;
    while (!mine && tries < params[0]) {
        if (taken(&locks[warp])) {
            count_and_free(&locks[warp], &guarded[warp]);
            mine = true;
        } else {
            tries++;
        }
    }
    got[index] = mine ? 1u : 0u;
    polls_made[index] = tries;
}
