// Question: how many lanes still spread while a flood fills its tile?
// Dispatch: one invocation a cell, one row of 64 a workgroup. Divergence: cells at the water's edge.
@group(0) @binding(0) var<storage, read> walls: array<u32>;
@group(0) @binding(1) var<storage, read_write> reached: array<u32>;

const WIDTH = 64u;
var<workgroup> wet: array<u32, 64>;
var<workgroup> changed: atomic<u32>;
var<workgroup> go_on: u32;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    var wall = true;
    if (id.x < arrayLength(&walls)) {
        wall = walls[id.x] % 11u == 0u;
    }
    wet[lane] = u32(lane % 32u == 16u && !wall);
    loop {
        if (lane == 0u) {
            atomicStore(&changed, 0u);
        }
        workgroupBarrier();
        var becomes = wet[lane];
        if (!wall && becomes == 0u) {
            if (lane > 0u) {
                becomes |= wet[lane - 1u];
            }
            if (lane + 1u < WIDTH) {
                becomes |= wet[lane + 1u];
            }
        }
        workgroupBarrier();
        if (becomes != wet[lane]) {
            wet[lane] = becomes;
            atomicAdd(&changed, 1u);
        }
        workgroupBarrier();
        if (lane == 0u) {
            go_on = atomicLoad(&changed);
        }
        if (workgroupUniformLoad(&go_on) == 0u) {
            break;
        }
    }
    if (id.x < arrayLength(&reached)) {
        reached[id.x] = wet[lane];
    }
}
