// How many turns until a point leaves the circle, in fixed-point numbers?
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

override n: u32 = 65536u;

// A number that looks like chance, from a number.
fn scramble(seed: u32) -> u32 {
    let a = (seed ^ (seed >> 16u)) * 0x7feb352du;
    let b = (a ^ (a >> 15u)) * 0x846ca68bu;
    return b ^ (b >> 16u);
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= n {
        return;
    }
    // 12 bits behind the point; the square of the radius is 4.
    let cx = i32(i % 256u) * 48 - 8192;
    let cy = i32(i / 256u % 256u) * 32 - 4096;
    var x = 0;
    var y = 0;
    var turns = 0u;
    for (var k = 0u; k < 200u; k++) {
        let xx = (x * x) >> 12u;
        let yy = (y * y) >> 12u;
        if xx + yy > 16384 {
            break;
        }
        y = ((2 * x * y) >> 12u) + cy;
        x = xx - yy + cx;
        turns += 1u;
    }
    output[i] = turns;
}
