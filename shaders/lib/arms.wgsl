// Up to 32 arms of multiply-adds, each with constants of its own, as experiments of several
// families use them. The constants and lengths come from buffers, so that no compiler can fold or join arms.

// Eights of multiply-adds, and both constants, of each arm.
@group(1) @binding(0) var<uniform> lengths: array<vec4<u32>, 8>;
@group(1) @binding(1) var<uniform> factors: array<vec4<f32>, 8>;
@group(1) @binding(2) var<uniform> terms: array<vec4<f32>, 8>;
@group(1) @binding(3) var<storage, read> input: array<f32>;
@group(1) @binding(4) var<storage, read_write> output: array<f32>;

fn arm(start: f32, eights: u32, a: f32, b: f32) -> f32 {
    // block: arm
    var v = start;
    for (var i = 0u; i < eights; i++) {
        v = fma(v, a, b);
        v = fma(v, a, b);
        v = fma(v, a, b);
        v = fma(v, a, b);
        v = fma(v, a, b);
        v = fma(v, a, b);
        v = fma(v, a, b);
        v = fma(v, a, b);
    }
    return v;
}

fn choose(class_id: u32, v: f32) -> f32 {
    switch class_id {
        case 0u: {
            // block: arm
            return arm(v, lengths[0].x, factors[0].x, terms[0].x);
        }
        case 1u: {
            // block: arm
            return arm(v, lengths[0].y, factors[0].y, terms[0].y);
        }
        case 2u: {
            // block: arm
            return arm(v, lengths[0].z, factors[0].z, terms[0].z);
        }
        case 3u: {
            // block: arm
            return arm(v, lengths[0].w, factors[0].w, terms[0].w);
        }
        case 4u: {
            // block: arm
            return arm(v, lengths[1].x, factors[1].x, terms[1].x);
        }
        case 5u: {
            // block: arm
            return arm(v, lengths[1].y, factors[1].y, terms[1].y);
        }
        case 6u: {
            // block: arm
            return arm(v, lengths[1].z, factors[1].z, terms[1].z);
        }
        case 7u: {
            // block: arm
            return arm(v, lengths[1].w, factors[1].w, terms[1].w);
        }
        case 8u: {
            // block: arm
            return arm(v, lengths[2].x, factors[2].x, terms[2].x);
        }
        case 9u: {
            // block: arm
            return arm(v, lengths[2].y, factors[2].y, terms[2].y);
        }
        case 10u: {
            // block: arm
            return arm(v, lengths[2].z, factors[2].z, terms[2].z);
        }
        case 11u: {
            // block: arm
            return arm(v, lengths[2].w, factors[2].w, terms[2].w);
        }
        case 12u: {
            // block: arm
            return arm(v, lengths[3].x, factors[3].x, terms[3].x);
        }
        case 13u: {
            // block: arm
            return arm(v, lengths[3].y, factors[3].y, terms[3].y);
        }
        case 14u: {
            // block: arm
            return arm(v, lengths[3].z, factors[3].z, terms[3].z);
        }
        case 15u: {
            // block: arm
            return arm(v, lengths[3].w, factors[3].w, terms[3].w);
        }
        case 16u: {
            // block: arm
            return arm(v, lengths[4].x, factors[4].x, terms[4].x);
        }
        case 17u: {
            // block: arm
            return arm(v, lengths[4].y, factors[4].y, terms[4].y);
        }
        case 18u: {
            // block: arm
            return arm(v, lengths[4].z, factors[4].z, terms[4].z);
        }
        case 19u: {
            // block: arm
            return arm(v, lengths[4].w, factors[4].w, terms[4].w);
        }
        case 20u: {
            // block: arm
            return arm(v, lengths[5].x, factors[5].x, terms[5].x);
        }
        case 21u: {
            // block: arm
            return arm(v, lengths[5].y, factors[5].y, terms[5].y);
        }
        case 22u: {
            // block: arm
            return arm(v, lengths[5].z, factors[5].z, terms[5].z);
        }
        case 23u: {
            // block: arm
            return arm(v, lengths[5].w, factors[5].w, terms[5].w);
        }
        case 24u: {
            // block: arm
            return arm(v, lengths[6].x, factors[6].x, terms[6].x);
        }
        case 25u: {
            // block: arm
            return arm(v, lengths[6].y, factors[6].y, terms[6].y);
        }
        case 26u: {
            // block: arm
            return arm(v, lengths[6].z, factors[6].z, terms[6].z);
        }
        case 27u: {
            // block: arm
            return arm(v, lengths[6].w, factors[6].w, terms[6].w);
        }
        case 28u: {
            // block: arm
            return arm(v, lengths[7].x, factors[7].x, terms[7].x);
        }
        case 29u: {
            // block: arm
            return arm(v, lengths[7].y, factors[7].y, terms[7].y);
        }
        case 30u: {
            // block: arm
            return arm(v, lengths[7].z, factors[7].z, terms[7].z);
        }
        default: {
            // block: arm
            return arm(v, lengths[7].w, factors[7].w, terms[7].w);
        }
    }
}
