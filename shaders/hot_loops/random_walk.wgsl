// What does a four-way switch on chance cost in a loop of fixed length?
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
    var x = 0;
    var y = 0;
    for (var k = 0u; k < 256u; k++) {
        state = state * 747796405u + 2891336453u;
        switch state >> 30u {
            case 0u: {
                x += 1;
            }
            case 1u: {
                x -= 1;
            }
            case 2u: {
                y += 1;
            }
            default: {
                y -= 1;
            }
        }
    }
    output[i] = u32(x * x + y * y);
}
