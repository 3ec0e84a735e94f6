// How fast can one launch write every prefix sum of an array?
//
// Dispatch: `reset` with an invocation for each word of the state, then `main` with a workgroup for
// each tile of WORKGROUP * ITEMS * 4 elements, folded into two dimensions where there are many.
// Divergence expected: none but in the look-back, which one subgroup of each workgroup does.
//
// Each workgroup scans its tile, and needs the sum of all tiles before it. It publishes its tile's
// own sum at once, and then looks back over the tiles before it, one for each lane at a time: it
// adds up their sums until it meets one that knows all that came before (Merrill and Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVR-2016-002).
//
// A tile that has published nothing is waited for, but not for ever: WGSL does not promise that a
// waiting workgroup lets another one begin. After SPINS looks the waiting workgroup sums up that tile
// itself, publishes the sum, and goes on (Smith, Levien and Owens, "Decoupled Fallback: A Portable
// Single-Pass GPU Scan", SPAA 2025). So each workgroup ends by its own work alone.
//
// A tile's state is two words, half of a value's bits in each, and in each the flag that says what
// the value is. Atomics are relaxed, so a reader may see one word new and the other old; then the
// flags differ, and it looks again. Two words with the same flag hold the same value: what a flag
// stands for is the same value whoever published it, because both ways of summing a tile add in the
// same order. A flag only ever grows: `atomicMax` keeps a helper that comes late from undoing
// progress. Between the two words of its last sum a workgroup leaves flags that differ: were it stopped
// there, nobody could read its tile, so who has summed up a tile uses that sum and never looks again.
//
// A counter of ended workgroups could tell the last one to reset the state for the next launch. It
// was tried: on an H200 one more atomic on the same word by each workgroup cost a third of the time,
// `reset` two microseconds.
enable subgroups;
// The first subgroup, whole, scans and looks back alone: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

alias Element = u32;
const WORKGROUP = 256u;
// Vectors of four of each invocation.
const ITEMS = 4u;
// Whether element i of the output leaves out element i of the input.
const EXCLUSIVE = false;
// How often a workgroup looks at a tile in vain before it helps itself.
const SPINS = 256u;

// What a tile has published: nothing, its own sum, or the sum of everything up to its end.
const NOTHING = 0u;
const OWN = 1u;
const ALL = 2u;
// Flags stand above the 16 bits of side a value.
const FLAG_SHIFT = 16u;
const NONE = 0xffffffffu;

