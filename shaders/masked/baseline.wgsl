// What does it cost that even elements are multiplied and odd ones copied, by a branch?
//
// Dispatch: one invocation an element; large grids are folded into two dimensions.
// Divergence expected: W / 2 lanes in each arm; none where `run` neighbours have one role and W divides it.

override size: u32 = 256u;

struct Params {
    n: u32,
    run: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(size)
fn baseline(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    if (index >= params.n) {
        return;
    }
    if (index / params.run % 2u == 0u) {
        // block: role
        b[index] = a[index] * 10.0;
    } else {
        // block: role
        b[index] = a[index];
    }
}
