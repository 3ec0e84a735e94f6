// Question: are arrays, structs and matrices in a uniform buffer found where they lie?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the element's parity.
struct Inner {
    @size(16) first: u32,
    @align(16) second: vec3<i32>,
    third: u32,
}

struct Outer {
    flags: vec2<u32>,
    rows: array<vec4<u32>, 4>,
    inner: array<Inner, 2>,
    matrix: mat3x2<f32>,
    last: u32,
}

@group(0) @binding(0) var<uniform> outer: Outer;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let rows = outer.rows;
    var value = rows[id.x % 4u][id.x / 4u % 4u] + outer.flags.y;
    if (id.x % 2u == 0u) {
        let inner = outer.inner[id.x / 2u % 2u];
        value += inner.first * 3u + inner.third + u32(inner.second.z);
    } else {
        value ^= outer.last + u32(outer.matrix[1].y >= 0.0);
    }
    if (id.x < arrayLength(&output)) {
        output[id.x] = value;
    }
}
