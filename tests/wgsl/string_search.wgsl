// Question: how soon do lanes give a match up?
// Dispatch: one invocation a position, 64 a workgroup. Divergence: mismatches at different letters.
@group(0) @binding(0) var<storage, read> text: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;

const PATTERN = array<u32, 4>(1u, 3u, 0u, 2u);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let start = id.x;
    if (start >= arrayLength(&found)) {
        return;
    }
    var pattern = PATTERN;
    var matched = 0u;
    var rotation = 0u;
    loop {
        if (rotation == 4u) {
            break;
        }
        var length = 0u;
        for (; length < 4u; length++) {
            let at = start + length;
            if (at >= arrayLength(&text)) {
                break;
            }
            if (text[at] % 4u != pattern[(length + rotation) % 4u]) {
                break;
            }
        }
        matched = max(matched, length);
        if (matched == 4u) {
            break;
        }
        rotation++;
    }
    found[start] = matched;
}
