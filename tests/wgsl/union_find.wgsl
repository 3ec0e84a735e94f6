// Question: how many links do lanes follow to the roots of their trees?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the depth of each element.
@group(0) @binding(0) var<storage, read> parents: array<u32>;
@group(0) @binding(1) var<storage, read_write> roots: array<u32>;
@group(0) @binding(2) var<storage, read_write> deepest: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&roots)) {
        return;
    }
    var at = id.x % arrayLength(&parents);
    var depth = 0u;
    loop {
        // Parents lie below their children, so that every way ends.
        let parent = min(parents[at], at);
        if (parent == at) {
            break;
        }
        at = parent;
        depth++;
    }
    roots[id.x] = at;
    atomicMax(&deepest, depth);
}
