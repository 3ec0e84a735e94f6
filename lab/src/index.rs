//! The index of the committed records: how each was made, and what uses it.
//!
//! Input: `results/records`, and the pages and tests that name records. Output: `results/index.toml`;
//! with `--check` nothing is written, and exit code 1 says that it would change. What a row says comes
//! from the record itself; a record is used where its path stands without date and ending.
//!
//! `cargo run --release -p lab -- index`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use lanescope::record::{DeviceKind, Run};
use serde::Serialize;

use crate::{Generated, root, write_generated};

/// The index.
const FILE: &str = "results/index.toml";

/// The folder of records.
pub(crate) const RECORDS: &str = "results/records";

/// How a record's file ends.
const ENDING: &str = ".json.xz";

/// The characters of `-2026-11-22`.
const DATE: usize = 11;

/// Where uses are looked for.
const USERS: [&str; 6] = ["README.md", "docs", "results/README.md", "lab/src", "tests", "shaders"];

/// A record.
#[derive(Debug, Serialize)]
struct IndexRow {
    file: String,
    devices: Vec<String>,
    drivers: Vec<String>,
    families: BTreeSet<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment: Vec<String>,
    argv: String,
    sha: String,
    date: String,
    counting_rule: u32,
    measurements: usize,
    times: usize,
    stop_rule_met: usize,
    used_by: Vec<String>,
}

/// All of them.
#[derive(Debug, Serialize)]
struct Index {
    record: Vec<IndexRow>,
}

/// Writes the index of the committed records.
pub(crate) fn run(arguments: &Generated) -> anyhow::Result<ExitCode> {
    write_generated(FILE, &text(&root())?, arguments)
}

/// The text of the index of a checkout.
fn text(root: &Path) -> anyhow::Result<String> {
    let index = Index { record: rows(root)? };
    Ok(format!(
        "# How each record was made and what uses it. Made by `lab index`; never edited.\n\n{}",
        toml::to_string(&index)?
    ))
}

/// The rows of a checkout's records, by file.
fn rows(root: &Path) -> anyhow::Result<Vec<IndexRow>> {
    let mut users = Vec::new();
    for place in USERS {
        for path in files(&root.join(place))? {
            // Pictures and other bytes name no record.
            if let Ok(text) = std::fs::read_to_string(&path) {
                users.push((relative(root, &path)?, text));
            }
        }
    }
    let records = files(&root.join(RECORDS))?;
    records.iter().map(|path| row(root, path, &users)).collect()
}

/// The row of a record.
fn row(root: &Path, path: &Path, users: &[(String, String)]) -> anyhow::Result<IndexRow> {
    let run = lanescope::store::load(path)?;
    let file = relative(&root.join(RECORDS), path)?;
    let name = name(&file)?;
    let date = run.started_utc.get(..DATE - 1).context("no date")?.to_owned();
    ensure!(file == format!("{name}-{date}{ENDING}"), "{file} was started on {date}");
    let times: Vec<bool> = run
        .measurements
        .iter()
        .filter_map(|measurement| measurement.time.as_ref().map(|time| time.stop_rule_met))
        .collect();
    let used_by = users.iter().filter(|(_, text)| names(text, &name));
    Ok(IndexRow {
        devices: devices(&run),
        drivers: drivers(&run),
        families: run
            .measurements
            .iter()
            .filter_map(|measurement| measurement.kernel.split('/').next().map(str::to_owned))
            .collect(),
        environment: run
            .host
            .environment
            .iter()
            .map(|(variable, value)| format!("{variable}={}", last(value)))
            .collect(),
        argv: run.argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
        sha: run.tool.git_sha.clone().context("no commit")?,
        counting_rule: run.counting_rule,
        measurements: run.measurements.len(),
        times: times.len(),
        stop_rule_met: times.iter().filter(|met| **met).count(),
        used_by: used_by.map(|(user, _)| user.clone()).collect(),
        file,
        date,
    })
}

/// The devices, simulators by their ids alone.
fn devices(run: &Run) -> Vec<String> {
    let words = |device: &lanescope::record::Device| match device.kind {
        DeviceKind::Simulator => device.id.clone(),
        _ => format!("{} {}", device.id, device.name),
    };
    run.devices.iter().map(words).collect()
}

/// The drivers of those that have one.
fn drivers(run: &Run) -> Vec<String> {
    let real = run.devices.iter().filter(|device| device.kind != DeviceKind::Simulator);
    real.map(|device| device.driver.clone()).collect()
}

/// A record's file without date and ending.
pub(crate) fn name(file: &str) -> anyhow::Result<String> {
    let stem = file.strip_suffix(ENDING).with_context(|| format!("{file} is no {ENDING}"))?;
    let end = stem.len().checked_sub(DATE).with_context(|| format!("{file} has no date"))?;
    Ok(stem.get(..end).context("no date")?.to_owned())
}

