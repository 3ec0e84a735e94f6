//! Control flow: who is active where, and how often a block is executed.

use super::*;

const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;\n";

fn kernel(size: &str, body: &str) -> String {
    format!(
        "{HEAD}@compute @workgroup_size({size}) fn main(@builtin(local_invocation_index) i: u32) \
         {{\n{body}\n}}"
    )
}

#[test]
fn both_arms_of_an_if_share_the_lanes() {
    let text = kernel(
        "32",
        "if i % 4u == 0u { // block: yes
             output[i] = 1u;
         } else { // block: no
             output[i] = 2u;
         }",
    );
    let output: Vec<u32> = (0..32).map(|i| if i % 4 == 0 { 1 } else { 2 }).collect();
    for width in [4, 8, 32, 64] {
        let subgroups = u64::from(32u32.div_ceil(width));
        let counts = [("yes", subgroups, 8), ("no", subgroups, 24)];
        let workgroups = [1, 1, 1];
        check(&Case { text: &text, width, workgroups, output: &output, counts: &counts });
    }
    // A lane alone takes one arm.
    let counts = [("yes", 8, 8), ("no", 24, 24)];
    check(&Case { text: &text, width: 1, workgroups: [1, 1, 1], output: &output, counts: &counts });
}

#[test]
fn an_if_that_alternates_in_a_loop_is_issued_in_every_iteration() {
    let text = kernel(
        "32",
        "var n = 0u;
         for (var t = 0u; t < 16u; t++) {
             if (i + t) % 2u == 0u { // block: hit
                 n += 1u;
             }
         }
         output[i] = n;",
    );
    let output = [8; 32];
    let workgroups = [1, 1, 1];
    for width in [2, 8, 32] {
        let subgroups = 32 / u64::from(width);
        let counts = [("hit", 16 * subgroups, 256)];
        check(&Case { text: &text, width, workgroups, output: &output, counts: &counts });
    }
    check(&Case {
        text: &text,
        width: 1,
        workgroups,
        output: &output,
        counts: &[("hit", 256, 256)],
    });
}

#[test]
fn late_reconvergence_keeps_lanes_apart_until_the_loop_ends() {
    let text = kernel(
        "8",
        "var n = 0u;
         for (var t = 0u; t < 4u; t++) {
             if i < 4u { n += 1u; } else { n += 2u; }
             { // block: after
                 n += 10u;
             }
         }
         { // block: end
             output[i] = n;
         }",
    );
    let output = [44, 44, 44, 44, 48, 48, 48, 48];
    let case =
        |counts| Case { text: &text, width: 8, workgroups: [1, 1, 1], output: &output, counts };
    // The block after the `if` holds one operation chain; each iteration executes it once or twice.
    check(&case(&[("after", 4, 32), ("end", 1, 8)]));
    let late = Config { reconvergence: Reconvergence::Late, ..config(8) };
    check_with(&case(&[("after", 8, 32), ("end", 1, 8)]), &late);
}

#[test]
fn late_reconvergence_computes_the_same() {
    let text = kernel(
        "16",
        "var n = i;
         loop {
             if n % 2u == 0u { n = n / 2u; if n == 5u { continue; } } else { n = 3u * n + 1u; }
             switch n % 3u { case 0u: { n += 0u; } case 1u: { if n > 50u { break; } n += 3u; } default: { } }
             for (var k = 0u; k < n % 4u; k++) { if k == i { break; } output[i] += k; }
             if n <= 1u || output[i] > 40u { break; }
             output[i] += 1u;
         }
         output[i] += 100u * n;",
    );
    let all = |reconvergence| {
        let config = Config { reconvergence, ..config(16) };
        run(&text, [1, 1, 1], 16, &[0], &config).unwrap().0
    };
    assert_eq!(all(Reconvergence::Maximal), all(Reconvergence::Late));
}

