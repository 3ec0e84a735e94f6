// Do all lanes hold the same value, by the machine's own instruction?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none.
//
// Half of the warps hold one value in all lanes: those whose `lots` is 0. The instruction gives the
// mask that it was given, or 0, and says which beside, since a mask tells nothing where it is empty.

extern "C" __global__ void __launch_bounds__(256)
all(const unsigned* params, const unsigned* input, const unsigned* lots, unsigned* masks,
    unsigned* alike) {
    const unsigned index = (blockIdx.y * gridDim.x + blockIdx.x) * 256u + threadIdx.x;
    const unsigned lanes = __ballot_sync(0xffffffffu, index < params[0]);
    if (index >= params[0]) { return; }
    const unsigned warp = index / 32u;
    int same = 0;
    masks[index] = __match_all_sync(lanes, lots[warp] == 0u ? warp : input[index], &same);
    alike[index] = same != 0;
}
