// How long does one link of a chain of dependent subgroup operations take?
//
// Dispatch: `workgroups` workgroups of `workgroup_size` invocations, each a chain of `links` links: one
// small workgroup shows the latency, many large ones the throughput.
// Divergence expected: none.
//
// An entry point for each operation. Every link needs the one before, and no operand is known before
// the kernel runs, so that no compiler can shorten the chain. The time of one link is the slope of the
// time over the number of links: what a launch costs besides falls out.
enable subgroups;

struct Params {
    // Of 16 links each.
    trips: u32,
    a: f32,
    b: f32,
    zero: u32,
    one: u32,
    three: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Of each invocation: the subgroup's size, its lane, the subgroup's number, one.
@group(0) @binding(1) var<storage, read_write> seats: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;

override workgroup_size: u32 = 32u;

// Two halves in turn, so that one barrier a link is enough: a lane that is a link ahead writes into
// the half that nobody reads.
var<workgroup> exchange: array<u32, 2048>;

// One fused multiply-add: what the others are held against.
fn multiply_add_4(start: f32, a: f32, b: f32) -> f32 {
    var v = start;
    v = fma(v, a, b);
    v = fma(v, a, b);
    v = fma(v, a, b);
    v = fma(v, a, b);
    return v;
}

// Sixteen: what a turn of the loop costs besides must be small beside so short a link.
fn multiply_add_16(start: f32, a: f32, b: f32) -> f32 {
    var v = start;
    v = multiply_add_4(v, a, b);
    v = multiply_add_4(v, a, b);
    v = multiply_add_4(v, a, b);
    v = multiply_add_4(v, a, b);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn multiply_add(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let a = params.a;
    let b = params.b;
    var v = f32(local_index);
    for (var trip = 0u; trip < params.trips / 4u; trip++) {
        // block: multiply_add
        v = multiply_add_16(v, a, b);
        v = multiply_add_16(v, a, b);
        v = multiply_add_16(v, a, b);
        v = multiply_add_16(v, a, b);
    }
    output[index] = bitcast<u32>(v);
}

// From the next lane around, by a lane number that each lane holds.
fn shuffle_4(start: u32, source: u32) -> u32 {
    var v = start;
    v = subgroupShuffle(v, source);
    v = subgroupShuffle(v, source);
    v = subgroupShuffle(v, source);
    v = subgroupShuffle(v, source);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn shuffle(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let lanes = min(size, workgroup_size);
    let source = (lane + params.one) % lanes;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: shuffle
        v = shuffle_4(v, source);
        v = shuffle_4(v, source);
        v = shuffle_4(v, source);
        v = shuffle_4(v, source);
    }
    output[index] = v;
}

// From the partner across a mask of 1: after an even number of links each lane has its own again.
fn shuffle_xor_4(start: u32, mask: u32) -> u32 {
    var v = start;
    v = subgroupShuffleXor(v, mask);
    v = subgroupShuffleXor(v, mask);
    v = subgroupShuffleXor(v, mask);
    v = subgroupShuffleXor(v, mask);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn shuffle_xor(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let mask = params.one;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: shuffle_xor
        v = shuffle_xor_4(v, mask);
        v = shuffle_xor_4(v, mask);
        v = shuffle_xor_4(v, mask);
        v = shuffle_xor_4(v, mask);
    }
    output[index] = v;
}

// From as many lanes below as the buffer says: none, so that every source is there.
fn shuffle_up_4(start: u32, distance: u32) -> u32 {
    var v = start;
    v = subgroupShuffleUp(v, distance);
    v = subgroupShuffleUp(v, distance);
    v = subgroupShuffleUp(v, distance);
    v = subgroupShuffleUp(v, distance);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn shuffle_up(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let distance = params.zero;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: shuffle_up
        v = shuffle_up_4(v, distance);
        v = shuffle_up_4(v, distance);
        v = shuffle_up_4(v, distance);
        v = shuffle_up_4(v, distance);
    }
    output[index] = v;
}

// From as many lanes above: none.
fn shuffle_down_4(start: u32, distance: u32) -> u32 {
    var v = start;
    v = subgroupShuffleDown(v, distance);
    v = subgroupShuffleDown(v, distance);
    v = subgroupShuffleDown(v, distance);
    v = subgroupShuffleDown(v, distance);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn shuffle_down(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let distance = params.zero;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: shuffle_down
        v = shuffle_down_4(v, distance);
        v = shuffle_down_4(v, distance);
        v = shuffle_down_4(v, distance);
        v = shuffle_down_4(v, distance);
    }
    output[index] = v;
}

// From the first active lane, plus what is each lane's own: what all lanes share needs no broadcast.
fn broadcast_first_4(start: u32, own: u32) -> u32 {
    var v = start;
    v = subgroupBroadcastFirst(v) + own;
    v = subgroupBroadcastFirst(v) + own;
    v = subgroupBroadcastFirst(v) + own;
    v = subgroupBroadcastFirst(v) + own;
    return v;
}

@compute @workgroup_size(workgroup_size)
fn broadcast_first(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let own = lane + params.one;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: broadcast_first
        v = broadcast_first_4(v, own);
        v = broadcast_first_4(v, own);
        v = broadcast_first_4(v, own);
        v = broadcast_first_4(v, own);
    }
    output[index] = v;
}

// The sum of whole numbers over the subgroup, plus what is each lane's own; it wraps around.
fn add_u32_4(start: u32, own: u32) -> u32 {
    var v = start;
    v = subgroupAdd(v) + own;
    v = subgroupAdd(v) + own;
    v = subgroupAdd(v) + own;
    v = subgroupAdd(v) + own;
    return v;
}

@compute @workgroup_size(workgroup_size)
fn add_u32(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let own = lane + params.one;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: add_u32
        v = add_u32_4(v, own);
        v = add_u32_4(v, own);
        v = add_u32_4(v, own);
        v = add_u32_4(v, own);
    }
    output[index] = v;
}

