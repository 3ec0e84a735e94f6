// Question: do lanes that continue wait for those that do not?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: every second lane skips work.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var i = 0u;
    var work = 0u;
    while (i < 24u) {
        i += 1u;
        if ((i + id.x) % 2u == 0u) {
            continue;
        }
        work = work * 3u + i;
        if (work % 7u == 0u) {
            continue;
        } else if (work % 7u == 1u) {
            i += 1u;
        } else {
            work ^= id.x;
        }
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = work;
    }
}
