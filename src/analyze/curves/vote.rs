//! The vote's speed-up: a plain branch's time over that of a vote and then the branch.

use indexmap::IndexMap;

use super::{CurveTable, number, prefix, series, time_ratio, timed};
use crate::record::{Measurement, Run, Value};

/// Speed-up against density, for each device, clustering and amount of work.
pub(super) fn speed_up(run: &Run) -> Option<CurveTable> {
    let all: Vec<&Measurement> = timed(run, "vote/early_exit").collect();
    let is = |one: &Measurement, branch: &str| {
        one.parameters.get("branch") == Some(&Value::Name(branch.to_owned()))
    };
    let mut points: IndexMap<String, _> = IndexMap::new();
    for vote in all.iter().filter(|one| is(one, "vote")) {
        let twin = all.iter().find(|plain| {
            is(plain, "plain")
                && plain.device == vote.device
                && plain.parameters.iter().all(|(name, value)| {
                    name == "branch" || vote.parameters.get(name) == Some(value)
                })
        });
        let (Some(density), Some(trips), Some(cluster)) =
            (number(vote, "density"), number(vote, "trips"), number(vote, "cluster"))
        else {
            continue;
        };
        let Some(speed_up) = twin.and_then(|plain| time_ratio(plain, vote)) else { continue };
        let spread = if cluster > 1.0 { "clustered" } else { "random" };
        let prefix = prefix(run, &all, &vote.device);
        let name = format!("{prefix}{spread}, {trips} multiply-adds");
        let curve: &mut std::collections::BTreeMap<_, _> = points.entry(name).or_default();
        curve.insert(super::OrderedX(density), speed_up);
    }
    Some(CurveTable {
        name: "vote-speed-up".to_owned(),
        title: "Speed-up of a vote before a branch".to_owned(),
        subtitle: "time of a plain `if` over that of `if (subgroupAny(…)) { if … }`; \
                   below 1 the vote costs"
            .to_owned(),
        x_label: "share of elements that have work".to_owned(),
        x_logarithmic: true,
        y_label: "time plain / time with vote".to_owned(),
        reference: Some(1.0),
        series: series(points),
    })
}
