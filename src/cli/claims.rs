//! `lanescope claims`: what published claims are worth.
//!
//! Input: ids or families of the ledger, and records, or devices to measure on. Output: a verdict for each claim and for
//! those that say the opposite of it, with the figures that decided it. What is run follows from the checks; what a figure means says
//! [`crate::claims`].

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::json;

use super::arguments::{Arguments, ClaimsArguments, RunArguments};
use super::catalogue;
use super::failure::{Exit, Failure};
use super::plan::{Asked, AskedOf, plan};
use super::watch::{RESULT_FILE, Watch, Work, begin_run};
use super::{render, report};
use crate::claims::{
    Check, Claim, FactTable, Judged, Pair, Quantity, Record, ScopeWord, judge_all_noticing, ledger,
};
use crate::kernel::{Catalogue, near_matches};
use crate::present::{self, terminal_columns};
use crate::record::Value;
use crate::run::session::{Listener as _, Recording};
use crate::units::approximate;

/// Seconds that timing may take, without and with `--quick`.
const BUDGET_S: [f64; 2] = [120.0, 12.0];

/// Seconds that judging a claim takes for each measurement, about, on a core of 2024.
const JUDGING_S: f64 = 3e-7;

/// Judges the claims that the arguments name.
pub(crate) fn claims(arguments: &ClaimsArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let ledger = ledger().map_err(Failure::bad_input)?;
    let asked = choose(&ledger, &arguments.claims)?;
    let chosen = with_opposed(&ledger, &asked);
    let (records, tables, exit, work) = if arguments.from.is_empty() {
        let (record, exit) = measure(&chosen, arguments)?;
        (vec![record], Vec::new(), exit, Work::begin())
    } else {
        if let Some(id) = arguments.from.iter().find(|path| !path.exists() && is_id(&ledger, path))
        {
            let id = id.display();
            let message = format!(
                "{id} is a claim and no record: ids stand before --from, as in lanescope claims {id} --from RECORD"
            );
            return Err(Failure::message(Exit::BadInput, message));
        }
        let work = Work::begin();
        let (records, tables) = load(&work, &arguments.from)?;
        (records, tables, Exit::Done, work)
    };
    let asked: Vec<&str> = asked.iter().map(|claim| claim.id.as_str()).collect();
    let measurements: usize = records.iter().map(|record| record.run.measurements.len()).sum();
    let judging = format!("judging {}", present::count_text(chosen.len() as u128, "claim"));
    let claim_s = approximate(measurements as u64) * JUDGING_S;
    work.begin_stage(&judging, chosen.len() as u64, claim_s);
    let judged = judge_all_noticing(&chosen, &records, &tables, &mut || work.advance(1));
    drop(work);
    print(&judged, &asked, arguments, out)?;
    Ok(exit)
}

/// Whether a path is a claim's id.
fn is_id(ledger: &[Claim], path: &Path) -> bool {
    ledger.iter().any(|claim| path == Path::new(&claim.id))
}

/// The claims that words choose: by id, by family of claims, by article, or by a kernel that their checks look at,
/// or its family.
fn choose<'a>(ledger: &'a [Claim], words: &[String]) -> Result<Vec<&'a Claim>, Failure> {
    let means = |claim: &Claim, word: &str| {
        let kernels = kernels(claim);
        let family = |kernel: &String| family_of(kernel) == word || kernel == word;
        claim.id == word
            || claim.family == word
            || claim.source == word
            || kernels.iter().any(family)
    };
    for word in words {
        if !ledger.iter().any(|claim| means(claim, word)) {
            let kernels: BTreeSet<String> = ledger.iter().flat_map(kernels).collect();
            let families = kernels.iter().map(|kernel| family_of(kernel));
            let known = ledger.iter().flat_map(|claim| {
                [claim.id.as_str(), claim.family.as_str(), claim.source.as_str()]
            });
            let hint = near_matches(word, known.chain(families));
            let message = format!(
                "there is no claim `{word}`, no family of claims, and no family of kernels that a claim is \
                 checked with{hint}"
            );
            return Err(Failure::message(Exit::BadInput, message));
        }
    }
    let chosen = |claim: &&Claim| words.is_empty() || words.iter().any(|word| means(claim, word));
    Ok(ledger.iter().filter(chosen).collect())
}

