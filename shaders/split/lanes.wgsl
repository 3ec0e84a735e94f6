// What does a branch cost that m of 32 neighbours take, by m, by where they lie and by what the others do?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: a subgroup that has lanes on both sides executes both arms, each with its own lanes: as many
// operations at 1 to 31 as at 16 to 16.

struct Params {
    n: u32,
    few: u32,
    work_few: u32,
    work_others: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn split(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let place = index % 32u;
    let work_few = params.work_few;
    let work_others = params.work_others;
    var v = input[index];
    if (place < params.few) {
        let a = params.a;
        let b = params.b;
        for (var i = 0u; i < work_few; i++) {
            // block: few
            v = fma(v, a, b);
        }
    } else {
        let c = params.c;
        let d = params.d;
        for (var i = 0u; i < work_others; i++) {
            // block: others
            v = fma(v, c, d);
        }
    }
    output[index] = v;
}
