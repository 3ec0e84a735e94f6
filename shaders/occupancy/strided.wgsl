// What does a load cost when neighbouring lanes read words that lie apart?
//
// Dispatch: 256 invocations a workgroup, 16 words each; large grids are folded into two dimensions.
// Divergence expected: none.
//
// Invocation i reads word (i · stride) mod n, and one further each time the multiples have gone through
// the array: every word is read once whatever the stride. Memory moves whole sectors of 32 bytes, so
// from stride 8 on each load fetches eight times what it uses.

struct Params {
    n: u32,
    // log2 of the stride, and of n over it.
    stride_log2: u32,
    rows_log2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;

const WORDS = 16u;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    var sum = 0u;
    for (var word = 0u; word < WORDS; word++) {
        let i = (group * WORDS + word) * 256u + local_index;
        let column = i >> params.rows_log2;
        let row = i & ((1u << params.rows_log2) - 1u);
        sum += input[(row << params.stride_log2) + column];
    }
    output[group * 256u + local_index] = sum;
}
