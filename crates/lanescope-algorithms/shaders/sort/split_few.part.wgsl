// Few classes: a lane has 8 keys in a row in one word, and counts them in fields of a word.

const FIELDS = 0x0f0f0f0fu;

// Four keys from element 4 · i on, 4 bits each. Keys past n become the last class, and so do those
// that are no class, which are told.
fn few_load(i: u32) -> u32 {
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
    return four.x | (four.y << 4u) | (four.z << 8u) | (four.w << 12u);
}

// How many of a word's keys are of each class: 4 bits a class, classes 0 … 7 and 8 … 15.
fn few_tally(word: u32) -> vec2<u32> {
    let low = few_keys(word);
    let high = few_keys(word >> 16u);
    let a = vec4(1u) << ((low & vec4(7u)) * 4u);
    let b = vec4(1u) << ((high & vec4(7u)) * 4u);
    if (ROOM > 8u) {
        let none = vec4(0u);
        let c = select(a, none, low > vec4(7u)) + select(b, none, high > vec4(7u));
        let d = select(none, a, low > vec4(7u)) + select(none, b, high > vec4(7u));
        return vec2(c.x + c.y + c.z + c.w, d.x + d.y + d.z + d.w);
    }
    let c = a + b;
    return vec2(c.x + c.y + c.z + c.w, 0u);
}

// The four keys in a word's lower half.
fn few_keys(word: u32) -> vec4<u32> {
    return (vec4(word) >> vec4(0u, 4u, 8u, 12u)) & vec4(15u);
}

// A tally in fields of 8 bits: even classes, odd classes, and the same from class 8 on.
fn few_fields(tally: vec2<u32>) -> vec4<u32> {
    return vec4(tally.x & FIELDS, (tally.x >> 4u) & FIELDS, tally.y & FIELDS, (tally.y >> 4u) & FIELDS);
}

// By class; with FOLD also, from 16 on, those of the chunks before this one.
var<workgroup> few_counts: array<atomic<u32>, 32>;

fn few_add(at: Lane, first_class: u32, sixteen_bits: u32) {
    // 32 words a lane and 128 lanes of 8 keys stay below 1 << 16.
    let sum = subgroupAdd(sixteen_bits);
    if (at.lane == 0u) {
        atomicAdd(&few_counts[first_class], sum & 0xffffu);
        atomicAdd(&few_counts[first_class + 4u], sum >> 16u);
    }
}

// Counts the classes of a chunk and packs its keys.
@compute @workgroup_size(THREADS)
fn few_count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    if (at.place < 16u) {
        atomicStore(&few_counts[at.place], 0u);
    }
    workgroupBarrier();
    let words = split.tiles_per_chunk;
    let first = workgroup.x * words * THREADS + at.place;
    // Fields of 16 bits: classes 0 and 4, 2 and 6, 1 and 5, 3 and 7; the same from class 8 on.
    var low = vec4(0u);
    var high = vec4(0u);
    for (var i = 0u; i < words; i++) {
        let at_word = first + i * THREADS;
        let word = few_load(at_word * 2u) | (few_load(at_word * 2u + 1u) << 16u);
        packed[at_word] = word;
        let fields = few_fields(few_tally(word));
        low += vec4(fields.x, fields.x >> 8u, fields.y, fields.y >> 8u) & vec4(0x00ff00ffu);
        if (ROOM > 8u) {
            high += vec4(fields.z, fields.z >> 8u, fields.w, fields.w >> 8u) & vec4(0x00ff00ffu);
        }
    }
    few_add(at, 0u, low.x);
    few_add(at, 2u, low.y);
    few_add(at, 1u, low.z);
    few_add(at, 3u, low.w);
    if (ROOM > 8u) {
        few_add(at, 8u, high.x);
        few_add(at, 10u, high.y);
        few_add(at, 9u, high.z);
        few_add(at, 11u, high.w);
    }
    workgroupBarrier();
    if (at.place < split.classes) {
        counts[at.place * split.chunks + workgroup.x] = atomicLoad(&few_counts[at.place]);
    }
}

const CLASSES_MAX = 16u;

// Whether the third dispatch adds the counts up itself, in place of the second: worth it for few
// chunks.
override FOLD: bool = false;
// Lanes that share a class's counts then.
override FOLD_LANES: u32 = THREADS / ROOM;
// Groups of a tile, in the order of their keys.
override SLOTS: u32 = THREADS / 32u;
override FEW_TILE: u32 = THREADS * 8u;
// From a class's slots to the next one's: one more than there are, against bank conflicts.
override STRIDE: u32 = SLOTS + 1u;
override BEGINS: u32 = ROOM * STRIDE;

