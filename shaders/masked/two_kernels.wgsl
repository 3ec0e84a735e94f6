// What do two launches take, one for even elements and one for odd ones, in place of a branch?
//
// Dispatch: two of one invocation for each second element; large grids are folded into two dimensions.
// Divergence expected: none but the guard's. Neighbours read and write words that lie two apart.

fn number(workgroup: vec3<u32>, grid: vec3<u32>, local_index: u32) -> u32 {
    return (workgroup.y * grid.x + workgroup.x) * size + local_index;
}

@compute @workgroup_size(size)
fn even(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = number(workgroup, grid, local_index) * 2u;
    if (index >= params.n) {
        return;
    }
    b[index] = a[index] * 10.0;
}

@compute @workgroup_size(size)
fn odd(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = number(workgroup, grid, local_index) * 2u + 1u;
    if (index >= params.n) {
        return;
    }
    b[index] = a[index];
}
