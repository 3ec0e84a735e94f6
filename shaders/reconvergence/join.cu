// Are all lanes together again right after the paths of a branch meet?
//
// Dispatch: 64 invocations a workgroup.
// Divergence expected: in the arms; whether after them too is what is asked.
//
// Four shapes, one entry point each. Every lane writes which lanes were active with it right where the
// paths meet (`joined`), and again after `__syncwarp` (`synced`). Neither is promised: the first may
// be any part of the warp that holds the lane, and the second is a synchronisation, after which lanes
// may part again. What is promised is the vote after it (`votes`), which waits for all that it names.
// The arms' loops take their trips from data, so that no compiler makes a select of them.

// So many steps of a generator, one after the other.
__device__ unsigned stepped(unsigned value, const unsigned trips) {
    for (unsigned trip = 0u; trip < trips; trip++) { value = value * 1664525u + 1013904223u; }
    return value;
}

// Writes who is here, who is after a synchronisation, and a vote.
__device__ void meet(const unsigned index, const unsigned value, unsigned* joined, unsigned* synced,
                     unsigned* votes, unsigned* values) {
    joined[index] = __activemask();
    __syncwarp(0xffffffffu);
    synced[index] = __activemask();
    votes[index] = __ballot_sync(0xffffffffu, value % 2u == 1u);
    values[index] = value;
}

extern "C" __global__ void __launch_bounds__(64)
if_else(const unsigned* input, unsigned* joined, unsigned* synced, unsigned* votes,
        unsigned* values) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    const unsigned given = input[index];
    unsigned value = given;
    if (given % 2u == 1u) {
        value = stepped(value, given % 37u);
    } else {
        value = ~stepped(value, given % 11u);
    }
    meet(index, value, joined, synced, votes, values);
}

extern "C" __global__ void __launch_bounds__(64)
nested_if(const unsigned* input, unsigned* joined, unsigned* synced, unsigned* votes,
          unsigned* values) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    const unsigned given = input[index];
    unsigned value = given;
    if (given % 2u == 1u) {
        value = stepped(value, given % 37u);
        if (given % 3u == 1u) { value = ~stepped(value, given % 5u); }
    } else if (given % 3u == 2u) {
        value = ~stepped(value, given % 11u);
    }
    meet(index, value, joined, synced, votes, values);
}

extern "C" __global__ void __launch_bounds__(64)
loop_break(const unsigned* input, unsigned* joined, unsigned* synced, unsigned* votes,
           unsigned* values) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    unsigned value = input[index];
    for (unsigned trip = 0u; trip < 64u; trip++) {
        value = stepped(value, 1u);
        if (value >> 28u == 3u) { break; }
    }
    meet(index, value, joined, synced, votes, values);
}

extern "C" __global__ void __launch_bounds__(64)
early_continue(const unsigned* input, unsigned* joined, unsigned* synced, unsigned* votes,
               unsigned* values) {
    const unsigned index = blockIdx.x * 64u + threadIdx.x;
    const unsigned given = input[index];
    unsigned value = given;
    for (unsigned trip = 0u; trip < 8u; trip++) {
        if ((given >> trip) % 2u == 1u) { continue; }
        value = stepped(value, given % 7u);
    }
    meet(index, value, joined, synced, votes, values);
}
