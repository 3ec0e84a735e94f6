// What do two dispatches cost, which is how WGSL has all workgroups wait for one another?
//
// Dispatch: two of one invocation an element, 128 a workgroup; large grids are folded into two dimensions.
// Divergence expected: none.
//
// Between two dispatches everything of the first is done and seen: the only barrier over all workgroups
// that WGSL has, and one that no number of workgroups can hang.

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> middle: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn phase_1(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 128u + local_index;
    middle[index] = 2u * input[index] + 1u;
}

@compute @workgroup_size(128)
fn phase_2(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = (workgroup.y * grid.x + workgroup.x) * 128u + local_index;
    let left = select(index - 1u, params.n - 1u, index == 0u);
    let right = select(index + 1u, 0u, index == params.n - 1u);
    output[index] = middle[left] + middle[index] + middle[right];
}
