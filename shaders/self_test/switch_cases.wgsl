// Does each case of a switch run once a subgroup?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: cases of W / 4 and W / 4 lanes, a default of W / 2.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    switch local_index % 4u {
        case 0u {
            // block: zero
            sum += local_index * 5u;
        }
        case 2u {
            // block: two
            sum += local_index * 7u;
        }
        default {
            // block: odd
            sum += local_index * 9u;
        }
    }
    // block: behind
    sum += 1u;
    output[workgroup.x * 128u + local_index] = sum;
}
