//! Which changes are tried, and which refused. That the counts are those of an edited shader is
//! shown with the cards.

use std::collections::BTreeMap;

use super::*;
use crate::run::profile::{ProfileRequest, prepare};

fn trials(source: &str, budget: Budget) -> WhatIf {
    try_within(source, budget).expect("trials")
}

fn try_within(source: &str, budget: Budget) -> Result<WhatIf, RunError> {
    let request = ProfileRequest {
        file: "t.wgsl".to_owned(),
        name: "t".to_owned(),
        source: source.to_owned(),
        derived: None,
        description: None,
        entry_point: None,
        workgroups: None,
        n: Some(1024),
        seed: 1,
    };
    let launch = prepare(&request, &mut |_| Err(String::new())).expect("a launch").launch;
    try_changes(&launch, Width::new(32).expect("a width"), 1 << 24, budget)
}

/// A shader with a branch by data, and `rest` after it.
fn shader(size: u32, arguments: &str, rest: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> word: array<u32>;
@group(0) @binding(1) var<storage, read_write> sum: array<u32>;
var<workgroup> shared_words: array<u32, 64>;
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3u{arguments}) {{
    var own = word[id.x];
    if own % 2u == 0u {{ for (var i = 0u; i < 9u; i++) {{ own = own * 3u + i; }} }}
    {rest}
    sum[id.x] = own;
}}
"
    )
}

/// Why changes were refused, by what they change.
fn refusals(source: &str) -> BTreeMap<Change, Option<Refused>> {
    trials(source, Budget::Everything)
        .trials
        .into_iter()
        .map(|trial| (trial.change, trial.refused))
        .collect()
}

#[test]
fn what_ties_invocations_to_their_workgroup_lets_them_change_places_in_it() {
    let reordered = |rest: &str| {
        let found = trials(&shader(64, "", rest), Budget::Everything).trials;
        let order = found.into_iter().find(|trial| trial.change == Change::OrderByBranch);
        let order = order.expect("a trial");
        (order.refused, order.after.is_some(), order.within_workgroup)
    };
    assert_eq!(reordered(""), (None, true, false));
    assert_eq!(reordered("workgroupBarrier();"), (None, true, true));
    assert_eq!(reordered("shared_words[0] = 1u;"), (None, true, true));
    let neighbours = (Some(Refused::SubgroupOperations), false, false);
    assert_eq!(reordered("own += subgroupAdd(own);"), neighbours);
    assert_eq!(reordered("own += subgroupAdd(own); workgroupBarrier();"), neighbours);
}

#[test]
fn the_size_of_workgroups_is_kept_where_places_in_them_count() {
    let refused = |source: &str| {
        let size = |change: &Change| matches!(change, Change::WorkgroupSize { .. });
        refusals(source).into_iter().find(|(change, _)| size(change)).expect("a trial").1
    };
    let sizes = |arguments: &str| refused(&shader(48, arguments, ""));
    assert_eq!(sizes(""), None);
    let tile = shader(48, "", "").replace("size(48)", "size(8, 6)");
    assert_eq!(refused(&tile), Some(Refused::SeveralDimensions));
    let local = ", @builtin(local_invocation_index) local: u32";
    assert_eq!(sizes(local), Some(Refused::PlaceInWorkgroup));
    let count = ", @builtin(num_workgroups) count: vec3u";
    assert_eq!(sizes(count), Some(Refused::WorkgroupCount));
}

#[test]
fn where_the_time_is_over_the_rest_is_told() {
    let again = "if own % 3u == 0u { for (var i = 0u; i < 9u; i++) { own = own * 5u + i; } }";
    let source = shader(64, "", again);
    let all = trials(&source, Budget::Everything);
    assert!(all.untried == 0 && all.trials.len() > 1);
    // The least budget in doublings that the first run fits into is spent by the first trial.
    let mut least = (8..32).map(|bits| Budget::Operations(1 << bits));
    let least = least.find(|budget| try_within(&source, *budget).is_ok()).expect("a budget");
    for little in [Budget::Time(Duration::ZERO), least] {
        let some = trials(&source, little);
        assert!(some.untried > 0 && some.trials.len() < all.trials.len(), "{little:?}");
        assert_eq!(all.before, some.before);
    }
}

