// Question: do private variables keep one value a lane across calls?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the depth of each lane's stack.
var<private> stack: array<u32, 8>;
var<private> depth: u32 = 0u;
var<private> overflow = false;

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn push(value: u32) {
    if (depth >= 8u) {
        overflow = true;
        return;
    }
    stack[depth] = value;
    depth += 1u;
}

fn pop() -> u32 {
    if (depth == 0u) {
        return 0u;
    }
    depth -= 1u;
    return stack[depth];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var i = 0u; i < id.x % 11u; i++) {
        push(i * id.x);
    }
    var sum = 0u;
    while (depth > 0u) {
        sum = sum * 3u + pop();
    }
    sum += pop();
    if (overflow) {
        sum += 1u << 20u;
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = sum;
    }
}