/// The chosen claims, then those that say the opposite of one: they are judged together.
fn with_opposed<'a>(ledger: &'a [Claim], chosen: &[&'a Claim]) -> Vec<&'a Claim> {
    let opposed = |claim: &&Claim| {
        chosen.iter().all(|other| other.id != claim.id)
            && chosen.iter().any(|other| other.against.contains(&claim.id))
    };
    chosen.iter().copied().chain(ledger.iter().filter(opposed)).collect()
}

/// The kernels that a claim's checks look at.
fn kernels(claim: &Claim) -> BTreeSet<String> {
    let selectors = checks_of(&[claim]).flat_map(Check::selectors).collect::<Vec<_>>();
    selectors.into_iter().map(|selector| selector.kernel.clone()).collect()
}

/// The family of a kernel by its full name.
fn family_of(kernel: &str) -> &str {
    kernel.split_once('/').map_or(kernel, |(family, _)| family)
}

/// Runs what the claims' checks look at, and gives the record with the exit code that the run earns.
fn measure(chosen: &[&Claim], arguments: &ClaimsArguments) -> Result<(Record, Exit), Failure> {
    let catalogue = catalogue::read(None)?;
    let checks: Vec<&Check> = checks_of(chosen).collect();
    let groups = join(checks.iter().map(|check| keep_known(&catalogue, launches_of(check))));
    let kernels: BTreeSet<&String> = groups.iter().flatten().map(|group| &group.kernel).collect();
    if kernels.is_empty() {
        let empty = begin_run(BTreeMap::new());
        let record = Record::new("nothing was run", empty).map_err(Failure::bad_input)?;
        return Ok((record, Exit::Done));
    }
    let launches: usize = groups.iter().map(Vec::len).sum();
    let words = RunArguments {
        kernels: kernels.into_iter().cloned().collect(),
        device: arguments.device.clone(),
        quick: arguments.quick,
        budget: Some(arguments.budget.unwrap_or(BUDGET_S[usize::from(arguments.quick)])),
        counters: arguments.counters,
        out: arguments.out.clone(),
        ..Arguments::parse_from(["lanescope"]).run
    };
    let plan = plan(&catalogue, &words, None)?.asking(groups);
    let mut recording = Recording::new(begin_run(plan.notes()));
    let mut watch = Watch::begin(arguments.out.as_deref(), &recording.run)?.with_budget();
    let whole = match arguments.claims.is_empty() {
        true => ", which takes minutes; lanescope claims ID measures for one",
        false if arguments.quick => "",
        false => ", CPU drivers too, on which that may take minutes; --quick takes less",
    };
    let launch_word = if launches == 1 { "launch" } else { "launches" };
    watch.message(&format!(
        "{} measured, with up to {launches} {launch_word} a device{whole}; --from RECORD judges records without \
         measuring",
        match chosen.len() {
            1 => "1 claim is".to_owned(),
            many => format!("{many} claims are"),
        }
    ));
    plan.told.iter().for_each(|text| watch.message(text));
    plan.execute(&mut recording, &mut watch)?;
    let folder = watch.finish()?;
    let page = render::write(&folder, std::slice::from_ref(&recording.run), &[])?;
    let file = folder.join(RESULT_FILE).display().to_string();
    let stderr = &mut super::screen::stderr();
    writeln!(stderr, "Results: {file}")?;
    writeln!(stderr, "Page:    {}", page.display())?;
    for measurement in &recording.run.measurements {
        super::run::complain(&recording.run, measurement, stderr)?;
    }
    // A wrong output may be what a claim is about: the verdict says it.
    let exit = match super::run::exit(&recording) {
        Exit::CheckFailed => Exit::Done,
        exit => exit,
    };
    let record = Record::new(file, recording.run).map_err(Failure::bad_input)?;
    Ok((record, exit))
}

fn checks_of<'a>(chosen: &[&'a Claim]) -> impl Iterator<Item = &'a Check> {
    chosen.iter().flat_map(|claim| claim.checks.iter().chain(&claim.doubt_checks))
}

