// Which lanes vote together, and what they are told of their place.
enable subgroups;
struct Seen { size: u32, lane: u32, active_lanes: u32, first: u32 }
@group(0) @binding(0) var<storage, read_write> seen: array<Seen>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let bits = countOneBits(subgroupBallot(true));
    let active_lanes = bits.x + bits.y + bits.z + bits.w;
    let first = subgroupBroadcastFirst(local_index);
    seen[workgroup.x * 256u + local_index] = Seen(size, lane, active_lanes, first);
}
