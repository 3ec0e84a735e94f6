// Question: do break and continue inside a switch reach the right loop?
// Dispatch: one invocation a word, 64 a workgroup. Divergence: each lane reads its own letters.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> scores: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&scores) || id.x >= arrayLength(&words)) {
        return;
    }
    var rest = words[id.x] * 2654435761u;
    var score = 0u;
    for (var i = 0u; i < 12u; i++) {
        let letter = rest & 7u;
        rest >>= 3u;
        switch (letter) {
            case 0u: {
                continue;
            }
            case 1u, 2u, 3u: {
                score += letter;
                if (score > 20u) {
                    break;
                }
                score += 1u;
            }
            case 4u: {
                if (i > 2u) {
                    scores[id.x] = score + 1000u;
                    return;
                }
            }
            default: {
                score ^= letter;
            }
        }
        score += 100u;
    }
    scores[id.x] = score;
}
