// Question: what does each level of nested loops cost, with ways out at all of them?
// Dispatch: one invocation an element, 32 a workgroup. Divergence: at every level.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var x = 0u; x < 1u + id.x % 5u; x++) {
        var y = 0u;
        while (true) {
            y++;
            if (y > 4u) {
                break;
            }
            if ((x + y + id.x) % 4u == 0u) {
                continue;
            }
            loop {
                sum += 1u;
                if (sum % 3u == 0u) {
                    break;
                }
                if (sum > 60u) {
                    break;
                }
                continuing {
                    sum += x;
                }
            }
            if (sum > 50u) {
                break;
            }
        }
        if (sum > 80u) {
            break;
        }
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = sum;
    }
}
