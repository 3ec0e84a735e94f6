// Many classes: a lane has MANY_ROWS words of 4 keys in a row, but ranks keys by rows of 32, one a lane,
// in their order. Ballots of a class's bits find the lanes that share it.
//
// The first dispatch has a workgroup a chunk and counts its tiles one by one, up to 16 of them; the third
// has a workgroup a tile, so that tiles that run at a time lie side by side in the order as well, and what
// they write there fills whole lines of a cache. An H200 takes a fifth longer where a workgroup of the
// third takes four tiles one after the other.
// Workgroup memory is what there is least of: an H200 gives a core some 55 KiB of it through Vulkan.
// So groups' counters and the staged elements take turns in `many_room`.

override BINS: u32 = 1u << BITS;
override GROUPS: u32 = THREADS / 32u;
override MANY_TILE: u32 = MANY_ROWS * THREADS * 4u;
override TALLIES: u32 = GROUPS * BINS;
override MANY_ROOM: u32 = THREADS * max(8u, MANY_ROWS * 4u);
override MANY_COUNTED: u32 = 8u * BINS;
override MANY_SUMS: u32 = max(8u, GROUPS) + THREADS / 4u * u32(NARROW);
override VOTES: u32 = 1u + GROUPS * 8u * u32(NARROW);
override TOLD: u32 = 1u + THREADS * u32(NARROW);

// [tiles of a chunk / 2 × classes]: counts of two tiles, 16 bits each.
var<workgroup> many_counts: array<atomic<u32>, MANY_COUNTED>;
// [groups × classes]: counts, then where in the tile the group's keys of a class begin; in turn with
// what goes out, in the tile's order by class.
var<workgroup> many_room: array<atomic<u32>, MANY_ROOM>;
// Where the tile's keys of each class go, less their place in the tile.
var<workgroup> many_delta: array<u32, BINS>;
// The classes at both ends of a tile's part of `keys_filled`.
var<workgroup> many_ends: array<u32, 2>;
var<workgroup> many_sums: array<u32, MANY_SUMS>;
// Ballots of narrow subgroups put together, a word a bit and group; and what leaders were told.
var<workgroup> narrow_votes: array<atomic<u32>, VOTES>;
var<workgroup> narrow_told: array<u32, TOLD>;

// [n]: the keys in order once more, by fours.
@group(0) @binding(11) var<storage, read_write> keys_filled: array<vec4<u32>>;
// [tiles × classes / 2]: of each tile, how many keys of two classes the tiles before it in its chunk
// have, 16 bits each.
@group(0) @binding(12) var<storage, read_write> many_before: array<u32>;

// Four keys from element 4 · i on. Keys past n become the last class, and so do those that are no
// class, which are told.
fn many_load(i: u32) -> vec4<u32> {
    let last = split.classes - 1u;
    let first = i * 4u;
    var four = vec4(last);
    if (first < split.n) {
        four = keys[i];
    }
    let largest = max(max(four.x, four.y), max(four.z, four.w));
    if (largest > last || first + 4u > split.n) {
        for (var j = 0u; j < 4u; j++) {
            let key = select(select(four.x, four.y, j == 1u), select(four.z, four.w, j == 3u), j > 1u);
            if (first + j < split.n && key > last) {
                refuse(first + j);
                break;
            }
        }
        let inside = vec4(first) + vec4(0u, 1u, 2u, 3u) < vec4(split.n);
        four = select(vec4(last), min(four, vec4(last)), inside);
    }
    return four;
}

// Packs four keys and adds them to the tile's counts: once where the whole subgroup has one class.
fn many_tally(at: Lane, width: Width, tile: u32, word: u32, four: vec4<u32>, alike: bool) {
    packed[word] = four.x | (four.y << 8u) | (four.z << 16u) | (four.w << 24u);
    let row = tile / 2u * BINS;
    let one = 1u << (tile % 2u * 16u);
    if (alike) {
        if (at.lane == 0u) {
            atomicAdd(&many_counts[row + four.x], width.lanes * 4u * one);
        }
    } else {
        atomicAdd(&many_counts[row + four.x], one);
        atomicAdd(&many_counts[row + four.y], one);
        atomicAdd(&many_counts[row + four.z], one);
        atomicAdd(&many_counts[row + four.w], one);
    }
}

