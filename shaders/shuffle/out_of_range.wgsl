// What does a shuffle return whose source lane is not there, or takes no part?
//
// Dispatch: one workgroup of 128, of which the first subgroup writes.
// Divergence expected: W lanes; half of them in the block `inactive`.
//
// WGSL and SPIR-V promise nothing here: articles say "its own value" and "wraps around". What the
// device returns is shown in the record and never checked. What is checked: lanes whose source is
// there get its value, so that `wrong` must be zero throughout.
enable subgroups;
// What a shuffle returns where only a part of the lanes takes part is the question.
diagnostic(off, subgroup_uniformity);

// Of each operation and distance: the lanes' values; lane l holds l + 1 before.
@group(0) @binding(0) var<storage, read_write> returned: array<u32>;
// Of each operation and distance: lanes whose source is there and that got another value.
@group(0) @binding(1) var<storage, read_write> wrong: array<u32>;
// Given as data, so that no compiler sees which lanes are meant: 1, 2, 4 … 64.
@group(0) @binding(2) var<storage, read> distances: array<u32>;

fn note(operation: u32, step: u32, lane: u32, size: u32, value: u32, source: u32) {
    let row = operation * 8u + step;
    returned[row * 128u + lane] = value;
    let differs = source < size && value != source + 1u;
    let count = subgroupAdd(u32(differs));
    if (lane == 0u) {
        wrong[row] = count;
    }
}

@compute @workgroup_size(128)
fn main(
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    if (subgroup == 0u) {
        // block: whole
        let v = lane + 1u;
        for (var step = 0u; step < 8u; step++) {
            // The last distance is W itself: every source lies outside.
            let distance = select(distances[step], size, step == 7u);
            note(0u, step, lane, size, subgroupShuffleUp(v, distance), lane - distance);
            note(1u, step, lane, size, subgroupShuffleDown(v, distance), lane + distance);
            note(2u, step, lane, size, subgroupShuffleXor(v, distance), lane ^ distance);
            note(3u, step, lane, size, subgroupShuffle(v, lane + distance), lane + distance);
        }
        if (lane % 2u == 1u) {
            // block: inactive
            // The neighbours are there, but do not take part.
            returned[32u * 128u + lane] = subgroupShuffleXor(v, distances[0]);
            // block: -
            returned[33u * 128u + lane] = subgroupShuffle(v, lane - distances[0]);
        }
    }
}
