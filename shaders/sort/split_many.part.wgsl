// Many classes: a lane has MANY_ROWS words of 4 keys; keys of a row lie 32 apart in a lane's words, so
// that a row is 32 keys in their order. Ballots of a class's bits find the lanes that share it.

override BINS: u32 = 1u << BITS;
override GROUPS: u32 = THREADS / 32u;
override MANY_TILE: u32 = MANY_ROWS * THREADS * 4u;
override TALLIES: u32 = GROUPS * BINS;
override VOTES: u32 = GROUPS * 8u;

// [groups × classes]: counts, then where in the tile the group's keys of a class begin.
var<workgroup> tallies: array<atomic<u32>, TALLIES>;
var<workgroup> many_base: array<u32, BINS>;
var<workgroup> many_delta: array<u32, BINS>;
var<workgroup> many_stage: array<u32, MANY_TILE>;
// Ballots of narrow subgroups put together, a word a bit and group; and what leaders were told.
var<workgroup> narrow_votes: array<atomic<u32>, VOTES>;
var<workgroup> narrow_told: array<u32, THREADS>;

// The first key of packed word `i`; the others follow 32 apart.
fn many_first(i: u32) -> u32 {
    return (i / 32u) * 128u + i % 32u;
}

// A key, or the last class where there is none or it is no class, which is told.
fn many_load(i: u32) -> u32 {
    let last = split.classes - 1u;
    if (i >= split.n) {
        return last;
    }
    let key = keys[i / 4u][i % 4u];
    if (key > last) {
        refuse(i);
        return last;
    }
    return key;
}

// Adds a key to the workgroup's count; subgroups of one class add once.
fn many_tally(at: Lane, key: u32) {
    if (subgroupAll(key == subgroupBroadcastFirst(key))) {
        if (at.lane == 0u) {
            atomicAdd(&tallies[key], at.width);
        }
    } else {
        atomicAdd(&tallies[key], 1u);
    }
}

