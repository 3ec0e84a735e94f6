// What does a branch cost that a share of elements takes, lying anywhere?
//
// Dispatch: one invocation an element, 256 a workgroup.
// Divergence expected: W * p / (1 - (1 - p)^W) lanes in the body at density p, in the subgroups that enter it.
enable subgroups;

// Only active elements are worked on and written.
@compute @workgroup_size(256)
fn branch(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < split.n) {
        if (key_at(i) == 1u) {
            output[i] = body(input[i]);
        }
    }
}
