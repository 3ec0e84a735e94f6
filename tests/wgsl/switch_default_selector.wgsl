// Question: does a case that shares its arm with the default run it once?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: two ways out of seven values.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var result = 0u;
    switch id.x % 7u {
        case 0u, default, 3u {
            result = 10u;
        }
        case 1u, 2u {
            result = 20u;
        }
    }
    switch id.x % 2u {
        default {
            result += id.x;
        }
    }
    if id.x < arrayLength(&output) {
        output[id.x] = result;
    }
}
