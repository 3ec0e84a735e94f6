// What does sparse attention cost as a whole, with the sum of each row and the product with the values?
//
// Dispatch: one workgroup a query; its invocations take neighbouring keys, then the dimensions of the output.
// Divergence expected: W * p / (1 - (1 - p)^W) lanes in the dot product for a random mask of density p; half a step's
// lanes in the last steps of the sum.

@compute @workgroup_size(256)
fn attend(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let query = workgroup.x;
    var own = 0.0;
    for (var key = local_index; key < attention.sequence; key += 256u) {
        var w = 0.0;
        if (mask[query * attention.sequence + key] != 0u) {
            w = weight(query, key);
        }
        weights[key] = w;
        own += w;
    }
    sums[local_index] = own;
    workgroupBarrier();
    for (var stride = 128u; stride > 0u; stride /= 2u) {
        if (local_index < stride) {
            sums[local_index] += sums[local_index + stride];
        }
        workgroupBarrier();
    }
    let total = sums[0];
    workgroupBarrier();
    // 256 / head parts of the keys, each of which gives every dimension a share.
    let dimension = local_index % attention.head;
    var share = 0.0;
    for (var key = local_index / attention.head; key < attention.sequence; key += 256u / attention.head) {
        // block: values
        share = fma(weights[key], values[key * attention.head + dimension], share);
    }
    sums[local_index] = share;
    workgroupBarrier();
    if (local_index < attention.head) {
        var result = 0.0;
        for (var part = local_index; part < 256u; part += attention.head) {
            result += sums[part];
        }
        output[query * attention.head + dimension] = select(result / total, 0.0, total == 0.0);
    }
}
