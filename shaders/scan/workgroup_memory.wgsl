// What does a block's scan cost in workgroup memory, without subgroups?
//
// Dispatch: one invocation an element, 256 a workgroup, each of which scans its own 256; large grids
// are folded into two dimensions.
// Divergence expected: at step s the first s invocations have nothing to add.

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
    var own = Element(0);
    if (index < params.n) {
        own = input[index];
    }
    sums[local_index] = own;
    workgroupBarrier();
    for (var s = 1u; s < 256u; s *= 2u) {
        var other = Element(0);
        if (local_index >= s) {
            // block: add
            other = sums[local_index - s];
        }
        // Nobody may write before everybody has read.
        workgroupBarrier();
        sums[local_index] += other;
        workgroupBarrier();
    }
    let inclusive = sums[local_index];
    var before = Element(0);
    if (local_index > 0u) {
        before = sums[local_index - 1u];
    }
    if (index < params.n) {
        output[index] = select(inclusive, before, EXCLUSIVE);
    }
}
