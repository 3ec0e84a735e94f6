// Question: how uneven are random walks until they come home?
// Dispatch: one invocation a walker, 32 a workgroup. Divergence: walks end at random steps.
@group(0) @binding(0) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&steps)) {
        return;
    }
    var state = id.x * 2654435761u + 12345u;
    var place = 3;
    var step = 0u;
    loop {
        if (place == 0 || step >= 200u) {
            break;
        }
        state = state * 1664525u + 1013904223u;
        if ((state >> 30u) == 0u) {
            place += 1;
        } else {
            place -= 1;
        }
        step += 1u;
    }
    steps[id.x] = step;
}
