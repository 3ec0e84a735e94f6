// What does a stencil in two dimensions take, by shuffles in a tile, through memory, and by loads alone?
//
// Dispatch: one invocation a point, workgroups of 256 that lie `across` by 256 / `across`.
// Divergence expected: in `shuffle`, where lanes at the edge of a subgroup's tile load what no lane of it
// has: of W lanes W / `across` at each side, and `across` at the top and at the bottom.
//
// A point becomes half of itself and an eighth of each of its four neighbours; past the edge of the image
// a point is its own neighbour.
enable subgroups;

struct Params { side: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

override across: u32 = 8u;
var<workgroup> exchange: array<f32, 256>;

fn at(x: u32, y: u32) -> f32 {
    return input[min(y, params.side - 1u) * params.side + min(x, params.side - 1u)];
}

fn before(place: u32) -> u32 { return max(place, 1u) - 1u; }

fn row_of(workgroup: u32, place: u32) -> u32 { return workgroup * (256u / across) + place / across; }

fn put(x: u32, y: u32, own: f32, left: f32, right: f32, above: f32, below: f32) {
    output[y * params.side + x] = 0.5 * own + 0.125 * ((left + right) + (above + below));
}

@compute @workgroup_size(256)
fn shuffle(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    // By lanes, so that neighbours are neighbours however a driver seats invocations.
    let place = subgroup * size + lane;
    let x = workgroup.x * across + place % across;
    let y = row_of(workgroup.y, place);
    let own = at(x, y);
    let last = min(across, size) - 1u;
    let column = lane & last;
    var left = subgroupShuffle(own, select(lane, lane - 1u, column > 0u));
    var right = subgroupShuffle(own, select(lane, lane + 1u, column < last));
    var above = subgroupShuffle(own, select(lane, lane - across, lane >= across));
    var below = subgroupShuffle(own, select(lane, lane + across, lane + across < size));
    if (column == 0u) {
        // block: beside
        left = at(before(x), y);
    }
    if (column == last) {
        // block: beside
        right = at(x + 1u, y);
    }
    if (lane < across) {
        // block: over
        above = at(x, before(y));
    }
    if (lane + across >= size) {
        // block: over
        below = at(x, y + 1u);
    }
    put(x, y, own, left, right, above, below);
}

@compute @workgroup_size(256)
fn memory(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) place: u32) {
    let column = place % across;
    let x = workgroup.x * across + column;
    let y = row_of(workgroup.y, place);
    let own = at(x, y);
    exchange[place] = own;
    workgroupBarrier();
    var left = exchange[before(place)];
    var right = exchange[min(place + 1u, 255u)];
    var above = exchange[select(place, place - across, place >= across)];
    var below = exchange[min(place + across, 255u)];
    if (column == 0u) { left = at(before(x), y); }
    if (column == across - 1u) { right = at(x + 1u, y); }
    if (place < across) { above = at(x, before(y)); }
    if (place + across >= 256u) { below = at(x, y + 1u); }
    put(x, y, own, left, right, above, below);
}

@compute @workgroup_size(256)
fn loads(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) place: u32) {
    let x = workgroup.x * across + place % across;
    let y = row_of(workgroup.y, place);
    put(x, y, at(x, y), at(before(x), y), at(x + 1u, y), at(x, before(y)), at(x, y + 1u));
}
