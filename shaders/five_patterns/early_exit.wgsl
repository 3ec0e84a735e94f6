// What does it cost when half the lanes, chosen by the data, return early?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: W·p / (1 − (1 − p)^W) lanes with p = ½, for those that leave and for those that stay.
//
// Three forms, of which `sealed` stands here: every constant comes from a uniform buffer, so that no
// compiler can fold the arithmetic away. `published`, by replacements: constants in the code, as in the
// articles, the trap that it is. `opaque`: sealed, and the trip counts come from the buffer as well.

struct Params {
    n: u32,
    trips: u32,
    a: f32,
    b: f32,
    threshold: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn sealed(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 256u + local_index;
    if (index >= params.n) {
        return;
    }
    let a = params.a;
    let b = params.b;
    var v = input[index];
    if (v < params.threshold) {
        // block: exit
        output[index] = v;
        return;
    }
    // block: survivors
    for (var i = 0u; i < 1024u; i++) {
        v = fma(v, a, b);
    }
    output[index] = v;
}