// The mean of floats over the subgroup, plus what is each lane's own: exact in any order of adding.
fn add_f32_4(start: f32, part: f32, own: f32) -> f32 {
    var v = start;
    v = fma(subgroupAdd(v), part, own);
    v = fma(subgroupAdd(v), part, own);
    v = fma(subgroupAdd(v), part, own);
    v = fma(subgroupAdd(v), part, own);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn add_f32(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let part = 1.0 / f32(min(size, workgroup_size));
    let own = f32(lane);
    var v = f32(lane);
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: add_f32
        v = add_f32_4(v, part, own);
        v = add_f32_4(v, part, own);
        v = add_f32_4(v, part, own);
        v = add_f32_4(v, part, own);
    }
    output[index] = bitcast<u32>(v);
}

// A comparison and a vote: each lane compares the first word of the mask with a bound of its own.
fn ballot_4(start: u32, bound: u32) -> u32 {
    var v = start;
    v = subgroupBallot(v < bound).x;
    v = subgroupBallot(v < bound).x;
    v = subgroupBallot(v < bound).x;
    v = subgroupBallot(v < bound).x;
    return v;
}

@compute @workgroup_size(workgroup_size)
fn ballot(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let bound = lane * params.one;
    var v = lane;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: ballot
        v = ballot_4(v, bound);
        v = ballot_4(v, bound);
        v = ballot_4(v, bound);
        v = ballot_4(v, bound);
    }
    output[index] = v;
}

// A comparison, a vote and a choice between two values of each lane's own.
fn any_4(start: u32, on: u32, off: u32) -> u32 {
    var v = start;
    v = select(on, off, subgroupAny(v == on));
    v = select(on, off, subgroupAny(v == on));
    v = select(on, off, subgroupAny(v == on));
    v = select(on, off, subgroupAny(v == on));
    return v;
}

@compute @workgroup_size(workgroup_size)
fn any(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let on = lane + params.one;
    let off = lane + params.three;
    var v = on;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: any
        v = any_4(v, on, off);
        v = any_4(v, on, off);
        v = any_4(v, on, off);
        v = any_4(v, on, off);
    }
    output[index] = v;
}

