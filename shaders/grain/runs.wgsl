// What do two arms cost that are taken in runs of neighbours, at each width?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: a subgroup inside one run executes one arm, one across the end of a run both. The
// arms are as long. All constants come from a uniform buffer, so that no compiler can fold the arithmetic.

struct Params {
    n: u32,
    run: u32,
    work: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn runs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    let index = group * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let work = params.work;
    var v = input[index];
    if ((index + offsets[group]) / params.run % 2u == 0u) {
        let a = params.a;
        let b = params.b;
        for (var i = 0u; i < work; i++) {
            // block: arm
            v = fma(v, a, b);
        }
    } else {
        let c = params.c;
        let d = params.d;
        for (var i = 0u; i < work; i++) {
            // block: arm
            v = fma(v, c, d);
        }
    }
    output[index] = v;
}
