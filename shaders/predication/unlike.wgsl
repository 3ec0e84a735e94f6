// From what length on is an arm a branch where no compiler can make one chain of both?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: by the source, W / 2 lanes in each arm where flags are random; none where both arms are computed,
// or the first alone. Multiply-adds of two constants can be one chain whose constants are selected; these arms cannot.

fn other(value: f32) -> f32 {
    let c = params.c;
    var v = value;
    for (var i = 0u; i < length; i++) {
        v = abs(v - c);
    }
    return v;
}

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
            v = other(v);
        } // chosen
    }
    output[index] = v;
}