/// The launches that a check looks at.
fn launches_of(check: &Check) -> Vec<Asked> {
    let words = check.scope().map_or(&[][..], |scope| &scope.0);
    let gpu = |word: &ScopeWord| {
        matches!(word, ScopeWord::Gpu | ScopeWord::Nvidia | ScopeWord::Amd | ScopeWord::Cuda)
    };
    let counters = check.quantity().is_some_and(Quantity::needs_counters);
    let asked_of = if counters {
        AskedOf::Counters
    } else if words.iter().any(gpu) {
        AskedOf::Gpus
    } else if check.quantity().is_some_and(|quantity| quantity.needs_times()) {
        AskedOf::Timed
    } else {
        AskedOf::All
    };
    let selectors = check.selectors();
    let mut launches = Vec::new();
    for selector in &selectors {
        // A clock is known of chains of every kind side by side.
        let own_points = check.quantity() == Some(&Quantity::LinkCycles);
        let kernel = selector.kernel.clone();
        if own_points {
            launches.push(Asked {
                kernel,
                point: BTreeMap::new(),
                own_points,
                of: asked_of,
                counters,
            });
            continue;
        }
        // What only the other selector of a ratio names is joined, and so both sides need it.
        let mut points = selector.points();
        for other in selectors.iter().filter(|other| *other != selector) {
            let missing = |name: &String| !selector.fixes(name);
            let more: Vec<BTreeMap<String, Value>> = other
                .points()
                .into_iter()
                .map(|point| point.into_iter().filter(|(name, _)| missing(name)).collect())
                .collect();
            points = points
                .iter()
                .flat_map(|point| {
                    more.iter().map(|more| {
                        point.clone().into_iter().chain(more.clone()).collect::<BTreeMap<_, _>>()
                    })
                })
                .collect();
        }
        points.dedup();
        let asked =
            |point| Asked { kernel: kernel.clone(), point, own_points, of: asked_of, counters };
        launches.extend(points.into_iter().map(asked));
    }
    launches
}

/// The launches of kernels that there are, each with those of its values that its kernel has a parameter for.
fn keep_known(catalogue: &Catalogue, asked: Vec<Asked>) -> Vec<Asked> {
    let known = |mut asked: Asked| {
        let kernel = catalogue.all().find(|kernel| kernel.id == asked.kernel)?;
        asked.point.retain(|name, _| kernel.description.parameters.contains_key(name));
        Some(asked)
    };
    asked.into_iter().filter_map(known).collect()
}

/// Groups that share a launch become one; each launch stands once, asked of whoever anybody asks it of.
fn join(groups: impl Iterator<Item = Vec<Asked>>) -> Vec<Vec<Asked>> {
    let mut made: Vec<Vec<Asked>> = Vec::new();
    let alike = |a: &Asked, b: &Asked| {
        (&a.kernel, &a.point, a.own_points) == (&b.kernel, &b.point, b.own_points)
    };
    for group in groups {
        let shares = |other: &Vec<Asked>| {
            group.iter().any(|need| other.iter().any(|known| alike(need, known)))
        };
        let (sharing, mut rest): (Vec<_>, Vec<_>) = made.into_iter().partition(shares);
        let mut whole: Vec<Asked> = Vec::new();
        for need in sharing.into_iter().flatten().chain(group) {
            match whole.iter_mut().find(|known| alike(known, &need)) {
                Some(known) => {
                    known.of = known.of.min(need.of);
                    known.counters |= need.counters;
                }
                None => whole.push(need),
            }
        }
        rest.push(whole);
        made = rest;
    }
    made.retain(|group| !group.is_empty());
    made
}

