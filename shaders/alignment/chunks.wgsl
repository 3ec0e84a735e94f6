// What does it cost that neighbours walk chunks of their own, in place of elements side by side?
//
// Dispatch: n / each invocations, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: elements belong to two owners by turns, `run` neighbours each. In strides a subgroup's W elements lie
// side by side, and are one owner's where run is at least W; in chunks they lie `each` apart, and are both owners' sooner.

struct Params {
    n: u32,
    each: u32,
    run: u32,
    work: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn walk(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let invocation = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    let each = params.each;
    let invocations = params.n / each;
    if (invocation >= invocations) {
        return;
    }
    let work = params.work;
    for (var step = 0u; step < each; step++) {
        let index = step * invocations + invocation;
        var v = input[index];
        if (index / params.run % 2u == 0u) {
            let a = params.a;
            let b = params.b;
            for (var i = 0u; i < work; i++) {
                // block: first
                v = fma(v, a, b);
            }
        } else {
            let c = params.c;
            let d = params.d;
            for (var i = 0u; i < work; i++) {
                // block: others
                v = fma(v, c, d);
            }
        }
        output[index] = v;
    }
}
