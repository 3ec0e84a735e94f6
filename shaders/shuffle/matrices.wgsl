// What do products of small matrices take, a tile of lanes each, by shuffles and through memory?
//
// Dispatch: one invocation a row, 256 a workgroup.
// Divergence expected: none.
//
// Four lanes in a row hold two matrices of 4 by 4, a row of each a lane, and make the second one the
// product of both, so many times: a row of the product is a sum of all rows of the second matrix, which
// the other lanes of the tile have. `shuffle` asks them, `memory` has them in workgroup memory, with two
// barriers a step.
enable subgroups;

struct Params {
    steps: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> product: array<vec4<f32>>;

var<workgroup> exchange: array<vec4<f32>, 256>;

@compute @workgroup_size(256)
fn shuffle(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    // By lanes, so that a tile's rows are neighbours however a driver seats invocations.
    let index = workgroup.x * 256u + subgroup * size + lane;
    let first = lane & ~3u;
    let row = a[index];
    var held = b[index];
    for (var step = 0u; step < params.steps; step++) {
        // block: step
        var sum = row.x * subgroupShuffle(held, first);
        sum += row.y * subgroupShuffle(held, first + 1u);
        sum += row.z * subgroupShuffle(held, first + 2u);
        held = sum + row.w * subgroupShuffle(held, first + 3u);
    }
    product[index] = held;
}

@compute @workgroup_size(256)
fn memory(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = workgroup.x * 256u + local_index;
    let first = local_index & ~3u;
    let row = a[index];
    var held = b[index];
    for (var step = 0u; step < params.steps; step++) {
        // block: step
        exchange[local_index] = held;
        workgroupBarrier();
        held = row.x * exchange[first] + row.y * exchange[first + 1u];
        held += row.z * exchange[first + 2u] + row.w * exchange[first + 3u];
        workgroupBarrier();
    }
    product[index] = held;
}
