// What does the softmax of rows cost in workgroup memory, without subgroups?
//
// Dispatch: 256 invocations a workgroup, which takes as many rows of COLUMNS elements as fit, or one
// row where that is longer, each of whose invocations then has several elements. Large grids are
// folded into two dimensions. Divergence expected: the two trees', whose steps take half of each
// row's invocations, then a quarter.
//
// Stable: the row's greatest element is subtracted first, so that exp never overflows.

// A power of two from 4 to 4096.
const COLUMNS = 32u;
// Invocations of a row.
const LANES = min(COLUMNS, 256u);
// Elements of an invocation.
const ITEMS = COLUMNS / LANES;
// Less than any element. WGSL may assume that there are no infinities.
const LOWEST = -0x1.fffffep+127f;

struct Params {
    rows: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

var<workgroup> shared_values: array<f32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    let row = group * (256u / LANES) + local_index / LANES;
    let place = local_index % LANES;
    if (group * (256u / LANES) >= params.rows) {
        return;
    }

    var items: array<f32, ITEMS>;
    var greatest = LOWEST;
    for (var k = 0u; k < ITEMS; k++) {
        items[k] = LOWEST;
        if (row < params.rows) {
            items[k] = input[row * COLUMNS + k * LANES + place];
        }
        greatest = max(greatest, items[k]);
    }
    shared_values[local_index] = greatest;
    workgroupBarrier();
    for (var s = LANES / 2u; s > 0u; s /= 2u) {
        if (place < s) {
            // block: greatest
            let other = shared_values[local_index + s];
            shared_values[local_index] = max(shared_values[local_index], other);
        }
        workgroupBarrier();
    }
    greatest = shared_values[local_index - place];
    // Nobody may write before everybody has read.
    workgroupBarrier();

    var sum = 0.0;
    for (var k = 0u; k < ITEMS; k++) {
        items[k] = exp(items[k] - greatest);
        sum += items[k];
    }
    shared_values[local_index] = sum;
    workgroupBarrier();
    for (var s = LANES / 2u; s > 0u; s /= 2u) {
        if (place < s) {
            // block: sum
            shared_values[local_index] += shared_values[local_index + s];
        }
        workgroupBarrier();
    }
    sum = shared_values[local_index - place];

    if (row < params.rows) {
        for (var k = 0u; k < ITEMS; k++) {
            output[row * COLUMNS + k * LANES + place] = items[k] / sum;
        }
    }
}
