// What is done with active elements that lie together.

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
