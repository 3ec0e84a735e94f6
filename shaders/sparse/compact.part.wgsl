// How many workgroups the active elements fill.

@compute @workgroup_size(1)
fn grid_of_active() {
    let count = (offsets[2] - offsets[1] + 255u) / 256u;
    let rows = max((count + 65534u) / 65535u, 1u);
    grids[0] = (count + rows - 1u) / rows;
    grids[1] = rows;
    grids[2] = 1u;
}

// The active elements, one after the other; each result goes where its element lies.
@compute @workgroup_size(256)
fn collected(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = offsets[1] + number(workgroup, grid, local_index);
    if (i < split.n) {
        let element = permutation[i];
        output[element] = body(input[element]);
    }
}
