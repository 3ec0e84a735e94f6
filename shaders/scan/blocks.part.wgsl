// The elements, and the sums up to each.

alias Element = u32;
// Whether element i of the output leaves out element i of the input.
const EXCLUSIVE = false;

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<Element>;
@group(0) @binding(2) var<storage, read_write> output: array<Element>;
