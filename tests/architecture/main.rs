//! Who may use whom: reads every `use` and path of the sources and fails on an edge that the
//! architecture does not allow. Code under `#[cfg(test)]` may use anything. And what may be called what: names of
//! variables, functions and types that say nothing are refused, in tests too.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

mod circles;
mod size;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use syn::visit::{self, Visit};

/// A row of the table of modules in `src/lib.rs`, which is the one place that says who may use whom.
#[derive(Debug)]
struct Row {
    module: String,
    /// The modules that it may use.
    uses: BTreeSet<String>,
    /// Crates that only it, or only a folder of it, may use: the crate's name and the path.
    crates: Vec<(String, String)>,
}

/// Reads the table of modules from the page of the program's map.
fn table(page: &str) -> Vec<Row> {
    let lines = page.lines().skip_while(|line| !line.starts_with("//! | module |"));
    let lines = lines.skip(2).take_while(|line| line.starts_with("//! |"));
    let mut rows: Vec<Row> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, module, _, uses, crates, _] = cells[..] else {
            panic!("a row of other than four cells: {line}")
        };
        let module = module.trim_matches(['[', ']', '`']).to_owned();
        let above: BTreeSet<String> = rows.iter().map(|row| row.module.clone()).collect();
        let uses = match uses {
            "–" => BTreeSet::new(),
            "all above" => above,
            names => names.split(", ").map(str::to_owned).collect(),
        };
        let alone = |name: &str| {
            let (name, path) = name.split_once(" in ").unwrap_or((name, module.as_str()));
            (name.trim_matches('`').to_owned(), path.trim_matches('`').to_owned())
        };
        let crates = crates.split(", ").filter(|&name| name != "–").map(alone).collect();
        rows.push(Row { module, uses, crates });
    }
    rows
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text without what stands under `#[cfg(test)]` and without comments.
fn shipped(text: &str) -> String {
    // The tests beside the code are the last of a file; what is declared for tests in one line may stand anywhere.
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let declared = Regex::new(r"(?m)^#\[cfg\(test\)\]\n[^\n{]*;\n").unwrap();
    let code = declared.replace_all(code, "");
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every forbidden edge, worded.
fn violations(rows: &[Row], files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let edge =
        Regex::new(r"\bcrate::([a-z_]+)|\blanescope(?:_simt|_algorithms)?::([a-z_]+)").unwrap();
    let group = Regex::new(r"(?s)\buse crate::\{(.*?)\};").unwrap();
    let word = Regex::new(r"(?:^|[{,\s])([a-z_]+)(?:::|,|$|\s)").unwrap();
    let allowed: BTreeMap<&str, &BTreeSet<String>> =
        rows.iter().map(|row| (row.module.as_str(), &row.uses)).collect();
    let mut only_in: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, path) in rows.iter().flat_map(|row| &row.crates) {
        only_in.entry(name).or_default().push(path);
    }
    let mut found = BTreeSet::new();
    for (path, text) in files {
        let module = path.split(['/', '.']).next().unwrap_or_default();
        let Some(may) = allowed.get(module) else {
            found.insert(format!("{path}: module `{module}` is not in the table"));
            continue;
        };
        let direct = edge.captures_iter(text).filter_map(|c| c.get(1).or(c.get(2)));
        let mut used: BTreeSet<&str> = direct.map(|found| found.as_str()).collect();
        for list in group.captures_iter(text) {
            let names = list.get(1).unwrap().as_str();
            used.extend(word.captures_iter(names).map(|c| c.get(1).unwrap().as_str()));
        }
        for other in used {
            if allowed.contains_key(other) && other != module && !may.contains(other) {
                found.insert(format!("{path} uses `{other}`"));
            }
        }
        for (name, places) in &only_in {
            let uses = Regex::new(&format!(r"(^|[^:\w]){name}::")).unwrap().is_match(text);
            if uses && !places.iter().any(|place| path.starts_with(place)) {
                found.insert(format!("{path} uses the crate `{name}`"));
            }
        }
    }
    found
}

/// The packages' folders of sources, with the module that their files belong to where it is one.
const PACKAGES: [(&str, &str); 3] = [
    ("src", ""),
    ("crates/lanescope-simt/src", ""),
    ("crates/lanescope-algorithms/src", "algorithms/"),
];

