// What does a loop cost whose trip count varies slowly from neighbour to neighbour?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: trip counts are value noise, random at every wavelength-th element and on straight
// lines between; a subgroup makes as many iterations as the longest of its lanes.

struct Params {
    n: u32,
    wavelength: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn trips(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let wavelength = params.wavelength;
    let node = index / wavelength;
    let part = index % wavelength;
    let count = (nodes[node] * (wavelength - part) + nodes[node + 1u] * part) / wavelength;
    let a = params.a;
    let b = params.b;
    var v = input[index];
    for (var i = 0u; i < count; i++) {
        // block: body
        v = fma(v, a, b);
    }
    output[index] = v;
}
