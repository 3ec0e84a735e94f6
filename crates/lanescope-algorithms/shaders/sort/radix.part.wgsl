// How are whole keys put into order, a digit at a time, with or without a payload, stably?
//
// A pass orders by one digit of up to 8 bits, from the lowest to the highest, each with the parts of
// `split`, `split_many` and `split_runs` before this text. Its dispatches, in one of two forms:
//   for GPUs         radix_reset, then radix_histogram, once     counts of the digits of all passes
//                    chained_keys or chained_pairs, a pass       a workgroup a tile: ranks, and the writes
//   for processors   lane_count, run_scan, then lane_keys or     an invocation a run of keys, or a digit
//                    lane_pairs, a pass
// Divergence expected: none but the last tile's, and in the look-back.
//
// On GPUs a tile publishes how many keys of each digit it has, and adds up what the tiles before
// it have published, until it meets one that knows all before it (Adinets and Merrill, "Onesweep: A Faster
// Least Significant Digit Radix Sort for GPUs", 2022). It reads keys once a pass instead of twice. A tile
// that has published nothing after SPINS looks is counted by the waiting workgroup itself (Smith, Levien
// and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", 2025), so that each workgroup ends by
// its own work alone, and nothing is asked of the scheduler. A count and its flag are one atomic word.
//
// Keys are ordered by their bits as whole numbers, of signed keys with the sign's bit inverted, of floats
// as IEEE 754's totalOrder says: bits of negative ones are inverted, of others the sign's alone.

// Keys of a lane in a tile. A host writes out each loop that goes to ITEMS or STAGED, so that `r` is a constant:
// a GPU's compiler keeps arrays in registers where it knows every index.
const ITEMS = 12u;
// How many of them lie in workgroup memory at a time: ITEMS is a multiple.
const STAGED = 12u;
// Keys of a tile, and of what lies in workgroup memory at a time.
override RADIX_TILE: u32 = THREADS * ITEMS;
override RADIX_PART: u32 = THREADS * STAGED;
// Bits that are inverted of every key, and of negative ones besides.
override KEY_SIGN: u32 = 0u;
override KEY_NEGATIVE: u32 = 0u;
// Passes that `radix_histogram` counts for.
override PASSES: u32 = 1u;
// How often a workgroup looks at a tile in vain before it helps itself.
override SPINS: u32 = 1024u;
// Workgroups of `radix_histogram`: each takes as many tiles as it comes to.
override HISTOGRAMS: u32 = 1u;
override HISTOGRAM_BINS: u32 = PASSES * BINS;

// How many tiles are looked back at at a time.
const LOOKS = 8u;
// Whether lanes with the same digit find each other by masks in workgroup memory, in place of ballots.
const MASKS = false;
// 1 where two groups' counts of a digit share a word, 16 bits each, and 0 where each has a word. No tile has 2^16 keys.
const SHARED = 0u;
const TALLY_MASK = 0xffffffffu >> (SHARED * 16u);
override TALLY_WORDS: u32 = TALLIES / (1u + SHARED);

// What a tile has published: nothing, its own counts, or those of everything up to its end.
const COUNTED_OWN = 1u;
const COUNTED_ALL = 2u;
// Flags stand above the 30 bits of a count.
const COUNTED_SHIFT = 30u;
const COUNT_BITS = 0x3fffffffu;
const NO_TILE = 0xffffffffu;
// In place of a tile: everything before is known.
const COMPLETE = 0xffffffffu;

struct Digit {
    // Where it begins in a key, and its bits there.
    shift: u32,
    mask: u32,
    // Its pass, from 0.
    pass_index: u32,
    // Where the counts that this pass's tiles publish begin, and those that it clears for the next.
    state: u32,
    state_next: u32,
    // Bits from one pass's digit to the next one's.
    step: u32,
    // The last pass's bits.
    mask_last: u32,
}

@group(0) @binding(14) var<uniform> digit: Digit;
// [passes × digits]: keys of each digit.
@group(0) @binding(15) var<storage, read_write> histogram: array<atomic<u32>>;
// Twice [tiles × digits]: what tiles have published.
@group(0) @binding(16) var<storage, read_write> published: array<atomic<u32>>;

