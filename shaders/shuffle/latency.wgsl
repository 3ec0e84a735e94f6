// How long does one link of a chain of dependent subgroup operations take?
//
// Dispatch: `workgroups` workgroups of `workgroup_size` invocations, each a chain of `links` links: one
// small workgroup shows the latency, many large ones the throughput.
// Divergence expected: none.
//
// One operation stands here, a fused multiply-add, what the others are held against; the description
// replaces its name, its types, its operands x and y, and the link. Every link needs the one before, and
// no operand is known before the kernel runs, so that no compiler can shorten the chain. The time of one
// link is the slope of the time over the number of links: what a launch costs besides falls out.
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

// What a chain carries from link to link, and what its links work with.
alias Value = f32;
alias Operand = f32;

fn multiply_add_4(start: Value, x: Operand, y: Operand) -> Value {
    var v = start;
    v = fma(v, x, y);
    v = fma(v, x, y);
    v = fma(v, x, y);
    v = fma(v, x, y);
    return v;
}

// Sixteen: what a turn of the loop costs besides must be small beside so short a link.
fn multiply_add_16(start: Value, x: Operand, y: Operand) -> Value {
    var v = start;
    v = multiply_add_4(v, x, y);
    v = multiply_add_4(v, x, y);
    v = multiply_add_4(v, x, y);
    v = multiply_add_4(v, x, y);
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
    let x = params.a; let y = params.b; var v = f32(local_index);
    for (var trip = 0u; trip < params.trips / 4u; trip++) {
        // block: multiply_add
        v = multiply_add_16(v, x, y);
        v = multiply_add_16(v, x, y); v = multiply_add_16(v, x, y); v = multiply_add_16(v, x, y);
    }
    output[index] = bitcast<u32>(v);
}

// One exchange through workgroup memory: a store, a barrier, a load from the next invocation around.
fn exchanged(v: u32, to: u32, from_where: u32) -> u32 {
    exchange[to] = v;
    workgroupBarrier();
    return exchange[from_where];
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
