// What does sparse attention cost when masked keys are branched over?
//
// Dispatch: one workgroup a query, its lanes on neighbouring keys.
// Divergence expected: W * p / (1 - (1 - p)^W) lanes in the dot product for a random mask of density p.

@compute @workgroup_size(256)
fn branch(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let query = workgroup.x;
    for (var key = local_index; key < attention.sequence; key += 256u) {
        let place = query * attention.sequence + key;
        if (mask[place] != 0u) {
            scores[place] = score(query, key);
        } else {
            scores[place] = 0.0;
        }
    }
}
