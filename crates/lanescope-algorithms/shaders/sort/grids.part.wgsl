// How many workgroups the elements of each class fill, left as arguments of indirect dispatches.
//
// Dispatch: an invocation a class, after the dispatches of sort/split. Divergence expected: the last
// subgroup's alone.
// What is dispatched so numbers its workgroups y · grid.x + x: more than a line holds lie in several,
// which may be a few too many.

// Elements that a workgroup takes.
override ELEMENTS: u32 = 256u;
// What every device has of workgroups in a line.
const LINE = 65535u;

// [classes]: four words each, the counts along x, y and z, and one that is left alone.
@group(0) @binding(13) var<storage, read_write> grids: array<u32>;

@compute @workgroup_size(64)
fn grids_of_classes(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let class_id = workgroup.x * 64u + local_index;
    if (class_id < split.classes) {
        let count = offsets[class_id + 1u] - offsets[class_id];
        let workgroups = count / ELEMENTS + select(0u, 1u, count % ELEMENTS != 0u);
        let lines = max(workgroups / LINE + select(0u, 1u, workgroups % LINE != 0u), 1u);
        grids[class_id * 4u] = workgroups / lines + select(0u, 1u, workgroups % lines != 0u);
        grids[class_id * 4u + 1u] = lines;
        grids[class_id * 4u + 2u] = 1u;
    }
}
