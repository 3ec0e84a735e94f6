// A flock: each particle looks at many others, and steers by those that are near.
struct Particle { position: vec2f, velocity: vec2f }

@group(0) @binding(0) var<storage, read> before: array<Particle>;
@group(0) @binding(1) var<storage, read_write> after: array<Particle>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&before) { return; }
    let own = before[id.x];
    var middle = vec2f();
    var apart = vec2f();
    var heading = vec2f();
    var near = 0.0;
    for (var i = 0u; i < min(arrayLength(&before), 256u); i++) {
        let other = before[i];
        let way = other.position - own.position;
        let square = dot(way, way);
        if square < 0.04 {
            middle += other.position;
            near += 1.0;
        }
        if square < 0.01 { apart -= way; }
        if square < 0.02 { heading += other.velocity; }
    }
    var velocity = own.velocity + apart * 0.05 + heading * 0.005;
    if near > 0.0 { velocity += (middle / near - own.position) * 0.02; }
    after[id.x] = Particle(own.position + velocity * 0.04, velocity);
}
