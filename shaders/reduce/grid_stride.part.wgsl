// The elements, and the sum of a workgroup.

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<Element>;

// A sum of each subgroup: at least 4 lanes make one.
var<workgroup> sums: array<Element, 64>;

// Adds up over the workgroup; the sum is valid in the first subgroup.
fn sum_workgroup(own: Element, local_index: u32, lane: u32, width: u32) -> Element {
    let of_subgroup = subgroupAdd(own);
    if (lane == 0u) {
        sums[local_index / width] = of_subgroup;
    }
    workgroupBarrier();
    var sum = Element(0);
    if (local_index < width) {
        for (var i = local_index; i < 256u / width; i += width) {
            sum += sums[i];
        }
        sum = subgroupAdd(sum);
    }
    return sum;
}
