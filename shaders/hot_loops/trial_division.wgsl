// What does an inner search cost that only some lanes do, in some turns of an outer loop?
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
    var primes = 0u;
    let first = 3u + scramble(i) % 2048u;
    for (var k = 0u; k < 24u; k++) {
        let candidate = first + k;
        if candidate % 2u == 1u {
            var divisor = 3u;
            var prime = true;
            while divisor * divisor <= candidate {
                if candidate % divisor == 0u {
                    prime = false;
                    break;
                }
                divisor += 2u;
            }
            if prime {
                primes += candidate;
            }
        }
    }
    output[i] = primes;
}
