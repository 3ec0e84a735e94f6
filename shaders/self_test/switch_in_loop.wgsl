// Do the cases of a switch come together again in every iteration?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: cases of W / 4 and W / 4 lanes, a default of W / 2, other lanes each time.

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    for (var i = 0u; i < 8u; i++) {
        switch (local_index + i) % 4u {
            case 0u {
                // block: zero
                sum += local_index * 5u;
            }
            case 1u {
                // block: one
                sum += local_index * 7u;
            }
            default {
                // block: rest
                sum += local_index * 9u;
            }
        }
        // block: after_switch
        sum = sum * 3u;
    }
    output[workgroup.x * 128u + local_index] = sum;
}
