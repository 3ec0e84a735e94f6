// Attention over lists of keys that were made before.
//
// Dispatches: `list_keys`, an invocation a query, which is not timed; `listed`, one workgroup a query,
// its lanes on the query's list.
// [sequence × sequence] and [sequence]: each query's keys, first those that its mask has, and how many these
// are. So the timed work reads as much as others read of the mask, and writes the same zeros.
@group(0) @binding(5) var<storage, read_write> lists: array<u32>;
@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;

// Lists keys: one invocation a query. Those that the mask has not come last, from the end on.
@compute @workgroup_size(128)
fn list_keys(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let query = workgroup.x * 128u + local_index;
    if (query < attention.sequence) {
        let first = query * attention.sequence;
        var length = 0u;
        for (var key = 0u; key < attention.sequence; key++) {
            if (mask[first + key] != 0u) {
                lists[first + length] = key;
                length++;
            } else {
                lists[first + attention.sequence - 1u - (key - length)] = key;
            }
        }
        lengths[query] = length;
    }
}

@compute @workgroup_size(256)
fn listed(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let query = workgroup.x;
    let length = lengths[query];
    for (var i = local_index; i < attention.sequence; i += 256u) {
        let key = lists[query * attention.sequence + i];
        let place = query * attention.sequence + key;
        if (i < length) {
            scores[place] = score(query, key);
        } else {
            scores[place] = 0.0;
        }
    }
}
