// How fast can every row of a matrix be made into probabilities, exp(x) / sum of exp(x)?
//
// Dispatch: one workgroup a row, folded into two dimensions where there are many. Divergence
// expected: none but the lane that leaves each subgroup's result.
//
// A row is read once and written once: in between it stays in the invocations' registers. The
// greatest element is subtracted before exp, which keeps exp from overflowing. There is no need to
// know it for the whole row at first: each subgroup takes its own greatest, m, and its own sum, s, of
// exp(x - m). When all have met at the one barrier, every lane works out the row's greatest, M, and
// its sum, the sum of s * exp(m - M), and scales what it has by exp(m - M) / sum: the online softmax
// (Milakov and Gimelshein, arXiv:1805.02867), by subgroups.
enable subgroups;

const WORKGROUP = 256u;
// Vectors of four of each invocation: a row has at most WORKGROUP * ITEMS * 4 elements.
const ITEMS = 4u;
// Less than any element; what lies beyond the row's end.
const LOWEST = -0x1.fffffep+127f;

struct Params {
    rows: u32,
    // Vectors of four in a row.
    vectors: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4<f32>>;

// The greatest element and the sum of each subgroup: at least 4 lanes make one.
var<workgroup> greatest: array<f32, WORKGROUP / 4u>;
var<workgroup> sums: array<f32, WORKGROUP / 4u>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let begin = row * params.vectors;

    var items: array<vec4<f32>, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        let i = local_index + k * WORKGROUP;
        items[k] = vec4(LOWEST);
        if (i < params.vectors) {
            items[k] = input[begin + i];
        }
    }

    var most = items[0];
    for (var k = 1u; k < ITEMS; k++) {
        most = max(most, items[k]);
    }
    let own_greatest = subgroupMax(max(max(most.x, most.y), max(most.z, most.w)));
    var sum = vec4(0.0);
    for (var k = 0u; k < ITEMS; k++) {
        items[k] = exp(items[k] - own_greatest);
        sum += items[k];
    }
    let own_sum = subgroupAdd((sum.x + sum.y) + (sum.z + sum.w));
    if (lane == 0u) {
        greatest[local_index / width] = own_greatest;
        sums[local_index / width] = own_sum;
    }
    workgroupBarrier();

    var row_greatest = LOWEST;
    for (var i = lane; i < WORKGROUP / width; i += width) {
        row_greatest = max(row_greatest, greatest[i]);
    }
    row_greatest = subgroupMax(row_greatest);
    var row_sum = 0.0;
    for (var i = lane; i < WORKGROUP / width; i += width) {
        row_sum += sums[i] * exp(greatest[i] - row_greatest);
    }
    row_sum = subgroupAdd(row_sum);

    let scale = exp(own_greatest - row_greatest) / row_sum;
    for (var k = 0u; k < ITEMS; k++) {
        let i = local_index + k * WORKGROUP;
        if (i < params.vectors) {
            output[begin + i] = items[k] * scale;
        }
    }
}
