// What does a machine of six states cost, each lane reading a text of its own?
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
    var state = 0u;
    var words = 0u;
    var text = scramble(i);
    for (var k = 0u; k < 128u; k++) {
        text = text * 747796405u + 2891336453u;
        let letter = text >> 29u;
        switch state {
            case 0u: {
                state = select(0u, 1u, letter > 2u);
            }
            case 1u: {
                if letter == 7u {
                    state = 4u;
                } else {
                    state = select(2u, 1u, letter > 1u);
                }
            }
            case 2u: {
                words += 1u;
                state = 3u;
            }
            case 3u: {
                state = letter % 2u;
            }
            case 4u: {
                state = select(5u, 4u, letter != 0u);
            }
            default: {
                words += 2u;
                state = 0u;
            }
        }
    }
    output[i] = words;
}
