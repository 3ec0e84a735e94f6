// What does one kernel take that multiplies every element, by ten or by one?
//
// Dispatch: one invocation an element; large grids are folded into two dimensions.
// Divergence expected: none.

override size: u32 = 256u;

struct Params {
    n: u32,
    run: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(size)
fn chosen(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    if (index >= params.n) {
        return;
    }
    b[index] = a[index] * select(1.0, 10.0, index / params.run % 2u == 0u);
}
