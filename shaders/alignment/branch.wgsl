// Which conditions on an invocation's index make subgroups diverge, at which width?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none where the condition is the same for W neighbours: `i / 32` at 32 lanes and not at 64.
enable subgroups;

struct Params {
    n: u32,
    one: u32,
    work: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
    longer: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<storage, read_write> width_run: array<u32>;

@compute @workgroup_size(256)
fn branch(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) width: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    let index = group * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    if (index == 0u) {
        width_run[0] = width;
    }
    let work = params.work;
    var v = input[index];
    if (local_index % 2u == 0u) {
        let a = params.a;
        let b = params.b;
        let steps = work * params.longer;
        for (var i = 0u; i < steps; i++) {
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
