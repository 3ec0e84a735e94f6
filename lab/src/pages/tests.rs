//! That the pages are current, that their numbers are generated, and that links lead somewhere.

use std::collections::BTreeSet;

use regex::Regex;

use super::*;
use crate::index::{files, relative};

#[test]
fn every_page_and_chart_is_that_of_its_records() {
    let mut stale = Vec::new();
    for (page, text) in render_all(&root()).unwrap() {
        if std::fs::read_to_string(root().join(&page)).ok() != Some(text) {
            stale.push(page);
        }
    }
    assert!(stale.is_empty(), "stale: run `lab pages`: {stale:?}");
}

/// The pages of `docs` as they are written by hand: templates, and pages without one.
fn written_by_hand() -> Vec<(String, String)> {
    let root = root();
    // What `lab/loop_times` and `lab/house` printed stands in a page as it is.
    let parts = files(&root.join("lab/loop")).unwrap();
    let mut parts: Vec<_> =
        parts.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let times = std::fs::read_to_string(root.join("results/other/lab/times.txt")).unwrap();
    parts.extend(times.split("\n\n").filter(|part| part.starts_with('|')).map(str::to_owned));
    assert!(parts.iter().all(|part| !part.trim().is_empty()));
    let mut pages = Vec::new();
    for path in files(&root.join(PAGES)).unwrap() {
        let inside = relative(&root.join(PAGES), &path).unwrap();
        // What `lab findings` makes of records is not written by hand either.
        let generated = ["findings/claims.md", "findings/checklist.md"].contains(&inside.as_str());
        if inside.ends_with(".md") && !generated && !root.join(TEMPLATES).join(&inside).exists() {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = parts.iter().fold(text, |text, part| text.replace(part, ""));
            pages.push((format!("{PAGES}/{inside}"), text));
        }
    }
    for path in templates(&root).unwrap() {
        let name = relative(&root, &path).unwrap();
        pages.push((name, std::fs::read_to_string(&path).unwrap()));
    }
    pages
}

/// The figures with units, and the counts of what was tried, in a text, outside what is generated, code, and addresses.
fn figures(text: &str) -> Vec<String> {
    // A size, such as 8 × 8, is no figure either.
    let left_out = Regex::new(
        r"(?s)```.*?```|\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}|`[^`]*`|\]\([^)]*\)|\d+(?: × \d+)+",
    )
    .unwrap();
    let figure = Regex::new(
        r"(?i)\b\d[\d.,]*(?:\s|\u{a0})?(?:%|×|[nµum]?s\b|seconds?\b|minutes?\b|hours?\b|times\b|[kmgt]i?b\b|[kmgt]b/s|[kmg]hz\b|cycles?\b|percent\b|programs\b|texts\b|shaders\b|launches\b|modules\b|measurements\b|instructions\b|opcodes\b)",
    )
    .unwrap();
    // Written out, a figure is a figure; "the fifth" and "half" are none.
    const NUMBERS: &str =
        "two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|thousand";
    const PARTS: &str = "third|quarter|fifth|sixth|eighth|tenth|twentieth|hundredth|thousandth";
    let written = Regex::new(&format!(
        r"(?i)\b(?:{NUMBERS}) (?:seconds?|minutes|times|percent|cycles|hours)\b|\b(?:an?|{NUMBERS}) (?:{PARTS})s?\b"
    ))
    .unwrap();
    // What is left out stands between a number and a word that is no unit of it.
    let text = left_out.replace_all(text, "¤");
    // A line may break between a number and its unit.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = figure.find_iter(&text).chain(written.find_iter(&text));
    found.map(|found| found.as_str().to_owned()).collect()
}

/// Figures that are no measurement: limits, settings, and what a formula or another text says.
const GIVEN: [(&str, &str); 15] = [
    ("lab/pages/advice.md", "two seconds"),
    ("lab/pages/cuda.md", "four fifths"),
    ("lab/pages/findings/native.md", "eight times"),
    ("lab/pages/findings/occupancy.md", "three quarters"),
    ("lab/pages/run.md", "A third"),
    ("docs/browser.md", "a quarter"),
    ("docs/browser.md", "eight times"),
    ("docs/browser.md", "two seconds"),
    ("docs/contributing/portable-wgsl.md", "three times"),
    ("docs/compare.md", "a thousandth"),
    ("lab/pages/profile.md", "5 %"),
    ("lab/pages/format.md", "100 %"),
    ("lab/pages/cuda.md", "64 KiB"),
    ("docs/contributing/portable-wgsl.md", "16 KiB"),
    ("docs/browser.md", "20 ms"),
];

#[test]
fn no_figure_with_a_unit_is_typed() {
    let mut typed = Vec::new();
    for (page, text) in written_by_hand() {
        for figure in figures(&text) {
            if !GIVEN.contains(&(page.as_str(), figure.as_str())) {
                typed.push(format!("{page}: {figure}"));
            }
        }
    }
    assert!(typed.is_empty(), "{typed:#?}");
}

#[test]
fn a_typed_figure_is_seen() {
    assert_eq!(figures("It takes 37.1 µs, 1.85\ntimes as long."), ["37.1 µs", "1.85 times"]);
    assert_eq!(figures("Of 1,000 programs 37 differ."), ["1,000 programs"]);
    assert_eq!(figures("It took 9 minutes, or 1 hour."), ["9 minutes", "1 hour"]);
    assert_eq!(
        figures("Within a twentieth, up to four\ntimes, three quarters of the fifth half"),
        ["a twentieth", "four times", "three quarters"]
    );
    assert_eq!(
        figures(
            "`--time 5 s` 64 × 64 × 64 texels {{ one(\"9 ms\") }} [seconds](5s.md) 2^20 of 32 lanes"
        ),
        [""; 0]
    );
}

