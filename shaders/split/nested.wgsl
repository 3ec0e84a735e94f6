// What do branches inside branches cost, by how deep they are?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: bit k of an invocation's key decides at depth k + 1, so that a subgroup of W lanes comes to that
// depth in as many parts as the k + 1 bits have values, W / 2^(k + 1) lanes each where they are in turn.

@compute @workgroup_size(256)
fn nested(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let key = keys[index];
    if ((key & 1u) == 0u) {
        output[index] = level_1(key, input[index], params.a, params.b);
    } else {
        output[index] = level_1(key, input[index], params.c, params.d);
    }
}
