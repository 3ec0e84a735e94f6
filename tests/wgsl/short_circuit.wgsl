// Question: what do the right sides of && and || cost, which only some lanes ask for?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: inside the conditions.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn prime(number: u32) -> bool {
    for (var d = 2u; d * d <= number; d++) {
        if (number % d == 0u) {
            return false;
        }
    }
    return number > 1u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let inside = id.x < arrayLength(&output) && id.x < arrayLength(&input);
    var value = 0u;
    if (inside && prime(input[id.x])) {
        value = 1u;
    }
    let either = id.x % 3u == 0u || (id.x % 5u == 0u && !prime(id.x)) || prime(id.x + 2u);
    if (!either) {
        value += 2u;
    }
    if (inside) {
        output[id.x] = value;
    }
}
