// Question: how many rays of a subgroup hit anything?
// Dispatch: 2D, one invocation a ray, 16 × 4 a workgroup. Divergence: hits, misses and bounces.
struct Ray {
    origin: vec3<f32>,
    direction: vec3<f32>,
}

struct Sphere {
    centre: vec3<f32>,
    square: f32,
}

@group(0) @binding(0) var<storage, read_write> hits: array<u32>;

const SPHERES = array<Sphere, 3>(
    Sphere(vec3<f32>(16.0, 2.0, 64.0), 36.0),
    Sphere(vec3<f32>(4.0, 8.0, 32.0), 16.0),
    Sphere(vec3<f32>(26.0, 20.0, 16.0), 9.0),
);

fn hit(ray: Ray, sphere: Sphere) -> bool {
    let away = sphere.centre - ray.origin;
    let along = dot(away, ray.direction);
    if (along < 0.0) {
        return false;
    }
    let square = dot(away, away) - along * along;
    return square <= sphere.square;
}

@compute @workgroup_size(16, 4)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
) {
    let at = id.y * grid.x * 16u + id.x;
    if (at >= arrayLength(&hits)) {
        return;
    }
    var spheres = SPHERES;
    let ray = Ray(vec3<f32>(f32(id.x % 32u), f32(id.x / 32u + id.y), 0.0), vec3<f32>(0.0, 0.0, 1.0));
    var found = 0u;
    for (var i = 0; i < 3; i++) {
        if (hit(ray, spheres[i])) {
            found |= 1u << u32(i);
            if (i == 0) {
                break;
            }
        }
    }
    hits[at] = found;
}