/// Modules of a package that the table knows by themselves.
const OWN_ROWS: [&str; 2] = ["partition", "shaders"];

/// Reads the packages' sources, by module and path in it.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (folder, module) in PACKAGES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut paths = Vec::new();
        sources(&root, &mut paths);
        assert!(paths.len() > 5, "{folder} was not found");
        for path in paths {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            let test = name.ends_with("tests.rs") || name.starts_with("fixtures");
            if test || format!("/{name}").contains("/tests/") || name == "lib.rs" {
                continue;
            }
            let first = name.split(['/', '.']).next().unwrap_or_default();
            let prefix = if OWN_ROWS.contains(&first) { "" } else { module };
            let text = shipped(&fs::read_to_string(&path).unwrap());
            assert_eq!(files.insert(format!("{prefix}{name}"), text), None, "{name} twice");
        }
    }
    files
}

/// The sources keep to the table.
#[test]
fn the_sources_keep_to_the_table() {
    let (rows, files) = (table(include_str!("../../src/lib.rs")), files());
    assert!(rows.len() > 15 && files.len() > 10, "the table or the sources were not found");
    let modules: BTreeSet<&str> =
        files.keys().filter_map(|path| path.split(['/', '.']).next()).collect();
    let unknown: Vec<&str> =
        rows.iter().map(|row| row.module.as_str()).filter(|&row| !modules.contains(row)).collect();
    assert!(unknown.is_empty(), "rows of no module: {unknown:?}");
    let violations: Vec<String> = violations(&rows, &files).into_iter().collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// The check itself can fail.
#[test]
fn forbidden_edges_are_found() {
    let behind_a_test = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse crate::cli::Cli;\n
        use crate::run::Runner;\n#[cfg(test)]\nmod tests {\n use crate::chart::Figure;\n}\n";
    let planted = BTreeMap::from([
        ("analyze/mod.rs".to_owned(), shipped(behind_a_test)),
        ("report/mod.rs".to_owned(), "use comfy_table::Table;".to_owned()),
        ("units.rs".to_owned(), "use crate::record::Run;".to_owned()),
        ("chart/mod.rs".to_owned(), "use crate::{\n analyze, run::Runner};".to_owned()),
        ("store.rs".to_owned(), "fn f() { wgpu::Instance::new(); }".to_owned()),
        ("stray.rs".to_owned(), String::new()),
    ]);
    let rows = table(include_str!("../../src/lib.rs"));
    let found: Vec<String> = violations(&rows, &planted).into_iter().collect();
    assert_eq!(
        found,
        [
            "analyze/mod.rs uses `run`",
            "chart/mod.rs uses `run`",
            "report/mod.rs uses the crate `comfy_table`",
            "store.rs uses the crate `wgpu`",
            "stray.rs: module `stray` is not in the table",
            "units.rs uses `record`",
        ]
    );
}

/// Who may speak of options: the command line, what writes commands for others to run, and who starts
/// other programs.
const SPEAKS_OF_OPTIONS: [&str; 5] = [
    "cli/",
    "claims/judge.rs",
    "run/profile/template.rs",
    "run/cuda/nvrtc.rs",
    "run/cuda/disassembly.rs",
];

/// String literals outside comments that name an option of the command line.
fn named_options(file: &str, text: &str) -> Vec<String> {
    let option = Regex::new(r"--[a-z]").unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines = text.lines().filter(is_code).filter(|line| option.is_match(line));
    lines.map(|line| format!("{file}: {}", line.trim())).collect()
}

/// What stands below the command line knows none of its options: `cli` says which one helps.
#[test]
fn only_the_command_line_speaks_of_options() {
    let files = files();
    let below = files
        .iter()
        .filter(|(file, _)| SPEAKS_OF_OPTIONS.iter().all(|allowed| !file.starts_with(allowed)));
    let found: Vec<String> = below.flat_map(|(file, text)| named_options(file, text)).collect();
    assert_eq!(found, Vec::<String>::new());
    let planted = "// --n is one\nfn f() -> &'static str {\n    \"--n makes it fewer\"\n}\n";
    assert_eq!(
        named_options("run/planted.rs", planted),
        ["run/planted.rs: \"--n makes it fewer\""]
    );
}

/// Files that list naga's statements, since each makes another thing of every one; whatever else needs to know what a
/// statement does asks the first of them.
const LISTS_STATEMENTS: [&str; 4] = [
    "crates/lanescope-simt/src/program/visit.rs",
    "crates/lanescope-simt/src/simulate/compile/statement.rs",
    "crates/lanescope-simt/src/translate/statement.rs",
    "tests/corpus/forms.rs",
];

/// Statements that a file may name without listing them: a pass names those that it looks for.
const STATEMENTS_NAMED_MAX: usize = 12;

/// Every source, those of tests too, by its path.
fn all_sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "crates", "lab/src", "lab/wasm/src", "tests", "benches", "examples"] {
        sources(&root.join(folder), &mut paths);
    }
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        (name, shipped(&fs::read_to_string(&path).unwrap()))
    };
    paths.into_iter().map(read).collect()
}

