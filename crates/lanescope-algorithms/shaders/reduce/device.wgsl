// How fast can one launch add up a whole array?
//
// Dispatch: 1D, as many workgroups as keep the device busy and no more; state[0] must be zero, and is
// again at the end. Divergence expected: none but the last turn's end and the few lanes that publish.
//
// Each workgroup strides over the array and reduces what it meets: in its lanes, its subgroups, then
// in workgroup memory. The workgroup that arrives last reduces the partial results of all.
//
// How partial results travel. WGSL's atomics are relaxed: that a counter says "all are there" does
// not mean that what they wrote before can be seen. So each word that carries a value carries its own
// proof of being there: half of the value's bits and a tag. Who sees the tag sees the bits, since a
// word is written as a whole. Arrivals decide only who reads; that it may have to look twice is all
// that a late word costs. It waits for words that running workgroups have already sent on their way,
// and never for a workgroup that has not begun, so no promise of the scheduler is needed.
//
// The last workgroup leaves the state as it found it, zero, for the next launch.
enable subgroups;
// The first subgroup, whole, works alone at the end: WGSL cannot tell that from lanes' numbers.
diagnostic(off, subgroup_uniformity);

alias Element = f32;
// The ends of its range.
const LOWEST = -0x1.fffffep+127f;
const HIGHEST = 0x1.fffffep+127f;
// What changes nothing when it is combined with.
const IDENTITY = Element(0);
const WORKGROUP = 256u;
// Vectors of four that each invocation loads before it adds them up: loads in flight hide latency.
const ITEMS = 4u;

// Set in each word that holds half of a value.
const TAG = 0x10000u;

struct Params {
    // Elements.
    n: u32,
    // The element of the output that takes the result.
    index: u32,
}

// Where an invocation stands.
struct Place {
    local_index: u32,
    lane: u32,
    width: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// The elements, four to a vector; what the last vector has beyond n is not looked at.
@group(0) @binding(1) var<storage, read> input: array<vec4<Element>>;
// The number of workgroups that have arrived, then two words a workgroup.
@group(0) @binding(2) var<storage, read_write> state: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> output: array<Element>;

// A result of each subgroup: at least 4 lanes make one.
var<workgroup> subgroup_results: array<Element, WORKGROUP / 4u>;
var<workgroup> arrivals_before: u32;

fn combine(a: Element, b: Element) -> Element {
    return a + b;
}

fn combine_vectors(a: vec4<Element>, b: vec4<Element>) -> vec4<Element> {
    return a + b;
}

fn combine_subgroup(a: Element) -> Element {
    return subgroupAdd(a);
}

// Reduces over the workgroup; the result is valid in the first subgroup.
fn combine_workgroup(value: Element, place: Place) -> Element {
    let of_subgroup = combine_subgroup(value);
    if (place.lane == 0u) {
        subgroup_results[place.local_index / place.width] = of_subgroup;
    }
    workgroupBarrier();
    var result = IDENTITY;
    if (place.local_index < place.width) {
        for (var i = place.local_index; i < WORKGROUP / place.width; i += place.width) {
            result = combine(result, subgroup_results[i]);
        }
        result = combine_subgroup(result);
    }
    return result;
}

// What this invocation meets of the array. What a subgroup loads at once lies side by side, ITEMS times
// its width: to a GPU that is as good as any order whose neighbours stand together, and a CPU, which
// runs one subgroup after the other, reads on and on.
fn combine_own(place: Place, workgroup: u32, workgroups: u32) -> Element {
    let vectors = params.n / 4u;
    var sum = vec4<Element>(IDENTITY);
    let before_subgroup = workgroup * WORKGROUP + place.local_index - place.lane;
    var i = before_subgroup * ITEMS + place.lane;
    // Whole turns: every invocation has all its items.
    while (i + (ITEMS - 1u) * place.width < vectors) {
        var loaded: array<vec4<Element>, ITEMS>;
        for (var k = 0u; k < ITEMS; k++) {
            loaded[k] = input[i + k * place.width];
        }
        for (var k = 0u; k < ITEMS; k++) {
            sum = combine_vectors(sum, loaded[k]);
        }
        i += workgroups * WORKGROUP * ITEMS;
    }
    // The last turn's items, fewer than ITEMS.
    while (i < vectors) {
        sum = combine_vectors(sum, input[i]);
        i += place.width;
    }
    var result = combine(combine(sum.x, sum.y), combine(sum.z, sum.w));
    if (workgroup == 0u && place.local_index < params.n % 4u) {
        result = combine(result, input[vectors][place.local_index]);
    }
    return result;
}

// Leaves a workgroup's result where the last workgroup finds it.
fn publish(workgroup: u32, result: Element) {
    let bits = bitcast<u32>(result);
    atomicStore(&state[1u + 2u * workgroup], TAG | (bits & 0xffffu));
    atomicStore(&state[2u + 2u * workgroup], TAG | (bits >> 16u));
}

// Takes a workgroup's result away, and leaves zero.
fn take(workgroup: u32) -> Element {
    var low = 0u;
    var high = 0u;
    loop {
        low = atomicLoad(&state[1u + 2u * workgroup]);
        high = atomicLoad(&state[2u + 2u * workgroup]);
        if ((low & high & TAG) != 0u) {
            break;
        }
    }
    atomicStore(&state[1u + 2u * workgroup], 0u);
    atomicStore(&state[2u + 2u * workgroup], 0u);
    return bitcast<Element>((low & 0xffffu) | (high << 16u));
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) width: u32,
) {
    let place = Place(local_index, lane, width);
    let own = combine_own(place, workgroup.x, grid.x);
    let result = combine_workgroup(own, place);
    if (local_index == 0u) {
        if (grid.x == 1u) {
            output[params.index] = result;
        } else {
            publish(workgroup.x, result);
        }
        arrivals_before = atomicAdd(&state[0], 1u);
    }
    if (workgroupUniformLoad(&arrivals_before) != grid.x - 1u) {
        return;
    }
    // The last workgroup.
    if (local_index == 0u) {
        atomicStore(&state[0], 0u);
    }
    if (grid.x == 1u) {
        return;
    }
    var taken = IDENTITY;
    for (var i = local_index; i < grid.x; i += WORKGROUP) {
        taken = combine(taken, take(i));
    }
    let total = combine_workgroup(taken, place);
    if (local_index == 0u) {
        output[params.index] = total;
    }
}
