// Experts over slots in the order of their expert, and what puts results back.

// [slots × model], where a token has two slots.
@group(1) @binding(9) var<storage, read_write> rows: array<vec4<f32>>;

// Vectors of weights that a workgroup shares at a time: both arrays take 16 KiB.
const WEIGHTS = 512u;
// Hidden units that they belong to.
override UNITS: u32 = WEIGHTS / QUARTERS;

var<workgroup> first_shared: array<vec4<f32>, WEIGHTS>;
var<workgroup> second_shared: array<vec4<f32>, WEIGHTS>;

// As `add_expert` for those invocations of a workgroup whose expert it is: the workgroup loads weights
// once for all of them.
fn add_expert_shared(
    local_index: u32,
    expert: u32,
    mine: bool,
    token: u32,
    gate: f32,
    row: ptr<function, array<vec4<f32>, 32>>,
) {
    var x: array<vec4<f32>, 32>;
    for (var i = 0u; i < QUARTERS; i += 4u) {
        let at = token * QUARTERS + i;
        x[i] = tokens[at];
        x[i + 1u] = tokens[at + 1u];
        x[i + 2u] = tokens[at + 2u];
        x[i + 3u] = tokens[at + 3u];
    }
    for (var before = 0u; before < layer.hidden; before += UNITS) {
        let unit = expert * layer.hidden + before;
        let units = min(UNITS, layer.hidden - before);
        workgroupBarrier();
        for (var j = local_index; j < units * QUARTERS; j += 128u) {
            first_shared[j] = first[unit * QUARTERS + j];
            second_shared[j] = second[unit * QUARTERS + j];
        }
        workgroupBarrier();
        if (mine) {
            for (var h = 0u; h < units; h++) {
                // block: unit
                var sums = vec4(0.0);
                for (var i = 0u; i < QUARTERS; i += 4u) {
                    let at = h * QUARTERS + i;
                    sums = fma(x[i], first_shared[at], sums);
                    sums = fma(x[i + 1u], first_shared[at + 1u], sums);
                    sums = fma(x[i + 2u], first_shared[at + 2u], sums);
                    sums = fma(x[i + 3u], first_shared[at + 3u], sums);
                }
                let g = gate * gelu(sums.x + sums.y + sums.z + sums.w + bias[unit + h]);
                for (var i = 0u; i < QUARTERS; i += 4u) {
                    let at = h * QUARTERS + i;
                    (*row)[i] = fma(vec4(g), second_shared[at], (*row)[i]);
                    (*row)[i + 1u] = fma(vec4(g), second_shared[at + 1u], (*row)[i + 1u]);
                    (*row)[i + 2u] = fma(vec4(g), second_shared[at + 2u], (*row)[i + 2u]);
                    (*row)[i + 3u] = fma(vec4(g), second_shared[at + 3u], (*row)[i + 3u]);
                }
            }
        }
    }
}

// Writes a slot's row: where a token has one slot, that is its output.
fn write_row(slot: u32, row: ptr<function, array<vec4<f32>, 32>>) {
    for (var i = 0u; i < QUARTERS; i += 4u) {
        let at = slot * QUARTERS + i;
        if (layer.top == 1u) {
            output[at] = (*row)[i];
            output[at + 1u] = (*row)[i + 1u];
            output[at + 2u] = (*row)[i + 2u];
            output[at + 3u] = (*row)[i + 3u];
        } else {
            rows[at] = (*row)[i];
            rows[at + 1u] = (*row)[i + 1u];
            rows[at + 2u] = (*row)[i + 2u];
            rows[at + 3u] = (*row)[i + 3u];
        }
    }
}

// As `add_expert_shared` for every slot of a workgroup, in the order of their experts: the workgroup takes
// these one after the other, of which nearly all workgroups have one.
fn add_experts(
    local_index: u32,
    slot: u32,
    gate: f32,
    row: ptr<function, array<vec4<f32>, 32>>,
) {
    let expert = key_at(slot);
    // The experts of the workgroup's first and last slot, told where weights come later.
    if (local_index == 0u) {
        first_shared[0].x = f32(expert);
    }
    if (local_index == 127u) {
        first_shared[1].x = f32(expert);
    }
    let lowest = workgroupUniformLoad(&first_shared[0]).x;
    let highest = workgroupUniformLoad(&first_shared[1]).x;
    for (var turn = u32(lowest); turn <= u32(highest); turn++) {
        add_expert_shared(local_index, turn, turn == expert, slot / layer.top, gate, row);
    }
}

// Every slot in the order of its expert; rows go where their slots lie.
@compute @workgroup_size(128)
fn experts(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    let slot = permutation[min(i, split.n - 1u)];
    var row: array<vec4<f32>, 32>;
    add_experts(local_index, slot, gates[slot], &row);
    if (i < split.n) {
        write_row(slot, &row);
    }
}

// The slots of one expert.
@compute @workgroup_size(128)
fn expert_alone(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = offsets[EXPERT] + number(workgroup, grid, local_index);
    let slot = permutation[min(i, split.n - 1u)];
    var row: array<vec4<f32>, 32>;
    add_expert_shared(local_index, EXPERT, true, slot / layer.top, gates[slot], &row);
    if (i < offsets[EXPERT + 1u]) {
        write_row(slot, &row);
    }
}

// Adds the rows of a token's slots: one invocation four dimensions.
@compute @workgroup_size(128)
fn combine(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < layer.tokens * QUARTERS) {
        let token = i / QUARTERS;
        let place = i + token * QUARTERS;
        output[i] = rows[place] + rows[place + QUARTERS];
    }
}
