// What does an edge in an image cost, by the shape of the tiles that cross it?
//
// Dispatch: one invocation a pixel, 256 a workgroup: four tiles of 64, side by side.
// Divergence expected: the two sides of an edge take two arms; a subgroup across an edge executes both. Edges
// lie `region` pixels apart, one pixel off the grid of tiles. Invocations find their pixel from their number,
// so that tiles are the same where a driver packs rows otherwise.

@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn image_tiles(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let number = (workgroup.y * grid.x + workgroup.x) * 4u + local_index / 64u;
    let lane = local_index % 64u;
    let across = params.extent / params.side;
    let x = number % across * params.side + lane % params.side;
    let y = number / across * (64u / params.side) + lane / params.side;
    let index = y * params.extent + x;
    if (index >= arrayLength(&output)) {
        return;
    }
    let place = x + y;
    output[index] = arms((place + 1u) / params.region % 2u == 0u, input[index]);
}
