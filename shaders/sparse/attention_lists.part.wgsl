// Attention over lists of keys, one lane a query: a lane is busy as long as its list is.

struct Lists {
    // Queries, and as many keys.
    sequence: u32,
    // Dimensions of a query.
    head: u32,
    // 1 / sqrt(head).
    scale: f32,
    // The most keys of a query, about.
    longest: u32,
}

@group(1) @binding(0) var<uniform> attention: Lists;
// [head × sequence], both: neighbours in a subgroup read neighbours in memory where they can.
@group(1) @binding(1) var<storage, read> queries_transposed: array<f32>;
@group(1) @binding(2) var<storage, read> keys_transposed: array<f32>;
// [sequence × sequence] and [sequence]: a query has a key where its draw lies below its share.
@group(1) @binding(3) var<storage, read> draws: array<u32>;
@group(1) @binding(4) var<storage, read> shares: array<u32>;
// [sequence × sequence] and [sequence]: the keys of each query, and how many.
@group(1) @binding(5) var<storage, read_write> lists: array<u32>;
@group(1) @binding(6) var<storage, read_write> lengths: array<u32>;
@group(1) @binding(7) var<storage, read_write> scores: array<f32>;

// Steps of density.
override STEPS: u32 = 64u;

// Lists the keys of each query; a query's class is its density, in steps.
@compute @workgroup_size(128)
fn list_keys(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let query = workgroup.x * 128u + local_index;
    if (query < attention.sequence) {
        var length = 0u;
        for (var key = 0u; key < attention.sequence; key++) {
            let place = query * attention.sequence + key;
            if (draws[place] < shares[query]) {
                lists[query * attention.sequence + length] = key;
                length++;
            }
        }
        lengths[query] = length;
        set_key(query, min(length * STEPS / attention.longest, STEPS - 1u));
    }
}

// The scores of a query's keys.
fn attend(query: u32) {
    for (var i = 0u; i < lengths[query]; i++) {
        // block: listed
        let key = lists[query * attention.sequence + i];
        var sum = 0.0;
        for (var d = 0u; d < attention.head; d++) {
            let q = queries_transposed[d * attention.sequence + query];
            sum = fma(q, keys_transposed[d * attention.sequence + key], sum);
        }
        scores[query * attention.sequence + key] = exp(sum * attention.scale);
    }
}
