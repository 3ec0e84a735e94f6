// Question: do quads share what they hold?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: none before the end.
enable subgroups;

@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let value = input[id.x % arrayLength(&input)];
    let beside = quadSwapX(value);
    let below = quadSwapY(value);
    let across = quadSwapDiagonal(value);
    let first = quadBroadcast(value, 0u);
    if (id.x < arrayLength(&output)) {
        output[id.x] = 2 * beside - 3 * below + 5 * across - 7 * first;
    }
}