/// Files that name more of naga's statements than [`STATEMENTS_NAMED_MAX`], or all at once, by whatever name the type
/// has there.
fn lists_of_statements(files: &BTreeMap<String, String>) -> Vec<String> {
    let alias = Regex::new(r"\bStatement as (\w+)|\btype (\w+) = (?:naga::)?Statement;").unwrap();
    let mut found = Vec::new();
    for (file, text) in files.iter().filter(|(_, text)| text.contains("Statement")) {
        let aliases = alias.captures_iter(text).filter_map(|c| c.get(1).or(c.get(2)));
        let names: Vec<&str> = aliases.map(|name| name.as_str()).chain(["Statement"]).collect();
        let named = format!(r"\b(?:{})::(?:([A-Z]\w*|\*)|\{{([^}}]*)\}})", names.join("|"));
        let named = Regex::new(&named).unwrap();
        let named = named.captures_iter(text).filter_map(|c| c.get(1).or(c.get(2)));
        let named = named.flat_map(|names| names.as_str().split(',').map(str::trim));
        let is_statement = |name: &&str| name.starts_with(|c: char| c.is_uppercase() || c == '*');
        let named: BTreeSet<&str> = named.filter(is_statement).collect();
        if named.len() > STATEMENTS_NAMED_MAX || named.contains("*") {
            found.push(file.clone());
        }
    }
    found
}

/// What each statement does is said once ([`LISTS_STATEMENTS`]), so that one that is new in naga is missing in few
/// places, all of which the compiler names.
#[test]
fn statements_of_naga_are_listed_in_four_files() {
    let files = all_sources();
    assert_eq!(lists_of_statements(&files), LISTS_STATEMENTS);
    // This file would be found itself if it spelt out what it plants.
    let named = Regex::new(r"\bStatement::([A-Z]\w*)").unwrap();
    let named = named.captures_iter(&files[LISTS_STATEMENTS[1]]).map(|c| c[1].to_owned());
    let named: BTreeSet<String> = named.collect();
    let all = ["Statement", "*"].join("::");
    let listed: Vec<&str> = named.iter().map(String::as_str).collect();
    let listed = ["Statement", &format!("{{{}}}", listed.join(", "))].join("::");
    let planted = |head: &str, before: &str, count: usize| {
        let named: Vec<String> =
            named.iter().take(count).map(|name| format!("{before}{name}")).collect();
        format!("use naga::{{Block, {head}}};\nfn f() {{ {} }}\n", named.join(" "))
    };
    for (offender, head, before, count) in [
        ("plain.rs", "Statement", "Statement::", STATEMENTS_NAMED_MAX + 1),
        ("renamed.rs", "Statement as Each", "Each::", STATEMENTS_NAMED_MAX + 1),
        ("all.rs", all.as_str(), "", STATEMENTS_NAMED_MAX + 1),
        ("listed.rs", listed.as_str(), "", STATEMENTS_NAMED_MAX + 1),
    ] {
        let files = BTreeMap::from([
            (offender.to_owned(), planted(head, before, count)),
            ("pass.rs".to_owned(), planted("Statement", "Statement::", STATEMENTS_NAMED_MAX)),
        ]);
        assert_eq!(lists_of_statements(&files), [offender]);
    }
}

