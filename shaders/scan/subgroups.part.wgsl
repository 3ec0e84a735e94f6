// The scan of a workgroup: of its subgroups by `scan_subgroup`, which is each kernel's own, then of their sums.

// The sum of each subgroup, then what stands before it: at least 4 lanes make one.
var<workgroup> sums: array<Element, 64>;

// Turns the subgroups' sums into what stands before each, by the first subgroup.
fn scan_sums(lane: u32, width: u32) {
    let count = 256u / width;
    var before = Element(0);
    // Where subgroups are narrow, there are more sums than lanes.
    for (var first = 0u; first < count; first += width) {
        let i = first + lane;
        var own = Element(0);
        if (i < count) {
            own = sums[i];
        }
        // block: first_subgroup
        let inclusive = before + scan_subgroup(own, lane, width);
        let exclusive = before_lane(inclusive, before, lane);
        // block: -
        if (i < count) {
            sums[i] = exclusive;
        }
        before = subgroupShuffle(inclusive, width - 1u);
    }
}

// The sum up to the lane before; lane 0 has `first`.
fn before_lane(inclusive: Element, first: Element, lane: u32) -> Element {
    return select(subgroupShuffle(inclusive, max(lane, 1u) - 1u), first, lane == 0u);
}

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
    let in_subgroup = scan_subgroup(own, lane, width);
    if (lane == width - 1u) {
        // block: leave
        sums[local_index / width] = in_subgroup;
    }
    workgroupBarrier();
    if (local_index < width) {
        scan_sums(lane, width);
    }
    workgroupBarrier();
    let start = sums[local_index / width];
    let inclusive = start + in_subgroup;
    let before = start + before_lane(in_subgroup, Element(0), lane);
    if (index < params.n) {
        output[index] = select(inclusive, before, EXCLUSIVE);
    }
}
