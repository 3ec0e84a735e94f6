// Who is first in each subgroup of a 3D workgroup.
enable subgroups;
@group(0) @binding(0) var<storage, read_write> firsts: array<u32, 48>;
@compute @workgroup_size(3, 8, 2)
fn main(@builtin(local_invocation_index) local_index: u32) {
    firsts[local_index] = subgroupBroadcastFirst(local_index);
}
