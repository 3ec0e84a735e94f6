// Question: how many lanes does a Hillis-Steele scan waste?
// Dispatch: one invocation an element, 128 a workgroup. Divergence: the low lanes of each step.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const SIZE = 128u;
var<workgroup> scratch: array<u32, SIZE>;

@compute @workgroup_size(128, 1, 1)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    if (id.x < arrayLength(&input)) {
        scratch[lane] = input[id.x];
    } else {
        scratch[lane] = 0u;
    }
    workgroupBarrier();
    for (var distance = 1u; distance < SIZE; distance *= 2u) {
        var addend = 0u;
        if (lane >= distance) {
            addend = scratch[lane - distance];
        }
        workgroupBarrier();
        scratch[lane] += addend;
        workgroupBarrier();
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = scratch[lane];
    }
}
