// What does one kernel take that multiplies every element, by ten or by one?
//
// Dispatch: one invocation an element; large grids are folded into two dimensions.
// Divergence expected: none.

@compute @workgroup_size(size)
fn chosen(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    if (index >= params.n) {
        return;
    }
    b[index] = a[index] * select(1.0, 10.0, index / params.run % 2u == 0u);
}
