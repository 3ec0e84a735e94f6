// What does attention cost when a lane has a query, and queries have as many keys as they are dense?
//
// Dispatch: one invocation a query, 128 a workgroup, after one that lists the keys and is not timed.
// Divergence expected: a subgroup goes on as long as its longest list: (W + 1) / 2 lanes in its loop
// where lengths are even from 0 to the longest.
enable subgroups;

// Queries where they lie.
@compute @workgroup_size(128)
fn by_query(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = workgroup.x * 128u + local_index;
    if (i < attention.sequence) {
        attend(i);
    }
}
