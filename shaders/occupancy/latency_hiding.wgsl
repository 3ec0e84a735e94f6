// How many subgroups does it take to hide a load's latency behind others' arithmetic?
//
// Dispatch: `workgroups` workgroups of `workgroup_size` invocations; one is on one core alone.
// Divergence expected: none.
//
// Each group of 32 invocations follows its own walk through a table: no load can start before the last
// came back. In `bare` there is nothing between two loads but the mask: that is the latency. In
// `worked` stand `multiply_adds` multiply-adds between them, which need the one and which the other
// needs. A walk goes on where the launch before left it, so that a table that is longer than a cache
// never comes from it.

struct Params {
    hops: u32,
    // The table's used length, a power of two, less one.
    mask: u32,
    // Of 16 multiply-adds each.
    rounds: u32,
    eight: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Element p holds 61 · p + 1: taken modulo a power of two, a walk through all places.
@group(0) @binding(1) var<storage, read> table: array<u32>;
// Where each group of 32 stands.
@group(0) @binding(2) var<storage, read_write> places: array<u32>;
// Of each invocation: where it began and where it ended.
@group(0) @binding(3) var<storage, read_write> walks: array<vec2<u32>>;

override workgroup_size: u32 = 32u;

@compute @workgroup_size(workgroup_size)
fn bare(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = workgroup.x * workgroup_size + local_index;
    let start = places[index / 32u] & params.mask;
    // All have read before anyone writes.
    storageBarrier();
    var place = start;
    for (var hop = 0u; hop < params.hops; hop++) {
        place = table[place] & params.mask;
    }
    walks[index] = vec2(start, place);
    if (local_index % 32u == 0u) {
        places[index / 32u] = place;
    }
}

@compute @workgroup_size(workgroup_size)
fn worked(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = workgroup.x * workgroup_size + local_index;
    let start = places[index / 32u] & params.mask;
    // All have read before anyone writes.
    storageBarrier();
    let a = vec4(params.a);
    let b = vec4(params.b);
    // v = v / 2 + 1 rests at 2.
    var v = vec4(2.0);
    var place = start;
    for (var hop = 0u; hop < params.hops; hop++) {
        place = table[place] & params.mask;
        // Always zero, as no place has the highest bit.
        v += vec4(f32(place >> 31u));
        for (var round = 0u; round < params.rounds; round++) {
            v = fma(v, a, b);
            v = fma(v, a, b);
            v = fma(v, a, b);
            v = fma(v, a, b);
        }
        // Always zero too: the sum is eight.
        place += u32(v.x + v.y + v.z + v.w) - params.eight;
    }
    walks[index] = vec2(start, place);
    if (local_index % 32u == 0u) {
        places[index / 32u] = place;
    }
}
