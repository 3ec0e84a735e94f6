// What does a ray for each pixel cost, each as long as the scene makes it?
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

override n: u32 = 65536u;

// How far the nearest of a grid of spheres is.
fn distance_at(place: vec3<f32>) -> f32 {
    return length(fract(place) - 0.5) - 0.3;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= n {
        return;
    }
    // An image 256 pixels wide, in tiles of 8 by 8 pixels.
    let tile = i / 64u;
    let pixel = vec2(tile % 32u * 8u + i % 8u, tile / 32u * 8u + i / 8u % 8u);
    let size = vec2(256.0, max(f32(n / 256u), 1.0));
    let ray = normalize(vec3(2.0 * vec2<f32>(pixel) / size - 1.0, 0.7));
    var place = vec3(0.0, 0.0, -0.2);
    var far = 0.0;
    while far < 16.0 {
        let gap = distance_at(place);
        if gap < 0.01 {
            break;
        }
        place += ray * gap;
        far += gap;
    }
    // What misses every sphere is sky.
    var shade = 0.1;
    if far < 16.0 {
        let to_light = normalize(vec3(0.6, 1.0, -0.3));
        var light = 1.0;
        for (var along = 0.05; along < 4.0;) {
            let gap = distance_at(place + to_light * along);
            light = min(light, 8.0 * gap / along);
            if light < 0.02 {
                break;
            }
            along += max(gap, 0.02);
        }
        shade = 0.2 + 0.8 * max(light, 0.0);
    }
    output[i] = u32(255.0 * min(shade, 1.0));
}