// Of each slot's last lane: what lies before it in fields, and its own tally.
var<workgroup> edge_before: array<vec4<u32>, SLOTS>;
var<workgroup> edge_own: array<vec2<u32>, SLOTS>;
// [classes × STRIDE]: where in the tile the slot's keys of the class begin.
var<workgroup> begin: array<u32, BEGINS>;
// Where the tile's keys of each class go, and the same less their place in the tile.
var<workgroup> base: array<u32, CLASSES_MAX>;
var<workgroup> delta: array<u32, CLASSES_MAX>;
// What goes out, in the tile's order by class.
var<workgroup> stage: array<u32, FEW_TILE>;
// Sums of narrow subgroups.
var<workgroup> narrow_sums: array<vec4<u32>, SUBGROUPS_MAX>;

// Sums over the lower lanes of the group of 32. Fields of 8 bits hold 31 lanes of 8 keys.
fn few_exclusive(at: Lane, width: Width, fields: vec4<u32>) -> vec4<u32> {
    var before = vec4(group_exclusive(at, fields.x), group_exclusive(at, fields.y), 0u, 0u);
    if (ROOM > 8u) {
        before.z = group_exclusive(at, fields.z);
        before.w = group_exclusive(at, fields.w);
    }
    if (width.narrow) {
        if (at.lane == width.lanes - 1u) {
            narrow_sums[at.subgroup] = before + fields;
        }
        workgroupBarrier();
        for (var i = at.group * 32u / width.lanes; i < at.subgroup; i++) {
            before += narrow_sums[i];
        }
        workgroupBarrier();
    }
    return before;
}

// How many keys of `class_id` a slot has.
fn few_count_of(slot: u32, class_id: u32) -> u32 {
    let edge = edge_before[slot];
    let own = edge_own[slot];
    let even = class_id % 2u == 0u;
    let shift = (class_id & 6u) * 4u;
    var field = select(edge.y, edge.x, even);
    var tally = own.x;
    if (ROOM > 8u) {
        field = select(field, select(edge.w, edge.z, even), class_id > 7u);
        tally = select(tally, own.y, class_id > 7u);
    }
    return ((field >> shift) & 255u) + ((tally >> ((class_id & 7u) * 4u)) & 15u);
}

// Counts a tile's words and fills `begin`; what lies before the lane in its slot, in fields.
fn few_rank(at: Lane, width: Width, word: u32) -> vec4<u32> {
    let tally = few_tally(word);
    let before = few_exclusive(at, width, few_fields(tally));
    if (at.index == 31u) {
        edge_before[at.group] = before;
        edge_own[at.group] = tally;
    }
    workgroupBarrier();
    let class_id = at.place / SLOTS;
    var count = 0u;
    if (class_id < ROOM) {
        count = few_count_of(at.place % SLOTS, class_id);
    }
    // Groups of 32, or subgroups where they are narrower.
    let lanes = min(width.lanes, 32u);
    var sum = group_exclusive(at, count);
    if (ROOM * SLOTS > lanes) {
        let group = at.place / lanes;
        if (at.place % lanes == lanes - 1u) {
            partial[group] = sum + count;
        }
        workgroupBarrier();
        for (var i = 0u; i < group; i++) {
            sum += partial[i];
        }
    }
    if (class_id < ROOM) {
        begin[class_id * STRIDE + at.place % SLOTS] = sum;
    }
    workgroupBarrier();
    return before;
}

// The place in the tile of a key, counting it in `before`.
fn few_place(at: Lane, key: u32, before: ptr<function, vec4<u32>>) -> u32 {
    let shift = (key & 6u) * 4u;
    let odd = (key & 1u) != 0u;
    let one = 1u << shift;
    var field = select((*before).x, (*before).y, odd);
    if (ROOM > 8u) {
        let high = key > 7u;
        field = select(field, select((*before).z, (*before).w, odd), high);
        (*before).x += select(0u, one, !odd && !high);
        (*before).y += select(0u, one, odd && !high);
        (*before).z += select(0u, one, !odd && high);
        (*before).w += select(0u, one, odd && high);
    } else {
        (*before).x += select(one, 0u, odd);
        (*before).y += select(0u, one, odd);
    }
    return begin[key * STRIDE + at.group] + ((field >> shift) & 255u);
}

