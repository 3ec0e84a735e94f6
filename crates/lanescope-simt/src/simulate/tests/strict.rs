//! What a shader must not do: reported with its line, and in strict mode a trap.
//!
//! Input: one kernel a fault. Output: the same kind and line from both modes, and limits that say
//! their figures.

use super::*;

const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(0) @binding(1) var<storage, read_write> input: array<u32>;
var<workgroup> w: array<u32, 8>; var<workgroup> c: atomic<u32>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
var local = array<u32, 3>(7u, 8u, 9u);
";

/// Runs a body, whose first line is line 6, in both modes.
fn check_fault(body: &str, kind: ReportKind, line: u32) {
    let text = format!("{HEAD}{body}\n}}");
    let (_, outcome, _) = run(&text, [1, 1, 1], 8, &[0; 4], &config(4)).unwrap();
    let report = outcome.reports.first().unwrap_or_else(|| panic!("nothing is reported: {body}"));
    assert_eq!((report.kind, report.location.line), (kind, line), "{body}");
    for threads in [1, 2] {
        let strict = Config { strict: true, threads: Some(threads), ..config(4) };
        let trap = run(&text, [1, 1, 1], 8, &[0; 4], &strict).unwrap_err();
        let workgroup = [0; 3];
        assert_eq!(trap, Trap::Fault { kind, file: "test.wgsl".to_owned(), line, workgroup });
        let told = format!("test.wgsl:{line}: {kind} in workgroup 0, 0, 0");
        assert_eq!(trap.to_string(), told);
    }
}

#[test]
fn each_fault_is_reported_and_in_strict_mode_a_trap() {
    let (read, write) = (ReportKind::ReadOutOfBounds, ReportKind::WriteOutOfBounds);
    check_fault("let a = i;\noutput[i] = input[a];", read, 7);
    check_fault("output[i] = local[i];", read, 6);
    check_fault("let v = vec3(i, 1u, 2u);\noutput[i] = v[i];", read, 7);
    check_fault("output[i] = w[i + 1u];", read, 6);
    check_fault("if i > 5u {\n\ninput[i] = 1u;\n}", write, 8);
    check_fault("local[i] = 1u; output[i] = local[0];", write, 6);
    check_fault("w[i * 2u] = 1u;", write, 6);
    let divergent = ReportKind::DivergentBarrier;
    check_fault("if i < 3u {\nworkgroupBarrier();\n}", divergent, 7);
    check_fault("if i < 4u { return; }\nstorageBarrier();", divergent, 7);
    check_fault(
        "var k = 0u;\nif i == 2u {\nk = workgroupUniformLoad(&w[1]);\n}\noutput[i] = k;",
        divergent,
        8,
    );
    let pointers = ReportKind::DivergentUniformLoad;
    check_fault("output[i] = workgroupUniformLoad(\n&w[i % 3u]);", pointers, 6);
    let inactive = ReportKind::InactiveSource;
    check_fault("if i % 2u == 0u {\noutput[i] = subgroupShuffleXor(i, 1u);\n}", inactive, 7);
    check_fault("output[i] = subgroupShuffle(i, 4u);", inactive, 6);
    check_fault("if i != 1u {\noutput[i] = quadBroadcast(i, 1u);\n}", inactive, 7);
}

#[test]
fn strict_mode_lets_right_kernels_run() {
    let text = format!(
        "{HEAD}w[i] = i; atomicAdd(&c, 1u); workgroupBarrier();
         output[i] = w[7u - i] + workgroupUniformLoad(&w[2]) + subgroupShuffleXor(i, 1u)
             + local[i % 3u] + atomicLoad(&c);
         }}"
    );
    let plain = run(&text, [3, 1, 1], 8, &[0; 4], &config(4)).unwrap();
    let strict = Config { strict: true, ..config(4) };
    let again = run(&text, [3, 1, 1], 8, &[0; 4], &strict).unwrap();
    assert_eq!((plain.0, plain.1), (again.0, again.1));
}

