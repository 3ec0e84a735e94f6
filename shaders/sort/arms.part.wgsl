// What the experiments of `sort` do with their arms, which stand in `lib/arms`.

// The class of the dispatch, where each has one of its own.
override CLASS: u32 = 0u;

fn number(workgroup: vec3<u32>, grid: vec3<u32>, local_index: u32) -> u32 {
    return (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
}

// Every element where it lies, whatever its neighbours do.
@compute @workgroup_size(256)
fn divergent(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < split.n) {
        output[i] = choose(key_at(i), input[i]);
    }
}

// Every element in the order of its class; each result goes where its element lies.
@compute @workgroup_size(256)
fn ordered(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < split.n) {
        let element = permutation[i];
        output[element] = choose(key_at(element), input[element]);
    }
}

// The elements of one class.
@compute @workgroup_size(256)
fn alone(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = offsets[CLASS] + number(workgroup, grid, local_index);
    if (i < offsets[CLASS + 1u]) {
        let element = permutation[i];
        output[element] = choose(CLASS, input[element]);
    }
}
