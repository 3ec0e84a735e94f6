// What does a branch by sign cost in a search of fixed length, and an early return?
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
    let wanted = scramble(i) >> 4u;
    var low = 0u;
    var high = 65536u;
    for (var k = 0u; k < 64u; k++) {
        let middle = (low + high) / 2u;
        let square = middle * middle;
        if square == wanted {
            output[i] = middle;
            return;
        }
        if square < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    output[i] = low;
}
