// How much of a wave waits when each element takes a number of rounds of its own?
//
// Three entry points in order: one bounds the rounds, one writes how many workgroups the last needs,
// the last spends them. `rounds.toml` beside this file dispatches them, the last one indirectly.
//
//     lanescope profile examples/rounds.wgsl --launch examples/rounds.toml

requires immediate_address_space;

struct Limits { count: u32, threshold: f32 }

override ROUNDS: u32 = 4;

var<immediate> limits: Limits;

@group(0) @binding(0) var<storage> weights: array<f32>;
@group(0) @binding(1) var<storage, read_write> rounds: array<u32>;
@group(0) @binding(2) var<storage, read_write> groups: array<u32, 3>;

@compute @workgroup_size(64)
fn clamp_rounds(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < limits.count {
        rounds[id.x] = min(rounds[id.x], ROUNDS);
    }
}

@compute @workgroup_size(1)
fn choose_groups() {
    groups[0] = limits.count / 64u;
    groups[1] = 1u;
    groups[2] = 1u;
}

@compute @workgroup_size(64)
fn spend(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0.0;
    for (var i = 0u; i < rounds[id.x]; i++) {
        let weight = weights[(id.x + i) % arrayLength(&weights)];
        if weight > limits.threshold {
            sum += weight;
        }
    }
    rounds[id.x] = u32(sum);
}