/// Records and tables from files, and from all that folders hold, in the order of names.
fn load(work: &Work, paths: &[PathBuf]) -> Result<(Vec<Record>, Vec<FactTable>), Failure> {
    let mut files = Vec::new();
    for path in paths {
        report::gather(path, &mut files)?;
    }
    let (mut records, mut tables) = (Vec::new(), Vec::new());
    report::read_each(work, &files, |file| {
        let name = file.to_string_lossy().replace('\\', "/");
        if name.ends_with(".csv") {
            let unread =
                |error| Failure::message(Exit::BadInput, format!("{name} cannot be read: {error}"));
            let text = std::fs::read_to_string(file).map_err(unread)?;
            tables.push(FactTable::new(name.clone(), &text));
        } else {
            let run = report::load(file)?;
            records.push(Record::new(name, run).map_err(Failure::bad_input)?);
        }
        Ok(())
    })?;
    Ok((records, tables))
}

fn print(
    judged: &[Judged],
    asked: &[&str],
    arguments: &ClaimsArguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if arguments.json {
        let claims: Vec<_> = judged.iter().map(describe).collect();
        serde_json::to_writer_pretty(&mut *out, &json!({ "claims": claims }))
            .map_err(Failure::bad_input)?;
        writeln!(out)?;
    } else if arguments.csv {
        present::to_csv(&present::claims_plain(judged), out).map_err(Failure::bad_input)?;
    } else if arguments.markdown {
        out.write_all(present::claims_markdown(judged).as_bytes())?;
    } else {
        out.write_all(present::claims_screen(judged, asked, terminal_columns()).as_bytes())?;
    }
    Ok(())
}

