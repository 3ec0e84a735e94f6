//! Memory, atomics, barriers and subgroup operations.

use super::*;

const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;\n";

fn kernel(head: &str, size: &str, body: &str) -> String {
    format!(
        "{HEAD}{head}\n@compute @workgroup_size({size}) \
         fn main(@builtin(local_invocation_index) i: u32) {{\n{body}\n}}"
    )
}

#[test]
fn subgroup_operations_see_the_active_lanes() {
    let text = kernel(
        "",
        "8",
        "if i % 2u == 1u {
             output[i] = subgroupAdd(i) * 100u + subgroupExclusiveAdd(1u) * 10u
                 + u32(subgroupBroadcastFirst(i) == i);
             output[8] = subgroupBallot(true).x;
         } else {
             output[i] = subgroupShuffleXor(i, 2u) + subgroupMax(i) * 10u;
         }",
    );
    // Width 8: odd lanes sum to 16. Width 4: 4 in the first subgroup, 12 in the second.
    let output = [62, 1601, 60, 1610, 66, 1620, 64, 1630, 0b1010_1010];
    check(&Case { text: &text, width: 8, workgroups: [1, 1, 1], output: &output, counts: &[] });
    let output = [22, 401, 20, 410, 66, 1201, 64, 1210, 0b1010];
    check(&Case { text: &text, width: 4, workgroups: [1, 1, 1], output: &output, counts: &[] });
}

#[test]
fn an_elect_loop_visits_each_lane_once() {
    let text = kernel(
        "",
        "32",
        "loop {
             if subgroupBroadcastFirst(i) == i { // block: leader
                 output[i] = subgroupAdd(1u);
                 break;
             }
         }",
    );
    for width in [4, 16, 32, 64] {
        let counts = [("leader", 32, 32)];
        let output = [1; 32];
        check(&Case {
            text: &text,
            width,
            workgroups: [1, 1, 1],
            output: &output,
            counts: &counts,
        });
    }
}

#[test]
fn a_shuffle_from_an_inactive_lane_keeps_the_own_value_and_is_reported() {
    let text = kernel("", "4", "if i < 2u { output[i] = subgroupShuffleXor(i + 5u, 2u); }");
    let (output, outcome, _) = run(&text, [1, 1, 1], 2, &[0], &config(4)).unwrap();
    assert_eq!(output, [5, 6]);
    let report = outcome.reports[0];
    assert_eq!((report.kind, report.count, report.lane), (ReportKind::InactiveSource, 2, 0));
}

#[test]
fn a_shuffle_past_the_edge_is_ordinary_and_told_apart() {
    let inactive = ReportKind::InactiveSource;
    let edge = ReportKind::EdgeSource;
    let divergent = "if i != 2u { output[i] = subgroupShuffleDown(i, 1u); }";
    let of_all = "output[i] = subgroupShuffleXor(i, 2u);";
    // Workgroups of 6 at 4 lanes: lanes 2 and 3 of the second subgroup are empty.
    for (size, body, expected) in [
        ("4", "output[i] = subgroupShuffleUp(i, 1u);", vec![(edge, 1, 0)]),
        ("4", "output[i] = subgroupShuffleDown(i, 3u);", vec![(edge, 3, 1)]),
        ("4", "output[i] = subgroupShuffleUp(i, 4000000000u);", vec![(edge, 4, 0)]),
        ("4", "output[i] = subgroupShuffle(i, i + 1u);", vec![(inactive, 1, 3)]),
        ("4", "output[i] = subgroupShuffleXor(i, 4u);", vec![(inactive, 4, 0)]),
        // Lane 1 asks for lane 2, which goes another way; lane 3 for what is past the end.
        ("4", divergent, vec![(inactive, 1, 1), (edge, 1, 3)]),
        ("6", of_all, vec![(edge, 2, 0)]),
        ("4", of_all, vec![]),
    ] {
        let text = kernel("", size, body);
        let (_, outcome, _) = run(&text, [1, 1, 1], 6, &[0], &config(4)).unwrap();
        let reports: Vec<(ReportKind, u64, u32)> =
            outcome.reports.iter().map(|report| (report.kind, report.count, report.lane)).collect();
        assert_eq!(reports, expected, "{body}");
    }
}

