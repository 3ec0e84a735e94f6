// What does a copy take in two launches, each of every second element, with no branch at all?
//
// Dispatch: one of one invocation an element, or two of one for each second element; large grids are folded
// into two dimensions.
// Divergence expected: none but the guard's.

fn copied(workgroup: vec3<u32>, grid: vec3<u32>, local_index: u32, stride: u32, first: u32) {
    let number = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    let index = number * stride + first;
    if (index < params.n) {
        b[index] = a[index];
    }
}

@compute @workgroup_size(size)
fn all_elements(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    copied(workgroup, grid, local_index, 1u, 0u);
}

@compute @workgroup_size(size)
fn even_elements(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    copied(workgroup, grid, local_index, 2u, 0u);
}

@compute @workgroup_size(size)
fn odd_elements(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    copied(workgroup, grid, local_index, 2u, 1u);
}