// Counts the classes of a chunk and packs its keys.
@compute @workgroup_size(THREADS)
fn many_count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    for (var bin = at.place; bin < BINS; bin += THREADS) {
        atomicStore(&tallies[bin], 0u);
    }
    workgroupBarrier();
    let words = split.tiles_per_chunk * MANY_ROWS;
    let first = workgroup.x * words * THREADS + at.place;
    for (var i = 0u; i < words; i++) {
        let at_word = first + i * THREADS;
        let index = many_first(at_word);
        let a = many_load(index);
        let b = many_load(index + 32u);
        let c = many_load(index + 64u);
        let d = many_load(index + 96u);
        packed[at_word] = a | (b << 8u) | (c << 16u) | (d << 24u);
        many_tally(at, a);
        many_tally(at, b);
        many_tally(at, c);
        many_tally(at, d);
    }
    workgroupBarrier();
    for (var bin = at.place; bin < split.classes; bin += THREADS) {
        counts[bin * split.chunks + workgroup.x] = atomicLoad(&tallies[bin]);
    }
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
fn group_match(at: Lane, key: u32) -> u32 {
    var same = ~0u;
    if (at.narrow) {
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

// The rank of a row's key among its group's keys of the class so far.
fn many_rank(at: Lane, key: u32) -> u32 {
    let same = group_match(at, key);
    let leader = firstTrailingBit(same);
    var told = 0u;
    if (at.index == leader) {
        told = atomicAdd(&tallies[at.group * BINS + key], countOneBits(same));
    }
    if (at.narrow) {
        narrow_told[at.place] = told;
        workgroupBarrier();
        told = narrow_told[at.group * 32u + leader];
        workgroupBarrier();
    } else {
        told = subgroupShuffle(told, (at.lane & ~31u) + leader);
    }
    return told + countOneBits(same & ((1u << at.index) - 1u));
}

fn many_ranks(at: Lane, word: u32) -> vec4<u32> {
    let a = many_rank(at, word & 255u);
    let b = many_rank(at, (word >> 8u) & 255u);
    let c = many_rank(at, (word >> 16u) & 255u);
    let d = many_rank(at, word >> 24u);
    return vec4(a, b, c, d);
}

fn many_clear(at: Lane) {
    for (var i = at.place; i < GROUPS * BINS; i += THREADS) {
        atomicStore(&tallies[i], 0u);
    }
    workgroupBarrier();
}

// Where the chunk's keys of each class go; the first workgroup writes where classes begin.
fn many_start(at: Lane, chunk: u32) {
    var total = 0u;
    if (at.place < split.classes) {
        total = totals[at.place];
    }
    let start = workgroup_exclusive(at, total, THREADS).x;
    if (at.place < split.classes) {
        many_base[at.place] = start + counts[at.place * split.chunks + chunk];
        if (chunk == 0u) {
            offsets[at.place] = start;
        }
    }
    if (chunk == 0u && at.place == 0u) {
        offsets[split.classes] = split.n;
    }
}

// Turns the groups' counts into places in the tile; `many_delta` and the next tile's base with it.
fn many_begin(at: Lane) {
    workgroupBarrier();
    var total = 0u;
    if (at.place < BINS) {
        for (var group = 0u; group < GROUPS; group++) {
            let entry = group * BINS + at.place;
            let count = atomicLoad(&tallies[entry]);
            atomicStore(&tallies[entry], total);
            total += count;
        }
    }
    let first = workgroup_exclusive(at, total, THREADS).x;
    if (at.place < BINS) {
        for (var group = 0u; group < GROUPS; group++) {
            let entry = group * BINS + at.place;
            atomicStore(&tallies[entry], atomicLoad(&tallies[entry]) + first);
        }
        let goal = many_base[at.place];
        many_delta[at.place] = goal - first;
        many_base[at.place] = goal + total;
    }
    workgroupBarrier();
}

fn many_keys(word: u32) -> vec4<u32> {
    return (vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(255u);
}

// The places in the tile of a word's keys, from their ranks.
fn many_places(at: Lane, word: u32, ranks: vec4<u32>) -> vec4<u32> {
    let entry = many_keys(word) + vec4(at.group * BINS);
    return ranks + vec4(
        atomicLoad(&tallies[entry.x]),
        atomicLoad(&tallies[entry.y]),
        atomicLoad(&tallies[entry.z]),
        atomicLoad(&tallies[entry.w]),
    );
}

fn many_put(places: vec4<u32>, values: vec4<u32>) {
    many_stage[places.x] = values.x;
    many_stage[places.y] = values.y;
    many_stage[places.z] = values.z;
    many_stage[places.w] = values.w;
}

// The index in the tile of a lane's row-th word's first key.
fn many_index(at: Lane, row: u32) -> u32 {
    return (at.group * MANY_ROWS + row) * 128u + at.index;
}

// Stages index and class of a word's keys.
fn many_stage_keys(at: Lane, row: u32, word: u32, places: vec4<u32>) {
    let index = vec4(many_index(at, row)) + vec4(0u, 32u, 64u, 96u);
    many_put(places, index | (many_keys(word) << vec4(16u)));
}

fn many_inverse(at: Lane, tile: u32, row: u32, word: u32, places: vec4<u32>) {
    let key = many_keys(word);
    let goals = places
        + vec4(many_delta[key.x], many_delta[key.y], many_delta[key.z], many_delta[key.w]);
    let index = tile + many_index(at, row);
    if (index < split.n) { inverse[index / 4u][index % 4u] = goals.x; }
    if (index + 32u < split.n) { inverse[index / 4u + 8u][index % 4u] = goals.y; }
    if (index + 64u < split.n) { inverse[index / 4u + 16u][index % 4u] = goals.z; }
    if (index + 96u < split.n) { inverse[index / 4u + 24u][index % 4u] = goals.w; }
}

fn many_permute_row(at: Lane, tile: u32, row: u32, word: u32, ranks: vec4<u32>) {
    let places = many_places(at, word, ranks);
    many_stage_keys(at, row, word, places);
    if (split.inverse != 0u) {
        many_inverse(at, tile, row, word, places);
    }
}

// Writes the permutation, and its inverse where it is asked for.
@compute @workgroup_size(THREADS)
fn many_permutation(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    many_start(at, workgroup.x);
    for (var i = 0u; i < split.tiles_per_chunk; i++) {
        let number = workgroup.x * split.tiles_per_chunk + i;
        let tile = number * MANY_TILE;
        if (tile >= split.n) {
            break;
        }
        let first = number * MANY_ROWS * THREADS + at.group * MANY_ROWS * 32u + at.index;
        var words = vec4(0u);
        words.x = packed[first];
        if (MANY_ROWS > 1u) { words.y = packed[first + 32u]; }
        if (MANY_ROWS > 2u) { words.z = packed[first + 64u]; }
        if (MANY_ROWS > 2u) { words.w = packed[first + 96u]; }
        many_clear(at);
        let ranks_0 = many_ranks(at, words.x);
        var ranks_1 = vec4(0u);
        var ranks_2 = vec4(0u);
        var ranks_3 = vec4(0u);
        if (MANY_ROWS > 1u) { ranks_1 = many_ranks(at, words.y); }
        if (MANY_ROWS > 2u) { ranks_2 = many_ranks(at, words.z); }
        if (MANY_ROWS > 2u) { ranks_3 = many_ranks(at, words.w); }
        many_begin(at);
        many_permute_row(at, tile, 0u, words.x, ranks_0);
        if (MANY_ROWS > 1u) { many_permute_row(at, tile, 1u, words.y, ranks_1); }
        if (MANY_ROWS > 2u) { many_permute_row(at, tile, 2u, words.z, ranks_2); }
        if (MANY_ROWS > 2u) { many_permute_row(at, tile, 3u, words.w, ranks_3); }
        workgroupBarrier();
        let inside = min(MANY_TILE, split.n - tile);
        for (var k = at.place; k < inside; k += THREADS) {
            let entry = many_stage[k];
            permutation[many_delta[entry >> 16u] + k] = tile + (entry & 0xffffu);
        }
    }
}

// A word's four payloads.
fn many_payload(at: Lane, tile: u32, row: u32) -> vec4<u32> {
    let index = tile + many_index(at, row);
    var values = vec4(0u);
    if (index < split.n) { values.x = payload[index / 4u][index % 4u]; }
    if (index + 32u < split.n) { values.y = payload[index / 4u + 8u][index % 4u]; }
    if (index + 64u < split.n) { values.z = payload[index / 4u + 16u][index % 4u]; }
    if (index + 96u < split.n) { values.w = payload[index / 4u + 24u][index % 4u]; }
    return values;
}

// Writes one key in order; where its payload goes.
fn many_key_out(k: u32, inside: u32) -> u32 {
    let key = many_stage[k];
    let goal = many_delta[key & 255u] + k;
    if (k < inside) {
        keys_sorted[goal] = key;
    }
    return goal;
}

fn many_keys_out(k: u32, inside: u32) -> vec4<u32> {
    let a = many_key_out(k, inside);
    let b = many_key_out(k + THREADS, inside);
    let c = many_key_out(k + 2u * THREADS, inside);
    let d = many_key_out(k + 3u * THREADS, inside);
    return vec4(a, b, c, d);
}

fn many_payload_out(k: u32, inside: u32, goals: vec4<u32>) {
    if (k < inside) { payload_sorted[goals.x] = many_stage[k]; }
    if (k + THREADS < inside) { payload_sorted[goals.y] = many_stage[k + THREADS]; }
    if (k + 2u * THREADS < inside) { payload_sorted[goals.z] = many_stage[k + 2u * THREADS]; }
    if (k + 3u * THREADS < inside) { payload_sorted[goals.w] = many_stage[k + 3u * THREADS]; }
}

// Writes the payload and the keys in order.
@compute @workgroup_size(THREADS)
fn many_pairs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    many_start(at, workgroup.x);
    for (var i = 0u; i < split.tiles_per_chunk; i++) {
        let number = workgroup.x * split.tiles_per_chunk + i;
        let tile = number * MANY_TILE;
        if (tile >= split.n) {
            break;
        }
        let first = number * MANY_ROWS * THREADS + at.group * MANY_ROWS * 32u + at.index;
        var words = vec4(0u);
        words.x = packed[first];
        if (MANY_ROWS > 1u) { words.y = packed[first + 32u]; }
        if (MANY_ROWS > 2u) { words.z = packed[first + 64u]; }
        if (MANY_ROWS > 2u) { words.w = packed[first + 96u]; }
        many_clear(at);
        var places_0 = many_ranks(at, words.x);
        var places_1 = vec4(0u);
        var places_2 = vec4(0u);
        var places_3 = vec4(0u);
        if (MANY_ROWS > 1u) { places_1 = many_ranks(at, words.y); }
        if (MANY_ROWS > 2u) { places_2 = many_ranks(at, words.z); }
        if (MANY_ROWS > 2u) { places_3 = many_ranks(at, words.w); }
        many_begin(at);
        places_0 = many_places(at, words.x, places_0);
        if (MANY_ROWS > 1u) { places_1 = many_places(at, words.y, places_1); }
        if (MANY_ROWS > 2u) { places_2 = many_places(at, words.z, places_2); }
        if (MANY_ROWS > 2u) { places_3 = many_places(at, words.w, places_3); }
        many_put(places_0, many_keys(words.x));
        if (MANY_ROWS > 1u) { many_put(places_1, many_keys(words.y)); }
        if (MANY_ROWS > 2u) { many_put(places_2, many_keys(words.z)); }
        if (MANY_ROWS > 2u) { many_put(places_3, many_keys(words.w)); }
        workgroupBarrier();
        let inside = min(MANY_TILE, split.n - tile);
        let k = at.place;
        let goals_0 = many_keys_out(k, inside);
        var goals_1 = vec4(0u);
        var goals_2 = vec4(0u);
        var goals_3 = vec4(0u);
        if (MANY_ROWS > 1u) { goals_1 = many_keys_out(k + 4u * THREADS, inside); }
        if (MANY_ROWS > 2u) { goals_2 = many_keys_out(k + 8u * THREADS, inside); }
        if (MANY_ROWS > 2u) { goals_3 = many_keys_out(k + 12u * THREADS, inside); }
        workgroupBarrier();
        many_put(places_0, many_payload(at, tile, 0u));
        if (MANY_ROWS > 1u) { many_put(places_1, many_payload(at, tile, 1u)); }
        if (MANY_ROWS > 2u) { many_put(places_2, many_payload(at, tile, 2u)); }
        if (MANY_ROWS > 2u) { many_put(places_3, many_payload(at, tile, 3u)); }
        workgroupBarrier();
        many_payload_out(k, inside, goals_0);
        if (MANY_ROWS > 1u) { many_payload_out(k + 4u * THREADS, inside, goals_1); }
        if (MANY_ROWS > 2u) { many_payload_out(k + 8u * THREADS, inside, goals_2); }
        if (MANY_ROWS > 2u) { many_payload_out(k + 12u * THREADS, inside, goals_3); }
    }
}
