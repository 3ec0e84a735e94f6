// What does a block's sum cost where subgroups add up by shuffles?
//
// Dispatch: 256 invocations a workgroup, which leaves the sum of 256 elements; large grids are folded
// into two dimensions.
// Divergence expected: none in the steps, which run at full width though fewer and fewer lanes hold
// something of use; one lane of each subgroup leaves its sum, and the first subgroup adds those.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

alias Element = f32;

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<Element>;
@group(0) @binding(2) var<storage, read_write> output: array<Element>;

// A sum of each subgroup: at least 4 lanes make one.
var<workgroup> sums: array<Element, 64>;

// Halves the distance log2(W) times; lane 0 has the sum. What other lanes have is of no use: from
// beyond the subgroup's end WGSL gives any value.
fn sum_subgroup(own: Element, lane: u32, width: u32) -> Element {
    var sum = own;
    for (var offset = width / 2u; offset > 0u; offset /= 2u) {
        // block: step
        sum += subgroupShuffleDown(sum, offset);
    }
    return sum;
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
