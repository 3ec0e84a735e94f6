// Question: which switch does a break leave?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: a tree of arms.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output) || id.x >= arrayLength(&input)) {
        return;
    }
    let value = input[id.x];
    var result = 0u;
    switch (value % 4u) {
        case 0u: {
            switch (value / 4u % 3u) {
                case 0u: {
                    result = 1u;
                    break;
                }
                case 1u: {
                    output[id.x] = 77u;
                    return;
                }
                default: {
                    if (value > 64u) {
                        break;
                    }
                    result = 2u;
                }
            }
            result += 10u;
        }
        case 1u, 2u: {
            if (value % 8u < 4u) {
                break;
            }
            result = 30u;
        }
        default: {
            result = 40u;
        }
    }
    output[id.x] = result;
}
