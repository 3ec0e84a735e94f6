// Do all lanes of a case with several selectors take part in its subgroup operations?
//
// Dispatch: four workgroups of 128 invocations; doctor's self-test, one labelled block or more with
// exact counts for every width from 4 to 128.
// Divergence expected: in each switch cases of W / 2, W / 4 and W / 4 lanes; in the first the case with two selectors
// has most of them, in the second the default, and in either one of its lanes leads.
enable subgroups;
// The lanes of a case ask who leads them: that is what is tested.
diagnostic(off, subgroup_uniformity);

@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    var sum = 0u;
    switch local_index % 4u {
        case 0u, 1u {
            if (local_index == subgroupBroadcastFirst(local_index)) {
                // block: leader_of_low
                sum += local_index * 5u;
            }
        }
        case 2u {
            // block: two
            sum += local_index * 7u;
        }
        default {
            // block: three
            sum += local_index * 9u;
        }
    }
    switch local_index % 4u {
        case 0u {
            // block: zero
            sum += local_index * 3u;
        }
        case 2u {
            // block: two_again
            sum += local_index * 11u;
        }
        default {
            if (local_index == subgroupBroadcastFirst(local_index)) {
                // block: leader_of_odd
                sum += local_index * 13u;
            }
        }
    }
    output[workgroup.x * 128u + local_index] = sum;
}
