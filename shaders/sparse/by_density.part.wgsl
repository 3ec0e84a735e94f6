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

// The step that a dispatch is for.
override STEP: u32 = 0u;

// Queries of one step of density.
@compute @workgroup_size(128)
fn of_density(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = offsets[STEP] + (workgroup.y * grid.x + workgroup.x) * 128u + local_index;
    if (i < offsets[STEP + 1u]) {
        attend(permutation[i]);
    }
}
