// Question: does a count of hits at random keep its lanes?
// Dispatch: one invocation a stream, 64 a workgroup. Divergence: hits.
@group(0) @binding(0) var<storage, read_write> hits: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;

fn random(state: ptr<function, u32>) -> u32 {
    var x = *state;
    x ^= x << 13u;
    x ^= x >> 17u;
    x ^= x << 5u;
    *state = x;
    return x >> 17u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var state = id.x * 747796405u + 2891336453u;
    var own = 0u;
    for (var i = 0; i < 40; i += 1) {
        let x = random(&state);
        let y = random(&state);
        if (x * x + y * y < 1u << 30u) {
            own++;
        }
    }
    if (id.x < arrayLength(&hits)) {
        hits[id.x] = own;
        atomicAdd(&total, own);
    }
}