// Counts and packs a chunk that has all its keys: four words at a time, loads before all else, so that
// they overlap. Keys that are no class count as the last, and are looked for at the end: an H200 takes a
// quarter longer where each is asked for at once.
fn many_count_whole(at: Lane, width: Width, first: u32, words: u32) {
    let last = split.classes - 1u;
    var largest = vec4(0u);
    for (var i = 0u; i < words; i += 4u) {
        let rows = min(vec4(i) + vec4(0u, 1u, 2u, 3u), vec4(words - 1u));
        let tile = rows / vec4(MANY_ROWS);
        let word = vec4(first) + rows * THREADS;
        let a = keys[word.x];
        let b = keys[word.y];
        let c = keys[word.z];
        let d = keys[word.w];
        let high = max(max(a, b), max(c, d));
        let low = min(min(a, b), min(c, d));
        let highest = max(max(high.x, high.y), max(high.z, high.w));
        let lowest = min(min(low.x, low.y), min(low.z, low.w));
        let leading = subgroupBroadcastFirst(highest);
        let alike = subgroupAll(highest == lowest && highest == leading);
        largest = max(largest, high);
        many_tally(at, width, tile.x, word.x, min(a, vec4(last)), alike);
        if (i + 1u < words) { many_tally(at, width, tile.y, word.y, min(b, vec4(last)), alike); }
        if (i + 2u < words) { many_tally(at, width, tile.z, word.z, min(c, vec4(last)), alike); }
        if (i + 3u < words) { many_tally(at, width, tile.w, word.w, min(d, vec4(last)), alike); }
    }
    if (max(max(largest.x, largest.y), max(largest.z, largest.w)) > last) {
        for (var i = 0u; i < words; i++) {
            _ = many_load(first + i * THREADS);
        }
    }
}

// Counts the classes of a chunk's tiles and packs its keys.
@compute @workgroup_size(THREADS)
fn many_count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    for (var i = at.place; i < MANY_COUNTED; i += THREADS) {
        atomicStore(&many_counts[i], 0u);
    }
    workgroupBarrier();
    let words = split.tiles_per_chunk * MANY_ROWS;
    let first = workgroup.x * words * THREADS + at.place;
    if ((workgroup.x + 1u) * words * THREADS * 4u <= split.n) {
        many_count_whole(at, known, first, words);
    } else {
        for (var i = 0u; i < words; i++) {
            let word = first + i * THREADS;
            many_tally(at, known, i / MANY_ROWS, word, many_load(word), false);
        }
    }
    workgroupBarrier();
    for (var pair = at.place; pair < BINS / 2u; pair += THREADS) {
        let bin = pair * 2u;
        var low = 0u;
        var high = 0u;
        let first_tile = workgroup.x * split.tiles_per_chunk;
        for (var tile = 0u; tile < split.tiles_per_chunk; tile++) {
            many_before[(first_tile + tile) * (BINS / 2u) + pair] = low | (high << 16u);
            let row = tile / 2u * BINS + bin;
            let shift = tile % 2u * 16u;
            low += (atomicLoad(&many_counts[row]) >> shift) & 0xffffu;
            high += (atomicLoad(&many_counts[row + 1u]) >> shift) & 0xffffu;
        }
        if (bin < split.classes) {
            counts[bin * split.chunks + workgroup.x] = low;
        }
        if (bin + 1u < split.classes) {
            counts[(bin + 1u) * split.chunks + workgroup.x] = high;
        }
    }
}

// The sum of `value` over the invocations of lower place. A barrier has to lie between two calls.
fn many_exclusive(at: Lane, width: Width, value: u32) -> u32 {
    let lanes = min(width.lanes, 32u);
    let unit = at.place / lanes;
    var sum = group_exclusive(at, value);
    if (at.place % lanes == lanes - 1u) {
        many_sums[unit] = sum + value;
    }
    workgroupBarrier();
    if (width.narrow) {
        for (var i = 0u; i < unit; i++) {
            sum += many_sums[i];
        }
    } else {
        for (var i = 0u; i < GROUPS; i++) {
            sum += select(0u, many_sums[i], i < unit);
        }
    }
    return sum;
}

// The lanes of the group whose bit is set.
fn group_ballot(at: Lane, bit: bool) -> u32 {
    let votes = subgroupBallot(bit);
    if (!WIDE) {
        return votes.x;
    }
    let low = select(votes.x, votes.y, at.lane >= 32u);
    return select(low, select(votes.z, votes.w, at.lane >= 96u), at.lane >= 64u);
}

