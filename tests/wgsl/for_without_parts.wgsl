// Question: are loops counted whose heads lack a start, a condition or a step?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: trip counts.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (;;) {
        sum += 3u;
        if (sum > id.x % 16u) {
            break;
        }
    }
    var i = 0u;
    for (; i < 3u;) {
        i += 1u;
        sum += i;
    }
    for (var j = 7i; ; j--) {
        if (j < 0) {
            break;
        }
        sum += u32(j);
    }
    for (i = 0u; i < 2u; sum += i) {
        i++;
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = sum;
    }
}