#[test]
fn the_page_of_the_house_shows_what_was_measured() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let times = read("results/other/lab/times.txt");
    let table = times.split("\n\n").find(|part| part.starts_with("| checkout |")).unwrap();
    assert!(read("docs/contributing/README.md").contains(table));
}

/// Every page of `docs` is reached from its index by links alone.
#[test]
fn every_page_is_reached_from_the_index() {
    let root = root();
    let mut reached = BTreeSet::new();
    let mut open = vec![root.join(PAGES).join("README.md").canonicalize().unwrap()];
    while let Some(page) = open.pop() {
        if !reached.insert(page.clone()) {
            continue;
        }
        let text = std::fs::read_to_string(&page).unwrap();
        for rest in text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap();
            let target = page.parent().unwrap().join(link);
            if link.ends_with(".md") && target.exists() {
                open.push(target.canonicalize().unwrap());
            }
        }
    }
    let pages = files(&root.join(PAGES)).unwrap();
    let pages = pages.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    for page in pages {
        assert!(
            reached.contains(&page.canonicalize().unwrap()),
            "{} is not linked",
            page.display()
        );
    }
}

#[test]
fn the_readme_is_short() {
    let bytes = root().join("README.md").metadata().unwrap().len();
    assert!(bytes <= 12_000, "{bytes} bytes");
}

/// Through CUDA the branches over experts execute more instructions at a lower rate, and both together are
/// what they take longer; with one expert for all, instructions are alike.
#[test]
fn instructions_and_their_rate_explain_what_experts_gain_through_cuda() {
    let printed = others::read(&root().join("results/other/ncu/sorting.txt.xz")).unwrap();
    let counters = |words: &str, dispatch: &str| {
        others::ncu(&printed, words, &[dispatch.to_owned()], 1).unwrap()
    };
    let of_64 = |kernel: &str| format!("moe/{kernel} -a n=262144 -a model=64 -a hidden=256 --");
    let branches = counters(&of_64("naive"), "naive");
    let alike = counters("routing=one", "naive");
    let sorted = counters(&of_64("sorted"), "experts");
    let more = branches["instructions"] / sorted["instructions"];
    let slower = sorted["per_cycle"] / branches["per_cycle"];
    let longer = branches["time"] / sorted["time"];
    assert!((more * slower / longer - 1.0).abs() < 0.06, "{more} × {slower} of {longer}");
    assert!((alike["instructions"] / sorted["instructions"] - 1.0).abs() < 0.06);
}

#[test]
fn programs_are_counted_by_the_most_that_differs() {
    let head = "lanescope 0.1.0 (abc), seeds 5 to 11";
    let printed = "lanescope 0.1.0 (abd), seeds 1 to 1
seed 1: buffer `output` differs
lanescope 0.1.0 (abc), seeds 5 to 11
seed 7: block b8 at line 55: 8 executions and 48 lanes, simulated 4 and 48
  block b9 at line 56: 8 executions and 9 lanes, simulated 4 and 9
seed 5: block b1 at line 2: 9 executions and 48 lanes, simulated 4 and 48
seed 6: block b1 at line 2: 9 executions and 48 lanes, simulated 4 and 48
  block b2 at line 3: 3 executions and 40 lanes, simulated 4 and 40
seed 8: block b2 at line 3: 3 executions and 40 lanes, simulated 4 and 41
seed 9: buffer `output` differs
  block b2 at line 3: 3 executions and 40 lanes, simulated 4 and 41
seed 10: counting random/10: nothing was heard for 40 s; its process was ended
        3  for
6 programs in 1.0 s (6.0 a second), 6 differ; 9 blocks";
    let words = ["(abc)".to_owned()];
    let found = others::differing(printed, &words).unwrap();
    let shown = |class: &str| (found[class]["programs"], found[class]["seed"]);
    let expected = [
        ("fewer", (1, 6)),
        ("lanes", (1, 8)),
        ("more", (2, 5)),
        ("unheard", (1, 10)),
        ("outputs", (1, 9)),
    ];
    assert_eq!(found.len(), expected.len());
    for (class, counted) in expected {
        assert_eq!(shown(class), counted, "{class}");
    }
    assert!(others::differing(head, &words).unwrap().is_empty());
    assert!(others::differing(&format!("{head}\nseed 1: what?"), &words).is_err());
    assert!(others::differing(printed, &["(abe)".to_owned()]).is_err());
}

#[test]
fn what_programs_are_shrunk_to_is_read() {
    let printed = "lanescope 0.1.0 (abc), seeds 7 to 7
NVIDIA H200 (NVIDIA 580.159.04), 32 lanes
seed 7: buffer `output` differs
shrunk: block b1 at line 4: 3 executions and 40 lanes, simulated 4 and 40
  block b2 at line 5: 3 executions and 40 lanes, simulated 4 and 41
   1  @group(0) @binding(0) var<storage, read_write> output: array<u32>;
   2  @compute @workgroup_size(64)
   3  fn main(@builtin(local_invocation_index) i: u32) {
   4      switch i % 3u {
   5      case 0, 1: { output[i] = subgroupAdd(i); }
   6      default: { }
   7      }
   8  }

        1  switch over u32
1 programs in 3.5 s (0.3 a second), 1 differ; 26 blocks";
    let found = others::shrunk(printed, &["(abc)".to_owned()]).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), [&"lanes"]);
    let expected = ["programs", "subgroup_in_shared_case", "switch", "switch_shared_case"]
        .map(|name| (name, 1));
    assert_eq!(found["lanes"], BTreeMap::from(expected));
    let nothing = printed.replace("shrunk: ", "shrank: ");
    assert!(others::shrunk(&nothing, &["(abc)".to_owned()]).is_err());
}
