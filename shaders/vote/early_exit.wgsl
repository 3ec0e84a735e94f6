// Does asking first whether any lane has work beat a plain branch?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: in `work` W·p / (1 − (1 − p)^W) lanes where each element draws lots for itself, W
// where neighbours share a lot; a subgroup has work with probability 1 − (1 − p)^W.
//
// `plain` branches on its own flag. `vote` first has the whole subgroup agree whether anyone has work:
// that branch can never diverge, but a plain branch that no lane takes is skipped as well.
enable subgroups;

struct Params {
    n: u32,
    cluster: u32,
    density: f32,
    trips: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Lots, one for each `cluster` elements in a row.
@group(0) @binding(1) var<storage, read> lots: array<f32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

fn worked(start: f32) -> f32 {
    let a = params.a;
    let b = params.b;
    var v = start;
    for (var i = 0u; i < params.trips; i++) {
        v = fma(v, a, b);
    }
    return v;
}

@compute @workgroup_size(256)
fn plain(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    var v = input[index];
    if (lots[index / params.cluster] < params.density) {
        // block: work
        v = worked(v);
    }
    output[index] = v;
}

@compute @workgroup_size(256)
fn vote(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    // Lanes past the end stay for the vote, and vote no.
    let inside = index < params.n;
    let element = min(index, params.n - 1u);
    let lot = lots[element / params.cluster];
    var v = input[element];
    if (subgroupAny(inside & (lot < params.density))) {
        // block: somebody
        if (inside & (lot < params.density)) {
            // block: work
            v = worked(v);
        }
    }
    if (inside) {
        output[index] = v;
    }
}
