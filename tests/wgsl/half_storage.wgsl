// Question: are halves in a buffer read and written as they are?
// Dispatch: one invocation a pair, 32 a workgroup. Divergence: every other element is skipped.
enable f16;

struct Pair {
    a: f16,
    b: f16,
}

@group(0) @binding(0) var<storage, read_write> pairs: array<Pair>;
@group(0) @binding(1) var<storage, read_write> changed: atomic<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&pairs)) {
        return;
    }
    if (id.x % 2u == 0u) {
        pairs[id.x] = Pair(f16(id.x % 100u), f16(1));
        atomicAdd(&changed, 1u);
    }
}
