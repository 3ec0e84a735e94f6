// Which lanes have the sum after a reduction by shuffles, down or crosswise?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none but the end of the array.
//
// Output i is 1 where the lane's value is the sum exactly where it should be. After `down` that is
// lane 0 alone, a tree; after `crosswise` (a butterfly, in as many steps) every lane.
enable subgroups;

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Any integers; the last bit is replaced.
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;

struct Place {
    group: u32,
    index: u32,
    own: u32,
}

// Lane 0's element is odd and all others are even, so that no sum without it can equal the whole.
fn place(workgroup: vec3<u32>, grid: vec3<u32>, local_index: u32, lane: u32) -> Place {
    let group = workgroup.y * grid.x + workgroup.x;
    let index = group * 256u + local_index;
    var own = 0u;
    if (index < params.n) {
        own = input[index];
    }
    return Place(group, index, (own & ~1u) | select(0u, 1u, lane == 0u));
}

@compute @workgroup_size(256)
fn down(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = place(workgroup, grid, local_index, lane);
    var sum = at.own;
    for (var offset = width / 2u; offset > 0u; offset /= 2u) {
        // block: step
        // From beyond the end a lane adds its own value, as on NVIDIA; WGSL leaves it open.
        let source = select(lane, lane + offset, lane + offset < width);
        sum += subgroupShuffle(sum, source);
    }
    let right = sum == subgroupAdd(at.own);
    if (at.index < params.n) {
        output[at.index] = select(0u, 1u, right == (lane == 0u));
    }
}

@compute @workgroup_size(256)
fn crosswise(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = place(workgroup, grid, local_index, lane);
    var sum = at.own;
    for (var offset = width / 2u; offset > 0u; offset /= 2u) {
        // block: step
        sum += subgroupShuffleXor(sum, offset);
    }
    let right = sum == subgroupAdd(at.own);
    if (at.index < params.n) {
        output[at.index] = select(0u, 1u, right);
    }
}
