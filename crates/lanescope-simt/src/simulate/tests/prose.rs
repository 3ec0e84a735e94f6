//! The prose of `simulate/mod.rs` against the code: every rule is found under its own heading.
//!
//! Input: the module's sources. Output: for each heading of the semantics, a comment of the same
//! words in the file that does it, and the file's name in the prose.

use std::path::Path;

/// Every source file of the module by its path, tests left out.
fn sources(folder: &Path, prefix: &str, into: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            if name != "tests" {
                sources(&entry.path(), &format!("{prefix}{name}/"), into);
            }
        } else if let Some(stem) = name.strip_suffix(".rs") {
            into.push((format!("{prefix}{stem}"), std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

#[test]
fn each_heading_of_the_prose_is_found_in_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/simulate");
    let mut files = Vec::new();
    sources(&folder, "", &mut files);
    let prose = &files.iter().find(|(name, _)| name == "mod").unwrap().1;
    let semantics = prose.split("//! # Semantics").nth(1).unwrap();
    let semantics = semantics.split("\n\n").next().unwrap();
    let sections: Vec<(&str, &str)> =
        semantics.split("//! ## ").skip(1).map(|part| part.split_once('\n').unwrap()).collect();
    assert!(sections.len() >= 19, "the prose has lost its headings");
    for (heading, text) in sections {
        let comment = format!("// {heading}");
        let found = |source: &str| source.lines().any(|line| line.trim() == comment);
        let named = |name: &str| text.contains(&format!("`{name}`"));
        let places: Vec<&str> = files
            .iter()
            .filter(|(_, source)| found(source))
            .map(|(name, _)| name.as_str())
            .collect();
        assert!(!places.is_empty(), "nothing in simulate/ is headed `{comment}`");
        for place in places {
            assert!(named(place), "`{comment}` is in {place}, which its section does not name");
        }
    }
}