#[test]
fn barriers_suspend_and_resume_subgroups() {
    let text = kernel(
        "var<workgroup> shared_sum: array<u32, 64>;
         fn step(i: u32, s: u32) {
             var part = 0u;
             if i < s { part = shared_sum[i + s]; }
             workgroupBarrier();
             if i < s { shared_sum[i] += part; }
             workgroupBarrier();
         }",
        "64",
        "shared_sum[i] = i;
         workgroupBarrier();
         for (var s = 32u; s > 0u; s >>= 1u) { step(i, s); }
         output[i] = shared_sum[0];",
    );
    let output = [2016; 64];
    for width in [1, 2, 4, 8, 16, 32, 64, 128] {
        let case = Case { text: &text, width, workgroups: [1, 1, 1], output: &output, counts: &[] };
        check(&case);
        for seed in 0..5 {
            let unfair = Config { schedule: Schedule::Unfair { seed }, ..config(width) };
            check_with(&case, &unfair);
            let shuffled = Config { schedule: Schedule::Shuffled { seed }, ..config(width) };
            check_with(&case, &shuffled);
        }
        let late = Config { reconvergence: Reconvergence::Late, ..config(width) };
        check_with(&case, &late);
    }
}

#[test]
fn a_divergent_barrier_is_reported_with_its_line() {
    let text = kernel("", "8", "if i < 2u {\nworkgroupBarrier();\n}\noutput[i] = i;");
    let (output, outcome, _) = run(&text, [1, 1, 1], 8, &[0], &config(8)).unwrap();
    assert_eq!(output, [0, 1, 2, 3, 4, 5, 6, 7]);
    let report = outcome.reports[0];
    assert_eq!(report.kind, ReportKind::DivergentBarrier);
    // Six of eight invocations are missing, lane 2 first; the barrier is on line 5.
    assert_eq!((report.count, report.lane, report.location.line), (6, 2, 5));
}

#[test]
fn a_uniform_load_reads_what_was_stored_and_reports_different_pointers() {
    let text = kernel(
        "var<workgroup> w: array<u32, 8>;",
        "8",
        "w[i] = i * 3u; output[i] = workgroupUniformLoad(&w[2]);",
    );
    let case = Case { text: &text, width: 4, workgroups: [1, 1, 1], output: &[6; 8], counts: &[] };
    check(&case);
    let text = kernel(
        "var<workgroup> w: array<u32, 8>;",
        "8",
        "w[i] = i * 3u; output[i] = workgroupUniformLoad(&w[i / 4u]);",
    );
    let (_, outcome, _) = run(&text, [1, 1, 1], 8, &[0], &config(4)).unwrap();
    let report = outcome.reports[0];
    let found = (report.kind, report.count, report.subgroup);
    assert_eq!(found, (ReportKind::DivergentUniformLoad, 4, 1));
}

#[test]
fn accesses_out_of_bounds_read_zero_write_nothing_and_are_reported() {
    let text = kernel(
        "@group(0) @binding(1) var<storage, read> input: array<u32>;",
        "8",
        "var local = array<u32, 3>(7u, 8u, 9u);
         output[i] = input[i] + 1u;
         output[i + 4u] = 5u;
         local[i] = 1u;
         output[0] = local[i % 2u + 1u] * arrayLength(&input);",
    );
    let (output, outcome, _) = run(&text, [1, 1, 1], 8, &[10, 20, 30], &config(8)).unwrap();
    assert_eq!(output[1..], [21, 31, 1, 5, 5, 5, 5]);
    let found: Vec<_> = outcome
        .reports
        .iter()
        .map(|report| (report.kind, report.location.line, report.count, report.lane))
        .collect();
    let expected = [
        (ReportKind::ReadOutOfBounds, 5, 5, 3),
        (ReportKind::WriteOutOfBounds, 6, 4, 4),
        (ReportKind::WriteOutOfBounds, 7, 5, 3),
    ];
    assert_eq!(found, expected);
    let strict = Config { strict: true, ..config(8) };
    let trap = run(&text, [1, 1, 1], 8, &[10, 20, 30], &strict).unwrap_err();
    let read = ReportKind::ReadOutOfBounds;
    assert!(matches!(trap, Trap::Fault { kind, line: 5, .. } if kind == read), "{trap}");
}

