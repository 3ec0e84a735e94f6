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
        spirv: None,
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
