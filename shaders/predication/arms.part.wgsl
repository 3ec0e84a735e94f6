// Two arms of `length` multiply-adds, and the bit that decides between them.

override length: u32 = 4u;

struct Params {
    n: u32,
    decisions: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

fn first(value: f32) -> f32 {
    let a = params.a;
    let b = params.b;
    var v = value;
    for (var i = 0u; i < length; i++) {
        v = fma(v, a, b);
    }
    return v;
}

fn second(value: f32) -> f32 {
    let c = params.c;
    let d = params.d;
    var v = value;
    for (var i = 0u; i < length; i++) {
        v = fma(v, c, d);
    }
    return v;
}

fn decision(flags: u32, turn: u32) -> bool {
    return ((flags >> (31u - turn % 32u)) & 1u) == 1u;
}
