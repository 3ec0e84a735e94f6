// Question: is every atomic operation counted, in both memories?
// Dispatch: one invocation an element, 64 a workgroup. Divergence: eight ways; nobody reads what
// depends on the order.
struct Totals {
    sum: atomic<u32>,
    least: atomic<i32>,
    most: atomic<i32>,
    both: atomic<u32>,
    either: atomic<u32>,
    odd: atomic<u32>,
    rest: atomic<u32>,
    last: atomic<u32>,
    signed_sum: atomic<i32>,
}

@group(0) @binding(0) var<storage, read_write> totals: Totals;

var<workgroup> local_total: atomic<i32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    switch (id.x % 8u) {
        case 0u: {
            atomicAdd(&totals.sum, id.x);
        }
        case 1u: {
            atomicMin(&totals.least, -i32(id.x));
        }
        case 2u: {
            atomicMax(&totals.most, i32(id.x));
        }
        case 3u: {
            atomicAnd(&totals.both, id.x | 0xf0u);
        }
        case 4u: {
            atomicOr(&totals.either, 1u << (id.x % 32u));
        }
        case 5u: {
            atomicXor(&totals.odd, id.x);
        }
        case 6u: {
            atomicSub(&totals.rest, 3u);
            atomicAdd(&totals.signed_sum, 2 - i32(id.x));
        }
        default: {
            // All write the same.
            _ = atomicExchange(&totals.last, 9u);
            atomicStore(&totals.last, 9u);
        }
    }
    atomicAdd(&local_total, 1);
    workgroupBarrier();
    if (lane == 5u && atomicLoad(&local_total) == 64) {
        atomicAdd(&totals.sum, 1u);
    }
}
