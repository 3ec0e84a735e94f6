// What does it cost to find the lanes that hold the same value, without an instruction for it?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: `distinct` takes a turn for each distinct value of a subgroup, and the lanes that
// have found their mask wait; `bits` takes a turn for each bit, all lanes at work.
//
// CUDA has match_any and match_all for it. Both loops below give the same masks; which is the shorter
// depends on how many distinct values there are and how many bits tell them apart.
enable subgroups;
// Lanes leave the loop of `distinct` by their values, and those that are left ask each other.
diagnostic(off, subgroup_uniformity);

struct Params {
    n: u32,
    bits: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
// Of each invocation: the subgroup's size, its lane, the subgroup's number, one.
@group(0) @binding(2) var<storage, read_write> seats: array<vec4<u32>>;
// Of each invocation: the mask of the lanes with its value.
@group(0) @binding(3) var<storage, read_write> masks: array<vec4<u32>>;
// Of each invocation: whether all lanes have the same value.
@group(0) @binding(4) var<storage, read_write> alike: array<u32>;

@compute @workgroup_size(256)
fn distinct(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let v = input[index];
    let everyone = subgroupBallot(true);
    var mask = vec4(0u);
    var found = false;
    while (!found) {
        // block: turn
        let first = subgroupBroadcastFirst(v);
        if (v == first) {
            // block: match
            mask = subgroupBallot(true);
            found = true;
        }
    }
    masks[index] = mask;
    alike[index] = u32(all(mask == everyone));
    seats[index] = vec4(size, lane, subgroup, 1u);
}

@compute @workgroup_size(256)
fn bits(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let v = input[index];
    let everyone = subgroupBallot(true);
    var mask = everyone;
    for (var bit = 0u; bit < params.bits; bit++) {
        // block: bit
        let is_set = ((v >> bit) & 1u) == 1u;
        let ones = subgroupBallot(is_set);
        // Who differs from me in this bit goes.
        mask &= select(~ones, ones, is_set);
    }
    masks[index] = mask;
    alike[index] = u32(all(mask == everyone));
    seats[index] = vec4(size, lane, subgroup, 1u);
}
