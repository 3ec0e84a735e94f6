// Question: what do bits cost that lanes try out in a loop of 2^6 sets?
// Dispatch: one invocation a capacity, 64 a workgroup. Divergence: sets that are too heavy.
@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read_write> best: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&best)) {
        return;
    }
    let capacity = id.x % 64u;
    var most = 0u;
    for (var chosen = 0u; chosen < 64u; chosen++) {
        var weight = 0u;
        var value = 0u;
        for (var item = 0u; item < 6u; item++) {
            if ((chosen & (1u << item)) == 0u) {
                continue;
            }
            weight += weights[item % arrayLength(&weights)] % 32u + 1u;
            if (weight > capacity) {
                break;
            }
            value += item * item + 3u;
        }
        if (weight <= capacity) {
            most = max(most, value);
        }
    }
    best[id.x] = most;
}
