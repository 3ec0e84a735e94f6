// How long until 3n + 1 comes down to one, odd and even numbers side by side in a subgroup?
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
    var value = 1u + scramble(i) % 4096u;
    var steps = 0u;
    while value != 1u {
        if value % 2u == 1u {
            value = value * 3u + 1u;
        } else {
            value = value / 2u;
        }
        steps += 1u;
    }
    output[i] = steps;
}