#[test]
fn the_first_workgroup_that_is_wrong_is_the_one_that_is_named() {
    let text = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
            output[g.x + 8u * g.y] = 1u;
        }";
    // Workgroups of 4 along x, 2 × 5: the buffer ends in the second of the last row but one.
    let strict = Config { strict: true, ..config(4) };
    let trap = run(text, [2, 5, 1], 28, &[0], &strict).unwrap_err();
    let found = matches!(&trap, Trap::Fault { line: 3, workgroup: [1, 3, 0], .. });
    assert!(found, "{trap}");
}

#[test]
fn the_step_limit_names_the_loop_and_the_figure() {
    let bodies = [
        ("loop {\nif i == 9u { break; }\n}", 6),
        ("for (var k = 0u; k < 10u; k++) {\nwhile i < 5u {\noutput[0] = k;\n}\n}", 7),
        ("loop { output[i] += 1u;\ncontinuing { break if output[i] == 0u; } }", 6),
    ];
    for (body, line) in bodies {
        let text = format!("{HEAD}{body}\n}}");
        for schedule in [Schedule::InOrder, Schedule::Unfair { seed: 1 }] {
            let limited = Config { steps_max: 5000, schedule, ..config(4) };
            let trap = run(&text, [2, 1, 1], 8, &[0; 4], &limited).unwrap_err();
            assert!(matches!(trap, Trap::Steps { steps: 5000, .. }), "{trap}");
            assert_eq!(trap.line(), Some(line), "{trap}");
            assert!(trap.to_string().contains("5000 operations"), "{trap}");
        }
    }
}

#[test]
fn what_the_simulator_does_not_run_is_named_with_its_line() {
    let cases = [
        (
            "@group(0) @binding(2) var t: texture_external;",
            "output[0] = u32(textureLoad(t, vec2(0, 0)).x);",
            "external texture",
        ),
        (
            "enable wgpu_ray_query; @group(0) @binding(2) var a: acceleration_structure;",
            "var q: ray_query; rayQueryInitialize(&q, a, RayDesc(0u, 255u, 0.1, 100.0, vec3(0.0), vec3(0.0, 1.0, 0.0)));",
            "RayQuery",
        ),
        (
            "enable wgpu_binding_array; struct B { x: u32 } @group(0) @binding(2) var<storage> b: binding_array<B, 4>;",
            "output[0] = b[1].x;",
            "binding array",
        ),
    ];
    for (global, body, what) in cases {
        let text = format!(
            "{global}
             @group(0) @binding(0) var<storage, read_write> output: array<u32>;
             @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {{
                 {body}
             }}"
        );
        let error = Compiled::new(&program(&text)).unwrap_err();
        assert!(matches!(error, SimulateError::Unsupported { .. }), "{error}");
        let told = error.to_string();
        assert!(told.starts_with("test.wgsl:4: ") && told.contains(what), "{told}");
    }
}

#[test]
fn programs_that_are_too_large_are_refused_with_the_limit() {
    let cases = [
        (
            "var<workgroup> big: array<u32, 300000>;",
            "output[0] = big[i];",
            "1200000 bytes of workgroup memory, of which the simulator has 1048576",
        ),
        ("var<private> big: array<u32, 70000>;", "output[0] = big[i];", "over 65535 words"),
        (
            "",
            "var big: array<array<u64, 1000>, 1000>; output[0] = u32(big[i][i]);",
            "over 65535 words",
        ),
    ];
    for (global, body, what) in cases {
        let text = format!(
            "{global}
             @group(0) @binding(0) var<storage, read_write> output: array<u32>;
             @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {{
                 {body}
             }}"
        );
        let told = Compiled::new(&program(&text)).unwrap_err().to_string();
        assert!(told.contains(what), "{told}");
    }
    let text = "@compute @workgroup_size(64, 32) fn main() { }";
    let told = Compiled::new(&program(text)).unwrap_err().to_string();
    assert!(told.contains("2048 invocations: at most 1024"), "{told}");
}