#[test]
fn a_trial_changes_only_its_own_dispatch_and_lanes_stay() {
    let all = trials(&shader(64, "", ""), Budget::Everything);
    for trial in &all.trials {
        let (Some(after), true) = (&trial.after, trial.change != Change::Predicate) else {
            continue;
        };
        let lanes = |counts: &[BlockTotals]| counts.iter().map(|c| c.lanes.0).collect::<Vec<_>>();
        assert_eq!(lanes(after), lanes(&all.before[0]), "every invocation does what it did");
    }
}

#[test]
fn shapes_cut_a_grid_with_rows_into_other_subgroups() {
    let width = Width::new(32).expect("a width");
    let others = |from, workgroups| other_shapes(from, &Dispatched { workgroups, width });
    let shorter = [[16, 4, 1], [8, 8, 1], [4, 16, 1], [2, 32, 1], [1, 64, 1]];
    assert_eq!(others([64, 1, 1], [1, 64, 1]), shorter);
    // Rows of 32 are cut as rows of 64 are.
    assert_eq!(others([1, 64, 1], [64, 1, 1])[..2], [[64, 1, 1], [16, 4, 1]]);
    // 24 columns are 8 × 3, and 8 rows fit into no workgroup that is higher.
    assert_eq!(others([8, 8, 1], [3, 1, 1]), NO_SHAPES);
    assert_eq!(others([8, 4, 1], [3, 2, 1]), [[4, 8, 1]]);
    // A grid of one row has none; nor has one that would have more workgroups along x than a dispatch may have.
    assert_eq!(others([64, 1, 1], [64, 1, 1]), NO_SHAPES);
    assert_eq!(others([64, 1, 1], [65_535, 4, 1]), NO_SHAPES);
}

const NO_SHAPES: [[u32; 3]; 0] = [];

#[test]
fn invocations_keep_their_place_in_the_grid_in_every_shape() {
    let order = order_in_shape([1, 2, 1], [4, 1, 1], [2, 2, 1]);
    assert_eq!(order, [0, 1, 4, 5, 2, 3, 6, 7]);
    let back = order_in_shape([2, 1, 1], [2, 2, 1], [4, 1, 1]);
    assert_eq!(back, [0, 1, 4, 5, 2, 3, 6, 7]);
    // Two layers of workgroups of two layers each.
    let layers = order_in_shape([1, 2, 2], [2, 1, 2], [1, 2, 2]);
    assert_eq!(layers, [0, 4, 2, 6, 1, 5, 3, 7, 8, 12, 10, 14, 9, 13, 11, 15]);
}

#[test]
fn a_shape_is_tried_where_one_dispatch_has_it() {
    let source = "@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = sums[id.y * 64u + id.x];
    if id.x % 2u == 0u { for (var i = 0u; i < 40u; i++) { sum = sum * 5u + i; } }
    sums[id.y * 64u + id.x] = sum;
}
";
    let sums = crate::kernel::Buffer {
        name: "sums".to_owned(),
        size: 4096 * 4,
        fill: crate::kernel::Fill::Zero,
        scalar: crate::kernel::ScalarType::U32,
        output: true,
    };
    let mut launch = Launch::of_shader("t.wgsl", source, vec![sums], [1, 64, 1]);
    let shape = |launch: &Launch| {
        let width = Width::new(32).expect("a width");
        let tried = try_changes(launch, width, 1 << 24, Budget::Everything).expect("trials");
        let is_shape = |trial: &&Trial| matches!(trial.change, Change::WorkgroupShape { .. });
        tried.trials.iter().find(is_shape).cloned().expect("a trial of a shape")
    };
    let alone = shape(&launch);
    assert_eq!((alone.refused, alone.after.is_some()), (None, true));
    assert_eq!(alone.construct, None, "no branch is changed");
    launch.dispatches.push(launch.dispatches[0].clone());
    let twice = shape(&launch);
    assert_eq!((twice.refused, twice.after), (Some(Refused::SeveralDispatches), None));
}
