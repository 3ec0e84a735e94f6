// What does it bring to move work that both arms do out of the branch?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: inside, the common work is executed once for each arm; hoisted, once.

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
        let shared_before = v;
        if (decision(bits, turn)) {
            // block: arm
            v = first(shared_before) * params.c;
        } else {
            // block: arm
            v = first(shared_before) + params.d;
        }
    }
    output[index] = v;
}
