//! Each rule where it fires, and where the counts give it no reason. Counts are the simulator's.

mod cases;

use super::*;
use crate::{
    analyze::profiles,
    fixtures::{DEMO, random_words, simulated, simulated_launch},
    kernel::{Catalogue, DeviceClass, Fill, SEED},
    record::{Block, Flag, Run, Tag, Value},
};

/// A shader of workgroups of `size` that runs `body` with `word = table[id.x]`.
fn shader(size: u32, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
fn mixed(word: u32) -> u32 {{
    return (word ^ (word >> 7u)) * 0x9e3779b9u;
}}
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {{
    let word = table[id.x];
    var sum = 1u;
{body}
    sums[id.x] = sum;
}}
"
    )
}

/// Words that rise slowly: neighbours have the same value but at a few places.
fn sorted_words() -> Fill {
    Fill::Words((0..4096u32).map(|index| index / 256).collect())
}

fn advice_in(run: &Run) -> Vec<Advice> {
    let profiles = profiles(run);
    assert_eq!(profiles.len(), 1);
    assert!(profiles[0].devices.iter().all(|device| device.error.is_none()), "{profiles:#?}");
    advice_of(&profiles[0])
}

/// The advice for a shader of workgroups of `size` at 32 lanes, as `rule line`.
fn rules(size: u32, body: &str, fill: Fill) -> Vec<String> {
    let run = simulated(&shader(size, body), fill, 16, &[32]);
    advice_in(&run).iter().map(|one| format!("{} {}", one.rule.name(), one.line)).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn lane_parity_branch() {
    let body = |condition: &str| {
        format!("if {condition} {{ sum = mixed(word); }} else {{ sum = mixed(word + 1u) ^ 5u; }}")
    };
    assert_eq!(rules(64, &body("lane % 2u == 0u"), random_words()), ["lane_parity_branch 10"]);
    // Whole subgroups go one way: the condition has the same form, the counts say no.
    assert_eq!(rules(64, &body("(lane / 32u) % 2u == 0u"), random_words()), NONE);
    assert_eq!(rules(64, &body("lane % 2u == 2u"), random_words()), NONE);
}

#[test]
fn arms_that_are_loops_are_seen_through() {
    let body = |condition: &str, trips: &str| {
        format!(
            "if {condition} {{ for (var i = 0u; i < {trips}; i++) {{ sum = mixed(sum); }} }}
            else {{ for (var i = 0u; i < {trips}; i++) {{ sum = sum * 3u + i; }} }}"
        )
    };
    let parity = "lane % 2u == 0u";
    assert_eq!(rules(64, &body(parity, "9u"), random_words()), ["lane_parity_branch 10"]);
    assert_eq!(rules(64, &body("(lane / 32u) % 2u == 0u", "9u"), random_words()), NONE);
    let by_data = rules(64, &body(parity, "(word % 4u)"), random_words());
    assert!(by_data.contains(&"lane_parity_branch 10".to_owned()), "{by_data:?}");
    // The parity of whole subgroups splits none; the loops do, and it is no branch's fault.
    let by_loops = rules(64, &body("(lane / 32u) % 2u == 0u", "(word % 4u)"), random_words());
    assert_eq!(by_loops, ["divergent_trip_counts 10", "divergent_trip_counts 11"]);
}

#[test]
fn lane_parity_of_four_ways_is_said_once() {
    let body = "let k = lane % 4u;
        if k == 0u { sum = mixed(word); } else if k == 1u { sum = mixed(word + 1u); }
        else if k == 2u { sum = mixed(word + 2u); } else { sum = mixed(word + 3u); }";
    assert_eq!(rules(64, body, random_words()), ["lane_parity_branch 11"]);
}

#[test]
fn the_gain_is_what_packing_would_save() {
    // 64 invocations and 16 workgroups: 32 subgroups. Both arms run in each with 16 of 32 lanes.
    let body = "if lane % 2u == 0u { sum = 7u; } else { sum = 9u; }";
    let run = simulated(&shader(64, body), random_words(), 16, &[32]);
    let blocks = &run.measurements[0].dispatches[0].blocks;
    let arms: Vec<&Block> =
        blocks.iter().filter(|b| b.flow.as_ref().is_some_and(|f| !f.path.is_empty())).collect();
    assert_eq!(arms.len(), 2);
    assert!(
        arms.iter().all(|arm| arm.executions.0 == 32 && arm.lanes.0 == 512 && arm.operations == 1)
    );
    let advice = advice_in(&run);
    // Each arm's 32 executions become ⌈512 / 32⌉ = 16.
    assert_eq!(advice[0].saved_operations, 2 * (32 - 16));
    assert!(advice[0].reason.contains("32 runs of it become 64 runs of its arms"), "{advice:?}");
    assert!(
        advice[0].reason.contains("64 subgroup operations at 16.0 of 32 lanes, 32 if"),
        "{advice:?}"
    );
}

#[test]
fn lines_that_depend_on_the_order_of_workgroups_get_no_advice() {
    let body = "if lane % 2u == 0u { sum = mixed(word); } else { sum = mixed(word + 1u); }";
    let mut run = simulated(&shader(64, body), random_words(), 16, &[32]);
    let advised = |run: &Run| advice_in(run).iter().map(|one| one.line).collect::<Vec<_>>();
    assert_eq!(advised(&run), [10]);
    for (lines, left) in [(vec![9, 11], vec![10]), (vec![9, 10], vec![])] {
        run.measurements[0].flags = vec![Flag::at(Tag::DependsOnSchedule, lines)];
        assert_eq!(advised(&run), left);
    }
}

#[test]
fn data_dependent_switch() {
    let body = "switch word % 4u {
            case 0u: { sum += mixed(sum); }
            case 1u: { sum ^= mixed(sum); }
            case 2u: { sum -= mixed(sum); }
            default: { sum *= 3u; }
        }";
    assert_eq!(rules(64, body, random_words()), ["data_dependent_switch 10"]);
    // The same switch on sorted data.
    assert_eq!(rules(64, body, sorted_words()), NONE);
    let one_arm = "if word % 4u == 0u { sum += mixed(sum); }";
    assert_eq!(rules(64, one_arm, random_words()), ["data_dependent_switch 10"]);
    assert_eq!(rules(64, one_arm, sorted_words()), NONE);
}

