// Question: do functions count that change their caller's variables through pointers?
// Dispatch: one invocation a pair, 64 a workgroup. Divergence: pairs out of order.
struct State {
    low: u32,
    high: array<u32, 3>,
}

var<private> swaps: u32;

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
    let kept = *a;
    *a = *b;
    *b = kept;
    bump(&swaps);
}

fn bump(counter: ptr<private, u32>) {
    *counter += 1u;
}

fn sort(state: ptr<function, State>) -> bool {
    var low = (*state).low;
    var first = (*state).high[0];
    if (low > first) {
        swap(&low, &first);
        (*state).low = low;
        (*state).high[0] = first;
        return true;
    }
    return false;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var state = State(id.x * 7u % 32u, array<u32, 3>(id.x % 32u, 5u, 9u));
    let element = &state.high[id.x % 3u];
    *element += 2u;
    let changed = sort(&state);
    if (id.x < arrayLength(&output)) {
        output[id.x] = state.low * 100u + *element + select(0u, 1000u, changed) + swaps;
    }
}