#[test]
fn atomics_of_every_kind() {
    let text = kernel(
        "var<workgroup> a: array<atomic<u32>, 9>; var<workgroup> s: atomic<i32>;",
        "8",
        "if i == 0u { atomicStore(&a[1], 100u); atomicStore(&a[2], 0xffu); atomicStore(&a[6], 50u); }
         workgroupBarrier();
         atomicAdd(&a[0], i); atomicSub(&a[1], i); atomicAnd(&a[2], ~(1u << i)); atomicOr(&a[3], 1u << i);
         atomicXor(&a[4], 3u); atomicMax(&a[5], i); atomicMin(&a[6], i + 3u); atomicMin(&s, -i32(i));
         let r = atomicCompareExchangeWeak(&a[7], i, i + 1u);
         if !r.exchanged { atomicAdd(&a[8], r.old_value + 1u); }
         workgroupBarrier();
         output[i] = atomicLoad(&a[i]);
         if i == 0u { output[8] = atomicLoad(&a[8]); output[9] = u32(-atomicLoad(&s)); }",
    );
    // Lane after lane: 0 → 1 → … → 8 at width 8; the same at every width, subgroups in order.
    let output = [28, 72, 0, 255, 0, 7, 3, 8, 0, 7];
    for width in [2, 8] {
        let case = Case { text: &text, width, workgroups: [1, 1, 1], output: &output, counts: &[] };
        check(&case);
    }
}

#[test]
fn structures_matrices_and_arrays_have_nagas_layout() {
    let text = "
        struct Inner { a: vec3<f32>, b: f32, m: mat3x3<f32> }
        struct All { x: u32, parts: array<Inner, 2>, tail: array<vec2<u32>> }
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @group(0) @binding(1) var<storage, read_write> all: All;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {
            let k = i + 1u;
            let part = all.parts[k];
            let column = part.m[k];
            output[0] = bitcast<u32>(part.b);
            output[1] = bitcast<u32>(column[k]);
            output[2] = arrayLength(&all.tail);
            output[3] = all.tail[k].y;
            all.parts[0] = part;
            output[4] = bitcast<u32>(all.parts[i].m[2].z);
            var copy = all.parts;
            copy[k].m[k][i] = 0.5;
            output[5] = bitcast<u32>(copy[1].m[1].x + copy[i].a.z);
        }";
    // Inner: a at 0, b at 12, columns at 16, 32, 48; 64 bytes. parts at 16, tail at 144.
    let mut input: Vec<u32> = (0..40).collect();
    input.iter_mut().for_each(|word| *word = (*word as f32).to_bits());
    let (output, ..) = run(text, [1, 1, 1], 6, &input, &config(4)).unwrap();
    let word = |index: u32| (index as f32).to_bits();
    // parts[1] begins at word 20: b at 23, column 1 at 28, its y at 29; tail: 2 of 2 words.
    let expected = [word(23), word(29), 2, word(39), word(20 + 12 + 2), (0.5f32 + 22.0).to_bits()];
    assert_eq!(output, expected);
}

#[test]
fn results_do_not_depend_on_threads_or_schedule() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var n = id.x;
            for (var k = 0u; k < id.x % 37u; k++) { n = n * 1664525u + 1013904223u; }
            output[id.x] = n;
        }";
    let expected = run(text, [50, 1, 1], 3200, &[0], &config(16)).unwrap();
    for threads in [2, 3, 8] {
        for schedule in
            [Schedule::InOrder, Schedule::Shuffled { seed: 3 }, Schedule::Unfair { seed: 4 }]
        {
            let config = Config { threads: Some(threads), schedule, ..config(16) };
            let many = run(text, [50, 1, 1], 3200, &[0], &config).unwrap();
            assert_eq!((&expected.0, &expected.1), (&many.0, &many.1));
        }
    }
}