fn describe(judged: &Judged) -> serde_json::Value {
    let claim = &judged.claim;
    let figures: Vec<_> = judged
        .figures
        .iter()
        .map(|figure| {
            json!({
                "check": figure.says,
                "value": figure.value,
                "interval": figure.interval,
                "expected": figure.expected,
                "as_claimed": figure.as_claimed,
                "place": figure.place,
                "device": figure.device,
                "record": figure.record,
                "repeat": figure.repeat,
            })
        })
        .collect();
    let pair = |pair: &Pair| json!({ "against": pair.other, "says": pair.says });
    let pairs: Vec<_> = judged.pairs.iter().map(pair).collect();
    json!({
        "id": claim.id,
        "source": claim.source,
        "family": claim.family,
        "statement": claim.statement,
        "verdict": judged.verdict.name(),
        "condition": judged.verdict.condition(),
        "reason": judged.reason,
        "figures": figures,
        "against": claim.against,
        "pairs": pairs,
        "doubt": claim.doubt,
        "doubt_verdict": judged.doubt.as_ref().map(crate::claims::Verdict::name),
        "doubt_condition": judged.doubt.as_ref().and_then(crate::claims::Verdict::condition),
        "doubt_reason": judged.doubt.is_some().then_some(&judged.doubt_reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_share_a_launch_are_measured_side_by_side_and_each_launch_once() {
        let asked = |kernel: &str, n: i64, asked_of| Asked {
            kernel: kernel.to_owned(),
            point: [("n".to_owned(), Value::Integer(n))].into(),
            own_points: false,
            of: asked_of,
            counters: asked_of == AskedOf::Counters,
        };
        let groups = [
            vec![asked("f/a", 1, AskedOf::Timed), asked("f/b", 1, AskedOf::Timed)],
            vec![asked("f/c", 1, AskedOf::All)],
            vec![asked("f/b", 1, AskedOf::All), asked("f/b", 2, AskedOf::Gpus)],
        ];
        let made = join(groups.into_iter());
        let names: Vec<Vec<(&str, AskedOf)>> = made
            .iter()
            .map(|group| group.iter().map(|need| (need.kernel.as_str(), need.of)).collect())
            .collect();
        let all = AskedOf::All;
        let second = vec![("f/a", AskedOf::Timed), ("f/b", all), ("f/b", AskedOf::Gpus)];
        assert_eq!(names, [vec![("f/c", all)], second]);
        // Counters are read where one of them needs them, whoever else asks for the launch.
        let both = vec![asked("f/c", 1, AskedOf::Counters)];
        let made = join([both, vec![asked("f/c", 1, AskedOf::All)]].into_iter());
        assert_eq!((made[0][0].of, made[0][0].counters), (all, true));
    }

    #[test]
    fn an_unknown_claim_is_refused_with_what_was_perhaps_meant() {
        let ledger = ledger().unwrap();
        let refused = choose(&ledger, &["gpuflight-indirect-1-6".to_owned()]).unwrap_err();
        let text = refused.error.to_string();
        assert!(text.contains("did you mean gpuflight-indirect-1-5"), "{text}");
        assert_eq!(choose(&ledger, &[]).unwrap().len(), ledger.len());
        // A family of kernels chooses the claims that are checked with them, and so does a kernel.
        let by_kernels = choose(&ledger, &["k_way".to_owned()]).unwrap();
        let looks =
            |claim: &&Claim| kernels(claim).iter().any(|kernel| kernel.starts_with("k_way/"));
        assert_eq!(by_kernels, ledger.iter().filter(looks).collect::<Vec<_>>());
        assert!(!by_kernels.is_empty());
        let kernel = kernels(by_kernels[0]).first().unwrap().clone();
        assert!(choose(&ledger, &[kernel]).unwrap().contains(&by_kernels[0]));
        let family = choose(&ledger, &["boundary".to_owned()]).unwrap();
        // So does a family of claims, beside the kernels of the same name.
        let of_family = |claim: &&Claim| claim.family == "boundary";
        let with_kernels =
            |claim: &&Claim| kernels(claim).iter().any(|kernel| kernel.starts_with("boundary/"));
        assert!(family.iter().filter(|claim| of_family(claim)).count() > 3);
        assert!(ledger.iter().filter(of_family).all(|claim| family.contains(&claim)));
        assert!(family.iter().all(|claim| of_family(claim) || with_kernels(claim)));
    }

    /// Each two claims of the ledger that oppose each other: who asks for one gets both, and what both are checked with runs.
    #[test]
    fn who_asks_for_a_claim_gets_those_against_it() {
        let ledger = ledger().unwrap();
        let catalogue = catalogue::read(None).unwrap();
        let launches = |claims: &[&Claim]| -> Vec<Vec<Asked>> {
            let checks: Vec<&Check> = checks_of(claims).collect();
            checks.iter().map(|check| keep_known(&catalogue, launches_of(check))).collect()
        };
        let mut pairs = 0;
        for claim in ledger.iter().filter(|claim| !claim.against.is_empty()) {
            let asked = choose(&ledger, std::slice::from_ref(&claim.id)).unwrap();
            assert_eq!(asked, [claim]);
            let both = with_opposed(&ledger, &asked);
            assert_eq!(both.len(), 1 + claim.against.len(), "{}", claim.id);
            assert_eq!(both[0], claim, "who is asked for comes first");
            for id in &claim.against {
                let other = both.iter().find(|other| other.id == *id).unwrap();
                for group in launches(&[*other]) {
                    assert!(launches(&both).contains(&group), "{id} beside {}", claim.id);
                }
                pairs += 1;
            }
        }
        assert!(pairs > 60, "{pairs}");
        let alone = ledger.iter().find(|claim| claim.against.is_empty()).unwrap();
        assert_eq!(with_opposed(&ledger, &[alone]), [alone]);
    }

    #[test]
    fn every_kernel_that_a_check_names_takes_the_points_that_it_asks_for() {
        let catalogue = catalogue::read(None).unwrap();
        for claim in ledger().unwrap() {
            for check in checks_of(&[&claim]) {
                let asked = check.selectors().into_iter().flat_map(|selector| {
                    let kernel = selector.kernel.clone();
                    let chains = check.quantity() == Some(&Quantity::LinkCycles);
                    let points = if chains { Vec::new() } else { selector.points() };
                    points.into_iter().map(move |point| (kernel.clone(), point))
                });
                for (id, point) in asked.collect::<Vec<_>>() {
                    let kernel = catalogue.all().find(|kernel| kernel.id == id);
                    let kernel = kernel.unwrap_or_else(|| panic!("{}: {id}", claim.id));
                    let class = crate::kernel::DeviceClass::Quick;
                    if let Err(error) = kernel.parameters(class, &point) {
                        panic!("{}: {error}", claim.id);
                    }
                }
            }
        }
    }
}
