// Question: does a default between the cases take only what no case names?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: nine ways.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output) || id.x >= arrayLength(&input)) {
        return;
    }
    var result = input[id.x];
    switch (input[id.x] % 9 - 4) {
        case -4, 4: {
            result += 1;
        }
        case -1: {
            result *= 2;
        }
        default: {
            result -= 3;
        }
        case 0, 2, 3: {
            result ^= 5;
            if (result > 100) {
                break;
            }
            result += 7;
        }
        case 1: {
        }
    }
    output[id.x] = result;
}
