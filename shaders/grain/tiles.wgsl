// What does an edge in an image cost, by the shape of the tiles that cross it?
//
// Dispatch: one invocation a pixel, 256 a workgroup: four tiles of 64, side by side.
// Divergence expected: the two sides of an edge take two arms, which are as long; a subgroup across an
// edge executes both. Edges lie `region` pixels apart, one pixel off the grid of tiles. Invocations find
// their pixel from their number, so that the tiles are the same where a driver packs rows otherwise.

struct Params {
    columns: u32,
    tile: u32,
    region: u32,
    work: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn tiles(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let number = (workgroup.y * grid.x + workgroup.x) * 4u + local_index / 64u;
    let lane = local_index % 64u;
    let across = params.columns / params.tile;
    let x = number % across * params.tile + lane % params.tile;
    let y = number / across * (64u / params.tile) + lane / params.tile;
    let index = y * params.columns + x;
    if (index >= arrayLength(&output)) {
        return;
    }
    let place = x + y;
    let work = params.work;
    var v = input[index];
    if ((place + 1u) / params.region % 2u == 0u) {
        let a = params.a;
        let b = params.b;
        for (var i = 0u; i < work; i++) {
            // block: arm
            v = fma(v, a, b);
        }
    } else {
        let c = params.c;
        let d = params.d;
        for (var i = 0u; i < work; i++) {
            // block: arm
            v = fma(v, c, d);
        }
    }
    output[index] = v;
}
