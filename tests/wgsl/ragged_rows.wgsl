// Question: what does a row a lane cost where rows have different lengths?
// Dispatch: one invocation a row, 64 a workgroup. Divergence: lanes wait for the longest row.
@group(0) @binding(0) var<storage, read> row_lengths: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if (row >= arrayLength(&sums) || row >= arrayLength(&row_lengths)) {
        return;
    }
    let length = row_lengths[row] % 40u;
    var sum = 0u;
    for (var i = 0u; i < length; i = i + 1u) {
        sum = sum + values[(row + i * 7u) % arrayLength(&values)];
    }
    sums[row] = sum;
}
