// What does a mixture of experts cost when each token branches to its experts?
//
// Dispatch: the router, then one invocation a token, 128 a workgroup.
// Divergence expected: W lanes part into up to 8 arms: 8 * (1 - (7/8)^W) of them with even routing.
enable subgroups;

// Every token through its experts where it lies.
@compute @workgroup_size(128)
fn naive(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let token = number(workgroup, grid, local_index);
    if (token < layer.tokens) {
        var row: array<vec4<f32>, 32>;
        for (var turn = 0u; turn < layer.top; turn++) {
            let slot = token * layer.top + turn;
            add_by_chain(key_at(slot), token, gates[slot], &row);
        }
        for (var i = 0u; i < QUARTERS; i += 4u) {
            let at = token * QUARTERS + i;
            output[at] = row[i];
            output[at + 1u] = row[i + 1u];
            output[at + 2u] = row[i + 2u];
            output[at + 3u] = row[i + 3u];
        }
    }
}
