
// Two arms that are as long. All constants come from a uniform buffer, so that no compiler can fold the
// arithmetic.

struct Params {
    extent: u32,
    side: u32,
    region: u32,
    work: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

@group(0) @binding(0) var<uniform> params: Params;

fn arms(first: bool, value: f32) -> f32 {
    let work = params.work;
    var v = value;
    if (first) {
        let a = params.a;
        let b = params.b;
        // block: arm
        for (var i = 0u; i < work; i++) {
            v = fma(v, a, b);
        }
    } else {
        let c = params.c;
        let d = params.d;
        // block: arm
        for (var i = 0u; i < work; i++) {
            v = fma(v, c, d);
        }
    }
    return v;
}
