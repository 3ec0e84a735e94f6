// Does a reduction over the lanes that took a branch take all of them along?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: the lanes whose element is positive, n · density of them, reduce; the others wait.
//
// Two forms, one entry point each. `published`: as an article has it, halving the number of lanes and
// rounding down, so that every odd number on the way loses one: of 31 lanes, 15. `corrected`: rounding up,
// with a guard against lanes past the end. What cooperative groups call `coalesced_threads()` is made of
// intrinsics here, since NVRTC has its headers only with the whole toolkit: the mask of the lanes that
// are active at this point, a lane's rank among them, shuffles by rank. That mask is asked of the machine,
// which may hold a part of the lanes elsewhere: `subset` is 1 where it ever did. So it is good for sums
// of whoever is there, and for nothing that must have all lanes of the branch.

struct Group {
    unsigned mask, size, rank, lane;
};

__device__ Group coalesced() {
    const unsigned mask = __activemask();
    const unsigned lane = threadIdx.x % 32u;
    const unsigned size = __popc(mask);
    const unsigned rank = __popc(mask & ((1u << lane) - 1u));
    return Group{mask, size, rank, lane};
}

// The value of the member `delta` ranks above; the own value past the last.
__device__ unsigned from_above(const Group group, const unsigned value, const unsigned delta) {
    unsigned lane = group.lane;
    if (group.rank + delta < group.size) {
        unsigned left = group.mask;
        for (unsigned skipped = 0u; skipped < group.rank + delta; skipped++) { left &= left - 1u; }
        lane = __ffs(left) - 1;
    }
    return __shfl_sync(group.mask, value, lane);
}

__device__ unsigned reduced_as_published(const Group group, unsigned value) {
    for (unsigned offset = group.size / 2u; offset > 0u; offset /= 2u) {
        value += from_above(group, value, offset);
    }
    return value;
}

__device__ unsigned reduced(const Group group, unsigned value) {
    for (unsigned left = group.size; left > 1u; left = (left + 1u) / 2u) {
        const unsigned half = (left + 1u) / 2u;
        const unsigned other = from_above(group, value, half);
        if (group.rank + half < left) { value += other; }
    }
    return value;
}

// Of each number of lanes, how many of them the leader's sum took along.
__device__ void keep(const Group group, const unsigned sum, const unsigned covered,
                     const unsigned taken, unsigned* place, unsigned* covered_by_size,
                     unsigned* subset) {
    if (group.mask != taken) { *subset = 1u; }
    if (group.rank == 0u) {
        atomicAdd(place, sum);
        covered_by_size[group.size] = covered;
    }
}

extern "C" __global__ void __launch_bounds__(256)
published(const unsigned* params, const int* data, unsigned* sums, unsigned* covered_by_size,
          unsigned* subset) {
    const unsigned index = (blockIdx.y * gridDim.x + blockIdx.x) * 256u + threadIdx.x;
    const int value = index < params[0] ? data[index] : 0;
    const unsigned taken = __ballot_sync(0xffffffffu, value > 0);
    if (value > 0) {
        const Group group = coalesced();
        const unsigned sum = reduced_as_published(group, unsigned(value));
        const unsigned covered = reduced_as_published(group, 1u);
        keep(group, sum, covered, taken, &sums[index / 32u], covered_by_size, subset);
    }
}

extern "C" __global__ void __launch_bounds__(256)
corrected(const unsigned* params, const int* data, unsigned* sums, unsigned* covered_by_size,
          unsigned* subset) {
    const unsigned index = (blockIdx.y * gridDim.x + blockIdx.x) * 256u + threadIdx.x;
    const int value = index < params[0] ? data[index] : 0;
    const unsigned taken = __ballot_sync(0xffffffffu, value > 0);
    if (value > 0) {
        const Group group = coalesced();
        const unsigned sum = reduced(group, unsigned(value));
        const unsigned covered = reduced(group, 1u);
        keep(group, sum, covered, taken, &sums[index / 32u], covered_by_size, subset);
    }
}
