// Question: do operations on bits choose the same branches everywhere?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the bits of the element.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output)) {
        return;
    }
    var bits = input[id.x % arrayLength(&input)] * 40503u + 1u;
    var result = 0u;
    while (bits != 0u) {
        let at = firstTrailingBit(bits);
        result = (result << 1u) ^ at ^ extractBits(bits, 4u, 6u);
        bits &= bits - 1u;
        if (countLeadingZeros(bits) + countTrailingZeros(bits) > 40u) {
            bits = insertBits(bits, 1u, 0u, 4u) & ~1u;
        }
    }
    result += reverseBits(result) >> 16u;
    let signed = bitcast<i32>(result) >> 3u;
    output[id.x] = bitcast<u32>(signed) + u32(firstLeadingBit(signed));
}
