//! Cards from trials, on what the simulator counted: what a card says is saved is what an edit of the
//! shader saves, and nothing is said where nothing is saved.

use super::*;
use crate::analyze::profiles;
use crate::fixtures::{DEMO, profiled, random_words, simulated, simulated_launch};
use crate::kernel::{Buffer, Fill, Launch, ScalarType};
use crate::record::{Block, BlockTotals, Change, Flag, Run, Tag, WhatIf};
use crate::units::{Nanoseconds, grouped_text as whole};

/// A shader of the trial.
fn trial(name: &str) -> &'static str {
    let text = include_str!("tests/trial.md");
    let (_, section) = text.split_once(&format!("## {name}\n```wgsl\n")).expect("a section");
    section.split_once("```").expect("its end").0
}

/// A shader of workgroups of `size` that runs `body` with `word = table[id.x]`.
fn shader(size: u32, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
fn mixed(word: u32) -> u32 {{
    return (word ^ (word >> 7u)) * 0x9e3779b9u;
}}
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3u) {{
    let word = table[id.x];
    var sum = 1u;
{body}
    sums[id.x] = sum;
}}
"
    )
}

fn advice_in(run: &Run) -> Vec<Advice> {
    let profiles = profiles(run);
    assert_eq!(profiles.len(), 1);
    assert!(profiles[0].devices.iter().all(|device| device.error.is_none()), "{profiles:#?}");
    let cards = advice_of(&profiles[0]);
    for device in &profiles[0].devices {
        let here = cards.iter().filter(|card| card.device == device.column.device);
        let claimed: u128 = here.map(|card| card.saved_operations).sum();
        let work = device.column.work;
        let width = u128::from(device.column.width.unwrap().lanes());
        // What cards claim is at most what was idle, and what fewer workgroups leave out whole.
        assert!(claimed <= work.subgroup_operations, "{cards:#?}");
        let idle = work.subgroup_operations - work.lane_operations.div_ceil(width);
        let fewer = cards.iter().any(|card| card.rule == Rule::FewerWorkgroups);
        assert!(fewer || claimed <= idle, "{claimed} of {idle}: {cards:#?}");
        // What saves most stands first; of changes that save as much within a fiftieth any may.
        let tried: Vec<&Advice> = cards
            .iter()
            .filter(|card| card.device == device.column.device && card.change.is_some())
            .collect();
        let are_in_order = tried
            .windows(2)
            .all(|pair| pair[1].saved_operations * 49 <= pair[0].saved_operations * 50);
        assert!(are_in_order, "{cards:#?}");
    }
    cards
}

/// The cards as `rule line`.
fn named(cards: &[Advice]) -> Vec<String> {
    cards.iter().map(|card| format!("{} {}", card.rule.name(), card.line)).collect()
}

fn remarks_in(run: &Run) -> String {
    remarks(&profiles(run)[0].devices[0]).join("\n")
}

fn operations(run: &Run) -> u128 {
    profiles(run)[0].devices[0].column.work.subgroup_operations
}

const NONE: [&str; 0] = [];

// Trips

/// Σ over subgroups of 32 of the largest of their values.
fn largest_by_subgroup(values: &[u32]) -> u128 {
    values.chunks(32).map(|chunk| u128::from(*chunk.iter().max().unwrap())).sum()
}

#[test]
fn ordering_by_trips_saves_what_sorted_data_save() {
    let text = shader(64, "for (var i = 0u; i < word; i++) { sum = mixed(sum); }");
    let words: Vec<u32> = (0..1024u32).map(|i| (i * 37) % 64).collect();
    let run = simulated(&text, Fill::Words(words.clone()), 16, &[32]);
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["order_by_trip_count 10"]);
    let mut sorted = words.clone();
    sorted.sort_unstable();
    let edited = simulated(&text, Fill::Words(sorted.clone()), 16, &[32]);
    assert_eq!(cards[0].saved_alone, operations(&run) - operations(&edited));
    assert_eq!(cards[0].saved_operations, cards[0].saved_alone);
    // By hand: iterations of a subgroup are the most of its lanes.
    let iterations = largest_by_subgroup(&words) - largest_by_subgroup(&sorted);
    assert_eq!(
        cards[0].saved_alone % iterations,
        0,
        "{iterations} iterations of the loop are saved"
    );
    assert_eq!(named(&advice_in(&edited)), NONE, "sorted words have nothing to save");
}

