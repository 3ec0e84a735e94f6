// Question: do values that nobody keeps still count?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the last subgroup.
@group(0) @binding(0) var<storage, read> unused: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn bump(at: u32) -> u32 {
    output[at] += 1u;
    return output[at];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    _ = &unused;
    _ = unused[0];
    if (id.x >= arrayLength(&output)) {
        return;
    }
    output[id.x] = id.x;
    _ = bump(id.x);
    _ = id.x / 3u;
    _ = bump(id.x);
}