// Adds up the counts of all chunks, and of those before this one: what `scan` would have left.
fn few_fold(at: Lane, chunk: u32) {
    if (at.place < 32u) {
        atomicStore(&few_counts[at.place], 0u);
    }
    let class_id = at.place / FOLD_LANES;
    var all = 0u;
    var before = 0u;
    if (class_id < split.classes) {
        let row = class_id * split.chunks;
        let last = split.chunks - 1u;
        for (var i = at.place % FOLD_LANES; i < split.chunks; i += 4u * FOLD_LANES) {
            let four = vec4(i) + vec4(0u, 1u, 2u, 3u) * FOLD_LANES;
            // Loads without branches, so that they overlap; what is past the end counts nothing.
            let at_count = vec4(row) + min(four, vec4(last));
            let loaded =
                vec4(counts[at_count.x], counts[at_count.y], counts[at_count.z], counts[at_count.w]);
            let there = select(vec4(0u), loaded, four <= vec4(last));
            all += there.x + there.y + there.z + there.w;
            let lower = select(vec4(0u), there, four < vec4(chunk));
            before += lower.x + lower.y + lower.z + lower.w;
        }
    }
    workgroupBarrier();
    if (class_id < split.classes) {
        atomicAdd(&few_counts[class_id], all);
        atomicAdd(&few_counts[16u + class_id], before);
    }
    workgroupBarrier();
}

// Where the chunk's keys of each class go; the first workgroup writes where classes begin.
fn few_base(at: Lane, chunk: u32) {
    if (FOLD) {
        few_fold(at, chunk);
    }
    if (at.place < ROOM) {
        var start = 0u;
        for (var i = 0u; i < ROOM; i++) {
            // Loads without branches, so that they overlap.
            var total = 0u;
            if (FOLD) {
                total = atomicLoad(&few_counts[i]);
            } else {
                total = totals[min(i, split.classes - 1u)];
            }
            start += select(0u, total, i < split.classes && i < at.place);
        }
        var here = 0u;
        if (at.place < split.classes) {
            if (FOLD) {
                here = atomicLoad(&few_counts[16u + at.place]);
            } else {
                here = counts[at.place * split.chunks + chunk];
            }
            if (chunk == 0u) {
                offsets[at.place] = start;
            }
        }
        if (chunk == 0u && at.place == 0u) {
            offsets[split.classes] = split.n;
        }
        base[at.place] = start + here;
    }
}

// After `begin` is known: writes `delta` and gives the next tile's base.
fn few_delta(at: Lane) -> u32 {
    var next = 0u;
    if (at.place < ROOM) {
        let first = begin[at.place * STRIDE];
        var end = FEW_TILE;
        if (at.place + 1u < ROOM) {
            end = begin[(at.place + 1u) * STRIDE];
        }
        delta[at.place] = base[at.place] - first;
        next = base[at.place] + (end - first);
    }
    return next;
}

// Stages index and class of the four keys in a word's lower half; their places.
fn few_stage(at: Lane, word: u32, first: u32, before: ptr<function, vec4<u32>>) -> vec4<u32> {
    let key = few_keys(word);
    let a = few_place(at, key.x, before);
    let b = few_place(at, key.y, before);
    let c = few_place(at, key.z, before);
    let d = few_place(at, key.w, before);
    let entry = (vec4(at.place * 8u + first) + vec4(0u, 1u, 2u, 3u)) | (key << vec4(16u));
    stage[a] = entry.x;
    stage[b] = entry.y;
    stage[c] = entry.z;
    stage[d] = entry.w;
    return vec4(a, b, c, d);
}

// Where four keys go, from their places in the tile.
fn few_goals(word: u32, places: vec4<u32>) -> vec4<u32> {
    let key = few_keys(word);
    return places + vec4(
        base[key.x] - begin[key.x * STRIDE],
        base[key.y] - begin[key.y * STRIDE],
        base[key.z] - begin[key.z * STRIDE],
        base[key.w] - begin[key.w * STRIDE],
    );
}