// [passes × digits].
var<workgroup> radix_counted: array<atomic<u32>, HISTOGRAM_BINS>;
var<workgroup> radix_missing: atomic<u32>;
// What a tile that is helped has of each digit; then where the tile's keys go, less their place in the tile. A kibibyte
// less for each workgroup lets more of them have room on a core.
var<workgroup> radix_delta: array<atomic<u32>, BINS>;
var<workgroup> radix_helped: u32;

// A key as a number whose order is the keys'.
fn radix_bits(key: u32) -> u32 {
    let negative = bitcast<u32>(bitcast<i32>(key) >> 31u);
    return key ^ (KEY_SIGN | (negative & KEY_NEGATIVE));
}

fn radix_digit(key: u32) -> u32 {
    return (radix_bits(key) >> digit.shift) & digit.mask;
}

// The i-th key; past n the last of all. Loads without branches, so that they overlap.
fn radix_key(i: u32) -> u32 {
    let key = keys_in[min(i, split.n - 1u)];
    return select(~KEY_SIGN, key, i < split.n);
}

// Clears the counts of all passes.
@compute @workgroup_size(THREADS)
fn radix_reset(@builtin(local_invocation_index) local_index: u32) {
    for (var i = local_index; i < HISTOGRAM_BINS; i += THREADS) {
        atomicStore(&histogram[i], 0u);
    }
}

// Counts the digits of all passes, and clears what the first pass's tiles publish.
@compute @workgroup_size(THREADS)
fn radix_histogram(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    for (var i = local_index; i < HISTOGRAM_BINS; i += THREADS) {
        atomicStore(&radix_counted[i], 0u);
    }
    workgroupBarrier();
    for (var number = workgroup.x; number * RADIX_TILE < split.n; number += HISTOGRAMS) {
        for (var i = local_index; i < BINS; i += THREADS) {
            atomicStore(&published[digit.state + number * BINS + i], 0u);
        }
        var held: array<u32, ITEMS>;
        for (var r = 0u; r < ITEMS; r++) {
            held[r] = radix_bits(radix_key(number * RADIX_TILE + r * THREADS + local_index));
        }
        for (var r = 0u; r < ITEMS; r++) {
            for (var p = 0u; p < PASSES; p++) {
                let mask = select(digit.mask, digit.mask_last, p + 1u == PASSES);
                let d = (held[r] >> (digit.shift + p * digit.step)) & mask;
                atomicAdd(&radix_counted[p * BINS + d], 1u);
            }
        }
    }
    workgroupBarrier();
    for (var i = local_index; i < HISTOGRAM_BINS; i += THREADS) {
        let count = atomicLoad(&radix_counted[i]);
        if (count > 0u) {
            atomicAdd(&histogram[i], count);
        }
    }
}

// Loads a lane's keys of a tile: of each row of 32 that its group takes, one.
fn radix_keys_in(at: Lane, tile: u32, held: ptr<function, array<u32, ITEMS>>) {
    let first = tile + at.group * ITEMS * 32u + at.index;
    for (var r = 0u; r < ITEMS; r++) {
        (*held)[r] = radix_key(first + r * 32u);
    }
}

// The same of payloads.
fn radix_values_in(at: Lane, tile: u32, held: ptr<function, array<u32, ITEMS>>) {
    let first = tile + at.group * ITEMS * 32u + at.index;
    for (var r = 0u; r < ITEMS; r++) {
        (*held)[r] = payload_in[min(first + r * 32u, split.n - 1u)];
    }
}

// The word in which a group counts a digit, and where its bits begin there.
fn tally_word(group: u32, d: u32) -> u32 {
    return (group >> SHARED) * BINS + d;
}

fn tally_shift(group: u32) -> u32 {
    return (group & SHARED) * 16u;
}

// A group's count, of a word.
fn tally_of(group: u32, word: u32) -> u32 {
    return (word >> tally_shift(group)) & TALLY_MASK;
}

