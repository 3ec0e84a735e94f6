//! Runs a shader on simulated machines of 32 and 64 lanes and prints what each line's lanes did.
//!
//! Input: the shader below, in which odd invocations take more iterations than even ones. Output: for
//! each basic block its line, its executions and the mean of its active lanes, at both widths.

use std::error::Error;

use lanescope_simt::program::{Overrides, Parsed};
use lanescope_simt::simulate::{Compiled, Config, Fma, Memory, Reconvergence, Schedule};
use lanescope_simt::units::Width;

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 4u + 12u * (id.x & 1u); i++) {
        sum += i;
    }
    output[id.x] = sum;
}
";

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn Error>> {
    let program = Parsed::new("sum.wgsl", SHADER)?.resolve("main", &Overrides::new())?;
    let compiled = Compiled::new(&program)?;
    for lanes in [32, 64] {
        let config = Config {
            width: Width::new(lanes)?,
            reconvergence: Reconvergence::Maximal,
            fma: Fma::Fused,
            steps_max: 1 << 28,
            operations_max: u64::MAX,
            schedule: Schedule::InOrder,
            strict: false,
            threads: None,
            zero_workgroup_memory: true,
        };
        let mut memory = Memory::new();
        memory.bind(0, 0, &vec![0; 4 * 4096]);
        let outcome = compiled.run([64, 1, 1], &mut memory, &config)?;
        println!("{lanes} lanes");
        for (block, count) in program.blocks().iter().zip(&outcome.blocks) {
            let mean = count.lanes.0 as f64 / count.executions.0.max(1) as f64;
            println!(
                "  line {:2}: {:6} executions, {mean:.1} lanes",
                block.location.line, count.executions.0
            );
        }
    }
    Ok(())
}
