// The elements, and the sum of each workgroup.

alias Element = f32;

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<Element>;
@group(0) @binding(2) var<storage, read_write> output: array<Element>;
