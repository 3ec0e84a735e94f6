// What do workgroups cost that do not fill a subgroup?
//
// Dispatch: one invocation an element; large grids are folded into two dimensions.
// Divergence expected: none by branches. A workgroup of 32 leaves half of a subgroup of 64 empty.

override size: u32 = 32u;

struct Params {
    n: u32,
    work: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(size)
fn small_workgroups(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * size + local_index;
    if (index >= params.n) {
        return;
    }
    let work = params.work;
    let a = params.a;
    let b = params.b;
    var v = input[index];
    for (var i = 0u; i < work; i++) {
        // block: body
        v = fma(v, a, b);
    }
    output[index] = v;
}
