//! Tests of what terminals of every width show.

use super::fit::width_of;
use super::{Cell, Column, Table, claims_screen, compared_code, comparison, tables};
use crate::analyze::machine::ExecutedCode;
use crate::analyze::{self, Comparison, ExecutedComparison};
use crate::fixtures;
use crate::record::{Flag, PublishedFigure, PublishedSpeedup, Tag, Value};
use crate::units::Width;

/// The terminals, and what is none.
const TERMINALS: [Option<usize>; 6] = [Some(60), Some(80), Some(100), Some(120), Some(200), None];

/// Every table of a run, one below the other.
fn screen(columns: Option<usize>) -> String {
    let run = fixtures::run();
    let all = tables(&run).into_iter().map(|(_, table)| table.to_screen(columns));
    all.collect::<Vec<_>>().join("\n")
}

/// What `compare` shows of a run and the same run.
fn compared(columns: Option<usize>) -> String {
    let run = fixtures::run();
    comparison(&analyze::compare(&run, &run, false)).to_screen(columns)
}

/// What stands on each terminal, under its width; widths that show the same share it.
pub(crate) fn on_every_terminal(shown: impl Fn(Option<usize>) -> String) -> String {
    let mut screens: Vec<(String, String)> = Vec::new();
    for columns in TERMINALS {
        let name = columns.map_or("no terminal".to_owned(), |room| format!("{room} columns"));
        let text = shown(columns);
        match screens.iter_mut().find(|(_, seen)| *seen == text) {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => screens.push((name, text)),
        }
    }
    screens.iter().map(|(names, text)| format!("== {names}\n{}\n", text.trim_end())).collect()
}

#[test]
fn a_run_on_every_terminal() {
    insta::assert_snapshot!("run", on_every_terminal(screen));
}

#[test]
fn a_comparison_on_every_terminal() {
    insta::assert_snapshot!("compare", on_every_terminal(compared));
}

#[test]
fn published_figures_that_are_contradicted_are_marked_in_the_main_table() {
    let shown = |lanes: f64, factor: f64| {
        let mut run = fixtures::compared_run();
        for note in run.kernels.values_mut() {
            note.published = Some(PublishedFigure {
                active_lanes_mean: lanes,
                hardware: "RTX".to_owned(),
                subgroup_width: None,
            });
            let hardware = "A100".to_owned();
            note.published_speedup = Some(PublishedSpeedup { factor, n: 1 << 20, hardware });
        }
        let all = tables(&run).into_iter().map(|(_, table)| table.to_screen(None));
        all.collect::<Vec<_>>().join("\n")
    };
    // No kernel has so few lanes, and none is a hundred times as fast as its baseline.
    let contradicted = shown(0.5, 100.0);
    assert!(contradicted.contains("≠ 0.50") && contradicted.contains("≠ published 0.010×"));
    // As many lanes as the uniform kernel has, and half as fast, as branches are.
    let fits = shown(32.0, 0.5);
    let uniform = fits.lines().find(|line| line.contains("uniform") && line.contains("32.00"));
    assert!(uniform.is_some_and(|line| !line.contains('≠')), "{fits}");
    let matching_lines = fits.lines().filter(|line| line.contains("≠ published 2.000×")).count();
    assert!(matching_lines < contradicted.matches("≠ published").count(), "{fits}");
}

/// What `claims` shows of those that the synthetic run decides, and of one alone.
fn judged(columns: Option<usize>) -> String {
    let judged =
        crate::claims::judge_touched(&[fixtures::compared_run()]).expect("the ledger is read");
    assert!(judged.len() > 1, "the patterns decide claims");
    let asked: Vec<&str> = judged.iter().map(|claim| claim.claim.id.as_str()).collect();
    let alone = claims_screen(&judged[..1], &asked, columns);
    claims_screen(&judged, &asked, columns) + &alone
}

#[test]
fn a_claim_that_was_asked_for_stands_before_the_one_against_it() {
    let ledger = crate::claims::ledger().expect("the ledger is read");
    let claim = ledger.iter().find(|claim| !claim.against.is_empty()).expect("a pair");
    let against = |other: &&crate::claims::Claim| claim.against.contains(&other.id);
    let other = ledger.iter().find(against).expect("the other");
    let mut noticed = 0;
    let judged = crate::claims::judge_all_noticing(&[other, claim], &[], &[], &mut || noticed += 1);
    assert_eq!(noticed, judged.len(), "whoever waits hears of each claim");
    let screen = |asked: &[&str]| claims_screen(&judged, asked, None);
    let (id, against) = (claim.id.as_str(), other.id.as_str());
    let place = |text: &str, id: &str| text.find(&format!("  {id}: ")).expect("it is shown");
    for (asked, beside) in [(id, against), (against, id)] {
        let text = screen(&[asked]);
        assert!(place(&text, asked) < place(&text, beside), "{text}");
        let why = format!("Not asked for: it stands here because it says the opposite of {asked}.");
        assert_eq!(text.matches(&why).count(), 1, "{text}");
    }
    assert!(!screen(&[id, against]).contains("Not asked for"));
}

