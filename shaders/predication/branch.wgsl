// From what length on is an arm a branch, and does a store or a load in it change that?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: by the source, W / 2 lanes in each arm where flags are random; a compiler may compute both arms
// for all lanes and choose.

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
        if (decision(bits, turn)) {
            // block: arm
            v = first(v);
        } else {
            // block: arm
            v = second(v);
        }
    }
    output[index] = v; // where no arm has stored it
}
