// Where does each element go when elements are put into order by class, stably, in linear time?
//
// Dispatches, one after the other:
//   1. few_count or many_count      one workgroup a chunk of tiles: counts of each class
//   2. scan                         one workgroup a class: counts become places, totals are left;
//                                   not with FOLD
//   3. few_permutation, few_pairs   one workgroup a chunk: ranks, local order, and the writes
//      or many_permutation,         one workgroup a tile
//      many_pairs
// `few` takes up to 8 classes, or 16 with ROOM = 16; `many` up to 1 << BITS, 256 at most.
// Divergence expected: none but the last tile's; every lane has its keys.
//
// No workgroup waits for another, so nothing is asked of the scheduler. Keys are read once: the
// first dispatch leaves them packed, 4 bits a key (`few`) or 8 (`many`), for the third.
// Lanes are ranked in groups of 32, whatever the width: a wider subgroup has several groups, and
// narrower ones put their results together in workgroup memory.
//
// Buffers hold n elements rounded up to a multiple of 4; `packed` a whole number of chunks. Keys
// past n count as the last class: they come after all others, and what they would write is left out.

struct Split {
    // Keys.
    n: u32,
    // Classes: keys lie below it.
    classes: u32,
    // Workgroups of the first dispatch.
    chunks: u32,
    // Tiles that a workgroup takes one after the other: at most 32, for `many` 16.
    tiles_per_chunk: u32,
    // Whether `inverse` is written.
    inverse: u32,
}

// Invocations a workgroup: a multiple of 32 and of the width; `many` needs 1 << BITS or more, and no
// more than 256.
override THREADS: u32 = 256u;
// Invocations of a workgroup of `scan`: one goes through the chunks of a class by itself.
override SCAN_THREADS: u32 = 256u;
// Packed words of 4 keys a lane and tile for `many`, 1, 2 or 3; `few` has one word of 8 keys.
override MANY_ROWS: u32 = 3u;
// The classes that `few` has room for, 8 or 16.
override ROOM: u32 = 8u;
// Bits of a class for `many`.
override BITS: u32 = 8u;

// Whether subgroups may have fewer than 32 lanes, and more: a host that knows better saves code.
override NARROW: bool = true;
override WIDE: bool = true;
// Lengths of arrays, each with a name of its own: naga 30 takes no expression there in a pipeline.
override SUBGROUPS_MAX: u32 = (THREADS + SCAN_THREADS) / 4u;

@group(0) @binding(0) var<uniform> split: Split;
@group(0) @binding(1) var<storage, read_write> keys: array<vec4<u32>>;
// 0, or the bits of the first index whose key is no class, inverted.
@group(0) @binding(2) var<storage, read_write> status: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> packed: array<u32>;
// [classes × chunks]: counts, then places within the class.
@group(0) @binding(4) var<storage, read_write> counts: array<u32>;
// [classes]: elements of each class.
@group(0) @binding(5) var<storage, read_write> totals: array<u32>;
// [classes + 1]: where each class begins, then n.
@group(0) @binding(6) var<storage, read_write> offsets: array<u32>;
// [n]: the index of the element that goes to each place.
@group(0) @binding(7) var<storage, read_write> permutation: array<u32>;
// [n]: the place that each element goes to.
@group(0) @binding(8) var<storage, read_write> inverse: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read> payload: array<vec4<u32>>;
// [n]: payload and keys in order.
@group(0) @binding(10) var<storage, read_write> payload_sorted: array<u32>;
@group(0) @binding(11) var<storage, read_write> keys_sorted: array<u32>;

// Sums of whole subgroups: as many as the narrowest width, 4, makes.
var<workgroup> partial: array<u32, SUBGROUPS_MAX>;
var<workgroup> width_shared: u32;

// Which lane of which group an invocation is: `place` counts lanes through the workgroup.
struct Lane {
    place: u32,
    group: u32,
    // In the group of 32.
    index: u32,
    subgroup: u32,
    // In the subgroup.
    lane: u32,
}

// The width, which is known to be the same for the whole workgroup, so that barriers may depend on it.
// Apart from `Lane`: to WGSL, a struct is as uniform as the least uniform of its members.
struct Width {
    lanes: u32,
    // Whether subgroups have fewer than 32 lanes.
    narrow: bool,
}