#[test]
fn switch_arms_run_once_each_and_shared_ones_together() {
    let text = kernel(
        "8",
        "switch i {
             case 1u, 2u: { // block: shared
                 output[i] = 12u;
             }
             case 5u: { // block: early
                 if i == 5u { break; }
                 output[i] = 99u;
             }
             default: { // block: rest
                 output[i] = 7u;
             }
         }
         { // block: after
             output[i] += 1u;
         }",
    );
    let output = [8, 13, 13, 8, 8, 1, 8, 8];
    let counts = [("shared", 1, 2), ("rest", 1, 5), ("after", 1, 8)];
    check(&Case { text: &text, width: 8, workgroups: [1, 1, 1], output: &output, counts: &counts });
}

#[test]
fn a_return_inside_a_loop_takes_lanes_out() {
    let text = kernel(
        "4",
        "for (var t = 0u; t < 8u; t++) {
             if t == i { return; }
             { // block: rest
                 output[i] += 1u;
             }
         }
         output[i] = 99u;",
    );
    // Lane i stays for i iterations: 3 + 2 + 1 lanes, three executions.
    let counts = [("rest", 3, 6)];
    let output = [0, 1, 2, 3];
    check(&Case { text: &text, width: 4, workgroups: [1, 1, 1], output: &output, counts: &counts });
}

#[test]
fn calls_return_early_under_the_callers_mask() {
    let text = format!(
        "{HEAD}
         fn inner(x: u32) -> u32 {{ if x > 4u {{ return x * 2u; }} return x + 100u; }}
         fn outer(p: ptr<function, u32>, x: u32) -> u32 {{
             *p += 1u;
             if x % 2u == 0u {{ // block: even
                 return inner(x);
             }}
             return inner(x + 1u) + 1000u;
         }}
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
             var c = 5u;
             if i != 3u {{ output[i] = outer(&c, i) + c; }}
         }}"
    );
    let inner = |x: u32| if x > 4 { x * 2 } else { x + 100 };
    let value = |i: u32| match i {
        3 => 0,
        i if i.is_multiple_of(2) => inner(i) + 6,
        i => inner(i + 1) + 1006,
    };
    let output: Vec<u32> = (0..8).map(value).collect();
    let counts = [("even", 1, 4)];
    check(&Case { text: &text, width: 8, workgroups: [1, 1, 1], output: &output, counts: &counts });
}

#[test]
fn continue_in_a_switch_goes_on_with_the_loop() {
    let text = kernel(
        "4",
        "for (var t = 0u; t < 4u; t++) {
             switch t { case 1u: { continue; } case 2u: { break; } default: { output[i] += 1u; } }
             output[i] += 10u;
         }",
    );
    // t = 0 and 3: 11 each; 1: nothing; 2: 10.
    check(&Case { text: &text, width: 4, workgroups: [1, 1, 1], output: &[32; 4], counts: &[] });
}

#[test]
fn values_read_before_a_store_keep_what_they_were() {
    let text = kernel(
        "1",
        "var a = 1u + i; var b = 2u + i;
         let old = a;
         a = b; b = old;
         var v = vec2<u32>(a, b); v = v.yx;
         output[0] = a; output[1] = b; output[2] = v.x; output[3] = v.y;
         let before = a;
         if i == 0u { a = 50u; }
         output[4] = before + a;",
    );
    let output = [2, 1, 1, 2, 52];
    check(&Case { text: &text, width: 1, workgroups: [1, 1, 1], output: &output, counts: &[] });
}

#[test]
fn a_loop_without_end_is_stopped_with_its_line() {
    let text = kernel("8", "\nloop {\n if i == 100u { break; } output[0] += 1u; }");
    for width in [1, 8, 128] {
        let config = Config { steps_max: 5000, ..config(width) };
        let trap = run(&text, [2, 1, 1], 1, &[0], &config).unwrap_err();
        let Trap::Steps { line, workgroup, steps, .. } = trap else { panic!("{trap}") };
        assert_eq!((line, workgroup, steps), (4, [0, 0, 0], 5000));
    }
    let bare = kernel("8", "loop { }");
    let trap = run(&bare, [1, 1, 1], 1, &[0], &config(8)).unwrap_err();
    assert!(matches!(trap, Trap::Steps { .. }), "{trap}");
}

