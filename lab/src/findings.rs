//! The page of findings: a verdict for each claim of the ledger, by all committed records and tables.
//!
//! Input: `results/records` and `results/other/cuda`. Output: `docs/findings/claims.md`; with `--check` nothing is
//! written, and exit code 1 says that it would change.
//!
//! `cargo run --release -p lab -- findings`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lanescope::claims::{FactTable, Judged, Record, judge, ledger};
use lanescope::{present, store};

use crate::generated::{Arguments, write};
use crate::root;

/// The page.
const FILE: &str = "docs/findings/claims.md";

/// What stands above the verdicts.
const HEAD: &str = "\
# What a textbook's claims are worth

Five published texts on warp divergence, claim by claim: the ledger is `shaders/claims.toml`, with a rule for each
claim. This page is made by `cargo run --release -p lab -- findings` from the committed records and tables under
`results`, never by hand; a test compares. `lanescope claims ID` judges a claim on the devices at hand, and
`lanescope claims ID --from RECORD…` by records.

A claim *holds* where it is so at every point that was measured, is *contradicted* where a part of it is so at none, and
*holds only where* a condition is met that tells the points apart. Times are judged with their intervals. Each row ends
with the record of the figure that decided, and a command that measures it again.

";

/// Writes the page of findings.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    write(FILE, &text(&root())?, arguments)
}

/// The page's text.
fn text(root: &Path) -> anyhow::Result<String> {
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
    let judged: Vec<Judged> =
        ledger()?.iter().map(|claim| judge(claim, &records, &tables)).collect();
    Ok(format!("{HEAD}{}", present::claims_markdown(&judged)))
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
    fn the_page_is_that_of_the_records() {
        let committed = std::fs::read_to_string(root().join(FILE)).unwrap();
        assert!(committed == text(&root()).unwrap(), "{FILE} is stale: run `lab findings`");
    }
}
