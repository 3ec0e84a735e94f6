// The rays of a workgroup in order of the material that they hit: a stable counting sort in workgroup memory.

// Counts of eight materials, two in a word: scanned, they are ranks.
var<workgroup> counts: array<vec4<u32>, 256>;
var<workgroup> light: array<f32, 256>;
var<workgroup> rays: array<u32, 256>;

// A number that looks like chance, from a number.
fn scramble(seed: u32) -> u32 {
    let a = (seed ^ (seed >> 16u)) * 0x7feb352du;
    let b = (a ^ (a >> 15u)) * 0x846ca68bu;
    return b ^ (b >> 16u);
}

fn count_of(packed: vec4<u32>, material: u32) -> u32 {
    return (packed[material / 2u] >> (16u * (material % 2u))) & 0xffffu;
}

// The place of an invocation's ray among those of its workgroup in order of material, rays of one in order.
fn place_of(local_index: u32, material: u32) -> u32 {
    var own = vec4<u32>(0u);
    own[material / 2u] = 1u << (16u * (material % 2u));
    counts[local_index] = own;
    workgroupBarrier();
    for (var reach = 1u; reach < 256u; reach *= 2u) {
        let before = counts[(local_index - reach) % 256u];
        workgroupBarrier();
        if (local_index >= reach) {
            counts[local_index] += before;
        }
        workgroupBarrier();
    }
    let all = counts[255];
    var place = count_of(counts[local_index], material) - 1u;
    for (var other = 0u; other < material; other++) {
        place += count_of(all, other);
    }
    workgroupBarrier();
    return place;
}
