// Question: how fast do a tree's lanes fall idle?
// Dispatch: one invocation an element, 256 a workgroup. Divergence: half the lanes leave each step.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;

var<workgroup> partial: array<u32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    var own = 0u;
    if (id.x < arrayLength(&input)) {
        own = input[id.x];
    }
    partial[lane] = own;
    workgroupBarrier();
    for (var stride = 128u; stride > 0u; stride >>= 1u) {
        if (lane < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        atomicAdd(&total, partial[0]);
    }
}
