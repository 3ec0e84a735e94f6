//! Tests of a shader that a project writes for itself: `cargo test --release --example shader_test`.
//!
//! Input: a shader and its launch file. Output: tests that fail where a change of the shader makes lanes
//! idle, costs operations, or lets workgroups race. They need no GPU.

#![expect(clippy::print_stdout, reason = "an example says how it is run")]

fn main() {
    println!("cargo test --release --example shader_test");
}

#[cfg(test)]
mod tests {
    use lanescope::testing::{Profiled, profile};

    fn profile_on(device: &str) -> Profiled {
        profile(include_str!("rounds.wgsl"))
            .launch(include_str!("rounds.toml"))
            .folder(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
            .device(device)
            .run()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn lanes_stay_busy_at_both_widths() {
        for device in ["sim:32", "sim:64"] {
            profile_on(device).assert_efficiency(0.3);
        }
    }

    #[test]
    fn no_two_invocations_race() {
        profile_on("sim:32").assert_no_race();
    }

    #[test]
    fn it_costs_no_more_than_it_did() {
        profile_on("sim:32").assert_operations_at_most(1_000_000);
    }
}
