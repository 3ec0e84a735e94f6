// What does a 4-way switch on random data cost?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: W·p / (1 − (1 − p)^W) lanes with p = ¼ in each of the four arms, one after the other.
//
// Three forms, of which `sealed` stands here: every constant comes from a uniform buffer, so that no
// compiler can fold the arithmetic away. `published`, by replacements: constants in the code, as in the
// articles, the trap that it is. `opaque`: sealed, and the trip counts come from the buffer as well.

struct Params {
    n: u32,
    trips: u32,
    a0: f32,
    b0: f32,
    a1: f32,
    b1: f32,
    a2: f32,
    b2: f32,
    a3: f32,
    b3: f32,
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
    let a0 = params.a0;
    let b0 = params.b0;
    let a1 = params.a1;
    let b1 = params.b1;
    let a2 = params.a2;
    let b2 = params.b2;
    let a3 = params.a3;
    let b3 = params.b3;
    var v = input[index];
    let category = u32(v * 4.0) % 4u;
    switch category {
        case 0u {
            // block: arm_0
            for (var i = 0u; i < 256u; i++) {
                v = fma(v, a0, b0);
            }
        }
        case 1u {
            // block: arm_1
            for (var i = 0u; i < 256u; i++) {
                v = fma(v, a1, b1);
            }
        }
        case 2u {
            // block: arm_2
            for (var i = 0u; i < 256u; i++) {
                v = fma(v, a2, b2);
            }
        }
        default {
            // block: arm_3
            for (var i = 0u; i < 256u; i++) {
                v = fma(v, a3, b3);
            }
        }
    }
    output[index] = v;
}
