// Which lanes does a mask of CUDA name after an early return, and what do shuffles under it give?
//
// Dispatch: 33 workgroups of one warp; in workgroup t the first t lanes have an element.
// Divergence expected: lanes without an element return; what is asked is what the others then see.
//
// Lane l brings l + 1. `taken` is the ballot before anybody leaves. After it the lanes without an element
// return, and the first that stays writes who is active (`active`), a ballot that names all 32 lanes
// (`voted`), and the sum by shuffles that name all lanes (`full`), those of the ballot (`named`), those
// that are active (`found`). CUDA says of lanes that have returned that they need not come, and nothing
// of what a shuffle from them gives: so sums are shown, and not compared. `whole` is the sum where all
// lanes stay, and those without an element bring a zero.

__device__ unsigned sum_of(const unsigned mask, unsigned value) {
    for (unsigned offset = 16u; offset > 0u; offset /= 2u) {
        value += __shfl_down_sync(mask, value, offset);
    }
    return value;
}

// One way to go on after the return. The others are launched for themselves, so that no form sees what
// another has synchronised.
#define AFTER(name, mask_of_those_left)                                                          \
    extern "C" __global__ void __launch_bounds__(32)                                             \
    name(unsigned* taken, unsigned* active, unsigned* voted, unsigned* whole, unsigned* sums) {  \
        const unsigned tail = blockIdx.x, lane = threadIdx.x;                                    \
        const bool inside = lane < tail;                                                         \
        const unsigned before = __ballot_sync(0xffffffffu, inside);                              \
        const unsigned safe = sum_of(0xffffffffu, inside ? lane + 1u : 0u);                      \
        if (lane == 0u) {                                                                        \
            taken[tail] = before;                                                                \
            whole[tail] = safe;                                                                  \
        }                                                                                        \
        if (!inside) { return; }                                                                 \
        const unsigned here = __activemask();                                                    \
        const unsigned sum = sum_of(mask_of_those_left, lane + 1u);                              \
        const unsigned vote = __ballot_sync(0xffffffffu, lane % 2u == 0u);                       \
        if (lane == 0u) {                                                                        \
            active[tail] = here;                                                                 \
            voted[tail] = vote;                                                                  \
            sums[tail] = sum;                                                                    \
        }                                                                                        \
    }

AFTER(full, 0xffffffffu)
AFTER(named, before)
AFTER(found, here)
