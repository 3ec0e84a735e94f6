// What does a choice by arithmetic cost, m * a + (1 - m) * b?
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
        let m = f32(decision(bits, turn));
        v = m * first(v) + (1.0 - m) * second(v);
    }
    output[index] = v;
}
