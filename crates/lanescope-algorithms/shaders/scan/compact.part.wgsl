
// Which elements are kept, and where does each go?
//
// Dispatch: `reset` and `main` of the scan before this text, which sums up flags instead of an input, and
// calls what stands here to read and to write: an element that is kept goes to the place that the sum
// of the flags before it says. Divergence expected: where neighbours are kept and left out.

// Four flags, each a word or a byte; not zero where the element is kept.
alias Flags = vec4<u32>;
const FLAG_PLACES = vec4<u32>(0u, 0u, 0u, 0u);
const FLAG_BITS = 0xffffffffu;

@group(0) @binding(1) var<storage, read> flags: array<Flags>;
@group(0) @binding(2) var<storage, read_write> kept: array<u32>;
@group(0) @binding(5) var<storage, read> elements: array<vec4<u32>>;

// Elements that a row of vectors keeps, in their order: each subgroup has a part with room for all of its.
var<workgroup> staged: array<u32, WORKGROUP * 4u>;

// 1 for each of four elements that is kept, 0 for the others and for what lies beyond n.
fn flags_of(index: u32) -> vec4<u32> {
    let loaded = vec4<u32>(flags[min(index, vectors_count() - 1u)]);
    let four = (loaded >> FLAG_PLACES) & vec4(FLAG_BITS);
    let inside = vec4(index * 4u) + vec4(0u, 1u, 2u, 3u) < vec4(params.n);
    return select(vec4(0u), vec4(1u), (four != vec4(0u)) & inside);
}

// Four elements; past the end any.
fn elements_of(index: u32) -> vec4<u32> {
    return elements[min(index, vectors_count() - 1u)];
}

// Writes what a subgroup keeps of a row of vectors, given the sums of flags up to and with each element; after the last
// vector, how many there are. Lanes put what they keep side by side first, so that neighbours write to neighbouring places:
// a lane by itself would write up to four words, each far from the next lane's. The host writes `meet`, in which the whole
// workgroup meets where there is no barrier for subgroups.
fn store_kept(index: u32, sums: vec4<u32>, four: vec4<u32>, place: Place) {
    let before = vec4(sums.x - flags_of(index).x, sums.xyz);
    let row = subgroupBroadcastFirst(before.x);
    let end = subgroupShuffle(sums.w, place.width - 1u);
    let room = (place.local_index - place.lane) * 4u;
    if (sums.x > before.x) { staged[room + before.x - row] = four.x; }
    if (sums.y > before.y) { staged[room + before.y - row] = four.y; }
    if (sums.z > before.z) { staged[room + before.z - row] = four.z; }
    if (sums.w > before.w) { staged[room + before.w - row] = four.w; }
    meet();
    for (var i = place.lane; i < end - row; i += place.width) {
        kept[row + i] = staged[room + i];
    }
    meet();
    if (index == vectors_count() - 1u) {
        totals[params.part + 1u] = sums.w;
    }
}
