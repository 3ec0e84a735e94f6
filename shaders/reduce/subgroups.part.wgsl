// The sum of a workgroup: of its subgroups by `sum_subgroup`, which is each kernel's own, then of those.

// A sum of each subgroup: at least 4 lanes make one.
var<workgroup> sums: array<Element, 64>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
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
    let of_subgroup = sum_subgroup(own, lane, width);
    if (lane == 0u) {
        // block: leave
        sums[local_index / width] = of_subgroup;
    }
    workgroupBarrier();
    if (local_index >= width) {
        return;
    }
    // Where subgroups are narrow, there are more sums than lanes.
    var sum = Element(0);
    for (var i = local_index; i < 256u / width; i += width) {
        // block: gather
        sum += sums[i];
    }
    // block: first_subgroup
    sum = sum_subgroup(sum, lane, width);
    // block: -
    if (local_index != 0u) {
        return;
    }
    // block: result
    output[group] = sum;
}
