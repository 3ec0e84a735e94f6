//! Shaders that are long, wide or deep, and such as hide what they say.
//!
//! What is written of each kind is at most so many times its size ([`RECORD_MAX`], [`PAGE_MAX`]).

use tempfile::TempDir;

use super::{Ended, input, run};
use crate::support::program;

/// Every check.
pub(super) const CHECKS: [(&str, fn()); 2] =
    [("what_a_shader_hides_is_shown", hidden), ("records_of_large_shaders_stay_small", sizes)];

/// The most bytes of a record for each of the source.
const RECORD_MAX: u64 = 40;

/// The most bytes of a page for each of the record: a line with figures takes a kilobyte of it.
const PAGE_MAX: u64 = 50;

const OUTPUT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n";
const MAIN: &str =
    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n";

/// A shader with `n` parts of a kind.
type Generate = fn(usize) -> String;

fn parts(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

fn else_ifs(n: usize) -> String {
    let chain = parts(n, |i| format!("\nelse if id.x == {i}u {{x={i}u;}}"));
    format!("{OUTPUT}{MAIN}var x=0u;\nif id.x == 70000u {{x=1u;}}{chain}\no[id.x]=x;\n}}")
}

fn functions(n: usize) -> String {
    let all = parts(n, |i| {
        format!("fn f{i}(x:u32)->u32{{if x > {}u {{return x;}} return x+{i}u;}}\n", i % 9)
    });
    let calls = parts(n, |i| format!("x+=f{i}(x);\n"));
    format!("{OUTPUT}{all}{MAIN}var x=id.x;\n{calls}o[id.x]=x;}}")
}

fn lines(n: usize) -> String {
    let all = parts(n, |i| format!("x = x * {}u + {i}u;\n", i % 13 + 1));
    format!("{OUTPUT}{MAIN}var x = id.x;\n{all}o[id.x]=x;\n}}")
}

fn bindings(n: usize) -> String {
    let all = parts(n, |i| {
        let (group, binding) = (i / 1000, i % 1000);
        format!("@group({group}) @binding({binding}) var<storage, read_write> b{i}: array<u32>;\n")
    });
    let uses = parts(n, |i| format!("b{i}[id.x]=1u;\n"));
    format!("{all}{MAIN}{uses}}}")
}

fn cases(n: usize) -> String {
    let all = parts(n, |i| format!("case {i}u: {{ x = {i}u; }}\n"));
    format!("{OUTPUT}{MAIN}var x = 0u;\nswitch id.x {{ {all} default: {{}} }}\no[id.x] = x;\n}}")
}

fn loops(n: usize) -> String {
    let all = parts(n, |i| format!("for (var i = 0u; i < {}u; i++) {{ x += i; }}\n", i % 3));
    format!("{OUTPUT}{MAIN}var x = id.x;\n{all}o[id.x] = x;\n}}")
}

fn comments(n: usize) -> String {
    let all = parts(n, |i| format!("// block: b{i}\nx += {i}u; /* /* {i} */ */\n"));
    format!("{OUTPUT}{MAIN}var x = id.x;\n{all}o[id.x] = x;\n}}")
}

/// Each kind with its size.
const KINDS: [(&str, Generate, usize); 7] = [
    ("else_ifs", else_ifs, 1500),
    ("functions", functions, 2000),
    // naga takes the square of a function's length in time: `Typifier::grow`.
    ("lines", lines, 3000),
    ("bindings", bindings, 2000),
    ("cases", cases, 2000),
    ("loops", loops, 1000),
    ("comments", comments, 2000),
];

fn profile(folder: &TempDir, text: &str, out: &str) -> Ended {
    program::write(&folder.path().join("s.wgsl"), text);
    let arguments = ["profile", "s.wgsl", "--n", "64", "--device", "sim:32", "--out", out];
    run(folder, &[], &arguments, 60)
}

fn sizes() {
    for (kind, generate, size) in KINDS {
        let folder = TempDir::new().unwrap();
        let text = generate(size);
        profile(&folder, &text, "o").sound(kind);
        let bytes =
            |name: &str| std::fs::metadata(folder.path().join("o").join(name)).unwrap().len();
        let (record, page) = (bytes("result.json"), bytes("report.html"));
        let source = text.len() as u64;
        assert!(record < RECORD_MAX * source, "{kind}: a record of {record} bytes for {source}");
        assert!(
            page < PAGE_MAX * record,
            "{kind}: a page of {page} bytes for a record of {record}"
        );
    }
}

fn hidden() {
    let folder = TempDir::new().unwrap();
    let bidi = input("bidi.wgsl");
    let arguments = ["profile", bidi.to_str().unwrap(), "--n", "64", "--device", "sim:8"];
    let ended = run(&folder, &[], &[&arguments[..], &["--out", "o"]].concat(), 20);
    ended.sound("bidi");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\\u202e"), "{}", ended.stdout);
    let page = std::fs::read_to_string(folder.path().join("o/report.html")).unwrap();
    assert!(page.contains("\\u202e") && !page.contains('\u{202e}'));
    // In messages of naga's, and in names of files.
    for text in ["fn \u{1b}[2J\u{202e} {", "// \u{9b}2J\n@compute fn main() { \u{7f}x }"] {
        let name = "s\u{202e}\u{1b}[31m.wgsl";
        program::write(&folder.path().join(name), text);
        run(&folder, &[], &["profile", name, "--device", "sim:8"], 20).says(text, 2, "\\u202e");
    }
}