/// The files that may name a device's kind: who says what it is, and who reads it in old records. A
/// device of tests says what it plays.
const MAY_NAME_KINDS: [&str; 6] = [
    "record/",
    "run/wgpu/runner.rs",
    "run/cuda/runner.rs",
    "run/radv/runner.rs",
    "run/gpu/fake.rs",
    "run/simulator.rs",
];

/// The sources that name a device's kind and may not.
fn naming_kinds(files: &BTreeMap<String, String>) -> Vec<&str> {
    let found = files.iter().filter(|(path, text)| {
        let may = MAY_NAME_KINDS.iter().any(|start| path.starts_with(start));
        !may && text.contains("DeviceKind")
    });
    found.map(|(path, _)| path.as_str()).collect()
}

/// What a device gives, `record::Gives` says: nothing matches on its kind to find out.
#[test]
fn what_a_device_gives_is_not_asked_of_its_kind() {
    let mut files = files();
    assert_eq!(naming_kinds(&files), [""; 0]);
    let planted = shipped("#[cfg(test)]\nmod tests;\nuse crate::record::DeviceKind;\n");
    files.insert("chart/lanes.rs".to_owned(), planted);
    assert_eq!(naming_kinds(&files), ["chart/lanes.rs"]);
}

/// Files that the guides name and that are not there; names with `<…>` are patterns.
fn missing_files(guides: &BTreeMap<String, String>) -> Vec<String> {
    let quoted = Regex::new(r"`([\w./-]+)`|\]\(([\w./-]+)\)").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for (guide, text) in guides {
        for found in quoted.captures_iter(text) {
            let (name, folder) = match (found.get(1), found.get(2)) {
                (Some(name), _) => (name.as_str(), root.to_owned()),
                (_, link) => (link.unwrap().as_str(), root.join("docs/contributing")),
            };
            // A kernel's id, and what a test leaves behind.
            let is_kernel = root.join("shaders").join(name).with_extension("toml").exists();
            let is_made = name.starts_with("target/");
            let is_file = name.ends_with(".md") || name.contains('/') && !is_kernel && !is_made;
            let beside = root.join("docs/contributing").join(name);
            if is_file && !folder.join(name).exists() && !beside.exists() {
                missing.push(format!("{guide}: {name}"));
            }
        }
    }
    missing
}

/// Guides are errands with their files: each file that one names is there.
#[test]
fn the_guides_name_files_that_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/contributing");
    let mut guides = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        guides.insert(name, fs::read_to_string(entry.path()).unwrap());
    }
    for asked in ["kernel", "backend", "chart", "rule", "testing", "words"] {
        assert!(guides.contains_key(&format!("{asked}.md")), "{asked}");
    }
    assert_eq!(missing_files(&guides), Vec::<String>::new());
    let planted = "see `src/nowhere/at_all.rs`, [gone](gone.md), `src/lib.rs` and `a/<b>.rs`";
    let planted = BTreeMap::from([("planted.md".to_owned(), planted.to_owned())]);
    let expected = ["planted.md: src/nowhere/at_all.rs", "planted.md: gone.md"];
    assert_eq!(missing_files(&planted), expected);
}

/// Names that say nothing of what a variable holds.
const EMPTY_NAMES: [&str; 4] = ["of", "one", "own", "said"];

/// Names that say nothing of what a function does; `one` without arguments is the number 1.
const EMPTY_FUNCTION_NAMES: [&str; 5] = ["each", "of", "one", "own", "said"];

/// Names of types that many modules could have: with a role in front they are one module's.
const SHARED_TYPE_NAMES: [&str; 4] = ["Found", "Kind", "Part", "Taken"];

/// The names of a file that `docs/contributing/words.md` refuses. What macros are given is not read.
#[derive(Debug, Default)]
struct RefusedNames {
    /// Whether the pattern at hand is one of `let` or of a closure's arguments.
    binds: bool,
    /// Whether its value is made of the number 1, which is what `one` may name.
    is_number: bool,
    found: Vec<(usize, String)>,
}

