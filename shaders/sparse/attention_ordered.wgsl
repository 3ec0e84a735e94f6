// What does attention cost when queries are put into order by their density first?
//
// Dispatch: the sort of queries by density, then one invocation a query, 128 a workgroup; before them
// one that lists the keys and is not timed.
// Divergence expected: little; lengths in a subgroup differ by a few of 64 steps.

// Queries in the order of their density; scores go where they belong.
@compute @workgroup_size(128)
fn by_density(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = workgroup.x * 128u + local_index;
    if (i < attention.sequence) {
        attend(permutation[i]);
    }
}
