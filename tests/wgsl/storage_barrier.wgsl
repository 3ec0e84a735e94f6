// Question: may lanes of a workgroup hand values on through a storage buffer?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the last, partial workgroup.
@group(0) @binding(0) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let here = id.x < arrayLength(&scratch);
    if (here) {
        scratch[id.x] = id.x * 3u;
    }
    storageBarrier();
    let mirrored = id.x - local.x + (63u - local.x);
    if (mirrored < arrayLength(&scratch) && id.x < arrayLength(&output)) {
        output[id.x] = scratch[mirrored] + 1u;
    }
    storageBarrier();
    workgroupBarrier();
    textureBarrier();
}