// The lanes of the group that have the same key.
fn group_match(at: Lane, width: Width, key: u32) -> u32 {
    var same = ~0u;
    if (width.narrow) {
        if (at.index < 8u) {
            atomicStore(&narrow_votes[at.group * 8u + at.index], 0u);
        }
        workgroupBarrier();
        for (var bit = 0u; bit < BITS; bit++) {
            let votes = subgroupBallot(((key >> bit) & 1u) != 0u).x;
            if (at.lane == 0u) {
                atomicOr(&narrow_votes[at.group * 8u + bit], votes << at.index);
            }
        }
        workgroupBarrier();
        for (var bit = 0u; bit < BITS; bit++) {
            let votes = atomicLoad(&narrow_votes[at.group * 8u + bit]);
            same &= select(~votes, votes, ((key >> bit) & 1u) != 0u);
        }
        workgroupBarrier();
    } else {
        for (var bit = 0u; bit < BITS; bit++) {
            let has = ((key >> bit) & 1u) != 0u;
            let votes = group_ballot(at, has);
            same &= select(~votes, votes, has);
        }
    }
    return same;
}

// The rank of a row's key among its group's keys of the class so far. The group's lanes are in step: its
// last lane of a class has counted for the next row before that begins.
fn many_rank(at: Lane, width: Width, key: u32) -> u32 {
    let same = group_match(at, width, key);
    let below = countOneBits(same & ((1u << at.index) - 1u));
    let last = firstLeadingBit(same);
    let entry = at.group * BINS + key;
    var counted = 0u;
    if (width.narrow) {
        if (at.index == last) {
            counted = atomicAdd(&many_room[entry], below + 1u);
        }
        narrow_told[at.place] = counted;
        workgroupBarrier();
        counted = narrow_told[at.group * 32u + last];
        workgroupBarrier();
    } else {
        counted = subgroupShuffle(atomicLoad(&many_room[entry]), (at.lane & ~31u) + last);
        if (at.index == last) {
            atomicStore(&many_room[entry], counted + below + 1u);
        }
    }
    return counted + below;
}

fn many_ranks(at: Lane, width: Width, key: vec4<u32>) -> vec4<u32> {
    let a = many_rank(at, width, key.x);
    let b = many_rank(at, width, key.y);
    let c = many_rank(at, width, key.z);
    let d = many_rank(at, width, key.w);
    return vec4(a, b, c, d);
}

// The keys of a lane in four rows, of which the group's `word`-th packed words have 32 keys each; `own`
// is the lane's of these words, loaded before.
fn many_keys(at: Lane, width: Width, own: u32, word: u32) -> vec4<u32> {
    let from_lane = vec4(at.index / 4u) + vec4(0u, 8u, 16u, 24u);
    var words = vec4(0u);
    if (width.narrow) {
        words = vec4(
            packed[word + from_lane.x],
            packed[word + from_lane.y],
            packed[word + from_lane.z],
            packed[word + from_lane.w],
        );
    } else {
        let lane = from_lane + vec4(at.lane & ~31u);
        words.x = subgroupShuffle(own, lane.x);
        words.y = subgroupShuffle(own, lane.y);
        words.z = subgroupShuffle(own, lane.z);
        words.w = subgroupShuffle(own, lane.w);
    }
    return (words >> vec4((at.index % 4u) * 8u)) & vec4(255u);
}

// Of the invocation's class: where it begins, how many there are, and where the tile's go.
struct Bin {
    start: u32,
    count: u32,
    goal: u32,
}

// What the invocation knows of its class before the tile is ranked; clears the groups' counters. The first
// workgroup writes where classes begin.
fn many_start(at: Lane, width: Width, number: u32) -> Bin {
    var bin = Bin(0u, 0u, 0u);
    if (at.place < split.classes) {
        let half = many_before[number * (BINS / 2u) + at.place / 2u];
        bin.count = totals[at.place];
        bin.goal = counts[at.place * split.chunks + number / split.tiles_per_chunk]
            + ((half >> (at.place % 2u * 16u)) & 0xffffu);
    }
    for (var i = at.place; i < TALLIES; i += THREADS) {
        atomicStore(&many_room[i], 0u);
    }
    bin.start = many_exclusive(at, width, bin.count);
    bin.goal += bin.start;
    if (number == 0u) {
        if (at.place < split.classes) {
            offsets[at.place] = bin.start;
        }
        if (at.place == 0u) {
            offsets[split.classes] = split.n;
        }
    }
    return bin;
}

