// Branches inside branches, five deep: each decides by a bit of the key, and each depth has as much to do.

struct Params {
    n: u32,
    depth: u32,
    work: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

fn level_5(v: f32, a: f32, b: f32) -> f32 {
    var x = v;
    for (var i = 0u; i < params.work; i++) {
        // block: level_5
        x = fma(x, a, b);
    }
    return x;
}

fn level_4(key: u32, v: f32, a: f32, b: f32) -> f32 {
    var x = v;
    for (var i = 0u; i < params.work; i++) {
        // block: level_4
        x = fma(x, a, b);
    }
    if (params.depth > 4u) {
        if ((key & 16u) == 0u) {
            return level_5(x, params.a, params.b);
        }
        return level_5(x, params.c, params.d);
    }
    return x;
}

fn level_3(key: u32, v: f32, a: f32, b: f32) -> f32 {
    var x = v;
    for (var i = 0u; i < params.work; i++) {
        // block: level_3
        x = fma(x, a, b);
    }
    if (params.depth > 3u) {
        if ((key & 8u) == 0u) {
            return level_4(key, x, params.a, params.b);
        }
        return level_4(key, x, params.c, params.d);
    }
    return x;
}

fn level_2(key: u32, v: f32, a: f32, b: f32) -> f32 {
    var x = v;
    for (var i = 0u; i < params.work; i++) {
        // block: level_2
        x = fma(x, a, b);
    }
    if (params.depth > 2u) {
        if ((key & 4u) == 0u) {
            return level_3(key, x, params.a, params.b);
        }
        return level_3(key, x, params.c, params.d);
    }
    return x;
}

fn level_1(key: u32, v: f32, a: f32, b: f32) -> f32 {
    var x = v;
    for (var i = 0u; i < params.work; i++) {
        // block: level_1
        x = fma(x, a, b);
    }
    if (params.depth > 1u) {
        if ((key & 2u) == 0u) {
            return level_2(key, x, params.a, params.b);
        }
        return level_2(key, x, params.c, params.d);
    }
    return x;
}
