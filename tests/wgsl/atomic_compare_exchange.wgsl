// Question: how does a compare-exchange go that each lane does on a word of its own?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: those that find what they expect.
@group(0) @binding(0) var<storage, read_write> words: array<atomic<i32>>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

var<workgroup> turn: array<atomic<u32>, 64>;
var<workgroup> signed_turn: array<atomic<i32>, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if (id.x >= arrayLength(&words) || id.x >= arrayLength(&output)) {
        return;
    }
    if (id.x % 3u == 0u) {
        atomicStore(&words[id.x], 7);
    } else {
        atomicStore(&words[id.x], 1);
    }
    let result = atomicCompareExchangeWeak(&words[id.x], 7, -1);
    var value = result.old_value;
    if (result.exchanged) {
        value += 100;
    }
    let won = atomicCompareExchangeWeak(&turn[lane], 0u, id.x).exchanged;
    if (atomicCompareExchangeWeak(&signed_turn[lane], 1, -1).exchanged) {
        value = 0;
    }
    output[id.x] = value + select(0, 1000, won) + atomicLoad(&words[id.x]);
}
