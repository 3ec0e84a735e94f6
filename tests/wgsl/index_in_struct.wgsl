// Question: is the local index found where it hides in a struct with every other built-in?
// Dispatch: one invocation an element, 8 × 4 × 2 a workgroup. Divergence: by the local index.
struct Place {
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
}

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(8, 4, 2)
fn main(place: Place, @builtin(global_invocation_id) id: vec3<u32>) {
    let number =
        (place.workgroup.z * place.grid.y + place.workgroup.y) * place.grid.x + place.workgroup.x;
    let at = number * 64u + place.index;
    if (at >= arrayLength(&output)) {
        return;
    }
    if (place.index % 5u == 0u) {
        output[at] = id.x + 100u * id.y;
    } else {
        output[at] = place.local.x + 10u * place.local.y + 100u * place.local.z;
    }
}
