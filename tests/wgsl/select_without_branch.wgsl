// Question: does a select keep the lanes that a branch would part?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: none but the end.
@group(0) @binding(0) var<storage, read_write> output: array<vec2<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x);
    let even = (i & 1) == 0;
    let value = select(i * 3 + 1, i / 2, even);
    let both = select(vec2<i32>(i, -i), vec2<i32>(value, i), vec2<bool>(even, i > 20));
    if (id.x < arrayLength(&output)) {
        output[id.x] = both;
    }
}
