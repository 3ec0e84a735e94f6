// A loop whose trips are told.
@group(0) @binding(0) var<storage, read_write> values: array<u32, 4>;
@compute @workgroup_size(1)
fn main() {
    let bound = values[0];
    var hash = 1u;
    var trips = 0u;
    loop {
        if (trips >= bound) { break; }
        hash = hash * 1664525u + 1013904223u;
        trips += 1u;
    }
    values[1] = trips;
    values[2] = hash;
}
