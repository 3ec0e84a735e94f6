// What does a switch of k arms as long as each other cost, by who takes which arm?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: a subgroup executes each arm that one of its lanes takes: min(W, k) arms where keys are even,
// k * (1 - (1 - 1/k)^W) where they are random, one where 128 neighbours have one key.

struct Params {
    n: u32,
    classes: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;

@compute @workgroup_size(256)
fn arms_of_a_switch(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    output[index] = choose(keys[index] % params.classes, input[index]);
}
