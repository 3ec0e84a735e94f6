// What does it give to put rays into new groups, by the material that they hit, between bounces?
//
// Dispatch: one invocation a ray, 256 a workgroup; large grids are folded into two dimensions.
// Divergence expected: a subgroup whose rays hit k materials at random executes k * (1 - (1 - 1/k)^W) arms a bounce;
// where a workgroup's rays are put in order of material, k - 1 of its subgroups at most hold two.

struct Params {
    n: u32,
    classes: u32,
    bounces: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn shade(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let group = workgroup.y * grid.x + workgroup.x;
    if (group * 256u >= params.n) {
        return;
    }
    var ray = group * 256u + local_index;
    var v = input[ray];
    for (var bounce = 0u; bounce < params.bounces; bounce++) {
        let material = scramble(ray * 16u + bounce) % params.classes;
        var hit = material;
        let anew = true;
        if (anew) {
            let place = place_of(local_index, material);
            light[place] = v;
            rays[place] = ray;
            workgroupBarrier();
            v = light[local_index];
            ray = rays[local_index];
            hit = scramble(ray * 16u + bounce) % params.classes;
        }
        v = choose(hit, v);
    }
    output[ray] = v;
}