#[test]
fn rows_of_a_sparse_matrix() {
    let cards = advice_in(&profiled(trial("spmv"), 1024, None, &[32, 64]));
    assert_eq!(cards[0].rule.name(), "order_by_trip_count");
    assert_eq!(cards[0].at_widths.len(), 2, "tried at both widths");
    assert!(cards[0].at_widths.iter().all(|(_, share)| share.0 > 0.1), "{:?}", cards[0].at_widths);
}

// Branches

#[test]
fn ordering_by_a_branch_saves_what_sorted_data_save() {
    let text = shader(
        64,
        "if word % 2u == 0u { sum = mixed(mixed(mixed(word))); }\n    else { sum = mixed(word + 1u) ^ 5u; }",
    );
    let run = simulated(&text, Fill::Words((0..1024).collect()), 16, &[32]);
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["order_by_branch 10"]);
    let apart = (0..1024u32).map(|i| i / 2 * 2 + u32::from(i >= 512)).collect();
    let edited = simulated(&text, Fill::Words(apart), 16, &[32]);
    assert_eq!(cards[0].saved_alone, operations(&run) - operations(&edited));
}

#[test]
fn two_cards_of_one_line_say_which_is_which() {
    let branch = |divisor: u32, factor: u32| {
        format!(
            "if word % {divisor}u == 0u {{ for (var i = 0u; i < 40u; i++) {{ sum = sum * {factor}u + i; }} }}"
        )
    };
    let text = shader(64, &format!("    {} {}", branch(3, 5), branch(5, 7)));
    let cards = advice_in(&simulated(&text, random_words(), 64, &[32, 64]));
    let here: Vec<&Advice> = cards.iter().filter(|card| card.device == "sim:32").collect();
    let [first, second] = here[..] else { panic!("{cards:#?}") };
    assert_eq!(named(&cards)[..2], ["order_by_branch 10", "order_by_branch 10"]);
    assert_ne!(first.sentence, second.sentence);
    assert_ne!(first.at_widths, second.at_widths, "each its own share");
    for card in [first, second] {
        assert!(card.sentence.contains("whose body begins at column "), "{card:?}");
        let [line, column] = card.entered_at.unwrap();
        assert_eq!(line, 10, "{card:?}");
        // The body, not the condition.
        let source = text.lines().nth(9).unwrap();
        assert!(source[..column as usize - 1].contains("== 0u {"), "{card:?}\n{source}");
    }
    // A line's only card says nothing of the kind.
    let text = shader(64, &format!("    {}", branch(3, 5)));
    let cards = advice_in(&simulated(&text, random_words(), 64, &[32]));
    assert!(!cards[0].sentence.contains("column") && cards[0].entered_at.is_none(), "{cards:?}");
}

#[test]
fn lanes_that_return_are_packed_away() {
    let text = shader(
        64,
        "if word % 2u == 0u { return; }\n    for (var i = 0u; i < 8u; i++) { sum = mixed(sum); }",
    );
    let run = simulated(&text, Fill::Words((0..1024).collect()), 16, &[32]);
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["pack_what_goes_on 10"]);
    let apart = (0..1024u32).map(|i| i / 2 * 2 + u32::from(i < 512)).collect();
    let edited = simulated(&text, Fill::Words(apart), 16, &[32]);
    assert_eq!(cards[0].saved_alone, operations(&run) - operations(&edited));
}

#[test]
fn a_change_that_may_not_be_made_is_a_reason_on_its_lines_card() {
    // Workgroups 8 to 15 return as a whole, and so do half of the lanes of the others.
    let body =
        "if word % 2u == 0u { return; }\n    for (var i = 0u; i < 8u; i++) { sum = mixed(sum); }";
    let words: Vec<u32> = (0..1024).map(|i| if i < 512 { i } else { 0 }).collect();
    let text = shader(64, body);
    let counted = text.replace(
        "id: vec3u) {\n    let word",
        "id: vec3u, @builtin(num_workgroups) all: vec3u) {\n    let word",
    );
    assert_ne!(counted, text);
    let cards = advice_in(&simulated(&counted, Fill::Words(words.clone()), 16, &[32]));
    assert_eq!(named(&cards), ["pack_what_goes_on 10"]);
    let told = " There is no card for fewer_workgroups here: another number of workgroups was not \
                tried: the shader uses their number.";
    assert!(cards[0].reason.ends_with(told), "{}", cards[0].reason);
    // Where it may be made it is tried, and nothing of the kind is said.
    let cards = advice_in(&simulated(&text, Fill::Words(words), 16, &[32]));
    assert!(!cards.is_empty() && cards.iter().all(|card| !card.reason.contains("no card for")));
}

