// Question: how long do lanes probe before they find a place?
// Dispatch: one invocation a key, 64 a workgroup. Divergence: probes. Which key gets which slot
// depends on who comes first, and so do the counts: this shader is on the list of exemptions.
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> slots: array<atomic<u32>, 512>;
@group(0) @binding(2) var<storage, read_write> failed: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&keys)) {
        return;
    }
    let key = keys[id.x] % 300u + 1u;
    var slot = (key * 2654435761u) >> 23u;
    for (var probe = 0u; probe < 512u; probe++) {
        let result = atomicCompareExchangeWeak(&slots[slot], 0u, key);
        if (result.exchanged || result.old_value == key) {
            return;
        }
        slot = (slot + 1u) % 512u;
    }
    atomicAdd(&failed, 1u);
}