// The counts of four groups: loads before stores, so that they overlap.
fn many_four(entry: u32) -> vec4<u32> {
    return vec4(
        atomicLoad(&many_room[entry]),
        atomicLoad(&many_room[entry + BINS]),
        atomicLoad(&many_room[entry + 2u * BINS]),
        atomicLoad(&many_room[entry + 3u * BINS]),
    );
}

fn many_four_set(entry: u32, first: u32, four: vec4<u32>) {
    atomicStore(&many_room[entry], first);
    atomicStore(&many_room[entry + BINS], first + four.x);
    atomicStore(&many_room[entry + 2u * BINS], first + four.x + four.y);
    atomicStore(&many_room[entry + 3u * BINS], first + four.x + four.y + four.z);
}

// Turns the groups' counts into places in the tile, and leaves `many_delta` and `many_ends`.
fn many_begin(at: Lane, width: Width, tile: u32, bin: Bin) {
    workgroupBarrier();
    var low = vec4(0u);
    var high = vec4(0u);
    if (at.place < BINS) {
        low = many_four(at.place);
        if (GROUPS > 4u) { high = many_four(4u * BINS + at.place); }
    }
    let low_sum = low.x + low.y + low.z + low.w;
    let first = many_exclusive(at, width, low_sum + high.x + high.y + high.z + high.w);
    if (at.place < BINS) {
        many_four_set(at.place, first, low);
        if (GROUPS > 4u) { many_four_set(4u * BINS + at.place, first + low_sum, high); }
        many_delta[at.place] = bin.goal - first;
        let end = min(tile + MANY_TILE, split.n) - 1u;
        if (tile >= bin.start && tile - bin.start < bin.count) {
            many_ends[0] = at.place;
        }
        if (end >= bin.start && end - bin.start < bin.count) {
            many_ends[1] = at.place;
        }
    }
    workgroupBarrier();
}

// The places in the tile of a lane's keys, from their ranks.
fn many_places(at: Lane, key: vec4<u32>, ranks: vec4<u32>) -> vec4<u32> {
    let entry = key + vec4(at.group * BINS);
    return ranks + vec4(
        atomicLoad(&many_room[entry.x]),
        atomicLoad(&many_room[entry.y]),
        atomicLoad(&many_room[entry.z]),
        atomicLoad(&many_room[entry.w]),
    );
}

fn many_put(places: vec4<u32>, values: vec4<u32>) {
    atomicStore(&many_room[places.x], values.x);
    atomicStore(&many_room[places.y], values.y);
    atomicStore(&many_room[places.z], values.z);
    atomicStore(&many_room[places.w], values.w);
}

// What is staged for four places THREADS apart.
fn many_staged(slot: u32) -> vec4<u32> {
    return vec4(
        atomicLoad(&many_room[slot]),
        atomicLoad(&many_room[slot + THREADS]),
        atomicLoad(&many_room[slot + 2u * THREADS]),
        atomicLoad(&many_room[slot + 3u * THREADS]),
    );
}

// The first packed word of a group's part of a tile.
fn many_word(at: Lane, number: u32) -> u32 {
    return (number * GROUPS + at.group) * MANY_ROWS * 32u;
}

// A lane's packed words, loaded first of all, so that their way overlaps with that of the classes' counts.
fn many_own(at: Lane, width: Width, word: u32) -> vec3<u32> {
    var own = vec3(0u);
    if (!width.narrow) {
        own.x = packed[word + at.index];
        if (MANY_ROWS > 1u) { own.y = packed[word + 32u + at.index]; }
        if (MANY_ROWS > 2u) { own.z = packed[word + 64u + at.index]; }
    }
    return own;
}

// The index in the tile of a lane's key in the first of four rows; the others follow 32 apart.
fn many_index(at: Lane, rows: u32) -> u32 {
    return (at.group * MANY_ROWS + rows) * 128u + at.index;
}

// Index in the tile and class of four keys.
fn many_entries(at: Lane, rows: u32, key: vec4<u32>) -> vec4<u32> {
    return (vec4(many_index(at, rows)) + vec4(0u, 32u, 64u, 96u)) | (key << vec4(16u));
}

fn many_inverse(at: Lane, tile: u32, rows: u32, key: vec4<u32>, places: vec4<u32>) {
    let goals = places
        + vec4(many_delta[key.x], many_delta[key.y], many_delta[key.z], many_delta[key.w]);
    let index = tile + many_index(at, rows);
    if (index < split.n) { inverse[index / 4u][index % 4u] = goals.x; }
    if (index + 32u < split.n) { inverse[index / 4u + 8u][index % 4u] = goals.y; }
    if (index + 64u < split.n) { inverse[index / 4u + 16u][index % 4u] = goals.z; }
    if (index + 96u < split.n) { inverse[index / 4u + 24u][index % 4u] = goals.w; }
}