#[test]
fn two_lines_that_part_the_same_lanes_are_one_card() {
    let body = "if word % 2u == 0u { sum = mixed(mixed(mixed(word))); }\n    \
                if word % 2u == 0u { sum += mixed(mixed(sum)); }";
    let run = simulated(&shader(64, body), Fill::Words((0..1024).collect()), 16, &[32]);
    let cards = advice_in(&run);
    assert_eq!(cards.len(), 1, "{cards:#?}");
    assert!(cards[0].reason.contains("would save some of these operations too"));
}

#[test]
fn a_short_branch_gains_nothing_from_select() {
    let run = profiled(trial("short"), 4096, None, &[32]);
    let worked_out: u128 =
        predicated(&run).iter().map(|(block, after)| weighted(block.operations, *after).0).sum();
    assert!(worked_out >= operations(&run), "both arms of all lanes are no less");
    assert!(
        remarks_in(&run).contains("`select` in place of the short branch"),
        "{}",
        remarks_in(&run)
    );
}

/// The blocks with the counts that are worked out for `select` at the only short branch.
fn predicated(run: &Run) -> Vec<(Block, BlockTotals)> {
    let what_if = run.measurements[0].what_if.as_ref().expect("trials");
    let mut trials = what_if.trials.iter().filter(|trial| trial.change == Change::Predicate);
    let trial = trials.next().expect("a short branch");
    assert!(trial.refused.is_none() && trials.next().is_none(), "{what_if:#?}");
    let blocks = run.measurements[0].dispatches[0].blocks.iter().cloned();
    blocks.zip(trial.after.clone().expect("counts")).collect()
}

/// So many operations, times executions and times lanes.
fn weighted(operations: u64, counts: BlockTotals) -> (u128, u128) {
    let times = |count: u64| u128::from(operations) * u128::from(count);
    (times(counts.executions.0), times(counts.lanes.0))
}

/// What is worked out for `select` is what an edit counts in which all lanes run the arm and choose.
#[test]
fn select_counts_as_the_edit_that_runs_the_arm_for_all_lanes() {
    let arm = "next = v - 1.0;";
    let branch = format!(
        "var next = v;\n        if over {{\n            {arm}\n        }}\n        v = next;"
    );
    let text = |rest: &str| {
        let text = trial("short").replace(
            "if v > 1.0 { v = v - 1.0; }",
            &format!("let over = v > 1.0;\n        {rest}"),
        );
        assert!(text.contains(rest), "{text}");
        text
    };
    let edit = branch.replace("if over {", "{").replace("v = next;", "v = select(v, next, over);");
    let (text, edited) = (text(&branch), text(&edit));
    let line = 1 + text.lines().position(|line| line.contains(arm)).expect("the arm's line");
    let line = u32::try_from(line).expect("a line");
    let run = profiled(&text, 4096, None, &[32]);
    let mut worked_out = (0, 0);
    for (block, after) in predicated(&run) {
        let here = block.lines.get(&line).copied().unwrap_or(0);
        let (executed, lanes) = weighted(here, after);
        worked_out = (worked_out.0 + executed, worked_out.1 + lanes);
    }
    let counted = |run: &Run| {
        let device = profiles(run)[0].devices[0].clone();
        let work = device.line(line).expect("the arm's line").work;
        (work.subgroup_operations, work.lane_operations)
    };
    assert_eq!(worked_out, counted(&profiled(&edited, 4096, None, &[32])));
    assert!(worked_out.1 > counted(&run).1, "some lanes did not run it before");
}

// Counter-examples: advice that was given once, and was false

#[test]
fn one_lane_that_returns_is_not_charged_with_all_that_follows() {
    let run = profiled(trial("particles"), 1024, None, &[32]);
    let cards = advice_in(&run);
    // Line 11 is the return of the dead, line 13 skips oneself: each parts one lane.
    assert!(cards.iter().all(|card| ![11, 13].contains(&card.line)), "{cards:#?}");
    // They were looked at: orders by what parts lanes here were tried.
    let inside = tried(&run).into_iter().filter(|line| (11..=19).contains(line));
    assert!(inside.count() > 0, "{:?}", tried(&run));
}

