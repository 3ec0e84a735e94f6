// What do values cost that do not fit into registers, and is it worth more subgroups?
//
// Dispatch: a fixed number of invocations in workgroups of `workgroup_size`.
// Divergence expected: none.
//
// Each invocation works on 32 values, turn after turn. In `registers` each value has a name, and stays
// in a register. In `spilled` they are an array with an index that no compiler knows, which has to
// live in memory: what a compiler does to values when registers run out. As in `throughput`, each
// workgroup keeps `memory_words` of workgroup memory, so that a core holds fewer of them.

struct Params {
    turns: u32,
    // Where the array's first value lies: 0.
    first: u32,
    slot: u32,
    a: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

override workgroup_size: u32 = 64u;
override memory_words: u32 = 16u;

var<workgroup> reserved: array<u32, memory_words>;

// Vectors of four values.
const VECTORS = 8u;

// The last word, by an index that no compiler knows: the whole array must be there.
fn reserve(local_index: u32) {
    if (local_index == 0u) {
        reserved[params.slot] = params.first;
    }
    workgroupBarrier();
}

// Values 4k + 1 to 4k + 4 of 32.
fn values(x: f32, k: u32) -> vec4<f32> {
    let first = f32(4u * k);
    return x / 32.0 * vec4(first + 1.0, first + 2.0, first + 3.0, first + 4.0);
}

// Four steps: each value becomes a mean of itself and of the one before it.
fn step4(before: f32, held: vec4<f32>, a: f32) -> vec4<f32> {
    let x = fma(held.x - before, a, before);
    let y = fma(held.y - x, a, x);
    let z = fma(held.z - y, a, y);
    return vec4(x, y, z, fma(held.w - z, a, z));
}

@compute @workgroup_size(workgroup_size)
fn registers(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    reserve(local_index);
    let a = params.a;
    let index = workgroup.x * workgroup_size + local_index;
    let x = input[index];
    var v0 = values(x, 0u);
    var v1 = values(x, 1u);
    var v2 = values(x, 2u);
    var v3 = values(x, 3u);
    var v4 = values(x, 4u);
    var v5 = values(x, 5u);
    var v6 = values(x, 6u);
    var v7 = values(x, 7u);
    for (var turn = reserved[params.slot]; turn < params.turns; turn++) {
        // block: turn
        v0 = step4(v7.w, v0, a);
        v1 = step4(v0.w, v1, a);
        v2 = step4(v1.w, v2, a);
        v3 = step4(v2.w, v3, a);
        v4 = step4(v3.w, v4, a);
        v5 = step4(v4.w, v5, a);
        v6 = step4(v5.w, v6, a);
        v7 = step4(v6.w, v7, a);
    }
    output[index] = v7.w;
}

@compute @workgroup_size(workgroup_size)
fn spilled(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    reserve(local_index);
    let a = params.a;
    let index = workgroup.x * workgroup_size + local_index;
    let x = input[index];
    var held: array<vec4<f32>, VECTORS>;
    for (var k = 0u; k < VECTORS; k++) {
        held[(k + params.first) % VECTORS] = values(x, k);
    }
    var before = x;
    for (var turn = reserved[params.slot]; turn < params.turns; turn++) {
        // block: turn
        for (var k = 0u; k < VECTORS; k++) {
            let place = (k + params.first) % VECTORS;
            let next = step4(before, held[place], a);
            held[place] = next;
            before = next.w;
        }
    }
    output[index] = before;
}
