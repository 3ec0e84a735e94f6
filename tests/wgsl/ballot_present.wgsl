// Question: is a ballot counted that names no predicate, as naga allows?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the element's remainder.
enable subgroups;
// Lanes part at the switch, and those that are there are the question.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= min(arrayLength(&input), arrayLength(&output))) {
        return;
    }
    var present = vec4<u32>();
    switch (input[id.x] % 3u) {
        case 0u: {
            present = subgroupBallot();
        }
        case 1u: {
            present = subgroupBallot(input[id.x] > 99u);
        }
        default: {
        }
    }
    output[id.x] = countOneBits(present.x) + countOneBits(present.y);
}
