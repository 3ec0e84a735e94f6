struct Params { a: f32, b: f32, trips: u32 }
@group(0) @binding(0) var<storage, read> params: Params;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let a = params.a;
    let b = params.b;
    var v0 = f32(local_index + 0u);
    for (var i = 0u; i < params.trips; i++) {
        v0 = fma(v0, a, b);
    }
    output[(workgroup.y * grid.x + workgroup.x) * 256u + local_index] = v0;
}
// Chains of multiply-adds: `probes.rs` writes as many as it is asked for.
