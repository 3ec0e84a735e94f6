// Question: which lanes turn when cells ask for their place on a spiral?
// Dispatch: 2D, one invocation a cell, 4 × 16 a workgroup. Divergence: the side of the ring.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

const SIDE = 16u;

@compute @workgroup_size(4, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= SIDE || id.y >= SIDE) {
        return;
    }
    let ring = min(min(id.x, id.y), min(SIDE - 1u - id.x, SIDE - 1u - id.y));
    let side = SIDE - 2u * ring;
    var number = 4u * ring * (SIDE - ring);
    if (id.y == ring) {
        number += id.x - ring;
    } else if (id.x == SIDE - 1u - ring) {
        number += side - 1u + id.y - ring;
    } else if (id.y == SIDE - 1u - ring) {
        number += 2u * (side - 1u) + (SIDE - 1u - ring - id.x);
    } else {
        number += 3u * (side - 1u) + (SIDE - 1u - ring - id.y);
    }
    let at = id.y * SIDE + id.x;
    if (at < arrayLength(&output)) {
        output[at] = number;
    }
}