#[test]
fn claims_on_every_terminal() {
    insta::assert_snapshot!("claims", on_every_terminal(judged));
}

/// Three launches whose machine code was executed, at two versions of a compiler.
fn executed_comparison() -> Comparison {
    let side = |instructions: u64, code: &str| ExecutedCode {
        family: "navi21".to_owned(),
        width: Width::new(64).unwrap(),
        driver: "radv Mesa 22.3.6".to_owned(),
        code: vec![code.to_owned()],
        instructions,
        active_lanes_mean: Some(48.37),
        passes_min: 200_704,
        passes_max: 243_712,
        kinds: Vec::new(),
        conflicts_min: 0,
    };
    let row = |kernel: &str, form: &str| ExecutedComparison {
        kernel: format!("made_up/{kernel}"),
        parameters: [("columns", "128"), ("form", form)]
            .map(|(name, value)| (name.to_owned(), Value::Name(value.to_owned())))
            .into(),
        devices: ["radv:navi21/64", "radv:navi21/64"].map(str::to_owned),
        sides: [side(325_632, "6ebcf5e0"), side(221_184, "f0f2fb60")],
        instructions_ratio: Some(0.679),
        lanes_ratio: Some(1.0),
        passes_ratios: [Some(0.714), Some(0.723)],
    };
    let executed = vec![row("alpha", "short"), row("beta", "long"), row("gamma", "longer")];
    let (differing, rows, not_compared) = (Vec::new(), Vec::new(), Vec::new());
    Comparison { differing, rows, executed, not_compared }
}

/// What is B's over A's stands in one line a launch down to 80 columns, counts beneath it; wide terminals have all in it.
#[test]
fn machine_code_that_is_compared_has_a_line_a_launch() {
    let table = compared_code(&executed_comparison()).unwrap();
    for columns in [80, 110, 250] {
        let text = table.clone().to_screen(Some(columns));
        assert!(text.lines().all(|line| width_of(line) <= columns), "{columns}: {text}");
        for kernel in ["alpha", "beta", "gamma"] {
            let line = text.lines().find(|line| line.starts_with(kernel)).unwrap();
            for ratio in ["1.000×", "0.679×", "0.714×", "0.723×"] {
                assert!(line.contains(ratio), "{columns}: {text}");
            }
            assert_eq!(line.contains("325,632"), columns > 110, "{columns}: {text}");
        }
        assert_eq!(text.matches("325,632").count(), 3, "{columns}: {text}");
    }
}

