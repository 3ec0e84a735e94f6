// What a query of whole attention reads, and the weight of one of its keys.

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
// [sequence × head] or [head × sequence].
@group(0) @binding(2) var<storage, read> keys_of: array<f32>;
// [sequence × head].
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

var<workgroup> weights: array<f32, 2048>;
var<workgroup> sums: array<f32, 256>;

fn weight(query: u32, key: u32) -> f32 {
    // block: dot
    var sum = 0.0;
    for (var d = 0u; d < attention.head; d++) {
        let q = queries[query * attention.head + d];
        sum = fma(q, keys_of[d * attention.sequence + key], sum);
    }
    return exp(sum * attention.scale);
}
