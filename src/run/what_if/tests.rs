//! Which changes are tried, and which refused. That the counts are those of an edited shader is
//! shown with the cards.

use std::collections::BTreeMap;

use super::*;
use crate::run::profile::{ProfileRequest, prepare};

fn trials(source: &str, budget: Budget) -> WhatIf {
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
    try_changes(&launch, Width::new(32).expect("a width"), 1 << 24, budget).expect("trials")
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
fn what_ties_invocations_to_their_place_is_a_reason() {
    let of = |arguments: &str, rest: &str| {
        refusals(&shader(64, arguments, rest))[&Change::OrderByBranch]
    };
    assert_eq!(of("", ""), None);
    assert_eq!(of("", "workgroupBarrier();"), Some(Refused::Barriers));
    assert_eq!(of("", "shared_words[0] = 1u;"), Some(Refused::WorkgroupMemory));
    assert_eq!(of("", "own += subgroupAdd(own);"), Some(Refused::SubgroupOperations));
}

#[test]
fn the_size_of_workgroups_is_kept_where_places_in_them_count() {
    let sizes = |arguments: &str| {
        let all = refusals(&shader(48, arguments, ""));
        let size = |change: &Change| matches!(change, Change::WorkgroupSize { .. });
        all.into_iter().find(|(change, _)| size(change)).expect("a trial").1
    };
    assert_eq!(sizes(""), None);
    let local = ", @builtin(local_invocation_index) local: u32";
    assert_eq!(sizes(local), Some(Refused::PlaceInWorkgroup));
    let count = ", @builtin(num_workgroups) count: vec3u";
    assert_eq!(sizes(count), Some(Refused::WorkgroupCount));
}

#[test]
fn where_the_time_is_over_the_rest_is_told() {
    let all = trials(&shader(64, "", ""), Budget::Everything);
    assert_eq!(all.untried, 0);
    for nothing in [Budget::Time(Duration::ZERO), Budget::Operations(1 << 12)] {
        let none = trials(&shader(64, "", ""), nothing);
        assert!(none.untried > 0 && none.trials.len() < all.trials.len());
        assert_eq!(all.before, none.before);
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