/// Whether a text names a record: its name, and behind it nothing that makes it another's.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let rest = &text[at + name.len()..];
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut after = rest.chars();
        match after.next() {
            Some('-') => rest.starts_with("-20") || !after.next().is_some_and(word),
            Some(next) => !word(next),
            None => true,
        }
    })
}

/// The file that a path ends in: where a machine has it says nothing.
fn last(value: &str) -> &str {
    value.rsplit('/').next().unwrap_or(value)
}

/// A word of a command line, in quotes where a shell would ask for them.
fn quote(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,%+".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

/// All files beneath a path, in order; none where there is nothing.
pub(crate) fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        entries.sort();
        for entry in entries {
            found.extend(files(&entry)?);
        }
    }
    Ok(found)
}

/// A path from a folder, with `/`.
pub(crate) fn relative(folder: &Path, path: &Path) -> anyhow::Result<String> {
    let words = path.strip_prefix(folder)?.iter().map(|word| word.to_string_lossy());
    Ok(words.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_that_of_the_records() {
        let committed = std::fs::read_to_string(root().join(FILE)).unwrap();
        assert!(committed == text(&root()).unwrap(), "{FILE} is stale: run `lab index`");
    }

    #[test]
    fn every_record_is_used() {
        let unused: Vec<String> = rows(&root())
            .unwrap()
            .into_iter()
            .filter(|row| row.used_by.is_empty())
            .map(|row| row.file)
            .collect();
        assert_eq!(unused, [""; 0]);
    }

    #[test]
    fn a_name_is_not_that_of_a_longer_one() {
        assert!(names("results/records/a/b-2026-11-22.json.xz", "a/b"));
        assert!(names("(`a/b`)", "a/b") && names("a/b", "a/b") && names("`a/b-…`", "a/b"));
        assert!(!names("a/b-8192-2026-11-22", "a/b") && !names("a/bc", "a/b"));
    }

    /// Every page of the checkout, with its text.
    fn pages() -> Vec<(PathBuf, String)> {
        ["README.md", "results", "docs", "fuzz/README.md", "lab/benches", "crates"]
            .into_iter()
            .flat_map(|place| files(&root().join(place)).unwrap())
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
            .collect()
    }

    /// The anchors of a page's headings, as git hosts make them.
    fn anchors(text: &str) -> BTreeSet<String> {
        let headings = text.lines().filter_map(|line| {
            let words = line.trim_start_matches('#');
            (words.len() < line.len() && words.starts_with(' ')).then_some(words.trim())
        });
        let keep = |letter: char| letter.is_alphanumeric() || "-_ ".contains(letter);
        let anchor =
            |words: &str| words.to_lowercase().chars().filter(|letter| keep(*letter)).collect();
        headings
            .map(|words| -> String { anchor(words) })
            .map(|heading| heading.replace(' ', "-"))
            .collect()
    }

    #[test]
    fn links_between_files_lead_somewhere() {
        let mut links = 0;
        for (page, text) in pages() {
            for rest in text.split("](").skip(1) {
                let whole = rest.split(')').next().unwrap();
                if whole.contains("://") || whole.contains(char::is_whitespace) {
                    continue;
                }
                let (link, anchor) = whole.split_once('#').unwrap_or((whole, ""));
                let target = match link {
                    "" => page.clone(),
                    link => page.parent().unwrap().join(link),
                };
                assert!(target.exists(), "{} links to {link}", page.display());
                if !anchor.is_empty() && target.extension().is_some_and(|ending| ending == "md") {
                    let there = anchors(&std::fs::read_to_string(&target).unwrap());
                    assert!(there.contains(anchor), "{} links to {whole}", page.display());
                }
                links += 1;
            }
        }
        assert!(links >= 200, "{links}");
    }

    /// Charts and pages are made from records: those are kept that a page shows.
    #[test]
    fn a_page_shows_every_chart() {
        let text: String = pages().into_iter().map(|(_, text)| text).collect();
        for path in files(&root().join("results/charts")).unwrap() {
            let chart = relative(&root().join("results"), &path).unwrap();
            assert!(text.contains(&chart), "no page shows {chart}");
        }
    }

    /// What tools printed says nowhere how it was made: `other/index.toml` does.
    #[test]
    fn every_file_of_another_tool_has_a_row() {
        let folder = root().join("results/other");
        let index = std::fs::read_to_string(folder.join("index.toml")).unwrap();
        let rows: toml::Table = toml::from_str(&index).unwrap();
        let rows: BTreeSet<String> = rows.keys().cloned().collect();
        let files = files(&folder).unwrap();
        let files: BTreeSet<String> = files
            .iter()
            .map(|path| relative(&folder, path).unwrap())
            .filter(|file| file != "index.toml")
            .collect();
        assert_eq!(files, rows);
    }
}
