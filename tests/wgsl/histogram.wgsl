// Question: which lines of a histogram wait for whom?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the last, partial subgroup only.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 16>;

var<workgroup> local_bins: array<atomic<u32>, 16>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if (lane < 16u) {
        atomicStore(&local_bins[lane], 0u);
    }
    workgroupBarrier();
    if (id.x < arrayLength(&input)) {
        atomicAdd(&local_bins[input[id.x] % 16u], 1u);
    }
    workgroupBarrier();
    if (lane < 16u) {
        let sum = atomicLoad(&local_bins[lane]);
        if (sum != 0u) {
            atomicAdd(&bins[lane], sum);
        }
    }
}
