// Do two lanes of one warp run by turns, each in an arm of its own?
//
// Dispatch: 64 invocations a workgroup; the first two lanes of each warp pass a word to and fro.
// Divergence expected: one lane in each arm.
//
// Each arm waits for what the other does next, several times over. A warp with one program counter
// runs one arm to its end before the other, in either order: neither can end, and the limit on polls
// ends both. Both ending is proof that the machine goes back and forth between program counters.

// Waits until a word has a value; whether it came.
__device__ bool seen(unsigned* word, const unsigned value, const unsigned polls_max) {
    for (unsigned polls = 0u; polls < polls_max; polls++) {
        if (atomicAdd(word, 0u) == value) { return true; }
    }
    return false;
}

extern "C" __global__ void __launch_bounds__(64)
ping_pong(const unsigned* params, unsigned* words, unsigned* turns_made) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    const unsigned lane = index % 32u;
    unsigned* word = &words[index / 32u];
    unsigned made = 0u;
    if (lane == 0u) {
        for (unsigned turn = 0u; turn < params[0]; turn++) {
            if (!seen(word, 2u * turn, params[1])) { break; }
            atomicExch(word, 2u * turn + 1u);
            made++;
        }
    } else if (lane == 1u) {
        for (unsigned turn = 0u; turn < params[0]; turn++) {
            if (!seen(word, 2u * turn + 1u, params[1])) { break; }
            atomicExch(word, 2u * turn + 2u);
            made++;
        }
    }
    turns_made[index] = made;
}
