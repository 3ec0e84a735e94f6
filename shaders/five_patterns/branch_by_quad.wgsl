// What does it cost when one lane in four works and the others wait?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: W / 4 lanes in the loop.
//
// Three forms, of which `sealed` stands here: every constant comes from a uniform buffer, so that no
// compiler can fold the arithmetic away. `published`, by replacements: constants in the code, as in the
// articles, the trap that it is. `opaque`: sealed, and the trip counts come from the buffer as well.

struct Params {
    n: u32,
    trips: u32,
    a: f32,
    b: f32,
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
    if (local_index % 4u == 0u) {
        // block: one_in_four
        for (var i = 0u; i < 2048u; i++) {
            v = fma(v, a, b);
        }
    }
    output[index] = v;
}
