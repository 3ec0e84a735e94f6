// Question: do values travel between lanes alike on every device?
// Dispatch: one invocation an element, 32 a workgroup. Divergence: none before the end.
enable subgroups;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(32)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let value = input[id.x % arrayLength(&input)];
    var sum = subgroupShuffle(value, (lane + 1u) % width);
    sum += 3u * subgroupShuffleXor(value, 1u);
    // A neighbour that does not exist gives nothing that is kept.
    let above = subgroupShuffleUp(value, 1u);
    let below = subgroupShuffleDown(value, 2u);
    if (lane >= 1u) {
        sum += 5u * above;
    }
    if (lane + 2u < width) {
        sum += 7u * below;
    }
    sum += 11u * subgroupBroadcast(value, 2u);
    sum += 13u * subgroupBroadcastFirst(value);
    if (id.x < arrayLength(&output)) {
        output[id.x] = sum;
    }
}