impl RefusedNames {
    fn bind(&mut self, pattern: &syn::Pat, is_number: bool) {
        (self.binds, self.is_number) = (true, is_number);
        self.visit_pat(pattern);
        (self.binds, self.is_number) = (false, false);
    }

    fn refuse(&mut self, name: &syn::Ident) {
        self.found.push((name.span().start().line, name.to_string()));
    }
}

impl<'ast> Visit<'ast> for RefusedNames {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let is_number = local.init.as_ref().is_some_and(|init| has_the_number_one(&init.expr));
        self.bind(&local.pat, is_number);
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.bind(&condition.pat, false);
        visit::visit_expr_let(self, condition);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        closure.inputs.iter().for_each(|input| self.bind(input, false));
        visit::visit_expr_closure(self, closure);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = &pattern.ident;
        let is_empty = EMPTY_NAMES.iter().any(|empty| name == empty);
        if self.binds && is_empty && !(self.is_number && name == "one") {
            self.refuse(name);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let name = &signature.ident;
        let is_number = name == "one" && signature.inputs.is_empty();
        if EMPTY_FUNCTION_NAMES.iter().any(|empty| name == empty) && !is_number {
            self.refuse(name);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        let is_shared = |name: &&syn::Ident| SHARED_TYPE_NAMES.iter().any(|shared| *name == shared);
        if let Some(name) = name.filter(is_shared) {
            self.refuse(name);
        }
        visit::visit_item(self, item);
    }
}

/// Whether an expression has the number 1 in it.
fn has_the_number_one(expression: &syn::Expr) -> bool {
    #[derive(Default)]
    struct NumberOne(bool);

    impl<'ast> Visit<'ast> for NumberOne {
        fn visit_lit_int(&mut self, number: &'ast syn::LitInt) {
            self.0 |= number.base10_digits() == "1";
        }

        fn visit_lit_float(&mut self, number: &'ast syn::LitFloat) {
            self.0 |= ["1", "1.0"].contains(&number.base10_digits());
        }
    }

    let mut number = NumberOne::default();
    number.visit_expr(expression);
    number.0
}

/// The refused names of a text, each with its line.
fn refused_names(text: &str) -> Vec<(usize, String)> {
    let mut names = RefusedNames::default();
    names.visit_file(&syn::parse_file(text).unwrap());
    names.found
}

/// Variables say what they hold, functions what they do, and types that many modules could have carry their role.
#[test]
fn names_say_what_they_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for package in circles::PACKAGES.into_iter().chain(["tests"]) {
        let mut paths = Vec::new();
        sources(&root.join(package), &mut paths);
        assert!(paths.len() > 5, "{package} was not found");
        for path in paths {
            let names = refused_names(&fs::read_to_string(&path).unwrap());
            let file = path.strip_prefix(root).unwrap().display().to_string();
            wrong.extend(names.into_iter().map(|(line, name)| format!("{file}:{line}: {name}")));
        }
    }
    assert!(wrong.is_empty(), "names that words.md refuses:\n{}", wrong.join("\n"));
}

/// The check itself can fail, and leaves what is right alone.
#[test]
fn planted_names_are_refused() {
    let planted = "
        enum Kind { Part }
        type ShaderKind = Kind;
        fn first(of: u32) -> u32 { struct Taken; of }
        fn second() {
            let (of, found) = third();
            let one = found.literal(1);
            let one = found.map(|one: u32| one);
            let Some(own) = found.find(|(said, _)| said) else { return };
            if let Some(own) = found.next() && own > 1 {}
        }
        fn said(one: u32) -> u32 { one }
        impl Number {
            fn one() -> Self { Self(1) }
            fn of(number: u32) -> Self { Self(number) }
        }
        trait Numbers { fn each(&self, own: u32); }
    ";
    let found = refused_names(planted);
    let found: Vec<(usize, &str)> =
        found.iter().map(|(line, name)| (*line, name.as_str())).collect();
    let expected = [
        (2, "Kind"),
        (4, "Taken"),
        (6, "of"),
        (8, "one"),
        (8, "one"),
        (9, "own"),
        (9, "said"),
        (10, "own"),
        (12, "said"),
        (15, "of"),
        (17, "each"),
    ];
    assert_eq!(found, expected);
}