fn lane_of(subgroup: u32, lane: u32, width: u32) -> Lane {
    let place = subgroup * width + lane;
    return Lane(place, place / 32u, place % 32u, subgroup, lane);
}

fn width_of(at: Lane, width: u32) -> Width {
    if (at.place == 0u) {
        width_shared = width;
    }
    let alike = workgroupUniformLoad(&width_shared);
    return Width(alike, NARROW && alike < 32u);
}

// The sum of `value` over the lower lanes of the group of 32, or of the subgroup where that is
// narrower. By shuffles: on NVIDIA the built-in scan took over twice the time.
fn group_exclusive(at: Lane, value: u32) -> u32 {
    let index = min(at.index, at.lane);
    var sum = value;
    for (var step = 1u; step < 32u; step *= 2u) {
        // A lane that has no lower one asks itself, and adds nothing.
        let far = index >= step;
        let lower = subgroupShuffle(sum, at.lane - select(0u, step, far));
        sum += select(0u, lower, far);
    }
    return sum - value;
}

// The sum of `value` over the lanes of lower place in a workgroup of `threads`, and over all.
fn workgroup_exclusive(at: Lane, width: Width, value: u32, threads: u32) -> vec2<u32> {
    let before = subgroupExclusiveAdd(value);
    if (at.lane == width.lanes - 1u) {
        partial[at.subgroup] = before + value;
    }
    workgroupBarrier();
    var base = 0u;
    for (var i = 0u; i < at.subgroup; i++) {
        base += partial[i];
    }
    var all = base;
    for (var i = at.subgroup; i < threads / width.lanes; i++) {
        all += partial[i];
    }
    workgroupBarrier();
    return vec2(base + before, all);
}

// Running sums of four counts from the i-th of a row on.
fn scan_load(row: u32, i: u32) -> vec4<u32> {
    // Loads without branches, so that they overlap; what is past the end counts nothing.
    let last = split.chunks - 1u;
    let loaded = vec4(
        counts[row + min(i, last)],
        counts[row + min(i + 1u, last)],
        counts[row + min(i + 2u, last)],
        counts[row + min(i + 3u, last)],
    );
    var value = select(vec4(0u), loaded, vec4(i) + vec4(0u, 1u, 2u, 3u) <= vec4(last));
    value.y += value.x;
    value.z += value.y;
    value.w += value.z;
    return value;
}

fn scan_store(row: u32, i: u32, before: u32, sums: vec4<u32>) {
    if (i < split.chunks) { counts[row + i] = before; }
    if (i + 1u < split.chunks) { counts[row + i + 1u] = before + sums.x; }
    if (i + 2u < split.chunks) { counts[row + i + 2u] = before + sums.y; }
    if (i + 3u < split.chunks) { counts[row + i + 3u] = before + sums.z; }
}

// Counts of a class become places: one workgroup a class.
@compute @workgroup_size(SCAN_THREADS)
fn scan(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    let row = workgroup.x * split.chunks;
    var carry = 0u;
    for (var first = 0u; first < split.chunks; first += SCAN_THREADS * 16u) {
        let i = first + at.place * 16u;
        let a = scan_load(row, i);
        let b = scan_load(row, i + 4u);
        let c = scan_load(row, i + 8u);
        let d = scan_load(row, i + 12u);
        let ab = a.w + b.w;
        let sums = workgroup_exclusive(at, known, ab + c.w + d.w, SCAN_THREADS);
        let before = carry + sums.x;
        scan_store(row, i, before, a);
        scan_store(row, i + 4u, before + a.w, b);
        scan_store(row, i + 8u, before + ab, c);
        scan_store(row, i + 12u, before + ab + c.w, d);
        carry += sums.y;
    }
    if (at.place == 0u) {
        totals[workgroup.x] = carry;
    }
}

// Says that the key at `index` is no class.
fn refuse(index: u32) {
    atomicMax(&status, ~index);
}


// The key of an element.
fn key_at(i: u32) -> u32 {
    return keys[i / 4u][i % 4u];
}

// Sets the key of an element, for kernels that work keys out.
fn set_key(i: u32, key: u32) {
    keys[i / 4u][i % 4u] = key;
}
