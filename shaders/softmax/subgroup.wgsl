// What does the softmax of short rows cost by shuffles, without workgroup memory?
//
// Dispatch: 256 invocations a workgroup; a row of COLUMNS elements takes COLUMNS lanes of a subgroup,
// or the whole subgroup where that is narrower, each of whose lanes then has several elements. Large
// grids are folded into two dimensions. Divergence expected: none but where rows end.
//
// Stable: the row's greatest element is subtracted first, so that exp never overflows. `crosswise`
// gives maximum and sum to every lane at once; `down` gives them to the row's first lane, as the
// articles do, and then broadcasts.
enable subgroups;

// A power of two from 4 to 128.
const COLUMNS = 32u;
// Elements of a lane at most: at least 4 lanes make a subgroup.
const ITEMS = COLUMNS / 4u;
// Less than any element. WGSL may assume that there are no infinities.
const LOWEST = -0x1.fffffep+127f;

struct Params {
    rows: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

// Where a lane stands: which row, and which of the row's lanes. How many those are is handed on by
// itself: to WGSL, a struct is as uniform as the least uniform of its members.
struct Place {
    row: u32,
    lane: u32,
}

fn place(group: u32, local_index: u32, lane: u32, lanes: u32) -> Place {
    let row = (group * 256u + local_index) / lanes;
    return Place(row, lane % lanes);
}

fn load(at: Place, lanes: u32) -> array<f32, ITEMS> {
    var items: array<f32, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        items[k] = LOWEST;
        if (at.row < params.rows && k * lanes < COLUMNS) {
            items[k] = input[at.row * COLUMNS + k * lanes + at.lane];
        }
    }
    return items;
}

fn store(at: Place, lanes: u32, items: array<f32, ITEMS>, sum: f32) {
    var left = items;
    for (var k = 0u; k < ITEMS; k++) {
        if (at.row < params.rows && k * lanes < COLUMNS) {
            output[at.row * COLUMNS + k * lanes + at.lane] = left[k] / sum;
        }
    }
}

@compute @workgroup_size(256)
fn crosswise(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let lanes = min(width, COLUMNS);
    let at = place(workgroup.y * grid.x + workgroup.x, local_index, lane, lanes);
    var items = load(at, lanes);
    var greatest = LOWEST;
    for (var k = 0u; k < ITEMS; k++) {
        greatest = max(greatest, items[k]);
    }
    for (var offset = lanes / 2u; offset > 0u; offset /= 2u) {
        // block: step
        greatest = max(greatest, subgroupShuffleXor(greatest, offset));
    }
    var sum = 0.0;
    for (var k = 0u; k < ITEMS; k++) {
        if (k * lanes < COLUMNS) {
            items[k] = exp(items[k] - greatest);
            sum += items[k];
        }
    }
    for (var offset = lanes / 2u; offset > 0u; offset /= 2u) {
        // block: step
        sum += subgroupShuffleXor(sum, offset);
    }
    store(at, lanes, items, sum);
}

@compute @workgroup_size(256)
fn down(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let lanes = min(width, COLUMNS);
    let at = place(workgroup.y * grid.x + workgroup.x, local_index, lane, lanes);
    // The first lane of the row.
    let first = lane - at.lane;
    var items = load(at, lanes);
    var greatest = LOWEST;
    for (var k = 0u; k < ITEMS; k++) {
        greatest = max(greatest, items[k]);
    }
    for (var offset = lanes / 2u; offset > 0u; offset /= 2u) {
        // block: step
        greatest = max(greatest, subgroupShuffle(greatest, min(lane + offset, width - 1u)));
    }
    greatest = subgroupShuffle(greatest, first);
    var sum = 0.0;
    for (var k = 0u; k < ITEMS; k++) {
        if (k * lanes < COLUMNS) {
            items[k] = exp(items[k] - greatest);
            sum += items[k];
        }
    }
    for (var offset = lanes / 2u; offset > 0u; offset /= 2u) {
        // block: step
        sum += subgroupShuffle(sum, min(lane + offset, width - 1u));
    }
    sum = subgroupShuffle(sum, first);
    store(at, lanes, items, sum);
}
