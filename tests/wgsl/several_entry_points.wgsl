// Question: does each of several entry points count its own blocks?
// Dispatch: one invocation an element, 64 a workgroup, first `main`. Divergence: by parity.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

var<workgroup> unused_by_main: array<u32, 64>;

fn shared_work(value: u32) -> u32 {
    if (value % 2u == 0u) {
        return value / 2u;
    }
    return value * 3u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&output)) {
        output[id.x] = shared_work(id.x);
    }
}

@compute @workgroup_size(16, 4)
fn second(@builtin(local_invocation_index) lane: u32) {
    unused_by_main[lane] = lane;
    workgroupBarrier();
    output[lane % arrayLength(&output)] = unused_by_main[lane];
}
