// What does `continue` on chance cost, so that some turns are cut short?
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
    var state = scramble(i);
    var sum = 0u;
    var taken = 0u;
    for (var k = 0u; k < 256u; k++) {
        state = state * 747796405u + 2891336453u;
        let draw = state >> 24u;
        if draw >= 200u {
            continue;
        }
        sum += draw * draw;
        taken += 1u;
        if taken > 180u {
            break;
        }
    }
    output[i] = sum / max(taken, 1u);
}
