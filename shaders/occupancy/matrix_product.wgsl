// What does it cost to give neighbouring lanes neighbouring rows instead of columns?
//
// Dispatch: one invocation an element of the product, 256 a workgroup; large grids are folded into two
// dimensions.
// Divergence expected: none.
//
// The plainest product of two matrices, stored row by row. In `columns` neighbours read neighbouring
// words of b and all the same word of a; in `rows` they read a with a stride of n, and write with it.

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> product: array<f32>;

@compute @workgroup_size(256)
fn columns(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index < params.n * params.n) {
        multiply(index / params.n, index % params.n);
    }
}

@compute @workgroup_size(256)
fn rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index < params.n * params.n) {
        multiply(index % params.n, index / params.n);
    }
}

fn multiply(row: u32, column: u32) {
    var sum = 0.0;
    for (var k = 0u; k < params.n; k++) {
        sum = fma(a[row * params.n + k], b[k * params.n + column], sum);
    }
    product[row * params.n + column] = sum;
}
