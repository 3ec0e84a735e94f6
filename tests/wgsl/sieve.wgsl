// Question: which lanes still strike out multiples when the others are done?
// Dispatch: one invocation a divisor, 128 a workgroup. Divergence: large divisors end early.
var<workgroup> composite: array<atomic<u32>, 32>;

@group(0) @binding(0) var<storage, read_write> primes: array<atomic<u32>, 32>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_id) local: vec3<u32>) {
    let divisor = local.x + 2u;
    if (divisor < 32u) {
        for (var multiple = divisor * divisor; multiple < 1024u; multiple += divisor) {
            atomicOr(&composite[multiple / 32u], 1u << (multiple % 32u));
        }
    }
    workgroupBarrier();
    if (local.x < 32u) {
        // Every workgroup finds the same.
        atomicStore(&primes[local.x], ~atomicLoad(&composite[local.x]));
    }
}
