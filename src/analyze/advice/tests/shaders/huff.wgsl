// LZ-like decoder: each invocation decodes its own block of tokens.
const BLOCK = 64u;
@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn decode(@builtin(global_invocation_id) g: vec3u) {
    let base = g.x * BLOCK;
    if base + BLOCK > arrayLength(&out) { return; }
    var state = 0u;
    var written = 0u;
    var at = base;
    while written < BLOCK {
        let t = tokens[at];
        at++;
        switch state {
            case 0u: {
                if (t & 3u) == 0u { state = 1u; }
                else if (t & 3u) == 1u { state = 2u; }
                else { out[base + written] = t >> 2u; written++; }
            }
            case 1u: {                       // run of literals
                let len = min(t & 15u, BLOCK - written);
                for (var k = 0u; k < len; k++) {
                    out[base + written + k] = t;
                }
                written += len;
                state = 0u;
            }
            default: {                       // back reference
                let dist = (t & 31u) + 1u;
                let len = min(((t >> 5u) & 7u) + 3u, BLOCK - written);
                for (var k = 0u; k < len; k++) {
                    if dist > written { out[base + written] = 0u; }
                    else { out[base + written] = out[base + written - dist]; }
                    written++;
                }
                state = 0u;
            }
        }
        if at >= base + 4u * BLOCK { break; }
    }
}
