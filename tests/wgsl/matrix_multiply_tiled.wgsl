// Question: does a tiled matrix product keep every lane?
// Dispatch: 2D, one invocation an element, 8 × 8 a workgroup. Divergence: none inside the matrix.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;

const TILE = 8u;
const SIDE = 16u;

var<workgroup> tile_a: array<array<u32, TILE>, TILE>;
var<workgroup> tile_b: array<array<u32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    var sum = 0u;
    for (var k = 0u; k < SIDE; k += TILE) {
        let column = k + local.x;
        let row = k + local.y;
        tile_a[local.y][local.x] = 0u;
        tile_b[local.y][local.x] = 0u;
        if (column < SIDE && id.y < SIDE) {
            tile_a[local.y][local.x] = a[id.y * SIDE + column];
        }
        if (row < SIDE && id.x < SIDE) {
            tile_b[local.y][local.x] = b[row * SIDE + id.x];
        }
        workgroupBarrier();
        for (var i = 0u; i < TILE; i++) {
            sum += tile_a[local.y][i] * tile_b[i][local.x];
        }
        workgroupBarrier();
    }
    if (id.x < SIDE && id.y < SIDE && id.y * SIDE + id.x < arrayLength(&c)) {
        c[id.y * SIDE + id.x] = sum;
    }
}
