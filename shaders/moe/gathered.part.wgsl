// Experts over slots in the order of their expert, and what puts results back.

// [slots × model], where a token has two slots.
@group(1) @binding(9) var<storage, read_write> rows: array<vec4<f32>>;
// Workgroups of each expert's dispatch: four words an expert, three counts and nothing.
@group(1) @binding(10) var<storage, read_write> grids: array<u32>;

// Writes a slot's row: where a token has one slot, that is its output.
fn write_row(slot: u32, row: ptr<function, array<vec4<f32>, 32>>) {
    for (var i = 0u; i < QUARTERS; i++) {
        if (layer.top == 1u) {
            output[slot * QUARTERS + i] = (*row)[i];
        } else {
            rows[slot * QUARTERS + i] = (*row)[i];
        }
    }
}

// Every slot in the order of its expert, by the same chain as without order.
@compute @workgroup_size(128)
fn experts(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let i = number(workgroup, grid, local_index);
    if (i < split.n) {
        let slot = permutation[i];
        var row: array<vec4<f32>, 32>;
        add_by_chain(key_at(slot), slot / layer.top, gates[slot], &row);
        write_row(slot, &row);
    }
}

// How many workgroups each expert's dispatch has.
@compute @workgroup_size(64)
fn grids_of_experts(@builtin(local_invocation_index) expert: u32) {
    if (expert < EXPERTS) {
        let count = (offsets[expert + 1u] - offsets[expert] + 127u) / 128u;
        let lines = max((count + 65534u) / 65535u, 1u);
        grids[expert * 4u] = (count + lines - 1u) / lines;
        grids[expert * 4u + 1u] = lines;
        grids[expert * 4u + 2u] = 1u;
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
    if (i < offsets[EXPERT + 1u]) {
        let slot = permutation[i];
        var row: array<vec4<f32>, 32>;
        add_expert(EXPERT, slot / layer.top, gates[slot], &row);
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
