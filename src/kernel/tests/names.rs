//! Whoever shows results knows axes, stages and figures, and no family, kernel or entry point.
//!
//! Input: the sources of `analyze`, `present`, `chart`, `report` and `cli` with the templates of pages
//! among them, and the names of the catalogue. Output: a failure for each string literal, and each word of
//! a template, that is such a name, unless it is listed here as an ordinary word; and for what is listed
//! and no longer there. Code under `#[cfg(test)]` may name kernels.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use super::*;

/// Who may not know the catalogue's names.
const MODULES: [&str; 5] = ["analyze", "present", "chart", "report", "cli"];

/// Words that are a name of the catalogue by chance, where they stand, and what they are there.
const WORDS: [(&str, &str, &str); 28] = [
    ("analyze/advice/rule.rs", "select", "a rule of advice"),
    ("chart/crossovers.rs", "all", "every curve of a plot"),
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
    ("report/profile.html", "memory", "a place on the page"),
    ("report/profile.html", "device", "a class of cells"),
    ("report/profile.html", "found", "a class of lists"),
    ("report/template.html", "found", "a class of lists"),
];

/// Columns of tables, wherever these are made.
const COLUMNS: [&str; 3] = ["device", "registers", "published"];

/// Words that people write with a hyphen, and that are names of the catalogue with an underscore.
const HYPHENATED: [&str; 2] = ["multiply-add", "self-test"];

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
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "html") {
            found.push(path);
        }
    }
    found
}

/// What a template says, with the lines: what stands in quotes, as a key or a word that is compared does, and each
/// word of several parts.
fn template_texts(text: &str) -> Vec<(usize, String)> {
    let mut found = BTreeSet::new();
    for (line, number) in text.lines().zip(1..) {
        // `</main>` names no kernel.
        let line = line.replace("</", "<");
        for quote in ['"', '\''] {
            let quoted = line.split(quote).skip(1).step_by(2);
            found.extend(quoted.map(|quoted| (number, quoted.to_owned())));
        }
        let words = words(&line, true).filter(|word| word.contains(['-', '_', '/']));
        found.extend(words.map(|word| (number, word.to_owned())));
    }
    found.into_iter().collect()
}

/// The texts of a source or of a template, by its name.
fn texts(file: &str, text: &str) -> Vec<(usize, String)> {
    if file.ends_with(".html") { template_texts(text) } else { literals(text) }
}

/// The words of a text, whose parts `_`, `/` and, where it is asked for, `-` join.
fn words(text: &str, hyphens: bool) -> impl Iterator<Item = &str> {
    let joins = move |c: char| c == '_' || c == '/' || hyphens && c == '-';
    text.split(move |c: char| !c.is_ascii_alphanumeric() && !joins(c))
}

/// A name as files are called: with hyphens, and one at either end.
fn hyphenate(name: &str) -> String {
    format!("-{}-", name.replace(['/', '_'], "-"))
}

/// Whether a literal is a name, or has one in it that is no ordinary word: `family/kernel`, or of several words,
/// with hyphens too.
fn has_name(literal: &str, names: &BTreeSet<String>) -> bool {
    let of_parts = |word: &str| word.contains(['/', '_']) && names.contains(word.trim_matches('/'));
    let hyphenated = |word: &str| {
        let word = hyphenate(word.trim_matches(['-', '/']));
        let mut of_parts =
            names.iter().filter(|name| name.contains(['/', '_'])).map(|name| hyphenate(name));
        let is_ordinary = |name: &str| HYPHENATED.iter().any(|word| hyphenate(word) == name);
        of_parts.any(|name| word.contains(&name) && !is_ordinary(&name))
    };
    names.contains(literal)
        || words(literal, false).any(of_parts)
        || words(literal, true).filter(|word| word.contains('-')).any(hyphenated)
}

/// Whether a literal of a file is an ordinary word.
fn is_allowed(file: &str, literal: &str) -> bool {
    WORDS.iter().any(|(place, word, _)| *place == file && *word == literal)
        || COLUMNS.contains(&literal) && has_columns(file)
}

/// Whether tables are made there.
fn has_columns(file: &str) -> bool {
    file.starts_with("cli/") || file.starts_with("present")
}

/// The literals of a file that are names, and no ordinary words.
fn offenders(file: &str, text: &str, names: &BTreeSet<String>) -> Vec<String> {
    texts(file, text)
        .into_iter()
        .filter(|(_, literal)| has_name(literal, names) && !is_allowed(file, literal))
        .map(|(line, literal)| format!("{file}:{line}: {literal:?}"))
        .collect()
}

/// What is listed as an ordinary word, and stands in none of the files, or is no name. The files are texts by path.
fn unused(files: &BTreeMap<String, String>, names: &BTreeSet<String>) -> Vec<String> {
    let all: BTreeSet<(&str, String)> = files
        .iter()
        .flat_map(|(file, text)| {
            texts(file, text).into_iter().map(move |(_, literal)| (file.as_str(), literal))
        })
        .collect();
    let placed = WORDS.iter().filter(|(place, word, _)| {
        !names.contains(*word) || !all.contains(&(*place, (*word).to_owned()))
    });
    let columns = COLUMNS.iter().filter(|column| {
        let mut tables = all.iter().filter(|(file, _)| has_columns(file));
        !names.contains(**column) || !tables.any(|(_, literal)| literal == **column)
    });
    let hyphenated = HYPHENATED.iter().filter(|word| {
        let mut standing = all.iter().flat_map(|(_, literal)| words(literal, true));
        !names.iter().any(|name| hyphenate(name) == hyphenate(word))
            || !standing.any(|standing_word| standing_word == **word)
    });
    let placed = placed.map(|(place, word, _)| format!("{place}: {word}"));
    placed.chain(columns.chain(hyphenated).map(|word| (*word).to_owned())).collect()
}

#[test]
fn whoever_shows_results_knows_no_family_kernel_or_entry_point() {
    let names = names();
    assert!(names.contains("sort/divergent") && names.contains("few_count"), "{names:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for module in MODULES {
        let alone = root.join(format!("{module}.rs"));
        let paths = sources(&root.join(module)).into_iter().chain(Some(alone));
        for path in paths.filter(|path| path.exists()) {
            let file = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            if !file.ends_with("tests.rs") && !file.contains("/tests/") {
                files.insert(file, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let templates = files.keys().filter(|file| file.ends_with(".html")).count();
    assert!(files.len() > 40 && templates >= 4, "{} files, {templates} templates", files.len());
    let found: Vec<String> =
        files.iter().flat_map(|(file, text)| offenders(file, text, &names)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(unused(&files, &names), Vec::<String>::new(), "listed, and no longer there");
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
    // As a figure's file is called, alone and with other words; ordinary words with a hyphen are none.
    let planted =
        "let a = [\"shuffle-out-of-range\", \"lanes-of-moe-separate-2\", \"its self-test\"];";
    assert_eq!(offenders("chart/planted.rs", planted, &names).len(), 2);
    let planted =
        "<main>{% if family == 'sort' %}\n<p>As in five_patterns\n<p id=\"few-count\">\n</main>";
    let lines: BTreeSet<String> = offenders("report/planted.html", planted, &names)
        .into_iter()
        .filter_map(|found| Some(found.split(':').nth(1)?.to_owned()))
        .collect();
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), ["1", "2", "3"]);
    // Where nothing is read, everything listed is unused.
    let listed = WORDS.len() + COLUMNS.len() + HYPHENATED.len();
    assert_eq!(unused(&BTreeMap::new(), &names).len(), listed);
}