#[test]
fn partial_subgroups_and_three_dimensions() {
    let text = format!(
        "{HEAD}@compute @workgroup_size(4, 3, 4) fn main(
             @builtin(local_invocation_index) i: u32, @builtin(local_invocation_id) id: vec3<u32>,
             @builtin(workgroup_id) wg: vec3<u32>, @builtin(global_invocation_id) g: vec3<u32>,
             @builtin(num_workgroups) n: vec3<u32>) {{
             let flat = (wg.z * n.y + wg.y) * n.x + wg.x;
             if i < 48u {{ // block: body
                 output[flat * 48u + i] = id.x + 10u * id.y + 100u * id.z + 1000u * g.y;
             }}
         }}"
    );
    let value = |flat: u32| {
        let (group, i) = (flat / 48, flat % 48);
        let (x, y, z) = (i % 4, i / 4 % 3, i / 12);
        x + 10 * y + 100 * z + 1000 * (group / 2 * 3 + y)
    };
    let output: Vec<u32> = (0..192).map(value).collect();
    // 48 invocations are one full and one half subgroup of 32.
    for (width, subgroups) in [(32, 2), (64, 1), (16, 3), (128, 1)] {
        let counts = [("body", 4 * subgroups, 192)];
        let workgroups = [2, 2, 1];
        check(&Case { text: &text, width, workgroups, output: &output, counts: &counts });
    }
}

#[test]
fn each_way_to_a_function_is_counted_by_itself() {
    let text = format!(
        "{HEAD}fn inner(v: u32) -> u32 {{
             if v > 3u {{ return v * 2u; }}
             return v;
         }}
         fn outer(v: u32) -> u32 {{ return inner(v) + inner(v + 4u); }}
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
             var v = outer(i);
             if i < 2u {{ v += inner(i); }}
             if i > 100u {{ v += outer(v); }}
             output[i] = v;
         }}"
    );
    let (_, outcome, program) = run(&text, [1, 1, 1], 8, &[0], &config(4)).unwrap();
    let path = |mut index: usize| {
        let mut names = Vec::new();
        loop {
            let call = &outcome.calls[index];
            names.push(call.function.as_str());
            let Some((caller, at)) = call.from else { break names.join("<") };
            names.push(if at.line > 10 { "late" } else { "early" });
            index = caller;
        }
    };
    // By hand: of lanes 0 to 3 and 4 to 7 each block's executions and lanes, in the order of blocks. The test,
    // what leaves, the rest: the first call leaves in lanes 4 to 7, the second in all.
    let found: Vec<(String, Vec<(u64, u64)>)> = (0..outcome.calls.len())
        .map(|index| {
            let blocks = &outcome.calls[index].blocks;
            (path(index), blocks.iter().map(|(_, e, l)| (e.0, l.0)).collect())
        })
        .filter(|(path, _)| path.starts_with("inner"))
        .collect();
    let inner = |path: &str| -> Vec<&[(u64, u64)]> {
        found.iter().filter(|(flow, _)| flow.starts_with(path)).map(|(_, b)| b.as_slice()).collect()
    };
    let through = inner("inner<early<outer");
    assert_eq!(through, [&[(2, 8), (1, 4), (1, 4)][..], &[(2, 8), (2, 8)][..]], "{found:?}");
    assert_eq!(inner("inner").len(), 3, "a call that never happened is left out: {found:?}");
    assert!(found.iter().any(|(_, blocks)| *blocks == [(1, 2), (1, 2)]), "{found:?}");
    for block in program.blocks() {
        let counted = &outcome.blocks[block.id.index()];
        let sum = outcome.calls.iter().flat_map(|call| &call.blocks).filter(|b| b.0 == block.id);
        let sum = sum.fold((0, 0), |sum, (_, e, l)| (sum.0 + e.0, sum.1 + l.0));
        assert_eq!(sum, (counted.executions.0, counted.lanes.0), "{}", block.id);
    }
}

#[test]
fn a_program_whose_functions_are_called_once_has_no_calls_to_tell_apart() {
    let text = format!(
        "{HEAD}fn once(v: u32) -> u32 {{ return v + 1u; }}
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
             output[i] = once(i);
         }}"
    );
    let (_, outcome, _) = run(&text, [1, 1, 1], 8, &[0], &config(4)).unwrap();
    assert_eq!(outcome.calls, []);
}
