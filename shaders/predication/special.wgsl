// Does a choice by arithmetic give the value that a choice gives, where the other arm is infinite or no number?
//
// Dispatch: four invocations, one for each value of the arm that is not chosen.
// Divergence expected: none.

struct Others {
    bits: vec4<u32>,
}

struct Params {
    m: f32,
    chosen: f32,
}

@group(0) @binding(0) var<uniform> others: Others;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> differs: array<u32>;

@compute @workgroup_size(4)
fn special(@builtin(local_invocation_index) local_index: u32) {
    let other = bitcast<f32>(others.bits[local_index]);
    let m = params.m;
    let by_arithmetic = m * params.chosen + (1.0 - m) * other;
    let by_choice = select(other, params.chosen, m == 1.0);
    differs[local_index] = u32(bitcast<u32>(by_arithmetic) != bitcast<u32>(by_choice));
}
