// Question: do signed and floating sums over lanes keep their sign? One invocation an element, 64 a workgroup.
enable subgroups;
// Divergence by the element's sign; those that are left in a branch sum: that is the question.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let value = input[id.x % arrayLength(&input)] - 200;
    var result = 0;
    if (value < 0) {
        result = subgroupMin(value) - subgroupAdd(value);
    } else {
        // Whole numbers below 2^24: every order of addition gives the same.
        result = i32(subgroupAdd(f32(value))) + subgroupMax(-value);
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = result;
    }
}
