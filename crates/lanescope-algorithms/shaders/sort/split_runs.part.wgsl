// Partition on a processor: an invocation has a run of keys, and takes one after the other.
//
// Dispatches: runs_count, an invocation a run; run_scan, an invocation a class; runs_permutation or
// runs_pairs, an invocation a run. Divergence expected: none but the last run's.
// Nothing is exchanged between lanes, and no barrier stands in a loop: what runs a workgroup on a processor
// switches between its subgroups at each. On GPUs neighbours would read far apart. `tiles_per_chunk` is
// the length of a run, and `chunks` how many there are.

@group(0) @binding(1) var<storage, read> keys_in: array<u32>;
@group(0) @binding(8) var<storage, read_write> inverse_out: array<u32>;
@group(0) @binding(9) var<storage, read> payload_in: array<u32>;

// Where the keys of each class begin in the whole order.
var<workgroup> run_base: array<u32, BINS>;

fn run_first(run: u32) -> u32 {
    return run * split.tiles_per_chunk;
}

fn run_end(run: u32) -> u32 {
    return min(run * split.tiles_per_chunk + split.tiles_per_chunk, split.n);
}

fn run_clear(run: u32) {
    for (var c = 0u; c < split.classes; c++) {
        counts[c * split.chunks + run] = 0u;
    }
}

// Leaves `run_base`.
fn run_begin(local_index: u32) {
    if (local_index == 0u) {
        var sum = 0u;
        for (var c = 0u; c < split.classes; c++) {
            run_base[c] = sum;
            sum += totals[c];
        }
    }
    workgroupBarrier();
}

// Where a run's next key of a class goes.
fn run_goal(run: u32, class_id: u32) -> u32 {
    let entry = class_id * split.chunks + run;
    let before = counts[entry];
    counts[entry] = before + 1u;
    return run_base[class_id] + before;
}

// Counts of a class become places.
@compute @workgroup_size(THREADS)
fn run_scan(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= split.classes) {
        return;
    }
    let row = id.x * split.chunks;
    var sum = 0u;
    for (var i = 0u; i < split.chunks; i++) {
        let count = counts[row + i];
        counts[row + i] = sum;
        sum += count;
    }
    totals[id.x] = sum;
}

// Counts the classes of a run; a key that is no class counts as the last, and is told.
@compute @workgroup_size(THREADS)
fn runs_count(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= split.chunks) {
        return;
    }
    run_clear(id.x);
    let last = split.classes - 1u;
    let end = run_end(id.x);
    for (var i = run_first(id.x); i < end; i++) {
        let key = keys_in[i];
        if (key > last) {
            refuse(i);
        }
        counts[min(key, last) * split.chunks + id.x] += 1u;
    }
}

// Writes where classes begin, by the first invocation.
fn run_offsets(id: u32) {
    if (id == 0u) {
        for (var c = 0u; c < split.classes; c++) {
            offsets[c] = run_base[c];
        }
        offsets[split.classes] = split.n;
    }
}

// Writes the permutation, and its inverse where it is asked for.
@compute @workgroup_size(THREADS)
fn runs_permutation(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    run_begin(local_index);
    run_offsets(id.x);
    if (id.x >= split.chunks) {
        return;
    }
    let last = split.classes - 1u;
    let end = run_end(id.x);
    for (var i = run_first(id.x); i < end; i++) {
        let goal = run_goal(id.x, min(keys_in[i], last));
        permutation[goal] = i;
        if (split.inverse != 0u) {
            inverse_out[i] = goal;
        }
    }
}

// Writes the payload and the keys in order.
@compute @workgroup_size(THREADS)
fn runs_pairs(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    run_begin(local_index);
    run_offsets(id.x);
    if (id.x >= split.chunks) {
        return;
    }
    let last = split.classes - 1u;
    let end = run_end(id.x);
    for (var i = run_first(id.x); i < end; i++) {
        let key = min(keys_in[i], last);
        let goal = run_goal(id.x, key);
        keys_sorted[goal] = key;
        payload_sorted[goal] = payload_in[i];
    }
}