// Writes four entries THREADS apart: loads before stores, so that they overlap.
fn few_write(tile: u32, k: u32) {
    let entry = vec4(stage[k], stage[k + THREADS], stage[k + 2u * THREADS], stage[k + 3u * THREADS]);
    let key = entry >> vec4(16u);
    let goal = vec4(k) + vec4(delta[key.x], delta[key.y], delta[key.z], delta[key.w]);
    let index = vec4(tile) + (entry & vec4(0xffffu));
    permutation[goal.x] = index.x;
    permutation[goal.y + THREADS] = index.y;
    permutation[goal.z + 2u * THREADS] = index.z;
    permutation[goal.w + 3u * THREADS] = index.w;
}

// Writes the permutation, and its inverse where it is asked for.
@compute @workgroup_size(THREADS)
fn few_permutation(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    few_base(at, workgroup.x);
    var next_word = packed[workgroup.x * split.tiles_per_chunk * THREADS + at.place];
    for (var i = 0u; i < split.tiles_per_chunk; i++) {
        let number = workgroup.x * split.tiles_per_chunk + i;
        let tile = number * FEW_TILE;
        if (tile >= split.n) {
            break;
        }
        let word = next_word;
        if (i + 1u < split.tiles_per_chunk) {
            next_word = packed[(number + 1u) * THREADS + at.place];
        }
        var before = few_rank(at, known, word);
        // Two halves in a loop: with its body eight times in the text, SwiftShader takes minutes to
        // compile the counted kernel; with its body once, an H200 takes 6 % longer.
        for (var half = 0u; half < 2u; half++) {
            let part = word >> (half * 16u);
            let places = few_stage(at, part, half * 4u, &before);
            let index = tile + at.place * 8u + half * 4u;
            if (split.inverse != 0u && index < split.n) {
                inverse[index / 4u] = few_goals(part, places);
            }
        }
        let next = few_delta(at);
        workgroupBarrier();
        if (at.place < ROOM) {
            base[at.place] = next;
        }
        if (tile + FEW_TILE <= split.n) {
            few_write(tile, at.place);
            few_write(tile, at.place + 4u * THREADS);
        } else {
            for (var k = at.place; tile + k < split.n; k += THREADS) {
                let entry = stage[k];
                permutation[delta[entry >> 16u] + k] = tile + (entry & 0xffffu);
            }
        }
    }
}

// The class of the key at a place in the tile: the last that begins there or before.
fn few_class(place: u32) -> u32 {
    var found = 0u;
    if (ROOM > 8u) {
        // The minimum says nothing here; with room for 8 it keeps the index inside.
        found = select(0u, 8u, place >= begin[min(8u, ROOM - 1u) * STRIDE]);
    }
    found += select(0u, 4u, place >= begin[(found + 4u) * STRIDE]);
    found += select(0u, 2u, place >= begin[(found + 2u) * STRIDE]);
    found += select(0u, 1u, place >= begin[(found + 1u) * STRIDE]);
    return found;
}

// Writes the payload and the keys in order.
@compute @workgroup_size(THREADS)
fn few_pairs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    few_base(at, workgroup.x);
    var next_word = packed[workgroup.x * split.tiles_per_chunk * THREADS + at.place];
    for (var i = 0u; i < split.tiles_per_chunk; i++) {
        let number = workgroup.x * split.tiles_per_chunk + i;
        let tile = number * FEW_TILE;
        if (tile >= split.n) {
            break;
        }
        let word = next_word;
        if (i + 1u < split.tiles_per_chunk) {
            next_word = packed[(number + 1u) * THREADS + at.place];
        }
        let index = tile + at.place * 8u;
        var low = vec4(0u);
        var high = vec4(0u);
        if (index < split.n) { low = payload[index / 4u]; }
        if (index + 4u < split.n) { high = payload[index / 4u + 1u]; }
        var before = few_rank(at, known, word);
        for (var j = 0u; j < 8u; j++) {
            let place = few_place(at, (word >> (j * 4u)) & 15u, &before);
            stage[place] = low.x;
            low = vec4(low.yzw, high.x);
            high = high.yzwx;
        }
        let next = few_delta(at);
        workgroupBarrier();
        if (at.place < ROOM) {
            base[at.place] = next;
        }
        let inside = min(FEW_TILE, split.n - tile);
        for (var j = 0u; j < 8u; j++) {
            let k = at.place + j * THREADS;
            let found = few_class(k);
            let goal = delta[found] + k;
            if (k < inside) {
                payload_sorted[goal] = stage[k];
                keys_sorted[goal] = found;
            }
        }
    }
}