// One exchange through workgroup memory: a store, a barrier, a load from the next invocation around.
fn exchanged(v: u32, to: u32, from_where: u32) -> u32 {
    exchange[to] = v;
    workgroupBarrier();
    return exchange[from_where];
}

fn memory_4(start: u32, to: u32, from_where: u32) -> u32 {
    var v = exchanged(start, to, from_where);
    v = exchanged(v, to + 1024u, from_where + 1024u);
    v = exchanged(v, to, from_where);
    return exchanged(v, to + 1024u, from_where + 1024u);
}

@compute @workgroup_size(workgroup_size)
fn memory(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let from_where = (local_index + params.one) % workgroup_size;
    var v = local_index;
    for (var trip = 0u; trip < params.trips; trip++) {
        // block: memory
        v = memory_4(v, local_index, from_where);
        v = memory_4(v, local_index, from_where);
        v = memory_4(v, local_index, from_where);
        v = memory_4(v, local_index, from_where);
    }
    output[index] = v;
}

// A whole reduction by shuffles: log2 of the lanes' number of steps, then the division.
fn reduced_by_shuffle(v: u32, lanes: u32) -> u32 {
    var sum = v;
    if (lanes > 1u) {
        sum += subgroupShuffleXor(sum, 1u);
    }
    if (lanes > 2u) {
        sum += subgroupShuffleXor(sum, 2u);
    }
    if (lanes > 4u) {
        sum += subgroupShuffleXor(sum, 4u);
    }
    if (lanes > 8u) {
        sum += subgroupShuffleXor(sum, 8u);
    }
    if (lanes > 16u) {
        sum += subgroupShuffleXor(sum, 16u);
    }
    if (lanes > 32u) {
        sum += subgroupShuffleXor(sum, 32u);
    }
    if (lanes > 64u) {
        sum += subgroupShuffleXor(sum, 64u);
    }
    return sum >> firstTrailingBit(lanes);
}

// A link is a whole reduction, long enough for a turn of four.
fn reduce_shuffle_4(start: u32, lanes: u32) -> u32 {
    var v = start;
    v = reduced_by_shuffle(v, lanes);
    v = reduced_by_shuffle(v, lanes);
    v = reduced_by_shuffle(v, lanes);
    v = reduced_by_shuffle(v, lanes);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn reduce_shuffle(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let lanes = min(size, workgroup_size);
    var v = local_index;
    for (var trip = 0u; trip < params.trips * 4u; trip++) {
        // block: reduce_shuffle
        v = reduce_shuffle_4(v, lanes);
    }
    output[index] = v;
}

// The same through workgroup memory: a store, a barrier and a load for each step. Returns the sum, and
// the place to which the next step must not write.
fn reduced_by_memory(state: vec2<u32>, lanes: u32) -> vec2<u32> {
    var sum = state.x;
    var to = state.y;
    if (lanes > 1u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 1u);
    }
    if (lanes > 2u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 2u);
    }
    if (lanes > 4u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 4u);
    }
    if (lanes > 8u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 8u);
    }
    if (lanes > 16u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 16u);
    }
    if (lanes > 32u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 32u);
    }
    if (lanes > 64u) {
        to ^= 1024u;
        sum += exchanged(sum, to, to ^ 64u);
    }
    return vec2(sum >> firstTrailingBit(lanes), to);
}

// A link is a whole reduction, long enough for a turn of four.
fn reduce_memory_4(start: vec2<u32>, lanes: u32) -> vec2<u32> {
    var v = start;
    v = reduced_by_memory(v, lanes);
    v = reduced_by_memory(v, lanes);
    v = reduced_by_memory(v, lanes);
    v = reduced_by_memory(v, lanes);
    return v;
}

@compute @workgroup_size(workgroup_size)
fn reduce_memory(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * workgroup_size + local_index;
    seats[index] = vec4(size, lane, subgroup, 1u);
    let lanes = min(size, workgroup_size);
    var v = vec2(local_index, local_index);
    for (var trip = 0u; trip < params.trips * 4u; trip++) {
        // block: reduce_memory
        v = reduce_memory_4(v, lanes);
    }
    output[index] = v.x;
}
