// What does it cost that even elements are multiplied and odd ones copied, by a branch?
//
// Dispatch: one invocation an element; large grids are folded into two dimensions.
// Divergence expected: W / 2 lanes in each arm; none where `run` neighbours have one role and W divides it.

@compute @workgroup_size(size)
fn baseline(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    if (index >= params.n) {
        return;
    }
    if (index / params.run % 2u == 0u) {
        // block: role
        b[index] = a[index] * 10.0;
    } else {
        // block: role
        b[index] = a[index];
    }
}
