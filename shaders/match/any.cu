// Which lanes hold the same value, by the machine's own instruction?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none in `full`; in `partial` only the lanes whose value is odd take part.
//
// The instruction waits for every lane that its mask names, and each of them must name the same mask:
// it is made by a ballot before the branch, never asked of the machine inside it. WGSL has no such
// operation; `shuffle/match_any` is what it takes without.

extern "C" __global__ void __launch_bounds__(256)
full(const unsigned* params, const unsigned* input, unsigned* masks) {
    const unsigned index = (blockIdx.y * gridDim.x + blockIdx.x) * 256u + threadIdx.x;
    const unsigned lanes = __ballot_sync(0xffffffffu, index < params[0]);
    if (index >= params[0]) { return; }
    masks[index] = __match_any_sync(lanes, input[index]);
}

extern "C" __global__ void __launch_bounds__(256)
partial(const unsigned* params, const unsigned* input, unsigned* masks) {
    const unsigned index = (blockIdx.y * gridDim.x + blockIdx.x) * 256u + threadIdx.x;
    const unsigned value = index < params[0] ? input[index] : 0u;
    const unsigned lanes = __ballot_sync(0xffffffffu, value % 2u == 1u);
    if (index >= params[0]) { return; }
    unsigned mask = 0u;
    if (value % 2u == 1u) { mask = __match_any_sync(lanes, value); }
    masks[index] = mask;
}
