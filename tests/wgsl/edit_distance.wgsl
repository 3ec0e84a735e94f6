// Question: what does a dynamic program a lane cost, with its rows in private arrays?
// Dispatch: one invocation a word, 32 a workgroup. Divergence: which of three ways is shortest.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> distances: array<u32>;

fn letter(word: u32, at: u32) -> u32 {
    return (word >> (at * 2u)) & 3u;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&words) || id.x >= arrayLength(&distances)) {
        return;
    }
    let a = words[id.x];
    let b = 0xa5u;
    var row = array<u32, 9>(0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    for (var i = 0u; i < 8u; i++) {
        var diagonal = row[0];
        row[0] = i + 1u;
        for (var j = 0u; j < 8u; j++) {
            var cost = diagonal;
            if (letter(a, i) != letter(b, j)) {
                cost = 1u + min(diagonal, min(row[j], row[j + 1u]));
            }
            diagonal = row[j + 1u];
            row[j + 1u] = cost;
        }
    }
    distances[id.x] = row[8];
}
