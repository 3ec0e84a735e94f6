// Question: what does counting the digits of a radix sort cost?
// Dispatch: one invocation four keys, 64 a workgroup. Divergence: the last keys.
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 64>;

var<workgroup> digits: array<atomic<u32>, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let first = workgroup.x * 256u + local.x;
    for (var round = 0u; round < 4u; round++) {
        let at = first + round * 64u;
        if (at < arrayLength(&keys)) {
            let digit = (keys[at] >> (2u * round)) & 15u;
            atomicAdd(&digits[round * 16u + digit], 1u);
        }
    }
    workgroupBarrier();
    atomicAdd(&counts[local.x], atomicLoad(&digits[local.x]));
}
