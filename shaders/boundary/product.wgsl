// What does a guard in two dimensions cost, by the shape of workgroups?
//
// Dispatch: one invocation an element of the product, workgroups of 256, `across` side by side.
// Divergence expected: subgroups across the right or the lower edge have fewer lanes, one or more of each row of
// workgroups where the width of subgroups does not divide the columns.

override across: u32 = 32u;
override down: u32 = 8u;

struct Params {
    columns: u32,
    rows: u32,
    inner: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(across, down)
fn product(@builtin(global_invocation_id) id: vec3<u32>) {
    let inside = (id.x < params.columns) & (id.y < params.rows);
    if (inside) {
        let inner = params.inner;
        var sum = 0.0;
        for (var k = 0u; k < inner; k++) {
            // block: body
            sum = fma(a[id.y * inner + k], b[k * params.columns + id.x], sum);
        }
        output[id.y * params.columns + id.x] = sum;
    }
}
