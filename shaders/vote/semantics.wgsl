// What do any, all and ballot say, and can ballot alone say it?
//
// Dispatch: one invocation an element; the workgroup's size is a parameter, so that its last subgroup
// may be partial.
// Divergence expected: none; the last subgroup of a workgroup may be partial.
enable subgroups;
// Votes of the lanes that are left where others have returned are the question.
diagnostic(off, subgroup_uniformity);

struct Params {
    n: u32,
    density: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
// Of each invocation: the subgroup's size, its lane, the subgroup's number, whether its predicate held.
@group(0) @binding(2) var<storage, read_write> seats: array<vec4<u32>>;
// Of each invocation: the mask.
@group(0) @binding(3) var<storage, read_write> ballots: array<vec4<u32>>;
// Of each invocation: any, all, the mask's bits, and any and all as the mask gives them.
@group(0) @binding(4) var<storage, read_write> votes: array<u32>;

override workgroup_size: u32 = 256u;

@compute @workgroup_size(workgroup_size)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = workgroup.x * workgroup_size + local_index;
    if (index >= params.n) {
        return;
    }
    // block: votes
    let holds = input[index] < params.density;
    let any_holds = subgroupAny(holds);
    let all_hold = subgroupAll(holds);
    let mask = subgroupBallot(holds);
    let bits = countOneBits(mask);
    let from_mask_any = any(mask != vec4(0u));
    let from_mask_all = all(mask == subgroupBallot(true));
    seats[index] = vec4(size, lane, subgroup, u32(holds));
    ballots[index] = mask;
    votes[index * 5u] = u32(any_holds);
    votes[index * 5u + 1u] = u32(all_hold);
    votes[index * 5u + 2u] = bits.x + bits.y + bits.z + bits.w;
    votes[index * 5u + 3u] = u32(from_mask_any);
    votes[index * 5u + 4u] = u32(from_mask_all);
}
