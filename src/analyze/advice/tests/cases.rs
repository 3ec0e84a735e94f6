//! Every rule on small shaders: at least two that it must find, and two near misses where a rule
//! that looked at the program alone, or at the counts alone, would speak. Counts are the simulator's.

use super::super::*;
use crate::{
    analyze::profiles,
    fixtures::{random_words, simulated},
    kernel::Fill,
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
    let slots: u128 = device.column.slots.issues;
    let wasted: u128 = device.dispatches[0]
        .blocks
        .iter()
        .map(|block| {
            let least = u128::from(block.lanes.0).div_ceil(32);
            u128::from(block.ops) * (u128::from(block.issues.0) - least)
        })
        .sum();
    for one in &found {
        assert!(one.gain_slots <= wasted && wasted <= slots, "{one:?} of {wasted}");
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
    // Near misses: whole subgroups, all lanes, no lane, and a bound that is no parity.
    check(64, "if (lane >> 5u) % 2u == 0u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane % 8u < 9u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane % 4u > 3u { sums[id.x] = heavy(word); }", random_words(), &[]);
    check(64, "if lane < 40u { sums[id.x] = heavy(word); }", random_words(), &[]);
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
    // two thirds of all.
    assert!(found[0].gain_share.0 > 0.33, "{found:#?}");
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
    // 16 workgroups of 33: of 32 issues a line, 16 have one lane; the branch has one lane in all 32.
    let found = given(33, "if lane % 32u == 0u { sums[id.x] = heavy(word); }", random_words());
    let of = |rule| found.iter().find(|one| one.rule == rule).expect("advice").gain_slots;
    let arm: u128 = 32 - 1;
    assert!(of(Rule::LaneParityBranch) >= arm, "{found:#?}");
    // 15.5 of 16, rounded down, at each of the branch's operations but the helper's.
    let run = simulated(
        &shader(33, "if lane % 32u == 0u { sums[id.x] = word; }"),
        random_words(),
        WORKGROUPS,
        &[32],
    );
    let slots: u128 = profiles(&run)[0].devices[0].column.slots.issues;
    let gain = advice(&profiles(&run)[0].devices[0])
        .iter()
        .find(|one| one.rule == Rule::PartialLastSubgroup)
        .expect("advice")
        .gain_slots;
    // Every line has 32 issues: 15 of each can go.
    assert_eq!(gain, slots * 15 / 32);
}

/// Whether the barrier is spoken of where its block has other counts than the simulator's.
fn with_barrier(body: &str, lanes: u64, issues: u64) -> bool {
    let text = shader(64, body).replace(
        "fn heavy",
        "fn meet() { workgroupBarrier(); }\nfn meet_later() { meet(); }\nfn heavy",
    );
    let mut run = simulated(&text, alike(), WORKGROUPS, &[32]);
    let mut held = 0;
    for block in &mut run.measurements[0].dispatches[0].blocks {
        if block.flow.as_ref().is_some_and(|flow| flow.barrier) {
            (block.lanes.0, block.issues.0, block.histogram) = (lanes, issues, None);
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
