// What does a tree cost whose steps take the first half of the invocations, then the first quarter?
//
// Dispatch: 256 invocations a workgroup, which leaves the sum of 256 elements; large grids are folded
// into two dimensions.
// Divergence expected: none while the half is a multiple of W; then the first subgroup alone adds,
// with W / 2 lanes, W / 4, … 1.

var<workgroup> sums: array<Element, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    let index = group * 256u + local_index;
    if (group * 256u >= params.n) {
        return;
    }
    sums[local_index] = Element(0);
    if (index < params.n) {
        sums[local_index] = input[index];
    }
    workgroupBarrier();
    for (var s = 128u; s > 0u; s /= 2u) {
        if (local_index < s) {
            // block: add
            sums[local_index] += sums[local_index + s];
        }
        workgroupBarrier();
    }
    if (local_index != 0u) {
        return;
    }
    // block: result
    output[group] = sums[0];
}