struct Params {
    // Elements.
    n: u32,
    // The element of `totals` with which the sums start; the next one takes the sum of all.
    part: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// The elements, four to a vector; what the last vector has beyond n is never used.
@group(0) @binding(1) var<storage, read> input: array<vec4<Element>>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4<Element>>;
// Two words a tile.
@group(0) @binding(3) var<storage, read_write> state: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> totals: array<Element>;

// The sum of each subgroup's part of a tile, then what stands before that part: at least 4 lanes
// make a subgroup.
var<workgroup> parts: array<Element, WORKGROUP / 4u>;
var<workgroup> before_tile: Element;
var<workgroup> missing_tile: u32;

// Where an invocation stands.
struct Place {
    local_index: u32,
    lane: u32,
    width: u32,
}

// A subgroup's vectors, scanned.
struct Scanned {
    // The sums within this lane's vector.
    vector: vec4<Element>,
    // The sum of the lanes before.
    before: Element,
    // The sum of all lanes.
    sum: Element,
}

// What a subgroup has found out about the tiles before its own.
struct LookBack {
    // The first tile that is counted in `sum`.
    first: u32,
    sum: Element,
}

// What a tile has published.
struct Seen {
    flag: u32,
    value: Element,
}

fn vectors_count() -> u32 {
    return (params.n + 3u) / 4u;
}

// The first vector of an invocation in a tile; the next ones lie a subgroup's width apart, so that
// neighbouring lanes load neighbouring vectors.
fn first_vector(tile: u32, place: Place) -> u32 {
    let part = place.local_index / place.width;
    return tile * WORKGROUP * ITEMS + part * place.width * ITEMS + place.lane;
}

// The sum of the lanes before, given each lane's sum up to and with itself.
fn before_lane(inclusive: Element, place: Place) -> Element {
    let neighbour = subgroupShuffle(inclusive, max(place.lane, 1u) - 1u);
    return select(neighbour, Element(0), place.lane == 0u);
}

fn scan_vector(loaded: vec4<Element>, place: Place) -> Scanned {
    var v = loaded;
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    let inclusive = subgroupInclusiveAdd(v.w);
    return Scanned(v, before_lane(inclusive, place), subgroupShuffle(inclusive, place.width - 1u));
}

// Turns the sums of the parts into what stands before each, by the first subgroup; gives the sum.
fn scan_parts(place: Place) -> Element {
    let count = WORKGROUP / place.width;
    var sum = Element(0);
    for (var first = 0u; first < count; first += place.width) {
        let i = first + place.lane;
        var part = Element(0);
        if (i < count) {
            part = parts[i];
        }
        let inclusive = subgroupInclusiveAdd(part);
        let before = sum + before_lane(inclusive, place);
        if (i < count) {
            parts[i] = before;
        }
        sum += subgroupShuffle(inclusive, place.width - 1u);
    }
    return sum;
}

// The sum of a tile, worked out in the same order as when the tile is scanned, so that floats agree
// to the last bit; valid in the first subgroup.
fn sum_tile(tile: u32, place: Place) -> Element {
    let first = first_vector(tile, place);
    var sum = Element(0);
    for (var k = 0u; k < ITEMS; k++) {
        sum += scan_vector(input[first + k * place.width], place).sum;
    }
    if (place.lane == 0u) {
        parts[place.local_index / place.width] = sum;
    }
    workgroupBarrier();
    var result = Element(0);
    if (place.local_index < place.width) {
        result = scan_parts(place);
    }
    return result;
}

fn publish(tile: u32, flag: u32, value: Element) {
    let bits = bitcast<u32>(value);
    atomicMax(&state[2u * tile], (flag << FLAG_SHIFT) | (bits & 0xffffu));
    atomicMax(&state[2u * tile + 1u], (flag << FLAG_SHIFT) | (bits >> 16u));
}

// Reads the tile at a distance before tile `first`; 0 is the nearest. What stands before the first
// tile of all is known: the sums start with it.
fn look(first: u32, distance: u32) -> Seen {
    if (distance >= first) {
        return Seen(ALL, totals[params.part]);
    }
    let tile = first - 1u - distance;
    let low = atomicLoad(&state[2u * tile]);
    let high = atomicLoad(&state[2u * tile + 1u]);
    let flag = select(NOTHING, low >> FLAG_SHIFT, low >> FLAG_SHIFT == high >> FLAG_SHIFT);
    return Seen(flag, bitcast<Element>((low & 0xffffu) | (high << 16u)));
}

// The least distance, a lane's number, at which there is the flag; the width where it is nowhere.
fn nearest(place: Place, seen: Seen, flag: u32) -> u32 {
    return subgroupMin(select(place.width, place.lane, seen.flag == flag));
}

// Looks back from where `found` got to, by the first subgroup. Gives the tile that has published
// nothing for too long, or NONE where the sum is complete.
fn look_back(place: Place, found: ptr<function, LookBack>) -> u32 {
    loop {
        var seen = look((*found).first, place.lane);
        var known = nearest(place, seen, ALL);
        var missing = nearest(place, seen, NOTHING);
        for (var spins = 0u; missing < known; spins++) {
            if (spins == SPINS) {
                // What lies nearer has been seen, and is not asked for again.
                (*found).sum += subgroupAdd(select(Element(0), seen.value, place.lane < missing));
                (*found).first -= missing;
                return (*found).first - 1u;
            }
            // A lane that has what it wants need not ask again.
            if (seen.flag == NOTHING) {
                seen = look((*found).first, place.lane);
            }
            known = nearest(place, seen, ALL);
            missing = nearest(place, seen, NOTHING);
        }
        (*found).sum += subgroupAdd(select(Element(0), seen.value, place.lane <= known));
        if (known < place.width) {
            return NONE;
        }
        (*found).first -= place.width;
    }
    return NONE;
}

// Writes a vector; of the last one only what lies before n, and the sum of all.
fn store(index: u32, value: vec4<Element>) {
    let rest = params.n - index * 4u;
    if (rest > 4u) {
        output[index] = value;
        return;
    }
    for (var i = 0u; i < 4u; i++) {
        if (i < rest) {
            output[index][i] = value[i];
        }
    }
    let left_out = select(Element(0), input[index][rest - 1u], EXCLUSIVE);
    totals[params.part + 1u] = value[rest - 1u] + left_out;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let place = Place(local_index, lane, width);
    let tile = workgroup.y * grid.x + workgroup.x;
    let tiles = (vectors_count() + WORKGROUP * ITEMS - 1u) / (WORKGROUP * ITEMS);
    if (tile >= tiles) {
        return;
    }

    // Scan the part of this subgroup.
    let first = first_vector(tile, place);
    var items: array<vec4<Element>, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        // Beyond the end any value does: nothing that is kept depends on it.
        items[k] = input[min(first + k * width, vectors_count() - 1u)];
    }
    var sum = Element(0);
    for (var k = 0u; k < ITEMS; k++) {
        let scanned = scan_vector(items[k], place);
        let up_to = scanned.vector;
        let sums = select(up_to, vec4(Element(0), up_to.xyz), EXCLUSIVE);
        items[k] = sums + (sum + scanned.before);
        sum += scanned.sum;
    }
    if (lane == 0u) {
        parts[local_index / width] = sum;
    }
    workgroupBarrier();

    // Publish this tile's sum.
    var own = Element(0);
    var found = LookBack(tile, Element(0));
    if (local_index < width) {
        own = scan_parts(place);
        if (tile == 0u) {
            found.sum = totals[params.part];
        } else if (lane == 0u) {
            publish(tile, OWN, own);
        }
    }
    workgroupBarrier();
    let before_part = parts[local_index / width];

    // Find what stands before this tile.
    loop {
        if (local_index < width) {
            var missing = NONE;
            if (tile != 0u) {
                missing = look_back(place, &found);
            }
            if (lane == 0u) {
                if (missing == NONE) {
                    publish(tile, ALL, found.sum + own);
                    before_tile = found.sum;
                }
                missing_tile = missing;
            }
        }
        let missing = workgroupUniformLoad(&missing_tile);
        if (missing == NONE) {
            break;
        }
        // block: fallback
        let helped = sum_tile(missing, place);
        if (local_index == 0u) {
            // block: publish_helped
            publish(missing, OWN, helped);
        }
        // Used here as it is: a workgroup that was stopped between the two words of a sum has left a
        // tile that cannot be read, whoever helps.
        found.sum += helped;
        found.first = missing;
    }

    // Write.
    let before = before_tile + before_part;
    for (var k = 0u; k < ITEMS; k++) {
        let index = first + k * width;
        if (index < vectors_count()) {
            store(index, items[k] + before);
        }
    }
}

// Zeroes the state.
@compute @workgroup_size(WORKGROUP)
fn reset(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * WORKGROUP + local_index;
    if (index < arrayLength(&state)) {
        atomicStore(&state[index], 0u);
    }
}