#[test]
fn no_line_is_wider_than_its_terminal() {
    let run = fixtures::run();
    let mut all: Vec<Table> = tables(&run).into_iter().map(|(_, table)| table).collect();
    all.push(comparison(&analyze::compare(&run, &run, false)));
    for columns in (40..=200).step_by(7) {
        for table in &all {
            for line in table.clone().to_screen(Some(columns)).lines() {
                assert!(width_of(line) <= columns, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn what_is_no_terminal_has_no_spaces_at_the_end_of_all_lines() {
    let longest = |text: &str| text.lines().map(width_of).max().unwrap_or(0);
    for (_, table) in tables(&fixtures::run()) {
        let table = Table { title: String::new(), notes: Vec::new(), ..table.condense() };
        let text = table.to_text(None);
        assert!(text.lines().all(|line| line == line.trim_end()));
        // As a terminal of just that width shows it.
        assert_eq!(table.to_text(Some(longest(&text))), text);
    }
}

/// A table of kernels with a parameter, a width and flags.
fn small(rows: &[(&str, &str, &str, &[Tag])]) -> Table {
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::figures("W").once(),
        Column::figures("lanes"),
        Column::figures("again").repeats(&["lanes"]),
        Column::words("flags").below(),
    ];
    let mut table = Table::new("", columns);
    for (index, (kernel, form, width, tags)) in rows.iter().enumerate() {
        let lanes = 4.0 * f64::from(u32::try_from(index).expect("a small number") + 1);
        table.rows.push(vec![
            Cell::Kernel((*kernel).to_owned()),
            Cell::Parameters(vec![
                ("form".to_owned(), (*form).to_owned()),
                ("n".to_owned(), "64".to_owned()),
            ]),
            Cell::text(*width),
            Cell::Lanes(lanes),
            Cell::Lanes(lanes * 1.001),
            Cell::Flags(tags.iter().map(|tag| Flag::from(tag.clone())).collect()),
        ]);
    }
    table
}

#[test]
fn what_rows_share_is_said_once() {
    let stop = || [Tag::StopRuleNotMet, Tag::NoTimestamps];
    let (both, single) = (stop(), [Tag::StopRuleNotMet]);
    let rows: [(&str, &str, &str, &[Tag]); 6] = [
        ("f/a", "x", "8", &both),
        ("f/b", "x", "8", &single),
        ("f/c", "x", "8", &single),
        ("f/a", "y", "8", &single),
        ("f/b", "y", "8", &single),
        ("f/c", "y", "8", &single),
    ];
    let found = small(&rows).condense();
    let names: Vec<&str> = found.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["kernel", "lanes", "flags"]);
    assert_eq!(
        found.facts,
        [
            "f",
            "n=64",
            "W = 8",
            "again differs from lanes by 0.1 % at most",
            "on every row: stop_rule_not_met"
        ]
    );
    assert_eq!(found.groups, [(0, "form=x".to_owned()), (3, "form=y".to_owned())]);
    assert_eq!(found.rows[0][2].to_text(), "no_timestamps");
    assert!(found.rows[1][2].is_missing());
}

#[test]
fn what_stands_beside_every_figure_is_said_once() {
    let columns = [Column::words("kernel"), Column::figures("ratio").with_notes()];
    let mut table = Table::new("", columns);
    let few = |ratio: f64, note: &str| Cell::Between(ratio, [1.0, 3.0]).with(note.to_owned());
    let kernels = ["f/a", "f/b", "f/c"].map(|name| Cell::Kernel(name.to_owned()));
    let ratios = [Cell::text("baseline"), few(2.0, "only 4 pairs"), few(2.5, "only 4 pairs")];
    table.rows =
        kernels.into_iter().zip(ratios).map(|(kernel, ratio)| vec![kernel, ratio]).collect();
    let shared = table.clone().condense();
    assert_eq!(shared.facts, ["f", "every ratio: only 4 pairs"]);
    let notes: Vec<String> = shared.rows.iter().map(|row| row[1].to_note()).collect();
    assert_eq!(notes, ["", "1.000 to 3.000", "1.000 to 3.000"]);
    table.rows[2][1] = few(2.5, "only 5 pairs");
    assert_eq!(table.condense().facts, ["f"]);
}

#[test]
fn what_the_rows_of_a_group_are_flagged_stands_in_its_heading() {
    let (flagged, plain) = ([Tag::NoWgslToCount], []);
    let rows: [(&str, &str, &str, &[Tag]); 6] = [
        ("f/a", "x", "8", &flagged),
        ("f/b", "x", "8", &flagged),
        ("f/c", "x", "8", &flagged),
        ("f/a", "y", "8", &plain),
        ("f/b", "y", "8", &plain),
        ("f/c", "y", "8", &plain),
    ];
    let found = small(&rows).condense();
    let headings: Vec<&str> = found.groups.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(headings, ["form=x; on every row: no_wgsl_to_count", "form=y"]);
    assert!(found.columns.iter().all(|column| column.name != "flags"), "{found:?}");
}

#[test]
fn what_differs_stays_with_its_row() {
    let rows: [(&str, &str, &str, &[Tag]); 3] =
        [("f/a", "x", "8", &[]), ("g/a", "y", "16", &[]), ("f/a", "y", "8", &[])];
    let found = small(&rows).condense();
    assert_eq!(found.groups, []);
    let cells = |row: usize| found.rows[row][..3].iter().map(Cell::to_text).collect::<Vec<_>>();
    assert_eq!(cells(0), ["f/a", "form=x", "8"]);
    assert_eq!(cells(1), ["g/a", "form=y", "16"]);
    // One row shares nothing with others.
    let alone = small(&rows[..1]).condense();
    assert_eq!(alone.facts, ["again equals lanes"]);
    assert_eq!(alone.rows[0][1].to_text(), "form=x, n=64");
}