// Where four staged classes THREADS apart go.
fn many_goals(slot: u32, key: vec4<u32>) -> vec4<u32> {
    return vec4(slot) + vec4(0u, 1u, 2u, 3u) * THREADS
        + vec4(many_delta[key.x], many_delta[key.y], many_delta[key.z], many_delta[key.w]);
}

fn many_indices_out(tile: u32, inside: u32, slot: u32) {
    let entry = many_staged(slot);
    let goal = many_goals(slot, entry >> vec4(16u));
    let index = vec4(tile) + (entry & vec4(0xffffu));
    if (slot < inside) { permutation[goal.x] = index.x; }
    if (slot + THREADS < inside) { permutation[goal.y] = index.y; }
    if (slot + 2u * THREADS < inside) { permutation[goal.z] = index.z; }
    if (slot + 3u * THREADS < inside) { permutation[goal.w] = index.w; }
}

// Writes the permutation, and its inverse where it is asked for.
@compute @workgroup_size(THREADS)
fn many_permutation(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    let number = workgroup.y * grid.x + workgroup.x;
    let tile = number * MANY_TILE;
    if (tile >= split.n) {
        return;
    }
    let word = many_word(at, number);
    let own = many_own(at, known, word);
    let bin = many_start(at, known, number);
    let keys_0 = many_keys(at, known, own.x, word);
    var keys_1 = vec4(0u);
    var keys_2 = vec4(0u);
    if (MANY_ROWS > 1u) { keys_1 = many_keys(at, known, own.y, word + 32u); }
    if (MANY_ROWS > 2u) { keys_2 = many_keys(at, known, own.z, word + 64u); }
    var places_0 = many_ranks(at, known, keys_0);
    var places_1 = vec4(0u);
    var places_2 = vec4(0u);
    if (MANY_ROWS > 1u) { places_1 = many_ranks(at, known, keys_1); }
    if (MANY_ROWS > 2u) { places_2 = many_ranks(at, known, keys_2); }
    many_begin(at, known, tile, bin);
    places_0 = many_places(at, keys_0, places_0);
    if (MANY_ROWS > 1u) { places_1 = many_places(at, keys_1, places_1); }
    if (MANY_ROWS > 2u) { places_2 = many_places(at, keys_2, places_2); }
    let inside = min(MANY_TILE, split.n - tile);
    workgroupBarrier();
    many_put(places_0, many_entries(at, 0u, keys_0));
    if (MANY_ROWS > 1u) { many_put(places_1, many_entries(at, 1u, keys_1)); }
    if (MANY_ROWS > 2u) { many_put(places_2, many_entries(at, 2u, keys_2)); }
    if (split.inverse != 0u) {
        many_inverse(at, tile, 0u, keys_0, places_0);
        if (MANY_ROWS > 1u) { many_inverse(at, tile, 1u, keys_1, places_1); }
        if (MANY_ROWS > 2u) { many_inverse(at, tile, 2u, keys_2, places_2); }
    }
    workgroupBarrier();
    many_indices_out(tile, inside, at.place);
    if (MANY_ROWS > 1u) { many_indices_out(tile, inside, at.place + 4u * THREADS); }
    if (MANY_ROWS > 2u) { many_indices_out(tile, inside, at.place + 8u * THREADS); }
}

// Four payloads of a lane.
fn many_payload(at: Lane, tile: u32, rows: u32) -> vec4<u32> {
    let index = tile + many_index(at, rows);
    var values = vec4(0u);
    if (index < split.n) { values.x = payload[index / 4u][index % 4u]; }
    if (index + 32u < split.n) { values.y = payload[index / 4u + 8u][index % 4u]; }
    if (index + 64u < split.n) { values.z = payload[index / 4u + 16u][index % 4u]; }
    if (index + 96u < split.n) { values.w = payload[index / 4u + 24u][index % 4u]; }
    return values;
}

fn many_payload_out(inside: u32, slot: u32, goals: vec4<u32>) {
    let values = many_staged(slot);
    if (slot < inside) { payload_sorted[goals.x] = values.x; }
    if (slot + THREADS < inside) { payload_sorted[goals.y] = values.y; }
    if (slot + 2u * THREADS < inside) { payload_sorted[goals.z] = values.z; }
    if (slot + 3u * THREADS < inside) { payload_sorted[goals.w] = values.w; }
}

