// What do both arms and a choice cost in place of a branch?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none; every lane computes both arms.

@compute @workgroup_size(256)
fn decide(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let bits = flags[index];
    var v = input[index];
    for (var turn = 0u; turn < params.decisions; turn++) {
        v = select(second(v), first(v), decision(bits, turn));
    }
    output[index] = v;
}