#[test]
fn divergent_trip_counts() {
    let body = "for (var i = 0u; i < word % 16u; i++) { sum = mixed(sum) + i; }";
    assert_eq!(rules(64, body, random_words()), ["divergent_trip_counts 10"]);
    assert_eq!(rules(64, body, sorted_words()), NONE);
    let by_lane = "for (var i = 0u; i < lane; i++) { sum = mixed(sum) + i; }";
    assert_eq!(rules(64, by_lane, sorted_words()), ["divergent_trip_counts 10"]);
    // All lanes leave together, at another place in each iteration that ends it.
    let uniform = "for (var i = 0u; i < 9u; i++) { sum = mixed(sum) + i; if i == 5u { break; } }";
    assert_eq!(rules(64, uniform, random_words()), NONE);
}

#[test]
fn early_return() {
    let body = "if word % 2u == 0u {
            return;
        }
        for (var i = 0u; i < 9u; i++) { sum = mixed(sum) + i; }";
    assert_eq!(rules(64, body, random_words()), ["early_return 10"]);
    assert_eq!(rules(64, body, sorted_words()), NONE);
    // A bound that whole subgroups miss.
    let bound = "if id.x >= 512u { return; } sum = mixed(sum);";
    assert_eq!(rules(64, bound, random_words()), NONE);
}

#[test]
fn partial_last_subgroup() {
    assert_eq!(rules(80, "sum = mixed(word);", random_words()), ["partial_last_subgroup 8"]);
    assert_eq!(rules(96, "sum = mixed(word);", random_words()), NONE);
    // One workgroup of 33 needs two subgroups in any case: nothing to gain.
    let text = shader(33, "sum = mixed(word);");
    assert_eq!(advice_in(&simulated(&text, random_words(), 1, &[32])), []);
}

#[test]
fn a_partial_subgroups_gain_leaves_divergence_out() {
    // 80 of 96 lanes: packing saves a sixth of the slots, rounded up block by block.
    let run = simulated(&shader(80, "sum = mixed(word);"), random_words(), 12, &[32]);
    let slots: u64 =
        run.measurements[0].dispatches[0].lines().iter().map(|l| l.subgroup_operations).sum();
    assert_eq!(advice_in(&run)[0].saved_operations, u128::from(slots) / 6);
    // A loop that half empties the full ones too.
    let body = "for (var i = 0u; i < lane; i++) { sum = mixed(sum) + i; }";
    let run = simulated(&shader(80, body), random_words(), 16, &[32]);
    let advice = advice_in(&run);
    let gain = |rule| advice.iter().find(|one| one.rule == rule).expect("advice").saved_operations;
    assert!(gain(Rule::PartialLastSubgroup) < gain(Rule::DivergentTripCounts), "{advice:?}");
}

/// A barrier under a condition. The simulator refuses to run it, so that the counts are made up.
fn barrier(run: &mut Run, lanes: u64, executions: u64) {
    for block in &mut run.measurements[0].dispatches[0].blocks {
        if block.flow.as_ref().expect("recorded").barrier {
            block.lanes.0 = lanes;
            block.executions.0 = executions;
            block.histogram = None;
        }
    }
}

