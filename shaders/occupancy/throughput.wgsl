// How does throughput follow how many subgroups a core holds?
//
// Dispatch: a fixed number of invocations in workgroups of `workgroup_size`; each takes every so-manyth
// vector of four elements, neighbours beside neighbours.
// Divergence expected: none.
//
// Each workgroup keeps `memory_words` of workgroup memory, of which it uses one word: a core holds only
// as many workgroups as have room for theirs. Few multiply-adds an element are bound by memory, many by
// arithmetic.

struct Params {
    n: u32,
    multiply_adds: u32,
    slot: u32,
    zero: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

override workgroup_size: u32 = 64u;
override memory_words: u32 = 16u;

var<workgroup> reserved: array<u32, memory_words>;

@compute @workgroup_size(workgroup_size)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    // The last word, by an index that no compiler knows: the whole array must be there.
    if (local_index == 0u) {
        reserved[params.slot] = params.zero;
    }
    workgroupBarrier();
    let a = vec4(params.a);
    let b = vec4(params.b);
    let index = workgroup.x * workgroup_size + local_index;
    let stride = grid.x * workgroup_size;
    var sum = f32(reserved[params.slot]);
    for (var i = index; i < params.n / 4u; i += stride) {
        var v = input[i];
        for (var k = 0u; k < params.multiply_adds; k++) {
            v = fma(v, a, b);
        }
        sum += v.x + v.y + v.z + v.w;
    }
    output[index] = sum;
}
