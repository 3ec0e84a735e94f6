// Question: do packed values come back as they went in?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the first byte.
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let bytes = vec4<u32>(id.x, id.x + 1u, id.x * 3u, 255u) & vec4<u32>(255u);
    let packed = pack4xU8(bytes);
    let back = unpack4xU8(packed);
    let signed = unpack4xI8(packed);
    var result = packed;
    if (signed.x < 0) {
        result ^= pack4xI8(-signed);
    } else if (any(back != bytes)) {
        result = 0u;
    } else {
        result += u32(dot(signed, vec4<i32>(1)));
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = result;
    }
}
