// What do three branches in each turn of the binary greatest common divisor cost?
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
    var a = scramble(i) | 1u;
    var b = scramble(i + 77u) | 1u;
    loop {
        if a == b {
            break;
        }
        if a > b {
            a -= b;
            a >>= firstTrailingBit(a);
        } else {
            b -= a;
            b >>= firstTrailingBit(b);
        }
    }
    output[i] = a;
}
