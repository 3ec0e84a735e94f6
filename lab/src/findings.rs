//! The pages of findings on claims: a verdict for each claim of the ledger, by all committed records and tables and by one
//! record of each system alone, and the texts' checklists with them.
//!
//! Input: `results/records` and `results/other/cuda`. Output: `docs/findings/claims.md` and
//! `docs/findings/checklist.md`; with `--check` nothing is written, and exit code 1 says that one would change.
//!
//! `cargo run --release -p lab -- findings`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use lanescope::claims::{Claim, FactTable, Record, Verdict, judge_all, ledger};
use lanescope::{present, store};

use crate::{Generated, root, write_generated};

/// The pages of verdicts and of checklists.
const FILES: [&str; 2] = ["docs/findings/claims.md", "docs/findings/checklist.md"];

/// What stands above the checklists.
const CHECKLIST: &str = "\
# Which items of the texts' checklists are worth ticking?

Five published texts end in advice, some as lists to tick. Each item stands beside the claim that it rests on, what the
committed records make of that claim, and the figures that decided. This page is made with
[that of all claims](claims.md), by `cargo run --release -p lab -- findings`; what the verdicts mean stands there.

";

/// What stands above the verdicts.
const HEAD: &str = "\
# What a textbook's claims are worth

Five published texts on warp divergence, claim by claim: the ledger is `shaders/claims.toml`, with a rule for each
claim. This page is made by `cargo run --release -p lab -- findings` from the committed records and tables under
`results`, never by hand; a test compares. `lanescope claims ID` judges a claim on the devices at hand, and
`lanescope claims ID --from RECORD…` by records.

A claim *holds* where it is so at every point that was measured, is *contradicted* where a part of it is so at none, and
*holds only where* it is so at some points and not at others: with the condition that tells them apart, or where none does with
their number. Times are judged with their intervals. Each row ends
with the record of the figure that decided, and a command that measures it again; behind a time stands its interval. Of claims that say the opposite of each
other, a sentence says which one the records support. The ledger has a *doubt* beside most claims: what counting, or another text, says
against it. A doubt is judged as a claim is: it is *right*, *wrong*, or right only under a condition.

";

/// What stands above the verdicts by system.
const SYSTEMS_HEAD: &str = "
## What each system decides alone

By one record each, without tables of other programs: a dash is *not testable here*, by that record. A test judges the five
records anew and compares every cell.

<details>
<summary>Verdicts by system</summary>

";

/// One committed record of each system, and its column's heading.
const SYSTEMS: [(&str, &str); 5] = [
    ("simulator, 16 to 64 lanes", "simulator/claims-widths"),
    ("lavapipe, 8 lanes", "lavapipe-8/claims-all"),
    ("SwiftShader, 4 lanes", "swiftshader/claims-all"),
    ("H200, Vulkan", "h200-vulkan/claims-all"),
    ("H200, CUDA", "h200-cuda/claims-all"),
];

/// Writes the pages of findings on claims.
pub(crate) fn run(arguments: &Generated) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for (file, text) in FILES.into_iter().zip(texts(&root())?) {
        let made = write_generated(file, &text, arguments)?;
        if made != ExitCode::SUCCESS {
            code = made;
        }
    }
    Ok(code)
}

/// The pages' texts.
fn texts(root: &Path) -> anyhow::Result<[String; 2]> {
    let results = root.join("results");
    let mut records = Vec::new();
    for file in files(&results.join("records"), ".json.xz")? {
        let name = name(&results.join("records"), &file);
        records.push(Record::new(name, store::load(&file)?)?);
    }
    let mut tables = Vec::new();
    for file in files(&results.join("other/cuda"), ".csv")? {
        let text = std::fs::read_to_string(&file)?;
        tables.push(FactTable::new(name(&results, &file), &text));
    }
    let ledger = ledger()?;
    let claims: Vec<&Claim> = ledger.iter().collect();
    let judged = judge_all(&claims, &records, &tables);
    Ok([
        format!("{HEAD}{}{}", present::claims_markdown(&judged), by_system(&claims, &records)?),
        format!("{CHECKLIST}{}", present::claims_checklist(&judged)),
    ])
}

/// Each claim's verdict by one record of each system.
fn by_system(claims: &[&Claim], records: &[Record]) -> anyhow::Result<String> {
    let mut text = SYSTEMS_HEAD.to_owned();
    let (mut heads, mut columns) = (String::new(), Vec::new());
    for (system, name) in SYSTEMS {
        let record = records.iter().rfind(|record| record.name.starts_with(&format!("{name}-2")));
        let record = record.with_context(|| format!("no record {name}"))?;
        let judged = judge_all(claims, std::slice::from_ref(record), &[]);
        columns.push(judged.into_iter().map(|claim| claim.verdict).collect::<Vec<_>>());
        heads += &format!(" [{system}](../../results/records/{}.json.xz) |", record.name);
    }
    text += &format!("| claim |{heads}\n|---|{}\n", "---|".repeat(SYSTEMS.len()));
    for (row, claim) in claims.iter().enumerate() {
        let cells = columns.iter().map(|column| match &column[row] {
            Verdict::NotTestable(_) => " – |".to_owned(),
            verdict => format!(" {} |", verdict.name()),
        });
        text += &format!("| `{}` |{}\n", claim.id, cells.collect::<String>());
    }
    text += "\n</details>\n";
    Ok(text)
}

/// A file by its path in a folder, without its ending.
fn name(folder: &Path, file: &Path) -> String {
    let name = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    name.trim_end_matches(".json.xz").to_owned()
}

/// The files in a folder and below, in the order of their names, that end so.
fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut inside: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    inside.sort();
    for path in inside {
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_records() {
        for (file, made) in FILES.into_iter().zip(texts(&root()).unwrap()) {
            let committed = std::fs::read_to_string(root().join(file)).unwrap();
            assert!(committed == made, "{file} is stale: run `lab findings`");
        }
    }
}
