// Question: which cells take the long way?
// Dispatch: 2D, one invocation a cell, 8 × 8 a workgroup. Divergence: cells by their neighbours.
@group(0) @binding(0) var<storage, read> cells: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;

const WIDTH = 32u;

fn alive(x: i32, y: i32) -> u32 {
    let column = u32(x + i32(WIDTH)) % WIDTH;
    let row = u32(y + i32(WIDTH)) % WIDTH;
    let at = row * WIDTH + column;
    if (at >= arrayLength(&cells)) {
        return 0u;
    }
    return u32((cells[at] & 3u) == 0u);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = id.y * WIDTH + id.x;
    if (id.x >= WIDTH || at >= arrayLength(&next)) {
        return;
    }
    var around = 0u;
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) {
                continue;
            }
            around += alive(i32(id.x) + dx, i32(id.y) + dy);
        }
    }
    switch (around) {
        case 2u: {
            next[at] = alive(i32(id.x), i32(id.y));
        }
        case 3u: {
            next[at] = 1u;
        }
        default: {
            next[at] = 0u;
        }
    }
}
