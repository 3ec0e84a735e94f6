// Bitonic sort of one workgroup's 256 keys in workgroup memory.
@group(0) @binding(0) var<storage, read_write> keys: array<u32>;
var<workgroup> s: array<u32, 256>;
@compute @workgroup_size(256)
fn sort(@builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) i: u32) {
    s[i] = keys[g.x];
    workgroupBarrier();
    for (var k = 2u; k <= 256u; k <<= 1u) {
        for (var j = k >> 1u; j > 0u; j >>= 1u) {
            let l = i ^ j;
            if l > i {
                let up = (i & k) == 0u;
                if (s[i] > s[l]) == up {
                    let t = s[i];
                    s[i] = s[l];
                    s[l] = t;
                }
            }
            workgroupBarrier();
        }
    }
    keys[g.x] = s[i];
}
