//! Every rule on small shaders: at least two that it must find, and two near misses where a rule
//! that looked at the program alone, or at the counts alone, would speak. Counts are the simulator's.

use super::super::*;
use crate::{
    analyze::profiles,
    fixtures::{random_words, simulated},
    kernel::Fill,
    record::Block,
};

/// Workgroups of every case.
const WORKGROUPS: u32 = 16;

/// A shader that runs `body` to the end of its entry point, with `heavy` to spend slots on.
fn shader(size: u32, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
fn heavy(word: u32) -> u32 {{
    return ((word ^ (word >> 7u)) * 0x9e3779b9u + 5u) ^ (word << 3u);
}}
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {{
    let word = table[id.x];
    var sum = 1u;
{body}
}}
"
    )
}

/// Words whose value is the same for 64 neighbours.
fn alike() -> Fill {
    Fill::Words((0..4096u32).map(|index| index / 64).collect())
}

/// The advice at 32 lanes.
fn given(size: u32, body: &str, fill: Fill) -> Vec<Advice> {
    let run = simulated(&shader(size, body), fill, WORKGROUPS, &[32]);
    let profiles = profiles(&run);
    let device = &profiles[0].devices[0];
    assert_eq!(device.error, None);
    let found = advice(device);
    // Whatever is said: no gain above what was wasted, so none above all slots.
    let slots: u128 = device.column.work.subgroup_operations;
    let wasted: u128 = device.dispatches[0]
        .blocks
        .iter()
        .map(|block| {
            let least = u128::from(block.lanes.0).div_ceil(32);
            u128::from(block.operations) * (u128::from(block.executions.0) - least)
        })
        .sum();
    for one in &found {
        assert!(one.saved_operations <= wasted && wasted <= slots, "{one:?} of {wasted}");
    }
    found
}

#[track_caller]
fn check(size: u32, body: &str, fill: Fill, expected: &[&str]) {
    let found = given(size, body, fill);
    let names: Vec<String> =
        found.iter().map(|one| format!("{} {}", one.rule.name(), one.line)).collect();
    assert_eq!(names, expected, "{body}\n{found:#?}");
}

#[test]
fn lane_parity_branches_and_near_misses() {
    let said = ["lane_parity_branch 10"];
    // The last statement of the kernel, without `else`.
    check(64, "if lane % 8u < 5u { sums[id.x] = heavy(word); }", random_words(), &said);
    check(
        64,
        "if (lane & 1u) == 0u { sums[id.x] = heavy(word); } else { sums[id.x] = heavy(7u); }",
        random_words(),
        &said,
    );
    check(
        64,
        "switch lane % 3u { case 0u: { sum = heavy(word); } default: { sum = heavy(sum); } }
        sums[id.x] = sum;",
        random_words(),
        &said,
    );
    // Every way returns: nobody goes on, so that it is a branch and no early return.
    check(
        64,
        "if lane % 2u == 0u { sums[id.x] = heavy(word); return; }
        else { sums[id.x] = heavy(7u); return; }",
        random_words(),
        &said,
    );
    // Near misses: whole subgroups, all lanes, no lane.
    check(64, "if (lane >> 5u) % 2u == 0u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane % 8u < 9u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane % 4u > 3u { sums[id.x] = heavy(word); }", random_words(), &[]);
}

#[test]
fn branches_by_invocation_and_near_misses() {
    let said = ["branch_by_invocation 10"];
    check(64, "if lane < 40u { sums[id.x] = heavy(word); }", random_words(), &said);
    // Three lanes work in a loop that every one of them leaves in the same turn.
    let few = "if lane < 3u { for (var i = 0u; i < 100u; i++) { sum = heavy(sum) + i; } }
        sums[id.x] = sum;";
    check(64, few, random_words(), &said);
    let found = given(64, few, random_words());
    assert!(found[0].gain_share.0 > 0.8, "{found:#?}");
    assert!(
        found[0].reason.contains("become 16 runs of its arms at 3.0 of 32 lanes"),
        "{found:#?}"
    );
    let halves = "if lane < 48u { sum = heavy(word); } else { sum = heavy(7u) ^ word; }
        sums[id.x] = sum;";
    check(64, halves, random_words(), &said);
    // Near misses: whole subgroups, all lanes, no lane, and the end of what there is to do.
    check(64, "if lane < 32u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane < 64u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane > 64u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if id.x < 1001u { sums[id.x] = heavy(word); }", random_words(), &[]);
}