// The class at a place in the order, where `many_room` has the places at which classes begin.
fn many_class(place: u32) -> u32 {
    var found = 0u;
    for (var step = BINS / 2u; step > 0u; step /= 2u) {
        found += select(0u, step, place >= atomicLoad(&many_room[found + step]));
    }
    return found;
}

// Writes `keys_sorted` from the tile's first place on: no need to move keys, as totals say them.
fn many_fill(at: Lane, tile: u32, start: u32) {
    let ends = workgroupUniformLoad(&many_ends);
    if (ends[0] == ends[1]) {
        for (var i = at.place; i < MANY_TILE / 4u; i += THREADS) {
            if (tile + i * 4u < split.n) {
                keys_filled[tile / 4u + i] = vec4(ends[0]);
            }
        }
    } else {
        if (at.place < BINS) {
            atomicStore(&many_room[at.place], start);
        }
        workgroupBarrier();
        for (var i = at.place; i < MANY_TILE / 4u; i += THREADS) {
            let k = tile + i * 4u;
            if (k < split.n) {
                keys_filled[k / 4u] =
                    vec4(many_class(k), many_class(k + 1u), many_class(k + 2u), many_class(k + 3u));
            }
        }
    }
}

// Writes the payload and the keys in order.
@compute @workgroup_size(THREADS)
fn many_pairs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    let number = workgroup.y * grid.x + workgroup.x;
    let tile = number * MANY_TILE;
    if (tile >= split.n) {
        return;
    }
    let word = many_word(at, number);
    let own = many_own(at, known, word);
    let bin = many_start(at, known, number);
    let keys_0 = many_keys(at, known, own.x, word);
    var keys_1 = vec4(0u);
    var keys_2 = vec4(0u);
    if (MANY_ROWS > 1u) { keys_1 = many_keys(at, known, own.y, word + 32u); }
    if (MANY_ROWS > 2u) { keys_2 = many_keys(at, known, own.z, word + 64u); }
    var places_0 = many_ranks(at, known, keys_0);
    var places_1 = vec4(0u);
    var places_2 = vec4(0u);
    if (MANY_ROWS > 1u) { places_1 = many_ranks(at, known, keys_1); }
    if (MANY_ROWS > 2u) { places_2 = many_ranks(at, known, keys_2); }
    many_begin(at, known, tile, bin);
    places_0 = many_places(at, keys_0, places_0);
    if (MANY_ROWS > 1u) { places_1 = many_places(at, keys_1, places_1); }
    if (MANY_ROWS > 2u) { places_2 = many_places(at, keys_2, places_2); }
    let values_0 = many_payload(at, tile, 0u);
    var values_1 = vec4(0u);
    var values_2 = vec4(0u);
    if (MANY_ROWS > 1u) { values_1 = many_payload(at, tile, 1u); }
    if (MANY_ROWS > 2u) { values_2 = many_payload(at, tile, 2u); }
    let inside = min(MANY_TILE, split.n - tile);
    workgroupBarrier();
    many_put(places_0, keys_0);
    if (MANY_ROWS > 1u) { many_put(places_1, keys_1); }
    if (MANY_ROWS > 2u) { many_put(places_2, keys_2); }
    workgroupBarrier();
    let slot = at.place;
    let goals_0 = many_goals(slot, many_staged(slot));
    var goals_1 = vec4(0u);
    var goals_2 = vec4(0u);
    if (MANY_ROWS > 1u) {
        goals_1 = many_goals(slot + 4u * THREADS, many_staged(slot + 4u * THREADS));
    }
    if (MANY_ROWS > 2u) {
        goals_2 = many_goals(slot + 8u * THREADS, many_staged(slot + 8u * THREADS));
    }
    workgroupBarrier();
    many_put(places_0, values_0);
    if (MANY_ROWS > 1u) { many_put(places_1, values_1); }
    if (MANY_ROWS > 2u) { many_put(places_2, values_2); }
    workgroupBarrier();
    many_payload_out(inside, slot, goals_0);
    if (MANY_ROWS > 1u) { many_payload_out(inside, slot + 4u * THREADS, goals_1); }
    if (MANY_ROWS > 2u) { many_payload_out(inside, slot + 8u * THREADS, goals_2); }
    many_fill(at, tile, bin.start);
}
