// Question: does a uniform load let a loop with barriers end at a workgroup's own time?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: the lane that decides.
struct Control {
    rounds: u32,
    stop: bool,
}

var<workgroup> control: Control;
var<workgroup> values: array<u32, 64>;

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    if (lane == 0u) {
        control = Control(2u + workgroup.x % 3u, false);
    }
    values[lane] = lane;
    var round = 0u;
    loop {
        if (workgroupUniformLoad(&control.rounds) <= round) {
            break;
        }
        let other = values[(lane + 1u) % 64u];
        workgroupBarrier();
        values[lane] += other;
        round += 1u;
    }
    let all = workgroupUniformLoad(&control);
    if (id.x < arrayLength(&output)) {
        output[id.x] = values[lane] + u32(all.stop) + all.rounds;
    }
}
