// What does a distance test cost that few pairs pass, with work behind it?
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
    let own = scramble(i);
    let x = own & 255u;
    let y = (own >> 8u) & 255u;
    var energy = 0u;
    for (var k = 0u; k < 192u; k++) {
        let other = scramble(i / 64u * 64u + k);
        let dx = x - (other & 255u);
        let dy = y - ((other >> 8u) & 255u);
        let distance = dx * dx + dy * dy;
        if distance < 4096u {
            var weight = 4096u - distance;
            weight = (weight * weight) >> 12u;
            weight = (weight * weight) >> 12u;
            energy += weight;
        }
    }
    output[i] = energy;
}
