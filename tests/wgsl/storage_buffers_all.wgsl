// Question: is there room for counters where the eight storage buffers of WebGPU's limit are taken?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: by the element's remainder.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> c: array<u32>;
@group(0) @binding(3) var<storage, read> d: array<u32>;
@group(0) @binding(4) var<storage, read> e: array<u32>;
@group(0) @binding(5) var<storage, read> f: array<u32>;
@group(0) @binding(6) var<storage, read> g: array<u32>;
@group(0) @binding(7) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= arrayLength(&output)) {
        return;
    }
    var sum = a[i % arrayLength(&a)] + b[i % arrayLength(&b)];
    switch (i % 3u) {
        case 0u: {
            sum += c[i % arrayLength(&c)] ^ d[i % arrayLength(&d)];
        }
        case 1u: {
            sum += e[i % arrayLength(&e)];
        }
        default: {
            sum -= f[i % arrayLength(&f)] & g[i % arrayLength(&g)];
        }
    }
    output[i] = sum;
}
