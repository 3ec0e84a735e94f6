// CSR sparse matrix-vector product, one thread per row.
@group(0) @binding(0) var<storage, read> row_ptr: array<u32>;
@group(0) @binding(1) var<storage, read> col_idx: array<u32>;
@group(0) @binding(2) var<storage, read> vals: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn spmv(@builtin(global_invocation_id) gid: vec3u) {
    let row = gid.x;
    if (row >= arrayLength(&y)) { return; }
    var sum = 0.0;
    let end = row_ptr[row + 1u];
    for (var j = row_ptr[row]; j < end; j = j + 1u) {
        sum += vals[j] * x[col_idx[j]];
    }
    y[row] = sum;
}
