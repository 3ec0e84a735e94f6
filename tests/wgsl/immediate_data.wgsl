// Question: are immediates set and read?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by a limit in the immediates.
struct Settings {
    limit: u32,
    factor: u32,
}

var<immediate> settings: Settings;

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&output)) {
        return;
    }
    if (id.x % 64u < settings.limit % 64u) {
        output[id.x] = id.x * settings.factor;
    } else {
        output[id.x] = settings.limit;
    }
}
