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

// Counts of eight materials, two in a word: scanned, they are ranks.
var<workgroup> counts: array<vec4<u32>, 256>;
var<workgroup> light: array<f32, 256>;
var<workgroup> rays: array<u32, 256>;

// A number that looks like chance, from a number.
fn scramble(seed: u32) -> u32 {
    let a = (seed ^ (seed >> 16u)) * 0x7feb352du;
    let b = (a ^ (a >> 15u)) * 0x846ca68bu;
    return b ^ (b >> 16u);
}

fn count_of(packed: vec4<u32>, material: u32) -> u32 {
    return (packed[material / 2u] >> (16u * (material % 2u))) & 0xffffu;
}

// The place of an invocation's ray among those of its workgroup in order of material, rays of one in order.
fn place_of(local_index: u32, material: u32) -> u32 {
    var own = vec4<u32>(0u);
    own[material / 2u] = 1u << (16u * (material % 2u));
    counts[local_index] = own;
    workgroupBarrier();
    for (var reach = 1u; reach < 256u; reach *= 2u) {
        let before = counts[(local_index - reach) % 256u];
        workgroupBarrier();
        if (local_index >= reach) {
            counts[local_index] += before;
        }
        workgroupBarrier();
    }
    let all = counts[255];
    var place = count_of(counts[local_index], material) - 1u;
    for (var other = 0u; other < material; other++) {
        place += count_of(all, other);
    }
    workgroupBarrier();
    return place;
}

@compute @workgroup_size(256)
fn trace(
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
