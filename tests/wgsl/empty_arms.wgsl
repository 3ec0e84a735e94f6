// Question: do empty arms, loops and functions stay without blocks?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the element's parity.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn nothing() {
}

fn nothing_much(value: u32) {
    if (value == 3u) {
    }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x % 2u == 0u) {
    } else {
    }
    if (id.x % 3u == 0u) {
    } else {
        nothing();
    }
    switch (id.x % 4u) {
        default: {
        }
        case 1u: {
        }
    }
    for (var i = 0u; i < id.x % 5u; i++) {
    }
    {
        {
        }
        nothing_much(id.x);
    }
    ;
    if (id.x < arrayLength(&output)) {
        output[id.x] = 1u;
    }
}