/// How often each arm of a `switch` runs is counted at a block that each of its runs passes once.
#[test]
fn arms_that_begin_with_loops_have_the_runs_that_enter_them() {
    let body = |first: &str, second: &str| {
        format!(
            "switch word % 3u {{ case 0u: {{ {first} }} default: {{ {second} }} }} sums[id.x] = sum;"
        )
    };
    let first = "for (var k = 0u; k < word % 50u; k++) { sum += k * word; }";
    let second = "while sum < word % 40u { sum += 1u; }";
    let found = given(64, &body(first, second), random_words());
    let branch = found.iter().find(|one| one.rule == Rule::DataDependentSwitch).expect("advice");
    assert!(
        branch.reason.contains("32 runs of it become 64 runs of its arms at 16.0"),
        "{found:#?}"
    );
    let loops = found.iter().filter(|one| one.rule == Rule::DivergentTripCounts).count();
    // Both are written in one line.
    assert_eq!(loops, 1, "{found:#?}");
    // Sorting by the arm leaves the loops' own waste: with 16 of 32 lanes half of the executions at most.
    assert!(branch.gain_share.0 < 0.6, "{found:#?}");
    // Nobody splits: neither branch nor loops.
    check(64, &body(first, second), alike(), &[]);
    // A `break if` leaves lanes that no block counts: of that arm nothing is said.
    let unknown = "loop { if sum > word % 60u { break; } sum += 3u; \
                   continuing { sum += 1u; break if sum > 30u; } }";
    let found = given(64, &body("sum = heavy(word);", unknown), random_words());
    let said = |rule| found.iter().any(|one| one.rule == rule);
    assert!(!said(Rule::DivergentTripCounts) && said(Rule::DataDependentSwitch), "{found:#?}");
    assert!(found[0].reason.contains("become at least 32 runs of its arms;"), "{found:#?}");
}

#[test]
fn a_branch_is_charged_with_its_own_split_only() {
    // A third returns; of the others half split. Runs of 21 or 22 lanes become two of half as many.
    let body = "if lane % 3u == 0u { return; }
        if word % 2u == 0u { sum = 7u; } else { sum = 9u; }
        sums[id.x] = sum;";
    let run = simulated(&shader(64, body), random_words(), WORKGROUPS, &[32]);
    let profiles = profiles(&run);
    let found = advice(&profiles[0].devices[0]);
    let gain = found.iter().find(|one| one.rule == Rule::DataDependentSwitch).expect("advice");
    // 64 executions of one operation: unsplit at least 32, packed to full subgroups 22.
    assert!((30..=32).contains(&gain.saved_operations), "{found:#?}");
    // Near miss: those whom the return in front leaves all go one way, so that nobody splits them.
    let body = "if lane % 2u == 0u { return; }
        if lane % 4u != 2u { sum = heavy(word); } else { sum = 3u; }
        sums[id.x] = sum;";
    check(64, body, random_words(), &["early_return 10"]);
}

/// What was reported: deep in a loop with a return in front of it, their waste was a branch's too.
#[test]
fn a_branch_deep_in_a_loop_keeps_the_lanes_in_front_of_it() {
    let body = "if lane % 3u == 0u { return; }
        var r = lane;
        loop {
            r += 5u;
            if r > 60u { break; }
            if (r & 1u) == 0u { r += 1u; continue; }
            r += 2u;
        }
        sums[id.x] = r;";
    let run = simulated(&shader(50, body), random_words(), 1, &[8]);
    let profiles = profiles(&run);
    let blocks = &profiles[0].devices[0].dispatches[0].blocks;
    // The condition, its arm, and what `continue` skips.
    let ways: Vec<_> = blocks.iter().filter(|block| [15, 16].contains(&block.line)).collect();
    let [front, even, odd] = ways[..] else { panic!("three blocks: {ways:#?}") };
    assert_eq!(even.lanes.0 + odd.lanes.0, front.lanes.0);
    let found = advice(&profiles[0].devices[0]);
    let parity = found.iter().find(|one| one.line == 15).expect("advice");
    assert_eq!(parity.rule, Rule::LaneParityBranch);
    // An arm with all but a few of the lanes in front needs nearly all of the runs in front, whatever
    // number of full subgroups would hold them.
    let packed = |block: &Block| {
        u128::from(block.operations * (block.executions.0 - block.lanes.0.div_ceil(8)))
    };
    assert!(odd.lanes.0 * 8 < front.lanes.0, "{ways:#?}");
    assert!(parity.saved_operations * 2 < packed(even) + packed(odd), "{parity:?} {ways:#?}");
}

#[test]
fn a_modulus_is_not_called_low_bits_alone() {
    let found = given(64, "if lane % 5u == 0u { sums[id.x] = heavy(word); }", random_words());
    assert!(found[0].reason.contains("by a remainder or low bits of"), "{found:#?}");
}

