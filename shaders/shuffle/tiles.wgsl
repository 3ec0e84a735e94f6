// What does it take to add up tiles smaller than a subgroup?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none; log2 of the tile's size steps.
//
// A tile is a run of 2, 4, 8 … lanes in a row, at most a subgroup. Exchanging with lane ^ 1, lane ^ 2,
// lane ^ 4 … never leaves the tile, so no lane needs a guard, and in the end every lane has the sum.
// `memory` does the same through workgroup memory, with two barriers a step.
enable subgroups;

struct Params {
    n: u32,
    tile: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
// Of each invocation: the subgroup's size, its lane, the subgroup's number, one.
@group(0) @binding(2) var<storage, read_write> seats: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

var<workgroup> exchange: array<u32, 256>;

@compute @workgroup_size(256)
fn shuffle(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    let inside = index < params.n;
    // Lanes past the end bring nothing to the sum, and stay to give it.
    var sum = select(0u, input[min(index, params.n - 1u)], inside);
    let tile = min(params.tile, size);
    for (var offset = 1u; offset < tile; offset *= 2u) {
        // block: step
        sum += subgroupShuffleXor(sum, offset);
    }
    if (inside) {
        output[index] = sum;
        seats[index] = vec4(size, lane, subgroup, 1u);
    }
}

@compute @workgroup_size(256)
fn memory(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    let inside = index < params.n;
    var sum = select(0u, input[min(index, params.n - 1u)], inside);
    let tile = min(params.tile, size);
    for (var offset = 1u; offset < tile; offset *= 2u) {
        // block: step
        exchange[local_index] = sum;
        workgroupBarrier();
        sum += exchange[local_index ^ offset];
        workgroupBarrier();
    }
    if (inside) {
        output[index] = sum;
        seats[index] = vec4(size, lane, subgroup, 1u);
    }
}