/// The lines at which invocations were ordered or packed.
fn tried(run: &Run) -> Vec<u32> {
    let what_if = run.measurements[0].what_if.as_ref().expect("trials");
    let moved = [Change::OrderByBranch, Change::OrderByTripCount, Change::PackWhatGoesOn];
    let moved = what_if
        .trials
        .iter()
        .filter(|trial| moved.contains(&trial.change) && trial.after.is_some());
    moved.map(|trial| trial.line).collect()
}

#[test]
fn the_return_of_a_helper_is_not_the_end_of_the_invocation() {
    for text in [trial("helper"), trial("rays")] {
        let run = profiled(text, 1024, None, &[32]);
        let entry =
            text.lines().position(|line| line.contains("@compute")).expect("an entry point");
        let in_helper = |line: u32| (line as usize) <= entry;
        let cards = advice_in(&run);
        let name = "pack_what_goes_on";
        let told = cards.iter().find(|card| card.rule.name() == name && in_helper(card.line));
        assert!(told.is_none(), "{told:#?}");
        // The helper's branch was tried as a branch.
        assert!(tried(&run).into_iter().any(in_helper), "{:?}", tried(&run));
    }
}

#[test]
fn nothing_is_sorted_inside_a_sort_or_a_merge() {
    for text in [trial("bitonic"), trial("hist")] {
        let run = profiled(text, 4096, None, &[32]);
        assert_eq!(named(&advice_in(&run)), NONE);
        // Barriers tie invocations to their workgroups: in these they were ordered, which does not pay.
        let profiles = profiles(&run);
        let trials = &profiles[0].devices[0].what_if.as_ref().expect("trials").trials;
        let orders = || trials.iter().filter(|trial| trial.change == Change::OrderByBranch);
        assert!(orders().count() > 0, "{trials:#?}");
        assert!(orders().all(|trial| trial.within_workgroup && trial.after.is_some()));
    }
}

#[test]
fn workgroups_that_only_return_are_not_launched() {
    let run = profiled(trial("huff"), 65_536, None, &[32]);
    let cards = advice_in(&run);
    let fewer = cards.iter().find(|card| card.rule == Rule::FewerWorkgroups).expect("a card");
    assert!(fewer.sentence.contains("launch 16 workgroups in place of 1,024"), "{fewer:#?}");
    let edited = profiled(trial("huff"), 65_536, Some(16), &[32]);
    assert_eq!(fewer.saved_alone, operations(&run) - operations(&edited));
}

#[test]
fn workgroups_that_generated_contents_send_home_are_launched() {
    let text = "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if (table[id.x] != 5u) { return; }
    sums[id.x] = 1u;
}
";
    let fewer = |fill: Fill| {
        let cards = advice_in(&simulated(text, fill, 64, &[32]));
        cards.iter().any(|card| card.rule == Rule::FewerWorkgroups)
    };
    assert!(!fewer(random_words()));
    // Contents that are given say how much work there is.
    assert!(fewer(Fill::Words(vec![0; 64 * 64])));
}

#[test]
fn workgroups_of_no_whole_subgroups() {
    let text = |size: u32| shader(size, "for (var i = 0u; i < 8u; i++) { sum = mixed(sum); }");
    let run = simulated(&text(48), random_words(), 64, &[32]);
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["workgroup_size 6"]);
    assert!(cards[0].sentence.contains("make them 64 large"), "{}", cards[0].sentence);
    let edited = simulated(&text(64), random_words(), 48, &[32]);
    assert_eq!(cards[0].saved_alone, operations(&run) - operations(&edited));
    assert_eq!(named(&advice_in(&edited)), NONE);
}

#[test]
fn one_size_of_workgroups_is_advised_for_both_widths() {
    let text = |size: u32| shader(size, "for (var i = 0u; i < 8u; i++) { sum = mixed(sum); }");
    // 32 and 64 are as good at 32 lanes, and 32 is nearer to 40; at 64 lanes it would leave halves idle.
    let run = simulated(&text(40), random_words(), 64, &[32, 64]);
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["workgroup_size 6"; 2]);
    for card in &cards {
        assert!(card.sentence.contains("make them 64 large"), "{}", card.sentence);
        assert_eq!(card.at_widths.len(), 2, "the same change at both widths");
    }
    // Workgroups of 32 fill subgroups of 32: what is changed at 64 lanes is nothing there.
    let cards = advice_in(&simulated(&text(32), random_words(), 64, &[32, 64]));
    assert_eq!(named(&cards), ["workgroup_size 6"]);
    assert_eq!(cards[0].at_widths.iter().map(|(width, _)| width.lanes()).collect::<Vec<_>>(), [64]);
}

