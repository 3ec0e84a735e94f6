// What do a textbook's branches around one line take where neighbours differ, against where they do not?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: by the source, W / 2 lanes on each side where signs are random; a compiler may compute both
// sides and choose.

@compute @workgroup_size(256)
fn elementwise(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let x = input[index];
    var y = 0.0;
    if (x > 0.0) {
        // block: side
        y = sqrt(x) * 2.0;
    } else {
        // block: side
        y = 1.0 - x;
    }
    output[index] = y;
}