#[test]
fn barrier_in_divergent_flow() {
    let body = "if word < 1000000u { workgroupBarrier(); }";
    let mut run = simulated(&shader(64, body), random_words(), 16, &[32]);
    // As simulated, every invocation reaches it.
    assert_eq!(advice_in(&run), []);
    for (lanes, executions, fires) in
        [(16 * 64, 32, false), (15 * 64, 30, false), (1000, 32, true), (512, 32, true)]
    {
        barrier(&mut run, lanes, executions);
        let found = advice_in(&run);
        let rules: Vec<Rule> = found.iter().map(|one| one.rule).collect();
        let says = rules.contains(&Rule::BarrierInDivergentFlow);
        assert_eq!(says, fires, "{lanes} {executions} {found:?}");
        if fires {
            assert_eq!(rules[0], Rule::BarrierInDivergentFlow, "it comes first");
        }
    }
    // Uniform flow allows no such cause, whatever a device counted.
    let mut run = simulated(&shader(64, "workgroupBarrier();"), random_words(), 16, &[32]);
    barrier(&mut run, 1000, 32);
    assert_eq!(advice_in(&run), []);
}

#[test]
fn a_record_without_flow_gets_no_advice() {
    let mut run = simulated(DEMO, random_words(), 32, &[32]);
    assert!(advice_in(&run).len() > 3);
    for block in &mut run.measurements[0].dispatches[0].blocks {
        std::sync::Arc::make_mut(&mut block.code).flow = None;
    }
    assert_eq!(advice_in(&run), []);
}

#[test]
fn a_helpers_slots_go_to_its_callers() {
    // The arms call it with half the lanes, and the rest of the kernel with all of them.
    let body = "if lane % 2u == 0u { sum = mixed(word); } else { sum = mixed(sum); }
        sum += mixed(sum); sum += mixed(sum); sum += mixed(sum);";
    let run = simulated(&shader(64, body), random_words(), 16, &[32]);
    let blocks = &run.measurements[0].dispatches[0].blocks;
    let operations = |wanted: &dyn Fn(&Block) -> bool| -> u64 {
        blocks.iter().filter(|block| wanted(block)).map(|block| block.operations).sum()
    };
    let helper = operations(&|b| b.flow.as_ref().is_some_and(|flow| flow.function == "mixed"));
    let arms = operations(&|b| b.flow.as_ref().is_some_and(|flow| !flow.path.is_empty()));
    // Arms: 32 executions each become 16. The helper: 64 executions of theirs become 32.
    let gain = u128::from(16 * arms + 32 * helper);
    assert_eq!(advice_in(&run)[0].saved_operations, gain);
}

#[test]
fn gains_are_bounded_by_waste() {
    let run = simulated(DEMO, random_words(), 32, &[8, 32, 64]);
    for device in &profiles(&run)[0].devices {
        let wasted: f64 = device.lines.iter().filter_map(|line| line.wasted).sum();
        for one in advice(device) {
            #[expect(clippy::cast_precision_loss, reason = "a few thousand slots")]
            let gain = one.saved_operations as f64;
            assert!(gain <= wasted, "{one:?} of {wasted}");
        }
    }
}

/// The first advice for each of the five patterns is what the pattern is made of.
#[test]
fn the_five_patterns_get_their_rules() {
    let catalogue = Catalogue::embedded().unwrap();
    for (name, expected) in [
        ("uniform", None),
        ("branch_by_lane", Some(Rule::LaneParityBranch)),
        ("branch_by_quad", Some(Rule::LaneParityBranch)),
        ("early_exit", Some(Rule::EarlyReturn)),
        ("indirect_branch", Some(Rule::DataDependentSwitch)),
    ] {
        for form in ["sealed", "published", "opaque"] {
            let parameters = BTreeMap::from([
                ("n".to_owned(), Value::Integer(1024)),
                ("form".to_owned(), Value::Name(form.to_owned())),
            ]);
            let kernel = catalogue.kernel(&format!("five_patterns/{name}")).unwrap();
            let launch = kernel.launch(DeviceClass::Quick, &parameters, SEED).unwrap();
            let advice = advice_in(&simulated_launch(&launch, &[32]));
            let rules: Vec<Rule> = advice.iter().map(|one| one.rule).collect();
            assert_eq!(rules, Vec::from_iter(expected), "{name} {form}: {advice:#?}");
        }
    }
}

#[test]
fn the_demonstrations_advice_reads_well() {
    let run = simulated(DEMO, random_words(), 32, &[32]);
    let shown: Vec<String> = advice_in(&run)
        .iter()
        .map(|one| {
            let share = one.gain_share.0 * 100.0;
            let name = one.rule.name();
            format!(
                "{name} line {} gain {} ({share:.1} %): {}",
                one.line, one.saved_operations, one.reason
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
