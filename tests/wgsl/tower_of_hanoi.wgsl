// Question: what does recursion cost that is written with a stack of structs?
// Dispatch: one invocation a tower, 32 a workgroup. Divergence: towers of five heights.
struct Frame {
    height: u32,
    stage: u32,
}

@group(0) @binding(0) var<storage, read_write> moves: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var stack = array<Frame, 6>();
    stack[0].height = id.x % 5u + 1u;
    var top = 0;
    var count = 0u;
    while (top >= 0) {
        let frame = &stack[top];
        (*frame).stage += 1u;
        switch ((*frame).stage) {
            case 1u, 3u: {
                if ((*frame).height > 1u) {
                    stack[top + 1] = Frame((*frame).height - 1u, 0u);
                    top++;
                }
            }
            case 2u: {
                count++;
            }
            default: {
                top--;
            }
        }
    }
    if (id.x < arrayLength(&moves)) {
        moves[id.x] = count;
    }
}