/// Counts a shader of a grid of 64 × 64 in workgroups of a shape, whose invocations work longer where `busy` holds.
fn in_shape([x, y]: [u32; 2], arguments: &str, busy: &str) -> Run {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size({x}, {y})
fn main(@builtin(global_invocation_id) id: vec3u{arguments}) {{
    var sum = id.x;
    if {busy} {{ for (var i = 0u; i < 40u; i++) {{ sum = sum * 5u + i; }} }}
    sums[id.y * 64u + id.x] = sum;
}}
"
    );
    let sums = Buffer {
        name: "sums".to_owned(),
        size: 4096 * 4,
        fill: Fill::Zero,
        scalar: ScalarType::U32,
        output: true,
    };
    simulated_launch(
        &Launch::of_shader("shader.wgsl", &text, vec![sums], [64 / x, 64 / y, 1]),
        &[32],
    )
}

/// Tiles of 8 × 8 work in turn.
const BUSY_TILES: &str = "(id.x / 8u + id.y / 8u) % 2u == 0u";

#[test]
fn tiles_of_a_grid_are_workgroups() {
    let edited = in_shape([8, 8], "", BUSY_TILES);
    for shape in [[64, 1], [1, 64]] {
        let run = in_shape(shape, "", BUSY_TILES);
        let cards = advice_in(&run);
        // The order by the branch saves as much, and is dearer.
        assert_eq!(named(&cards), ["workgroup_shape 2"]);
        let [x, y] = shape;
        let told = format!("cut from workgroups of {x} × {y}: make the workgroups 8 × 8 large");
        assert!(cards[0].sentence.contains(&told), "{}", cards[0].sentence);
        assert!(cards[0].reason.contains("The changes at line 5 would"), "{}", cards[0].reason);
        assert_eq!(cards[0].saved_alone, operations(&run) - operations(&edited));
    }
    assert_eq!(named(&advice_in(&edited)), NONE);
    // Columns that work in turn are told apart by rows of workgroups that stand.
    let run = in_shape([64, 1], "", "id.x % 2u == 0u");
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["workgroup_shape 2"]);
    assert!(cards[0].sentence.contains("make the workgroups 1 × 64 large"), "{cards:#?}");
    let edited = in_shape([1, 64], "", "id.x % 2u == 0u");
    assert_eq!(cards[0].saved_alone, operations(&run) - operations(&edited));
}

#[test]
fn a_shape_that_saves_less_than_an_order_is_told_with_it() {
    // Tiles, and two invocations more in each row of 32.
    let tile = "(id.x / 8u + id.y / 8u) % 2u";
    let [one_end, other_end] =
        ["id.y % 8u", "31u - id.y % 8u"].map(|x| format!("((id.x % 32u) ^ ({x}))"));
    let busy = format!("min({tile}, min({one_end}, {other_end})) == 0u");
    let run = in_shape([64, 1], "", &busy);
    let cards = advice_in(&run);
    assert_eq!(named(&cards), ["order_by_branch 5"]);
    let edited = in_shape([8, 8], "", &busy);
    let saved = operations(&run).saturating_sub(operations(&edited));
    assert!(saved > 0 && saved < cards[0].saved_alone, "{saved}: {cards:#?}");
    let told = format!("Workgroups of 8 × 8 (line 2) alone would save {} operations", whole(saved));
    assert!(cards[0].reason.contains(&told), "{told}: {}", cards[0].reason);
}

#[test]
fn the_shape_of_workgroups_is_kept_where_it_may_not_change() {
    let local = ", @builtin(local_invocation_id) local: vec3u";
    let busy = format!("{BUSY_TILES} && local.x < 64u");
    let run = in_shape([64, 1], local, &busy);
    assert!(advice_in(&run).iter().all(|card| card.rule != Rule::WorkgroupShape));
    let told = "Line 2: workgroups cannot have another size or shape: the shader uses places";
    assert!(remarks_in(&run).contains(told), "{}", remarks_in(&run));
    // Where no lanes part, no shape is tried.
    assert_eq!(named(&advice_in(&in_shape([64, 1], "", "id.y % 2u == 0u"))), NONE);
}