#[test]
fn a_workgroup_may_wait_for_an_earlier_one() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<atomic<u32>>;
        @compute @workgroup_size(8) fn main(@builtin(workgroup_id) wg: vec3<u32>) {
            if wg.x > 0u { loop { if atomicLoad(&output[wg.x - 1u]) > 0u { break; } } }
            for (var k = 0u; k < 1000u; k++) { if k + wg.x > 99999u { return; } }
            atomicStore(&output[wg.x], wg.x + 1u);
        }";
    let expected: Vec<u32> = (1..=20).collect();
    for threads in [1, 4] {
        for seed in 0..4 {
            for schedule in
                [Schedule::InOrder, Schedule::Shuffled { seed }, Schedule::Unfair { seed }]
            {
                let steps_max = 1 << 40;
                let config = Config { schedule, threads: Some(threads), steps_max, ..config(8) };
                let (output, ..) = run(text, [20, 1, 1], 20, &[0], &config).unwrap();
                assert_eq!(output, expected);
            }
        }
    }
}

#[test]
fn an_observer_sees_blocks_and_accesses_and_changes_nothing() {
    use crate::simulate::{Access, AccessKind, ForkObserver, Observer, Space, SubgroupPlace};
    #[derive(Default)]
    struct Count {
        blocks: u64,
        stores: Vec<(u64, Vec<u32>)>,
    }
    impl Observer for Count {
        fn block(
            &mut self,
            _: SubgroupPlace,
            _: crate::units::BlockId,
            active: u128,
        ) -> std::ops::ControlFlow<()> {
            self.blocks += u64::from(active.count_ones());
            std::ops::ControlFlow::Continue(())
        }
        fn access(&mut self, access: &Access<'_>) {
            if access.kind == AccessKind::Store {
                assert_eq!(access.space, Space::Buffer { group: 0, binding: 0 });
                assert_eq!((access.size_bytes, access.active), (4, 0b1111));
                self.stores.push((access.place.workgroup, access.offsets[..4].to_vec()));
            }
        }
    }
    impl ForkObserver for Count {
        fn fresh(&self) -> Self {
            Self::default()
        }
        fn merge(&mut self, other: Self) {
            self.blocks += other.blocks;
            self.stores.extend(other.stores);
            self.stores.sort_unstable();
        }
    }
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            output[id.x] = id.x;
        }";
    let program = program(text);
    let compiled = Compiled::new(&program).unwrap();
    let mut memory = Memory::new();
    memory.bind(0, 0, &[0; 32]);
    let mut count = Count::default();
    let config = Config { threads: Some(2), ..config(4) };
    let seen = compiled.run_observed([2, 1, 1], &mut memory, &config, &mut count).unwrap();
    let plain = compiled.run([2, 1, 1], &mut memory, &config).unwrap();
    assert_eq!(seen, plain);
    assert_eq!(count.blocks, 8);
    assert_eq!(count.stores, [(0, vec![0, 4, 8, 12]), (1, vec![16, 20, 24, 28])]);
}

#[test]
fn bindings_and_dispatches_are_checked() {
    let text = kernel("", "1", "output[0] = 1u;");
    let compiled = Compiled::new(&program(&text)).unwrap();
    let run = |memory: &mut Memory, workgroups| {
        compiled.run(workgroups, memory, &config(4)).unwrap_err().to_string()
    };
    let mut memory = Memory::new();
    assert!(run(&mut memory, [1, 1, 1]).contains("@binding(0)"));
    memory.bind(0, 0, &[0; 2]);
    assert!(run(&mut memory, [1, 1, 1]).contains("at least 4"));
    memory.bind(0, 0, &[0; 4]);
    assert!(run(&mut memory, [70_000, 1, 1]).contains("65535"));
}
