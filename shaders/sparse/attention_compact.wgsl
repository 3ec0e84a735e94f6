// What does sparse attention cost when a workgroup lists its keys first?
//
// Dispatch: one workgroup a query; it lists the keys of 2048 places at a time, then works on the list.
// Divergence expected: none in the dot product but in the list's last subgroup.
enable subgroups;

const SEGMENT = 2048u;

var<workgroup> list: array<u32, SEGMENT>;
var<workgroup> listed_all: atomic<u32>;
var<workgroup> listed_now: u32;

@compute @workgroup_size(256)
fn compact(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let query = workgroup.x;
    for (var first = 0u; first < attention.sequence; first += SEGMENT) {
        if (local_index == 0u) {
            atomicStore(&listed_all, 0u);
        }
        workgroupBarrier();
        // Counted for the whole workgroup, so that all lanes are seen to be there at the shuffle.
        let own = first + local_index;
        for (var begun = 0u; begun < SEGMENT; begun += 256u) {
            let key = own + begun;
            let place = query * attention.sequence + key;
            var taken = false;
            if (key < attention.sequence) {
                taken = mask[place] != 0u;
            }
            let before = subgroupExclusiveAdd(u32(taken));
            var begin = 0u;
            if (lane == width - 1u) {
                begin = atomicAdd(&listed_all, before + u32(taken));
            }
            begin = subgroupShuffle(begin, width - 1u);
            if (taken) {
                list[begin + before] = key;
            } else if (key < attention.sequence) {
                scores[place] = 0.0;
            }
        }
        workgroupBarrier();
        if (local_index == 0u) {
            listed_now = atomicLoad(&listed_all);
        }
        let count = workgroupUniformLoad(&listed_now);
        for (var i = local_index; i < count; i += 256u) {
            let key = list[i];
            scores[query * attention.sequence + key] = score(query, key);
        }
        workgroupBarrier();
    }
}
