// Question: are lanes counted where the shader asks for no index at all?
// Dispatch: any number of workgroups of 32. Divergence: none.
@group(0) @binding(0) var<storage, read_write> total: atomic<u32>;

@compute @workgroup_size(32)
fn main() {
    for (var i = 0u; i < 4u; i++) {
        atomicAdd(&total, i);
    }
}
