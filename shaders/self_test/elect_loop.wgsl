// Does a loop in which one lane leaves at a time run W times?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: W trips with W, W - 1, … 1 lanes; the leader works alone.
enable subgroups;
// Those that are left in the loop ask who leads them: that is what is tested.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    loop {
        // block: trip
        sum += 1u;
        if (local_index == subgroupBroadcastFirst(local_index)) {
            // block: leader
            sum += local_index * 3u;
            break;
        }
    }
    output[workgroup.x * 128u + local_index] = sum;
}
