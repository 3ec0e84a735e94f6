// 256-bin histogram with workgroup-private bins.
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 256>;
var<workgroup> local: array<atomic<u32>, 256>;
@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) li: u32, @builtin(num_workgroups) nw: vec3u) {
    for (var i = li; i < 256u; i += 128u) { atomicStore(&local[i], 0u); }
    workgroupBarrier();
    let n = arrayLength(&data);
    for (var i = g.x; i < n; i += nw.x * 128u) {
        let v = data[i];
        atomicAdd(&local[v & 255u], 1u);
        if (v & 1u) == 1u {           // odd ones weigh twice
            atomicAdd(&local[v & 255u], 1u);
        }
    }
    workgroupBarrier();
    if li < 32u {
        for (var b = li; b < 256u; b += 32u) {
            let c = atomicLoad(&local[b]);
            if c != 0u { atomicAdd(&bins[b], c); }
        }
    }
}
