// Question: are uniform buffers found that together are larger than a GPU's constant memory?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by what the first table holds.
struct Table {
    rows: array<vec4<u32>, 2560>,
}

@group(0) @binding(0) var<uniform> first: Table;
@group(0) @binding(1) var<uniform> second: Table;
@group(0) @binding(2) var<uniform> last: vec4<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

fn found(row: u32) -> u32 {
    return second.rows[row].y ^ last.z;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var value = first.rows[id.x * 37u % 2560u].x;
    if (value % 2u == 0u) {
        value += found(id.x * 61u % 2560u);
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = value;
    }
}
