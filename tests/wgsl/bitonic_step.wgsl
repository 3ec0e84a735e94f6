// Question: what does one step of a bitonic sort waste?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: half the lanes compare.
@group(0) @binding(0) var<storage, read_write> keys: array<u32>;

override DISTANCE: u32 = 8u;
override SORTED: u32 = 16u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let own = id.x;
    let other = own ^ DISTANCE;
    if (other <= own || other >= arrayLength(&keys)) {
        return;
    }
    let ascending = (own & SORTED) == 0u;
    let a = keys[own];
    let b = keys[other];
    if ((a > b) == ascending) {
        keys[own] = b;
        keys[other] = a;
    }
}
