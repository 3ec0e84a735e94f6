// Question: what does a tiled n-body step cost, with its bodies in workgroup memory?
// Dispatch: one invocation a body, 32 a workgroup. Divergence: bodies past the end, and close pairs.
struct Body {
    position: vec3<f32>,
    mass: f32,
}

@group(0) @binding(0) var<storage, read> bodies: array<Body>;
@group(0) @binding(1) var<storage, read_write> moved: array<Body>;

const TILE = 32u;
var<workgroup> tile: array<vec4<f32>, TILE>;

@compute @workgroup_size(TILE)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = min(arrayLength(&bodies), 256u);
    var own = Body(vec3<f32>(0.0), 0.0);
    if (id.x < n) {
        own = bodies[id.x];
    }
    var force = vec3<f32>();
    for (var start = 0u; start < n; start += TILE) {
        let other = start + lane;
        tile[lane] = vec4<f32>(0.0);
        if (other < n) {
            tile[lane] = vec4<f32>(bodies[other].position, bodies[other].mass);
        }
        workgroupBarrier();
        for (var i = 0u; i < TILE; i++) {
            let away = tile[i].xyz - own.position;
            let square = dot(away, away);
            if (square > 0.25) {
                force += away * tile[i].w / square;
            }
        }
        workgroupBarrier();
    }
    if (id.x < arrayLength(&moved)) {
        own.position += force * 0.001;
        moved[id.x] = own;
    }
}