#[test]
fn the_demonstrations_cards_read_well() {
    let cards = advice_in(&simulated(DEMO, random_words(), 32, &[32, 64]));
    insta::assert_debug_snapshot!(cards);
}

#[test]
fn full_subgroups_leave_nothing_to_say() {
    let run = simulated(&shader(64, "sum = mixed(word);"), random_words(), 16, &[32]);
    assert_eq!((named(&advice_in(&run)), remarks_in(&run)), (vec![], String::new()));
}

#[test]
fn an_order_that_changes_outputs_is_refused() {
    let text = "@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<atomic<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let word = table[id.x];
    let slot = atomicAdd(&sums[0], 1u);
    if word % 2u == 0u {
        for (var i = 0u; i < 8u; i++) { atomicXor(&sums[1u + slot], word * i + i); }
    }
}
";
    let run = simulated(text, Fill::Words((0..1024).collect()), 16, &[32]);
    assert_eq!(named(&advice_in(&run)), NONE);
    let remarks = remarks_in(&run);
    let found =
        ["the outputs changed", "read what others write"].map(|part| remarks.contains(part));
    assert!(found.contains(&true), "{remarks}");
}

#[test]
fn what_was_not_tried_is_said_with_the_limit() {
    let mut run = simulated(DEMO, random_words(), 32, &[32]);
    let device = |run: &Run| profiles(run)[0].devices[0].clone();
    let what_if = |run: &mut Run, time_max_ns| {
        let tried =
            WhatIf { untried: 2, untried_lines: vec![4, 6], time_max_ns, ..WhatIf::default() };
        run.measurements[0].what_if = Some(tried);
    };
    what_if(&mut run, Some(Nanoseconds(2e9)));
    let text = remarks(&device(&run)).concat();
    let expected = "2 more changes were not tried (lines 4 and 6): trials on this device have 2.00 s, which had \
                    passed.";
    assert!(text.contains(expected), "{text}");
    what_if(&mut run, None);
    let text = remarks(&device(&run)).concat();
    assert!(text.contains("what trials may take was used up"), "{text}");
}

#[test]
fn a_profile_is_told_in_two_to_four_sentences() {
    let run = simulated(DEMO, random_words(), 64, &[32, 64]);
    let profile = &profiles(&run)[0];
    let told = profile_overview(profile, &advice_of(profile));
    assert!((2..=4).contains(&told.len()), "{told:#?}");
    assert!(
        told[0].contains(" of 32 lanes active (") && told[0].contains(" on sim:64"),
        "{told:#?}"
    );
    assert!(told[1].starts_with("What wastes most is line "), "{told:#?}");
    assert!(told.last().is_some_and(|last| last.starts_with("How far to trust the counts: ")));
}

#[test]
fn a_loop_that_was_cut_off_is_told_first_and_its_lanes_are_not() {
    let mut run = simulated(DEMO, random_words(), 64, &[32, 64]);
    let overview = |run: &Run| {
        let profile = &profiles(run)[0];
        profile_overview(profile, &advice_of(profile))
    };
    run.measurements[0].flags =
        vec![Flag::at(Tag::LoopCutOff, [12]), Flag::at(Tag::LoopCutOff, [7])];
    let told = overview(&run);
    let expected = "A loop was cut off on lines 7 and 12 on sim:32: outputs, counts and times are of a \
                    shorter one there.";
    assert_eq!(told[0], expected, "{told:#?}");
    assert!(told[1].contains("on sim:64") && !told[1].contains("of 32 lanes"), "{told:#?}");
    run.measurements[1].flags = vec![Flag::at(Tag::LoopCutOff, [7])];
    let told = overview(&run);
    assert!(!told.iter().any(|sentence| sentence.contains("lanes active")), "{told:#?}");
    run.measurements[1].flags = vec![Flag::at(Tag::LoopMayBeCutOff, [7])];
    let told = overview(&run);
    let may = "A loop may have been cut off on line 7 on sim:64: outputs, counts and times may be of a \
               shorter one there.";
    assert_eq!(told[1], may, "{told:#?}");
    assert!(!told.iter().any(|sentence| sentence.contains("lanes active")), "{told:#?}");
}
