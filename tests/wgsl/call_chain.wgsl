// Question: do calls in calls, in conditions and in loops bring all lanes back?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: inside the callees.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn parity(x: u32) -> bool {
    return countOneBits(x) % 2u == 1u;
}

fn step(x: u32) -> u32 {
    if (parity(x)) {
        return x * 2u + 1u;
    } else {
        return x + 3u;
    }
}

fn walk(x: u32, rounds: u32) -> u32 {
    var value = x;
    for (var i = 0u; i < rounds && !done(value); i++) {
        value = step(step(value));
    }
    return value;
}

fn done(x: u32) -> bool {
    return x > 5000u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var value = walk(id.x, 6u);
    if (done(value)) {
        value = step(id.x);
    } else {
        value = walk(value, 2u) + walk(1u, id.x % 4u);
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = value;
    }
}
