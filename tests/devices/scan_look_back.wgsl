// A scan of one pass: each tile spins on the one before it (decoupled look-back).
//
// A tile's state is one atomic word: what it says lies in the upper two bits, a sum in the others,
// so that a flag is never seen without its sum. Tiles are numbered in the order in which their
// workgroups begin, so that the one waited for has begun.

const TILE = 64u;
const LOOKS = 10000u;
const FLAGS = 3u << 30u;
const AGGREGATE = 1u << 30u;
const PREFIX = 2u << 30u;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<storage, read_write> state: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> tickets: atomic<u32>;

var<workgroup> tile: u32;
var<workgroup> before: u32;
var<workgroup> sums: array<u32, TILE>;

// What an element adds: small, so that sums leave room for the flag.
fn element(index: u32) -> u32 {
    if (index < arrayLength(&input)) {
        return input[index] % 16u;
    }
    return 0u;
}

// The sum of all tiles before `own`, each of which is waited for. A tile that is not ready after so
// many looks is summed from the input: lavapipe leaves a loop after 65,535 turns, done or not, and
// other processes may keep the neighbour from running for longer than that. Turns of inner loops, and of what
// counting adds, may count too: looks take a sixth of them.
fn look_back(own: u32) -> u32 {
    var sum = 0u;
    var at = own;
    var looks = 0u;
    while (at > 0u) {
        let word = atomicLoad(&state[at - 1u]);
        let flag = word & FLAGS;
        if (flag == 0u && looks < LOOKS) {
            looks += 1u;
            continue;
        }
        if (flag == 0u) {
            for (var i = 0u; i < TILE; i++) {
                sum += element((at - 1u) * TILE + i);
            }
        }
        sum += word & ~FLAGS;
        if (flag == PREFIX) {
            break;
        }
        at -= 1u;
    }
    return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    if (lane == 0u) {
        tile = atomicAdd(&tickets, 1u);
    }
    let own = workgroupUniformLoad(&tile);
    let index = own * TILE + lane;
    sums[lane] = element(index);
    workgroupBarrier();
    for (var step = 1u; step < TILE; step *= 2u) {
        var left = 0u;
        if (lane >= step) {
            left = sums[lane - step];
        }
        workgroupBarrier();
        sums[lane] += left;
        workgroupBarrier();
    }
    if (lane == TILE - 1u) {
        let total = sums[lane];
        if (own > 0u) {
            atomicStore(&state[own], AGGREGATE | total);
        }
        before = look_back(own);
        atomicStore(&state[own], PREFIX | (before + total));
    }
    let prefix = workgroupUniformLoad(&before);
    if (index < arrayLength(&output)) {
        output[index] = prefix + sums[lane];
    }
}
