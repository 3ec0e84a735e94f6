
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

// 1 for each of four elements that is kept, 0 for the others.
fn flags_of(index: u32) -> vec4<u32> {
    let four = (vec4<u32>(flags[index]) >> FLAG_PLACES) & vec4(FLAG_BITS);
    return select(vec4(0u), vec4(1u), four != vec4(0u));
}

// Writes what is kept of four elements, given the sums of flags up to and with each; after the last, how
// many there are.
fn store_kept(index: u32, sums: vec4<u32>) {
    let rest = params.n - index * 4u;
    let four = elements[index];
    let before = sums - flags_of(index);
    if (sums.x > before.x) { kept[before.x] = four.x; }
    if (sums.y > before.y && rest > 1u) { kept[before.y] = four.y; }
    if (sums.z > before.z && rest > 2u) { kept[before.z] = four.z; }
    if (sums.w > before.w && rest > 3u) { kept[before.w] = four.w; }
    if (rest <= 4u) {
        totals[params.part + 1u] = sums[rest - 1u];
    }
}
