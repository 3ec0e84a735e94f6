// Who takes part in a partial tail, and what does a reduction over it give?
//
// Dispatch: 129 workgroups of 128; workgroup t has t elements, so that every tail from none to all is
// there.
// Divergence expected: in `tail` the t lanes that have an element, W in the subgroups before.
//
// The mask of those who take part must be made while all lanes are there. Safe: lanes without an
// element bring a zero, and stay. `snippet` is what an article calls right: the lanes without an
// element are gone, and the first shuffles read from them, which is not defined. Its sums are shown.
enable subgroups;
// The tail's lanes alone shuffle, as the article has it.
diagnostic(off, subgroup_uniformity);

// Of each invocation: the subgroup's size, its lane, the subgroup's number, whether it has an element.
@group(0) @binding(0) var<storage, read_write> seats: array<vec4<u32>>;
// Of each invocation: the mask of the lanes with an element.
@group(0) @binding(1) var<storage, read_write> masks: array<vec4<u32>>;
// Of each invocation: the sum that lane 0 of its subgroup found, with zeros for what is missing.
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
// Of each workgroup: lane 0's sum in its first subgroup after the others have gone; lane l brings l + 1.
@group(0) @binding(3) var<storage, read_write> snippet: array<u32>;

// The sum of a subgroup, right in lane 0: what lanes past the end bring reaches only lanes that lane 0
// does not ask.
fn sum_in_first_lane(start: u32, size: u32) -> u32 {
    var sum = start;
    for (var offset = size / 2u; offset > 0u; offset /= 2u) {
        sum += subgroupShuffleDown(sum, offset);
    }
    return sum;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let index = workgroup.x * 128u + local_index;
    let has_element = local_index < workgroup.x;
    let mask = subgroupBallot(has_element);
    let safe = sum_in_first_lane(select(0u, lane + 1u, has_element), size);
    masks[index] = mask;
    sums[index] = subgroupBroadcastFirst(safe);
    seats[index] = vec4(size, lane, subgroup, u32(has_element));
    if (has_element) {
        // block: tail
        let unsafe_sum = sum_in_first_lane(lane + 1u, size);
        // block: -
        if (subgroup == 0u && lane == 0u) {
            snippet[workgroup.x] = unsafe_sum;
        }
    }
}
