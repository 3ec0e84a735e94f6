// Path tracer: spheres, up to 6 bounces, three materials.
struct Sphere { centre: vec3f, radius: f32, colour: vec3f, material: u32 }
struct Params { width: u32, height: u32, spheres: u32, seed: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> image: array<vec4f>;

fn rnd(state: ptr<function, u32>) -> f32 {
    *state = *state * 747796405u + 2891336453u;
    let w = ((*state >> ((*state >> 28u) + 4u)) ^ *state) * 277803737u;
    return f32((w >> 22u) ^ w) / 4294967296.0;
}
fn hit(s: Sphere, o: vec3f, d: vec3f) -> f32 {
    let oc = o - s.centre;
    let b = dot(oc, d);
    let c = dot(oc, oc) - s.radius * s.radius;
    let disc = b * b - c;
    if disc < 0.0 { return -1.0; }
    let t = -b - sqrt(disc);
    if t > 0.001 { return t; }
    return -b + sqrt(disc);
}
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= vec2u(p.width, p.height)) { return; }
    var state = id.y * p.width + id.x + p.seed;
    var o = vec3f(0.5, 0.5, -1.0);
    var d = normalize(vec3f(vec2f(id.xy) / vec2f(f32(p.width), f32(p.height)) - 0.5, 1.0));
    var thr = vec3f(1.0);
    var col = vec3f(0.0);
    for (var bounce = 0u; bounce < 6u; bounce++) {
        var best = 1e30;
        var which = -1;
        for (var i = 0u; i < p.spheres; i++) {
            let t = hit(spheres[i], o, d);
            if t > 0.001 && t < best {
                best = t;
                which = i32(i);
            }
        }
        if which < 0 {
            col += thr * mix(vec3f(1.0), vec3f(0.5, 0.7, 1.0), d.y * 0.5 + 0.5);
            break;
        }
        let s = spheres[which];
        o = o + best * d;
        let n = (o - s.centre) / s.radius;
        switch s.material % 3u {
            case 0u: { // diffuse
                d = normalize(n + vec3f(rnd(&state), rnd(&state), rnd(&state)) * 2.0 - 1.0);
            }
            case 1u: { // mirror
                d = reflect(d, n);
            }
            default: { // glass
                let eta = select(1.5, 1.0 / 1.5, dot(d, n) < 0.0);
                let r = refract(d, n, eta);
                if dot(r, r) < 0.01 { d = reflect(d, n); } else { d = r; }
            }
        }
        thr *= s.colour;
        if max(thr.x, max(thr.y, thr.z)) < 0.02 { break; }
    }
    image[id.y * p.width + id.x] = vec4f(col, 1.0);
}
