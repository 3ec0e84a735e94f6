// Question: do lanes of a binary search stay together?
// Dispatch: one invocation a key, 64 a workgroup. Divergence: early hits.
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;

const SIZE = 1000u;

fn element(at: u32) -> u32 {
    return at * at / 16u + at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= min(arrayLength(&keys), arrayLength(&places))) {
        return;
    }
    let key = keys[id.x];
    var low = 0u;
    var high = SIZE;
    while (low < high) {
        let middle = low + (high - low) / 2u;
        let there = element(middle);
        if (there == key) {
            low = middle;
            break;
        } else if (there < key) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    places[id.x] = low;
}
