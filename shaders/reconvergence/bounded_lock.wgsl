// Does a lock come free whose holder and waiters are lanes of one subgroup, in WGSL?
//
// Dispatch: 64 invocations a workgroup; the lanes of each subgroup contend for a lock of their own.
// Divergence expected: total, one lane at a time holds the lock.
//
// WGSL promises no progress to a lane that others wait for, so that a device may do either. The
// simulator shows what one program counter a subgroup does: lanes come together after the loop, so that
// `after_loop` lets one lane of a subgroup through before the limit on polls ends it, and `inside_loop`
// all. `spin_lock` is the same in CUDA C++.
enable subgroups;

struct Params {
    polls: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> locks: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> got: array<u32>;
@group(0) @binding(3) var<storage, read_write> polls_made: array<u32>;

@compute @workgroup_size(64)
fn after_loop(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = workgroup.x * 64u + local_index;
    let lock = subgroupBroadcastFirst(index);
    var mine = false;
    var tries = 0u;
    while (tries < params.polls) {
        mine = atomicCompareExchangeWeak(&locks[lock], 0u, 1u).exchanged;
        if (mine) {
            break;
        }
        tries++;
    }
    if (mine) {
        atomicStore(&locks[lock], 0u);
    }
    got[index] = select(0u, 1u, mine);
    polls_made[index] = tries;
}

@compute @workgroup_size(64)
fn inside_loop(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let index = workgroup.x * 64u + local_index;
    let lock = subgroupBroadcastFirst(index);
    var mine = false;
    var tries = 0u;
    while (!mine && tries < params.polls) {
        mine = atomicCompareExchangeWeak(&locks[lock], 0u, 1u).exchanged;
        if (mine) {
            atomicStore(&locks[lock], 0u);
        } else {
            tries++;
        }
    }
    got[index] = select(0u, 1u, mine);
    polls_made[index] = tries;
}
