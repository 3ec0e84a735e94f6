// Question: where do lanes go on that return from inside a loop of a function?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the least divisor.
@group(0) @binding(0) var<storage, read_write> divisors: array<u32>;

fn least_divisor(number: u32) -> u32 {
    if (number < 4u) {
        return number;
    }
    for (var divisor = 2u; divisor * divisor <= number; divisor++) {
        if (number % divisor == 0u) {
            return divisor;
        }
    }
    return number;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var at = id.x; at < arrayLength(&divisors); at += 128u) {
        if (at >= 4096u) {
            return;
        }
        if (at / 128u == id.x / 64u) {
            divisors[at] = least_divisor(at + id.x);
        }
    }
}
