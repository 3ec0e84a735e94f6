// Scores of masked attention: exp of the scaled dot product where the mask is set, else zero.

struct Attention {
    // Queries, and as many keys.
    sequence: u32,
    // Dimensions of a query.
    head: u32,
    // 1 / sqrt(head).
    scale: f32,
}

@group(0) @binding(0) var<uniform> attention: Attention;
@group(0) @binding(1) var<storage, read> queries: array<f32>;
// [head × sequence]: neighbours in a subgroup read neighbours in memory.
@group(0) @binding(2) var<storage, read> keys_transposed: array<f32>;
@group(0) @binding(3) var<storage, read> mask: array<u32>;
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;

fn score(query: u32, key: u32) -> f32 {
    // block: dot
    var sum = 0.0;
    for (var d = 0u; d < attention.head; d++) {
        let q = queries[query * attention.head + d];
        sum = fma(q, keys_transposed[d * attention.sequence + key], sum);
    }
    return exp(sum * attention.scale);
}
