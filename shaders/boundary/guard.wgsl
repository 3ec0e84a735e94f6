// What does a guard against indices that are too large cost, and what does padding save?
//
// Dispatch: one invocation an element; large grids are folded into two dimensions.
// Divergence expected: one subgroup of the launch has fewer lanes, where W does not divide n; none where the data
// fill the last workgroup.

override size: u32 = 256u;

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(size)
fn add(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    if (index >= params.n) {
        return;
    }
    // block: body
    output[index] = a[index] + b[index];
}
