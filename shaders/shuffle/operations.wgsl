// What does each subgroup operation return to each lane, in full subgroups and in partial ones?
//
// Dispatch: one invocation an element; the workgroup's size is a parameter, so that its last subgroup
// may be partial. `share` percent of the invocations, chosen by the data, take part in the operations.
// Divergence expected: the lanes that take part, between a mean of W · share and W.
//
// WGSL promises a shuffle's value only where the source lane is there and takes part. Elsewhere the
// kernel writes NOT_DEFINED instead of what the device returned; `out_of_range` shows that. How the
// device forms subgroups is its own affair, so each invocation writes down where it sits.
enable subgroups;
// What operations return where only a part of the lanes takes part is the question.
diagnostic(off, subgroup_uniformity);

struct Params {
    n: u32,
    share: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
// Of each invocation: the subgroup's size, its lane, the subgroup's number, whether it took part.
@group(0) @binding(2) var<storage, read_write> seats: array<vec4<u32>>;
// All elements of the first operation, all of the second, and so on.
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

override workgroup_size: u32 = 256u;

const NOT_DEFINED = 0xffffffffu;

// Whether a lane is in a mask; lanes past the last are not.
fn takes_part(mask: vec4<u32>, lane: u32) -> bool {
    return lane < 128u && ((mask[min(lane / 32u, 3u)] >> (lane % 32u)) & 1u) == 1u;
}

fn defined(value: u32, mask: vec4<u32>, source: u32) -> u32 {
    return select(NOT_DEFINED, value, takes_part(mask, source));
}

@compute @workgroup_size(workgroup_size)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = workgroup.x * workgroup_size + local_index;
    let inside = index < params.n;
    // Past the end of the array there is no element; the lane is there all the same.
    let v = input[min(index, params.n - 1u)];
    let active_here = inside && (v >> 8u) % 100u < params.share;
    if (inside) {
        seats[index] = vec4(size, lane, subgroup, u32(active_here));
    }
    if (active_here) {
        // block: operations
        let n = params.n;
        let mask = subgroupBallot(true);
        let half = size / 2u;
        let turned = (lane * 5u + 3u) % size;
        let odd = (v & 1u) == 1u;
        let first = subgroupBroadcastFirst(v);
        output[index] = first;
        output[n + index] = defined(subgroupBroadcast(v, 2u), mask, 2u);
        output[2u * n + index] = defined(subgroupShuffle(v, turned), mask, turned);
        output[3u * n + index] = defined(subgroupShuffleXor(v, 1u), mask, lane ^ 1u);
        output[4u * n + index] = defined(subgroupShuffleXor(v, half), mask, lane ^ half);
        // Below lane 0 the subtraction wraps to a lane that there is not.
        output[5u * n + index] = defined(subgroupShuffleUp(v, 1u), mask, lane - 1u);
        output[6u * n + index] = defined(subgroupShuffleUp(v, half), mask, lane - half);
        output[7u * n + index] = defined(subgroupShuffleDown(v, 1u), mask, lane + 1u);
        output[8u * n + index] = defined(subgroupShuffleDown(v, half), mask, lane + half);
        output[9u * n + index] = defined(quadBroadcast(v, 3u), mask, lane | 3u);
        output[10u * n + index] = defined(quadSwapX(v), mask, lane ^ 1u);
        output[11u * n + index] = defined(quadSwapY(v), mask, lane ^ 2u);
        output[12u * n + index] = defined(quadSwapDiagonal(v), mask, lane ^ 3u);
        let ballot = subgroupBallot(odd);
        output[13u * n + index] = ballot.x;
        output[14u * n + index] = ballot.y;
        output[15u * n + index] = ballot.z;
        output[16u * n + index] = ballot.w;
        // subgroupElect is not in every WGSL: the lane that equals the first active one is elected.
        output[17u * n + index] = u32(local_index == subgroupBroadcastFirst(local_index));
        output[18u * n + index] = u32(subgroupAny(v % 16u == 0u));
        output[19u * n + index] = u32(subgroupAll(v % 16u != 0u));
        output[20u * n + index] = subgroupAdd(v);
        output[21u * n + index] = subgroupMul(v | 1u);
        output[22u * n + index] = subgroupMin(v);
        output[23u * n + index] = subgroupMax(v);
        output[24u * n + index] = subgroupAnd(v | 0xffff0000u);
        output[25u * n + index] = subgroupOr(v & 0xffff0000u);
        output[26u * n + index] = subgroupXor(v);
        output[27u * n + index] = subgroupInclusiveAdd(v);
        output[28u * n + index] = subgroupInclusiveMul(v | 1u);
        output[29u * n + index] = subgroupExclusiveAdd(v);
        output[30u * n + index] = subgroupExclusiveMul(v | 1u);
        // Small whole numbers, so that a sum of floats is exact in any order.
        let small = f32(v & 255u);
        output[31u * n + index] = u32(subgroupAdd(small));
        output[32u * n + index] = u32(subgroupMax(small));
        output[33u * n + index] = bitcast<u32>(subgroupMin(bitcast<i32>(v)));
        // block: -
        output[34u * n + index] = bitcast<u32>(subgroupMax(bitcast<i32>(v)));
    }
}
