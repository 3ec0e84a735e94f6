// Question: what do the faces of a 3D stencil cost?
// Dispatch: 3D, one invocation a cell, 4 × 4 × 4 a workgroup. Divergence: cells at the faces.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

const SIDE = vec3<u32>(7u, 6u, 7u);

fn index(at: vec3<u32>) -> u32 {
    return (at.z * SIDE.y + at.y) * SIDE.x + at.x;
}

@compute @workgroup_size(4, 4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id >= SIDE) || index(id) >= arrayLength(&output)) {
        return;
    }
    let here = index(id);
    if (any(id == vec3<u32>(0u)) || any(id == SIDE - 1u)) {
        output[here] = input[here];
        return;
    }
    var sum = -6 * input[here];
    sum += input[here - 1u] + input[here + 1u];
    sum += input[here - SIDE.x] + input[here + SIDE.x];
    sum += input[here - SIDE.x * SIDE.y] + input[here + SIDE.x * SIDE.y];
    output[here] = sum;
}