#[test]
fn data_dependent_switches_and_near_misses() {
    let said = ["data_dependent_switch 10"];
    check(64, "if word % 3u == 0u { sums[id.x] = heavy(word); }", random_words(), &said);
    check(
        64,
        "switch word % 3u { case 0u: { sum = heavy(word); } case 1u: { sum = heavy(3u); } \
         default: { sum = heavy(sum); } } sums[id.x] = sum;",
        random_words(),
        &said,
    );
    // Near misses: the data agree; the outcome does; a helper's argument is data but not a branch.
    check(64, "if word % 3u == 0u { sums[id.x] = heavy(word); }", alike(), &[]);
    check(64, "if word < 0xffffffffu { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "sums[id.x] = select(heavy(word), 3u, word % 3u == 0u);", random_words(), &[]);
}

#[test]
fn a_continue_makes_the_rest_of_the_body_part_of_the_branch() {
    let body = "for (var i = 0u; i < 8u; i++) {
        if ((word >> i) & 1u) == 0u { continue; }
        sum = heavy(sum);
        sum = heavy(sum);
    }
    sums[id.x] = sum;";
    let found = given(64, body, random_words());
    assert_eq!(found[0].rule, Rule::DataDependentSwitch, "{found:#?}");
    // Half of the lanes run the calls in each iteration: half of their slots could go, and they are
    // 4,608 of 7,200.
    assert!(found[0].gain_share.0 > 0.32, "{found:#?}");
    assert!(found[0].reason.contains("with what `continue` skips"), "{found:#?}");
    check(64, body, alike(), &[]);
}

#[test]
fn divergent_trip_counts_and_near_misses() {
    let said = ["divergent_trip_counts 10"];
    let collatz = "while sum < word % 64u { sum += heavy(sum) % 8u + 1u; } sums[id.x] = sum;";
    check(64, collatz, random_words(), &said);
    check(
        64,
        "loop { if sum > word % 9u { break; } sum += 1u; } sums[id.x] = heavy(sum);",
        random_words(),
        &said,
    );
    // Near misses: the same trips for neighbours; trips from data that agree; one trip for all.
    check(64, collatz, alike(), &[]);
    check(
        64,
        "for (var i = 0u; i < 4u + lane / 32u; i++) { sum = heavy(sum); } sums[id.x] = sum;",
        random_words(),
        &[],
    );
    check(
        64,
        "for (var i = 0u; i < min(word, 1u) + 3u; i++) { sum = heavy(sum); } sums[id.x] = sum;",
        random_words(),
        &[],
    );
}

#[test]
fn early_returns_and_near_misses() {
    let said = ["early_return 10"];
    let half = "if word % 2u == 0u { return; }
        for (var i = 0u; i < 9u; i++) { sum = heavy(sum); }
        sums[id.x] = sum;";
    check(64, half, random_words(), &said);
    check(
        64,
        "if lane % 32u >= 20u { return; } sum = heavy(sum); sums[id.x] = heavy(sum);",
        random_words(),
        &said,
    );
    // Near misses: whole subgroups return, all do, none does; the end of the kernel is no return.
    check(64, half, alike(), &[]);
    check(64, "if id.x >= 4096u { return; } sums[id.x] = heavy(word);", random_words(), &[]);
    check(64, "if id.x >= 0u { return; } sums[id.x] = heavy(word);", random_words(), &[]);
    let guard = "if id.x < 1000u { loop { sum = heavy(sum); if sum > 1u { break; } } \
                 sums[id.x] = sum; }";
    check(64, guard, random_words(), &[]);
}

/// What was reported: lanes that go into a guard at the end were said to return.
#[test]
fn a_guard_around_the_whole_kernel_returns_nobody() {
    let body = "let rank = lane % 8u;
    if rank < 7u {
        loop { sum = heavy(sum) % 64u; if sum < 60u { break; } }
        sums[id.x] = sum;
    }";
    let found = given(100, body, random_words());
    assert!(found.iter().all(|one| one.rule != Rule::EarlyReturn), "{found:#?}");
    let parity = found.iter().find(|one| one.rule == Rule::LaneParityBranch).expect("advice");
    assert!(parity.reason.contains("64 runs of it"), "{found:#?}");
}

#[test]
fn the_lanes_that_return_are_counted_and_not_those_that_stay() {
    // 12 of 32 lanes return.
    let body = "if lane % 32u >= 20u { return; } sums[id.x] = heavy(heavy(word));";
    let found = given(64, body, random_words());
    let reason = found[0].reason.replace('\u{202f}', " ");
    assert!(reason.starts_with("Of 1 024 lanes that come here 384 return"), "{reason}");
}

