// Question: what do votes say of the lanes that are there?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: odd and even lanes part.
enable subgroups;
// Votes of a part of the lanes are the question.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output) || id.x >= arrayLength(&input)) {
        return;
    }
    let value = input[id.x] % 256u;
    var result = 0u;
    if (id.x % 2u == 0u) {
        let present = subgroupBallot(true);
        let small = subgroupBallot(value < 128u);
        result = countOneBits(present.x) * 64u + countOneBits(small.x);
    } else if (subgroupAll(value < 250u)) {
        result = subgroupMin(value) + subgroupMax(value);
    } else if (subgroupAny(value < 5u)) {
        result = subgroupAnd(value) | subgroupOr(value);
    } else {
        result = subgroupXor(value);
    }
    output[id.x] = result;
}
