// Particle collisions, all pairs with an early out by distance.
struct P { pos: vec3f, radius: f32, vel: vec3f, alive: u32 }
@group(0) @binding(0) var<storage, read> a: array<P>;
@group(0) @binding(1) var<storage, read_write> b: array<P>;
@group(0) @binding(2) var<uniform> count: u32;
@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) g: vec3u) {
    let i = g.x;
    if i >= count { return; }
    var me = a[i];
    if me.alive == 0u { b[i] = me; return; }
    for (var j = 0u; j < count; j++) {
        if j == i { continue; }
        let d = a[j].pos - me.pos;
        let r = (a[j].radius + me.radius) * 0.1;
        if dot(d, d) > r * r { continue; }
        let n = normalize(d);
        let rel = dot(a[j].vel - me.vel, n);
        if rel >= 0.0 { continue; }
        me.vel += n * rel * 0.9;
        me.pos -= n * (r - length(d)) * 0.5;
    }
    b[i] = me;
}