// Adds to a count of the group's that is known: one lane does. What else is in the word is another group's.
fn tally_add(group: u32, entry: u32, counted: u32, more: u32) {
    if (SHARED == 0u) {
        atomicStore(&many_room[entry], counted + more);
    } else {
        atomicAdd(&many_room[entry], more << tally_shift(group));
    }
}

// The counts of four groups, and what they are set to: where each one's keys begin, from `first` on.
fn tally_four(group: u32, d: u32) -> vec4<u32> {
    if (SHARED == 0u) {
        return many_four(group * BINS + d);
    }
    let entry = tally_word(group, d);
    let low = atomicLoad(&many_room[entry]);
    let high = atomicLoad(&many_room[entry + BINS]);
    return vec4(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
}

fn tally_four_set(group: u32, d: u32, first: u32, four: vec4<u32>) {
    if (SHARED == 0u) {
        many_four_set(group * BINS + d, first, four);
    } else {
        let entry = tally_word(group, d);
        let third = first + four.x + four.y;
        atomicStore(&many_room[entry], first | ((first + four.x) << 16u));
        atomicStore(&many_room[entry + BINS], third | ((third + four.z) << 16u));
    }
}

// Counts the digits of each group.
fn radix_count(at: Lane, held: ptr<function, array<u32, ITEMS>>) {
    for (var r = 0u; r < ITEMS; r++) {
        let entry = tally_word(at.group, radix_digit((*held)[r]));
        atomicAdd(&many_room[entry], 1u << tally_shift(at.group));
    }
}

// The rank of a row's key among its group's keys of the digit so far, by a word for each digit, in which each lane sets its bit.
// The words lie behind the groups' counts, and are 0 before and after. The host writes `meet`, with a barrier where MASKS is
// true.
fn radix_rank_by_masks(at: Lane, key: u32) -> u32 {
    let entry = tally_word(at.group, key);
    let mask = TALLY_WORDS + at.group * BINS + key;
    atomicOr(&many_room[mask], 1u << at.index);
    meet();
    let same = atomicLoad(&many_room[mask]);
    let counted = tally_of(at.group, atomicLoad(&many_room[entry]));
    meet();
    let below = countOneBits(same & ((1u << at.index) - 1u));
    if (at.index == firstLeadingBit(same)) {
        tally_add(at.group, entry, counted, below + 1u);
        atomicStore(&many_room[mask], 0u);
    }
    meet();
    return counted + below;
}

// The same by ballots, as `many_rank`, for counts that share words.
fn radix_rank_by_ballots(at: Lane, width: Width, key: u32) -> u32 {
    let same = group_match(at, width, key);
    let below = countOneBits(same & ((1u << at.index) - 1u));
    let last = firstLeadingBit(same);
    let entry = tally_word(at.group, key);
    var counted = 0u;
    if (width.narrow) {
        if (at.index == last) {
            let word = atomicAdd(&many_room[entry], (below + 1u) << tally_shift(at.group));
            counted = tally_of(at.group, word);
        }
        narrow_told[at.place] = counted;
        workgroupBarrier();
        counted = narrow_told[at.group * 32u + last];
        workgroupBarrier();
    } else {
        let known = tally_of(at.group, atomicLoad(&many_room[entry]));
        counted = subgroupShuffle(known, (at.lane & ~31u) + last);
        if (at.index == last) {
            tally_add(at.group, entry, counted, below + 1u);
        }
    }
    return counted + below;
}

// The same, as the host has chosen. Narrow subgroups have ballots that are put together.
fn radix_rank(at: Lane, width: Width, key: u32) -> u32 {
    if (MASKS && !width.narrow) {
        return radix_rank_by_masks(at, key);
    }
    if (SHARED == 1u) {
        return radix_rank_by_ballots(at, width, key);
    }
    return many_rank(at, width, key);
}

// Places in the tile of a lane's keys: each goes behind those of its group and digit that were placed before.
fn radix_places(
    at: Lane,
    width: Width,
    held: ptr<function, array<u32, ITEMS>>,
    places: ptr<function, array<u32, ITEMS>>,
) {
    for (var r = 0u; r < ITEMS; r++) {
        (*places)[r] = radix_rank(at, width, radix_digit((*held)[r]));
    }
}

// Of the invocation's digit: where in the tile its keys begin, and how many there are.
struct Run {
    first: u32,
    count: u32,
}

// Turns the groups' counts into places in the tile.
fn radix_begin(at: Lane, width: Width) -> Run {
    workgroupBarrier();
    var run = Run(0u, 0u);
    if (at.place < BINS) {
        for (var group = 0u; group < GROUPS; group += 4u) {
            let four = tally_four(group, at.place);
            run.count += four.x + four.y + four.z + four.w;
        }
    }
    run.first = many_exclusive(at, width, run.count);
    if (at.place < BINS) {
        var sum = run.first;
        for (var group = 0u; group < GROUPS; group += 4u) {
            let four = tally_four(group, at.place);
            tally_four_set(group, at.place, sum, four);
            sum += four.x + four.y + four.z + four.w;
        }
    }
    return run;
}

// Stages those of a lane's keys or payloads whose places lie in a part of the tile.
fn radix_put(
    part: u32,
    held: ptr<function, array<u32, ITEMS>>,
    places: ptr<function, array<u32, ITEMS>>,
) {
    workgroupBarrier();
    for (var r = 0u; r < ITEMS; r++) {
        let slot = (*places)[r] - part * RADIX_PART;
        if (slot < RADIX_PART) {
            atomicStore(&many_room[slot], (*held)[r]);
        }
    }
    workgroupBarrier();
}

// Writes a part's staged keys; `goals` keeps where they went.
fn radix_keys_out(at: Lane, part: u32, inside: u32, goals: ptr<function, array<u32, STAGED>>) {
    for (var r = 0u; r < STAGED; r++) {
        let slot = at.place + r * THREADS;
        let key = atomicLoad(&many_room[slot]);
        let place = slot + part * RADIX_PART;
        (*goals)[r] = place + atomicLoad(&radix_delta[radix_digit(key)]);
        if (place < inside) {
            keys_sorted[(*goals)[r]] = key;
        }
    }
}

// Writes a part's staged payloads where their keys went.
fn radix_values_out(at: Lane, part: u32, inside: u32, goals: ptr<function, array<u32, STAGED>>) {
    for (var r = 0u; r < STAGED; r++) {
        let slot = at.place + r * THREADS;
        if (slot + part * RADIX_PART < inside) {
            payload_sorted[(*goals)[r]] = atomicLoad(&many_room[slot]);
        }
    }
}

// How many keys have a lower digit than the invocation's: for who has looked back to the first tile, and found
// that it has not said so itself.
fn chained_lower(at: Lane) -> u32 {
    var lower = 0u;
    for (var i = 0u; i < at.place; i++) {
        lower += atomicLoad(&histogram[digit.pass_index * BINS + i]);
    }
    return lower;
}

// What is published of a tile for the invocation's digit. Of what lies before the first tile, that there is
// nothing more.
fn chained_word(at: Lane, tile: i32) -> u32 {
    let word = atomicLoad(&published[digit.state + u32(max(tile, 0)) * BINS + at.place]);
    return select(word, COUNTED_ALL << COUNTED_SHIFT, tile < 0);
}

// Looks back from before tile `first` on, for the invocation's digit, adding to `sum`. Gives the tile
// that has published nothing for too long, or NO_TILE where the sum is complete, as `first` is then. LOOKS tiles
// are looked at at a time, so that their loads overlap.
fn chained_look(at: Lane, first: ptr<function, u32>, sum: ptr<function, u32>) -> u32 {
    var spins = 0u;
    loop {
        if (*first == COMPLETE) {
            return NO_TILE;
        }
        if (*first == 0u) {
            *sum += chained_lower(at);
            *first = COMPLETE;
            return NO_TILE;
        }
        let near = i32(*first) - 1;
        var words: array<u32, LOOKS>;
        for (var r = 0u; r < LOOKS; r++) {
            words[r] = chained_word(at, near - i32(r));
        }
        // How many of them follow each other that have published, up to one that knows all before it.
        // `&` and not `&&`, so that nothing branches: SwiftShader's compiler ran out of memory over the branches of 16
        // tiles.
        var steps = 0u;
        var open = true;
        for (var r = 0u; r < LOOKS; r++) {
            let flag = words[r] >> COUNTED_SHIFT;
            open = open & (flag != 0u);
            *sum += select(0u, words[r] & COUNT_BITS, open);
            steps += u32(open);
            open = open & (flag == COUNTED_OWN);
        }
        // What ended them is the last one that was used, or one that has published nothing.
        var last = 0u;
        for (var r = 0u; r < LOOKS; r++) {
            last = select(last, words[r] >> COUNTED_SHIFT, steps == r + 1u);
        }
        if (last == COUNTED_ALL && steps <= *first) {
            *first = COMPLETE;
            return NO_TILE;
        }
        if (steps == 0u) {
            spins += 1u;
            if (spins == SPINS) {
                return u32(near);
            }
            continue;
        }
        *first -= min(steps, *first);
    }
    return NO_TILE;
}

// Counts a tile's digits in place of its own workgroup.
fn chained_help(at: Lane, number: u32) {
    if (at.place < BINS) {
        atomicStore(&radix_delta[at.place], 0u);
    }
    workgroupBarrier();
    for (var r = 0u; r < ITEMS; r++) {
        let key = radix_key(number * RADIX_TILE + r * THREADS + at.place);
        atomicAdd(&radix_delta[radix_digit(key)], 1u);
    }
    workgroupBarrier();
}

// Loads a tile, counts its digits, and publishes the counts.
fn chained_count(
    at: Lane,
    width: Width,
    number: u32,
    held: ptr<function, array<u32, ITEMS>>,
) -> Run {
    radix_keys_in(at, number * RADIX_TILE, held);
    for (var i = at.place; i < TALLY_WORDS + select(0u, TALLIES, MASKS); i += THREADS) {
        atomicStore(&many_room[i], 0u);
    }
    workgroupBarrier();
    radix_count(at, held);
    let run = radix_begin(at, width);
    // Published before the keys are placed, so that whoever looks back has less to wait for.
    if (at.place < BINS && number > 0u) {
        let own = digit.state + number * BINS + at.place;
        atomicStore(&published[own], (COUNTED_OWN << COUNTED_SHIFT) | run.count);
        atomicStore(&published[digit.state_next + number * BINS + at.place], 0u);
    }
    return run;
}

// Where the tile's keys go: adds up what the tiles before it have published, and publishes the sum.
fn chained_wait(at: Lane, width: Width, number: u32, run: Run) {
    let own = digit.state + number * BINS + at.place;
    var sum = 0u;
    if (number == 0u) {
        // The first tile says where each digit begins in the whole order.
        var all = 0u;
        if (at.place < BINS) {
            all = atomicLoad(&histogram[digit.pass_index * BINS + at.place]);
            atomicStore(&published[digit.state_next + at.place], 0u);
        }
        sum = many_exclusive(at, width, all);
        if (at.place < BINS) {
            atomicStore(&published[own], (COUNTED_ALL << COUNTED_SHIFT) | (sum + run.count));
            atomicStore(&radix_delta[at.place], sum - run.first);
        }
        return;
    }
    var first = number;
    loop {
        if (at.place == 0u) {
            atomicStore(&radix_missing, 0u);
        }
        workgroupBarrier();
        var missing = NO_TILE;
        if (at.place < BINS) {
            missing = chained_look(at, &first, &sum);
            if (missing != NO_TILE) {
                // The nearest: who waits for one before it finds it later.
                atomicMax(&radix_missing, missing + 1u);
            }
        }
        workgroupBarrier();
        if (at.place == 0u) {
            radix_helped = atomicLoad(&radix_missing);
        }
        let helped = workgroupUniformLoad(&radix_helped);
        if (helped == 0u) {
            break;
        }
        // block: radix_fallback
        chained_help(at, helped - 1u);
        if (at.place < BINS) {
            let count = atomicLoad(&radix_delta[at.place]);
            atomicMax(
                &published[digit.state + (helped - 1u) * BINS + at.place],
                (COUNTED_OWN << COUNTED_SHIFT) | count,
            );
            if (missing == helped - 1u) {
                // Used as it is: nobody else need have published it.
                sum += count;
                first = missing;
            }
        }
    }
    if (at.place < BINS) {
        atomicStore(&published[own], (COUNTED_ALL << COUNTED_SHIFT) | (sum + run.count));
        atomicStore(&radix_delta[at.place], sum - run.first);
    }
}

@compute @workgroup_size(THREADS)
fn chained_keys(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    let number = workgroup.y * grid.x + workgroup.x;
    if (number * RADIX_TILE >= split.n) {
        return;
    }
    var held: array<u32, ITEMS>;
    var places: array<u32, ITEMS>;
    let run = chained_count(at, known, number, &held);
    workgroupBarrier();
    radix_places(at, known, &held, &places);
    radix_put(0u, &held, &places);
    chained_wait(at, known, number, run);
    workgroupBarrier();
    var goals: array<u32, STAGED>;
    let inside = split.n - number * RADIX_TILE;
    radix_keys_out(at, 0u, inside, &goals);
    for (var part = 1u; part < ITEMS / STAGED; part++) {
        radix_put(part, &held, &places);
        radix_keys_out(at, part, inside, &goals);
    }
}

@compute @workgroup_size(THREADS)
fn chained_pairs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let at = lane_of(subgroup, lane, width);
    let known = width_of(at, width);
    let number = workgroup.y * grid.x + workgroup.x;
    if (number * RADIX_TILE >= split.n) {
        return;
    }
    var held: array<u32, ITEMS>;
    var places: array<u32, ITEMS>;
    let run = chained_count(at, known, number, &held);
    workgroupBarrier();
    radix_places(at, known, &held, &places);
    // On their way while others are waited for.
    var values: array<u32, ITEMS>;
    radix_values_in(at, number * RADIX_TILE, &values);
    radix_put(0u, &held, &places);
    chained_wait(at, known, number, run);
    workgroupBarrier();
    var goals: array<u32, STAGED>;
    let inside = split.n - number * RADIX_TILE;
    radix_keys_out(at, 0u, inside, &goals);
    radix_put(0u, &values, &places);
    radix_values_out(at, 0u, inside, &goals);
    for (var part = 1u; part < ITEMS / STAGED; part++) {
        radix_put(part, &held, &places);
        radix_keys_out(at, part, inside, &goals);
        radix_put(part, &values, &places);
        radix_values_out(at, part, inside, &goals);
    }
}

// Counts the digits of a run of keys, one key after the other.
@compute @workgroup_size(THREADS)
fn lane_count(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= split.chunks) {
        return;
    }
    run_clear(id.x);
    let end = run_end(id.x);
    for (var i = run_first(id.x); i < end; i++) {
        counts[radix_digit(keys_in[i]) * split.chunks + id.x] += 1u;
    }
}

@compute @workgroup_size(THREADS)
fn lane_keys(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    run_begin(local_index);
    if (id.x >= split.chunks) {
        return;
    }
    let end = run_end(id.x);
    for (var i = run_first(id.x); i < end; i++) {
        let key = keys_in[i];
        keys_sorted[run_goal(id.x, radix_digit(key))] = key;
    }
}

@compute @workgroup_size(THREADS)
fn lane_pairs(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    run_begin(local_index);
    if (id.x >= split.chunks) {
        return;
    }
    let end = run_end(id.x);
    for (var i = run_first(id.x); i < end; i++) {
        let key = keys_in[i];
        let goal = run_goal(id.x, radix_digit(key));
        keys_sorted[goal] = key;
        payload_sorted[goal] = payload_in[i];
    }
}
