// What do data-dependent inner loops cost, each lane sorting sixteen numbers of its own?
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
    var values: array<u32, 16>;
    for (var k = 0u; k < 16u; k++) {
        values[k] = scramble(i * 16u + k) >> 8u;
    }
    for (var k = 1u; k < 16u; k++) {
        let value = values[k];
        var place = k;
        while place > 0u {
            if values[place - 1u] <= value {
                break;
            }
            values[place] = values[place - 1u];
            place -= 1u;
        }
        values[place] = value;
    }
    output[i] = values[0] ^ values[7] ^ values[15];
}
