// What does attention cost when every score is computed and masked ones are dropped?
//
// Dispatch: one workgroup a query, its lanes on neighbouring keys.
// Divergence expected: none.

@compute @workgroup_size(256)
fn dense(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let query = workgroup.x;
    for (var key = local_index; key < attention.sequence; key += 256u) {
        let place = query * attention.sequence + key;
        scores[place] = select(0.0, score(query, key), mask[place] != 0u);
    }
}
