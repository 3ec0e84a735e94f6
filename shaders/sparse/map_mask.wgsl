// What does it cost to work on every element and keep what is active?
//
// Dispatch: one invocation an element, 256 a workgroup.
// Divergence expected: none.
enable subgroups;

// Every element is worked on, and zero is kept of those that are not active.
@compute @workgroup_size(256)
fn mask(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < split.n) {
        output[i] = select(0.0, body(input[i]), key_at(i) == 1u);
    }
}
