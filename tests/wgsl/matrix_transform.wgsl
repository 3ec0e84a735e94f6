// Question: what do products of matrices and vectors count as?
// Dispatch: one invocation a point, 64 a workgroup. Divergence: points that fall outside.
struct Point {
    position: vec3<f32>,
    inside: u32,
}

@group(0) @binding(0) var<storage, read_write> points: array<Point>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&points)) {
        return;
    }
    // Whole numbers: exact on every device.
    let turn = mat3x3<f32>(0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    var both = turn * transpose(turn);
    both[2] = vec3<f32>(1.0, 2.0, 3.0);
    both[0].z += determinant(turn);
    let start = vec3<f32>(f32(id.x % 8u), f32(id.x % 5u), f32(id.x % 3u));
    let place = both * start + start * turn;
    points[id.x].position = place;
    if (all(place >= vec3<f32>(0.0)) && dot(place, place) < 300.0) {
        points[id.x].inside = 1u;
    } else {
        points[id.x].inside = 0u;
    }
}