#[test]
fn partial_subgroups_and_near_misses() {
    let plain = "sums[id.x] = heavy(word);";
    check(48, plain, random_words(), &["partial_last_subgroup 8"]);
    check(8, plain, random_words(), &["partial_last_subgroup 8"]);
    assert!(given(8, plain, random_words())[0].reason.contains("leaves 24 empty"));
    // Near misses: full ones; nothing that merging could save (a quarter is not idle).
    check(64, plain, random_words(), &[]);
    check(32, plain, random_words(), &[]);
}

#[test]
fn partial_subgroups_are_no_more_than_the_workgroups() {
    // 16 workgroups of 33: of 32 executions a line, 16 have one lane; the branch has one lane in all 32.
    let found = given(33, "if lane % 32u == 0u { sums[id.x] = heavy(word); }", random_words());
    let of = |rule| found.iter().find(|one| one.rule == rule).expect("advice").saved_operations;
    let arm: u128 = 32 - 1;
    assert!(of(Rule::LaneParityBranch) >= arm, "{found:#?}");
    // 15.5 of 16, rounded down, at each of the branch's operations but the helper's.
    let run = simulated(
        &shader(33, "if lane % 32u == 0u { sums[id.x] = word; }"),
        random_words(),
        WORKGROUPS,
        &[32],
    );
    let slots: u128 = profiles(&run)[0].devices[0].column.work.subgroup_operations;
    let gain = advice(&profiles(&run)[0].devices[0])
        .iter()
        .find(|one| one.rule == Rule::PartialLastSubgroup)
        .expect("advice")
        .saved_operations;
    // Every line has 32 executions: 15 of each can go.
    assert_eq!(gain, slots * 15 / 32);
}

#[test]
fn partial_subgroups_are_not_charged_with_divergence() {
    // Loops that leave nearly every execution with few lanes; the last of 9 subgroups has 6 of 8.
    let body = "switch lane % 5u { case 0u: { while sum < word % 64u { sum += 1u; } }
        default: { for (var i = 0u; i < lane; i++) { sum = heavy(sum) + i; } } }
        sums[id.x] = sum;";
    let gain = |workgroups| {
        let run = simulated(&shader(70, body), random_words(), workgroups, &[8]);
        let profiles = profiles(&run);
        let found = advice(&profiles[0].devices[0]);
        let partial = found.into_iter().find(|one| one.rule == Rule::PartialLastSubgroup);
        partial.map_or(0.0, |one| one.gain_share.0)
    };
    // Two of 72 lanes are nobody's.
    let many = gain(16);
    assert!(many > 0.01 && many <= 2.0 / 72.0 + 0.001, "{many}");
    // One workgroup needs nine subgroups in any case.
    assert!(gain(1) == 0.0);
}

/// Whether the barrier is spoken of where its block has other counts than the simulator's.
fn with_barrier(body: &str, lanes: u64, executions: u64) -> bool {
    let text = shader(64, body).replace(
        "fn heavy",
        "fn meet() { workgroupBarrier(); }\nfn meet_later() { meet(); }\nfn heavy",
    );
    let mut run = simulated(&text, alike(), WORKGROUPS, &[32]);
    let mut held = 0;
    for block in &mut run.measurements[0].dispatches[0].blocks {
        if block.flow.as_ref().is_some_and(|flow| flow.barrier) {
            (block.lanes.0, block.executions.0, block.histogram) = (lanes, executions, None);
            held += 1;
        }
    }
    assert_eq!(held, 1, "{body}");
    let found = advice(&profiles(&run)[0].devices[0]);
    found.iter().any(|one| one.rule == Rule::BarrierInDivergentFlow)
}

#[test]
fn barriers_in_divergent_flow_and_near_misses() {
    let bare = "if word < 70u { workgroupBarrier(); } sums[id.x] = heavy(word);";
    let called = "if word < 70u { meet_later(); } sums[id.x] = heavy(word);";
    for body in [bare, called] {
        assert!(with_barrier(body, 500, 16), "{body}");
        assert!(with_barrier(body, 512, 32), "{body}");
        // Near misses: all come, and in half of the workgroups all come.
        assert!(!with_barrier(body, 1024, 32), "{body}");
        assert!(!with_barrier(body, 512, 16), "{body}");
    }
    // Uniform flow, by the program.
    assert!(!with_barrier("meet_later(); sums[id.x] = heavy(word);", 500, 16));
}
