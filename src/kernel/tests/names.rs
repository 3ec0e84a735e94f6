//! Whoever shows results knows axes, stages and figures, and no family, kernel or entry point.
//!
//! Input: the sources of `analyze`, `present`, `chart`, `report` and `cli`, and the names of the
//! catalogue. Output: a failure for each string literal that is such a name, unless it is listed
//! here as an ordinary word. Code under `#[cfg(test)]` may name kernels.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use super::*;

/// Who may not know the catalogue's names.
const MODULES: [&str; 5] = ["analyze", "present", "chart", "report", "cli"];

/// Words that are a name of the catalogue by chance, where they stand, and what they are there.
const WORDS: [(&str, &str, &str); 26] = [
    ("analyze/advice/rule.rs", "early_return", "a rule of advice"),
    ("analyze/advice/rule.rs", "select", "a rule of advice"),
    ("chart/crossovers.rs", "all", "every curve of a plot"),
    ("chart/trace.rs", "masked", "a word of a legend"),
    ("chart/undefined.rs", "down", "a column, of shuffles down"),
    ("chart/undefined.rs", "device", "a column"),
    ("report/context.rs", "lanes", "a quantity that counts"),
    ("report/context.rs", "operations", "a quantity that counts"),
    ("report/highlight.rs", "switch", "a keyword of WGSL"),
    ("report/highlight.rs", "uniform", "a keyword of WGSL"),
    ("analyze/compare/gate.rs", "lanes", "a quantity of a condition"),
    ("analyze/compare/gate.rs", "operations", "a quantity of a condition"),
    ("analyze/marks.rs", "lanes", "a key of JSON"),
    ("cli/arguments.rs", "device", "an option"),
    ("cli/devices.rs", "all", "every device"),
    ("cli/doctor.rs", "all", "every device"),
    ("cli/doctor.rs", "device", "a key of JSON"),
    ("cli/doctor.rs", "self_test", "a key of JSON"),
    ("cli/mod.rs", "main", "a thread"),
    ("chart/mod.rs", "lanes", "a file"),
    ("chart/mod.rs", "latency", "a file"),
    ("present/tables.rs", "baseline", "what ratios are of"),
    ("present/tables.rs", "lanes", "a column"),
    ("present/machine_code.rs", "lanes", "a column"),
    ("present/tables.rs", "memory", "a column"),
    ("present/tables.rs", "copy", "a column"),
];

/// Columns of tables, wherever these are made.
const COLUMNS: [&str; 3] = ["device", "registers", "published"];

fn names() -> BTreeSet<String> {
    let catalogue = catalogue();
    let mut names = BTreeSet::new();
    for kernel in catalogue.all() {
        names.extend([kernel.id.clone(), kernel.family().to_owned(), kernel.name().to_owned()]);
        for launch in launches(kernel) {
            names.extend(launch.dispatches.into_iter().map(|dispatch| dispatch.entry_point));
        }
        if kernel.language == KernelLanguage::Wgsl {
            let parsed = Parsed::new(&kernel.id, &kernel.source).unwrap();
            names.extend(parsed.entry_points().into_iter().map(str::to_owned));
        }
    }
    names
}

/// The string literals of a source outside comments and tests, with the lines on which they begin.
fn literals(text: &str) -> Vec<(usize, String)> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    collect_literals(text.parse().unwrap(), &mut found);
    found
}

fn collect_literals(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    for token in tokens {
        match token {
            // A comment for the documentation is an attribute here.
            TokenTree::Group(group) => match group.stream().into_iter().next() {
                Some(TokenTree::Ident(first)) if first == "doc" => {}
                _ => collect_literals(group.stream(), found),
            },
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    found.push((literal.span().start().line, text.value()));
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// Whether a literal is a name, or has one in it that is no ordinary word: `family/kernel`, or of several words.
fn has_name(literal: &str, names: &BTreeSet<String>) -> bool {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/';
    let mut words = literal.split(|c: char| !part_of_name(c));
    names.contains(literal)
        || words.any(|word| word.contains(['/', '_']) && names.contains(word.trim_matches('/')))
}

/// The literals of a file that are names, and no ordinary words.
fn offenders(file: &str, text: &str, names: &BTreeSet<String>) -> Vec<String> {
    let allowed = |literal: &str| {
        WORDS.iter().any(|(place, word, _)| *place == file && *word == literal)
            || COLUMNS.contains(&literal)
                && (file.starts_with("cli/") || file.starts_with("present"))
    };
    literals(text)
        .into_iter()
        .filter(|(_, literal)| has_name(literal, names) && !allowed(literal))
        .map(|(line, literal)| format!("{file}:{line}: {literal:?}"))
        .collect()
}

#[test]
fn whoever_shows_results_knows_no_family_kernel_or_entry_point() {
    let names = names();
    assert!(names.contains("sort/divergent") && names.contains("few_count"), "{names:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut read = 0;
    for module in MODULES {
        let alone = root.join(format!("{module}.rs"));
        let files = sources(&root.join(module)).into_iter().chain(Some(alone));
        for path in files.filter(|path| path.exists()) {
            let file = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            if file.ends_with("tests.rs") || file.contains("/tests/") {
                continue;
            }
            read += 1;
            found.extend(offenders(&file, &std::fs::read_to_string(&path).unwrap(), &names));
        }
    }
    assert!(read > 40, "{read}");
    assert!(found.is_empty(), "{}", found.join("\n"));
    // What the test would say of one who does.
    let planted = "fn f() {\n    // \"sort\"\n    let a = [\"family\", \"sort\"];\n}\n";
    assert_eq!(
        offenders("analyze/planted.rs", planted, &names),
        ["analyze/planted.rs:3: \"sort\""]
    );
    let planted = "if one.kernel == \"moe/separate\" || entry == \"few_count\" {}";
    assert_eq!(offenders("chart/planted.rs", planted, &names).len(), 2);
    let planted =
        "let line = format!(\"lanescope run moe/separate\"); let all = \"as in five_patterns\";";
    assert_eq!(offenders("cli/planted.rs", planted, &names).len(), 2);
    // A literal may go on in the next line, and a raw one needs no escapes.
    let planted = "let a = \"as in \\\n    moe/separate\"; let b = r#\"\"few_count\"\"#;";
    assert_eq!(offenders("report/planted.rs", planted, &names).len(), 2);
    assert!(offenders("cli/planted.rs", "let a = \"sort by lanes/all\";", &names).is_empty());
}
