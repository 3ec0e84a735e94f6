// Question: what does an interpreter a lane cost, each with its own program?
// Dispatch: one invocation a program, 32 a workgroup. Divergence: every instruction.
@group(0) @binding(0) var<storage, read> programs: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<i32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&results)) {
        return;
    }
    var program = programs[id.x % arrayLength(&programs)] * 0x9e3779b1u + id.x;
    var accumulator = 1;
    var counter = 3;
    for (var step = 0; step < 30; step++) {
        let operation = program & 7u;
        program = (program >> 3u) | (program << 29u);
        switch (operation) {
            case 0u: { accumulator += counter; }
            case 1u: { accumulator -= 5; }
            case 2u: { accumulator *= 3; }
            case 3u: {
                counter -= 1;
                if (counter < 0) {
                    results[id.x] = accumulator;
                    return;
                }
            }
            case 4u: {
                if (accumulator % 2 == 0) {
                    program ^= 0x15u;
                    continue;
                }
                accumulator = accumulator / 2;
            }
            case 5u, 6u: { accumulator ^= 0x33; }
            default: { counter += 1; }
        }
        if (accumulator > 1000000) {
            break;
        }
    }
    results[id.x] = accumulator;
}
