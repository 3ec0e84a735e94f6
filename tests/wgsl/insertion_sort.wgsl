// Question: how long does each lane sort its own few numbers?
// Dispatch: one invocation a list, 64 a workgroup. Divergence: the inner loop.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const SIZE = 10;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output)) {
        return;
    }
    var list: array<u32, SIZE>;
    for (var i = 0; i < SIZE; i++) {
        list[i] = input[(id.x * 3u + u32(i) * 17u) % arrayLength(&input)];
    }
    for (var i = 1; i < SIZE; i++) {
        let own = list[i];
        var at = i;
        while (at > 0 && list[at - 1] > own) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = own;
    }
    output[id.x] = list[SIZE / 2];
}
