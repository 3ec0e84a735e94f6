// What does it cost to put results back in a dispatch of their own, and not where experts write them?
//
// Dispatch: the router, those of the split (see sort/split), one invocation a slot that leaves its row in
// the order of experts, and one that puts rows back, times their shares.
// Divergence expected: at most 7 subgroups of the experts' dispatch hold two experts.
enable subgroups;

// Every slot in the order of its expert; rows stay in that order, and have no share yet.
@compute @workgroup_size(128)
fn experts_in_order(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let place = number(workgroup, grid, local_index);
    var row: array<vec4<f32>, 32>;
    add_experts(local_index, permutation[min(place, split.n - 1u)], 1.0, &row);
    if (place < split.n) {
        for (var i = 0u; i < QUARTERS; i += 4u) {
            let at = place * QUARTERS + i;
            rows[at] = row[i];
            rows[at + 1u] = row[i + 1u];
            rows[at + 2u] = row[i + 2u];
            rows[at + 3u] = row[i + 3u];
        }
    }
}

// Fetches the rows of each token's slots from where they are in order: one invocation four dimensions.
@compute @workgroup_size(128)
fn scatter(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < layer.tokens * QUARTERS) {
        let token = i / QUARTERS;
        var sum = vec4(0.0);
        for (var turn = 0u; turn < layer.top; turn++) {
            let slot = token * layer.top + turn;
            let place = inverse[slot / 4u][slot % 4u];
            sum = fma(vec4(gates[slot]), rows[place * QUARTERS + i % QUARTERS], sum);
        }
        output[i] = sum;
    }
}
