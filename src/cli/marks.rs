//! Marks as other tools read them: GitHub's annotations, SARIF, a line of JSON.
//!
//! Input: marks. Output: text. Figures of lines are for editors alone; annotations and SARIF have what
//! there is to do or to mend.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::source_files;
use crate::analyze::{Level, Mark, Profile};
use crate::kernel::Launch;
use crate::run::launched::programs;

/// The address of the schema that a SARIF log names, as OASIS publishes it.
const SARIF_SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Puts the marks of a shader that was made from other files onto those of them that lie beside it. Others stay on the
/// text that is shown.
pub(super) fn put_on_sources(marks: &mut [Mark], profile: &Profile, launch: &Launch) {
    if launch.derived.is_none() {
        return;
    }
    let Ok(programs) = programs(launch) else { return };
    let Some(program) = programs.first() else { return };
    for mark in marks {
        let Some((part, line)) = program.text().line_of_its_part(mark.line) else { continue };
        let Some(path) = source_files::find(Path::new(&launch.file), &part.name) else { continue };
        let begin = profile.text.as_ref().map_or(0, |text| text.begin(part.first_line));
        mark.file = path.display().to_string();
        mark.line = line;
        mark.span_bytes = mark.span_bytes.map(|byte| byte.saturating_sub(begin));
    }
}

/// Each mark as a command of GitHub's workflows, a line each.
///
/// The form is that of "Workflow commands for GitHub Actions": `::warning file=…,line=…::message`.
pub(super) fn annotations(marks: &[Mark]) -> String {
    let command = |mark: &Mark| {
        let level = match mark.level {
            Level::Figure => return None,
            Level::Note => "notice",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let property = |text: &str| escape(text).replace(':', "%3A").replace(',', "%2C");
        Some(format!(
            "::{level} file={},line={},col={},endColumn={},title={}::{}\n",
            property(&mark.file),
            mark.line,
            mark.column,
            mark.column_end,
            property(&mark.kind),
            escape(&mark.message)
        ))
    };
    marks.iter().filter_map(command).collect()
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A SARIF log, version 2.1.0.
pub(super) fn sarif(marks: &[Mark]) -> Value {
    let shown: Vec<&Mark> = marks.iter().filter(|mark| mark.level != Level::Figure).collect();
    let mut rules: BTreeMap<&str, &Mark> = BTreeMap::new();
    for mark in &shown {
        rules.entry(&mark.kind).or_insert(mark);
    }
    let rule = |(id, _): (&&str, &&Mark)| json!({ "id": id, "shortDescription": { "text": id.replace('_', " ") } });
    let result = |mark: &&Mark| {
        json!({
            "ruleId": mark.kind,
            "ruleIndex": rules.keys().position(|id| *id == mark.kind),
            "level": match mark.level {
                Level::Figure => "none",
                Level::Note => "note",
                Level::Warning => "warning",
                Level::Error => "error",
            },
            "message": { "text": mark.message },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(&mark.file) },
                "region": {
                    "startLine": mark.line,
                    "startColumn": mark.column,
                    "endColumn": mark.column_end,
                },
            } }],
        })
    };
    json!({
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "lanescope",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": shown.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// A path as a relative reference (RFC 3986): `/` between its parts, what is no letter of it escaped.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut text = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match plain(byte) {
            true => text.push(char::from(byte)),
            false => text += &format!("%{byte:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Vec<Mark> {
        let mark = |line, kind: &str, level, message: &str| Mark {
            file: "my shaders/a.wgsl".to_owned(),
            line,
            column: 5,
            column_end: 20,
            kind: kind.to_owned(),
            level,
            message: message.to_owned(),
            span_bytes: [0, 0],
            figures: None,
            saves: None,
        };
        vec![
            mark(3, "lanes", Level::Figure, "19.0 / 32"),
            mark(3, "select", Level::Note, "saves 10 %: do it\nnow"),
            mark(7, "barrier", Level::Error, "not all reach it"),
        ]
    }

    #[test]
    fn annotations_escape_what_github_reads() {
        let expected = "::notice file=my shaders/a.wgsl,line=3,col=5,endColumn=20,title=select::\
                        saves 10 %25: do it%0Anow\n\
                        ::error file=my shaders/a.wgsl,line=7,col=5,endColumn=20,title=barrier::\
                        not all reach it\n";
        assert_eq!(annotations(&marks()), expected);
    }

    #[test]
    fn sarif_has_what_the_standard_requires() {
        let log = sarif(&marks());
        // SARIF 2.1.0, 3.13: version and runs; 3.14: tool; 3.18, 3.19: driver with a name; 3.27: message.
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "lanescope");
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        assert_eq!((rules.len(), results.len()), (2, 2), "figures are no results");
        for result in results {
            let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[rule]["id"], result["ruleId"]);
            assert!(result["message"]["text"].is_string());
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "my%20shaders/a.wgsl");
            assert!(place["region"]["startLine"].as_u64() >= Some(1));
        }
        assert_eq!(results[1]["level"], "error");
    }
}
