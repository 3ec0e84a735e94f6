//! How fast the simulator is: subgroup-instructions and lane-operations a second, by width.
//!
//! Input: the sealed `uniform` kernel at a small n. Output: criterion's reports; its throughput is
//! in lane-operations, the operations that blocks count times the lanes that execute them, and in
//! subgroup-instructions, those operations times executions. One thread, so that the figures are a
//! core's.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lanescope::program::{Overrides, Parsed};
use lanescope::simulate::{Compiled, Config, Fma, Memory, Reconvergence, Schedule};
use lanescope::units::Width;

/// Every lane does the same: `v = fma(v, a, b)` 512 times.
const UNIFORM: &str = "
struct Params { a: f32, b: f32, n: u32, trips: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(256)
fn sealed(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.n) { return; }
    let a = params.a; let b = params.b;
    var v = input[id.x];
    for (var i = 0u; i < 512u; i++) { v = fma(v, a, b); }
    output[id.x] = v;
}";

/// Invocations of a run; `LANESCOPE_BENCH_N` sets another number, 2^20 for the speed goal.
const N: u32 = 1 << 16;

fn simulate(criterion: &mut Criterion) {
    let n = std::env::var("LANESCOPE_BENCH_N").ok().and_then(|n| n.parse().ok()).unwrap_or(N);
    let parsed = Parsed::new("uniform.wgsl", UNIFORM).expect("the kernel is valid");
    let program = parsed.resolve("sealed", &Overrides::new()).expect("it has no overrides");
    let compiled = Compiled::new(&program).expect("it uses buffers only");
    let mut memory = Memory::new();
    let mut params = Vec::new();
    params.extend([0.999f32, 0.001].iter().flat_map(|value| value.to_le_bytes()));
    params.extend([n, 512].iter().flat_map(|value| value.to_le_bytes()));
    memory.bind(0, 0, &params);
    memory.bind(0, 1, &vec![0; n as usize * 4]);
    memory.bind(0, 2, &vec![0; n as usize * 4]);
    for unit in ["lane_operations", "subgroup_instructions"] {
        let mut group = criterion.benchmark_group(unit);
        group.sample_size(10);
        for lanes in [1, 4, 8, 16, 32, 64, 128] {
            let config = Config {
                width: Width::new(lanes).expect("a power of two"),
                reconvergence: Reconvergence::Maximal,
                fma: Fma::Fused,
                steps_max: 1 << 30,
                operations_max: u64::MAX,
                schedule: Schedule::InOrder,
                strict: false,
                threads: Some(1),
                zero_workgroup_memory: true,
            };
            let workgroups = [n.div_ceil(256), 1, 1];
            let outcome = compiled.run(workgroups, &mut memory, &config).expect("it runs");
            let counts = outcome.blocks.iter().zip(program.blocks());
            let done = counts.map(|(counts, block)| {
                let times =
                    if unit == "lane_operations" { counts.lanes.0 } else { counts.executions.0 };
                times * block.ops
            });
            group.throughput(Throughput::Elements(done.sum()));
            group.bench_function(BenchmarkId::from_parameter(lanes), |bencher| {
                bencher.iter(|| compiled.run(workgroups, &mut memory, &config));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, simulate);
criterion_main!(benches);
