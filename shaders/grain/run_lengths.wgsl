// What do two arms cost that are taken in runs of neighbours, at each width?
//
// Dispatch: one invocation an element, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: a subgroup inside one run executes one arm, one across the end of a run both.

@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn run_lengths(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    let index = group * 256u + local_index;
    if (index >= params.extent) {
        return;
    }
    let first = (index + offsets[group]) / params.region % 2u == 0u;
    output[index] = arms(first, input[index]);
}
