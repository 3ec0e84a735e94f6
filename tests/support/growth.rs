//! Inputs of every kind that may be large, at any size: what time, memory and output must follow from.
//!
//! Input: a size. Output: the text of a shader, of a launch file, or a record made of another.

#![expect(clippy::unwrap_used, reason = "what runs a program and cannot go on fails")]

use std::fmt::Write as _;

use serde_json::{Value, json};

const OUTPUT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n";
const MAIN: &str =
    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n";

/// A kind of shader that may be large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShaderKind {
    /// Its name.
    pub(crate) name: &'static str,
    /// The text with so many parts.
    pub(crate) text: fn(usize) -> String,
    /// The size at which a test of every day runs it.
    pub(crate) usual: usize,
    /// The largest size that is measured by hand, at least; a power of two times `usual`.
    pub(crate) largest: usize,
}

/// Every kind of shader.
pub(crate) const SHADERS: [ShaderKind; 11] = [
    ShaderKind { name: "lines", text: lines, usual: 3125, largest: 50_000 },
    ShaderKind {
        name: "lines of functions",
        text: lines_of_functions,
        usual: 6250,
        largest: 50_000,
    },
    ShaderKind { name: "functions", text: functions, usual: 1250, largest: 10_000 },
    // Each change that is tried records the counts of all blocks: of many branches that grows with the square.
    ShaderKind { name: "nested loops and branches", text: nested, usual: 40, largest: 6400 },
    ShaderKind { name: "else-ifs", text: else_ifs, usual: 1250, largest: 5000 },
    ShaderKind { name: "bindings", text: bindings, usual: 1250, largest: 10_000 },
    ShaderKind { name: "cases", text: cases, usual: 1250, largest: 10_000 },
    ShaderKind { name: "loops", text: loops, usual: 1000, largest: 8000 },
    ShaderKind { name: "comments", text: comments, usual: 2000, largest: 32_000 },
    ShaderKind { name: "calls in a chain", text: chain, usual: 500, largest: 4000 },
    ShaderKind { name: "races", text: races, usual: 300, largest: 2400 },
];

fn parts(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

fn lines(n: usize) -> String {
    let all = parts(n, |i| format!("x = x * {}u + {i}u;\n", i % 13 + 1));
    format!("{OUTPUT}{MAIN}var x = id.x;\n{all}o[id.x]=x;\n}}")
}

/// Functions of a hundred lines.
fn lines_of_functions(n: usize) -> String {
    let count = n.div_ceil(100);
    let body = |i: usize| parts(97, |j| format!("x = x * {}u + {i}u;\n", j % 13 + 1));
    let all = parts(count, |i| {
        format!("fn f{i}(a: u32) -> u32 {{ var x = a;\n{}return x;\n}}\n", body(i))
    });
    let calls = parts(count, |i| format!("x += f{i}(x);\n"));
    format!("{OUTPUT}{all}{MAIN}var x = id.x;\n{calls}o[id.x]=x;\n}}")
}

fn functions(n: usize) -> String {
    let all = parts(n, |i| {
        format!("fn f{i}(x:u32)->u32{{if x > {}u {{return x;}} return x+{i}u;}}\n", i % 9)
    });
    let calls = parts(n, |i| format!("x+=f{i}(x);\n"));
    format!("{OUTPUT}{all}{MAIN}var x=id.x;\n{calls}o[id.x]=x;}}")
}

/// Constructs one in the other, ten deep, again and again: naga takes at most some sixty.
fn nested(n: usize) -> String {
    let open = parts(5, |i| {
        format!("if x % {}u != 1u {{ for (var i{i} = 0u; i{i} < 2u; i{i}++) {{\n", i + 2)
    });
    let all = parts(n.div_ceil(10), |_| format!("{open}x += 1u;\n{}", "} }\n".repeat(5)));
    format!("{OUTPUT}{MAIN}var x = id.x;\n{all}o[id.x]=x;\n}}")
}

fn else_ifs(n: usize) -> String {
    let chain = parts(n, |i| format!("\nelse if id.x == {i}u {{x={i}u;}}"));
    format!("{OUTPUT}{MAIN}var x=0u;\nif id.x == 70000u {{x=1u;}}{chain}\no[id.x]=x;\n}}")
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
    let all = parts(n, |i| format!("// block: b{i}\nx += {}u; /* /* {i} */ */\n", i % 7));
    let body = parts(n.div_ceil(500), |i| {
        let lines = all.lines().skip(i * 1000).take(1000);
        let lines = lines.fold(String::new(), |text, line| text + line + "\n");
        format!("fn f{i}(a: u32) -> u32 {{ var x = a;\n{lines}return x; }}\n")
    });
    let calls = parts(n.div_ceil(500), |i| format!("x = f{i}(x);\n"));
    format!("{OUTPUT}{body}{MAIN}var x = id.x;\n{calls}o[id.x] = x;\n}}")
}

/// Lines of a loop that write to words at random: nearly each pair of them races.
fn races(n: usize) -> String {
    let all = parts(n, |i| format!("o[(x >> {}u) & 63u] += x;\n", i % 19 + 1));
    let turn = "for (var t = 0u; t < 50u; t++) {\nx = x * 1664525u + 1013904223u;\n";
    format!("{OUTPUT}{MAIN}var x = id.x;\n{turn}{all}}}\no[id.x] = x;\n}}")
}

/// Functions of which each calls the one before.
fn chain(n: usize) -> String {
    let all = parts(n, |i| match i {
        0 => "fn f0(x: u32) -> u32 { return x; }\n".to_owned(),
        _ => format!(
            "fn f{i}(x: u32) -> u32 {{ if x == {i}u {{ return 1u; }} return f{}(x); }}\n",
            i - 1
        ),
    });
    format!("{OUTPUT}{all}{MAIN}o[id.x] = f{}(id.x);\n}}", n.max(1) - 1)
}

/// The least and the largest sizes of launch files and records; a record of so many bins is refused.
pub(crate) const PARAMETERS: [usize; 2] = [64, 1024];
pub(crate) const DISPATCHES: [usize; 2] = [128, 4096];
pub(crate) const MEASUREMENTS: [usize; 2] = [125, 4000];
pub(crate) const BINS: [usize; 2] = [6250, 100_000];

/// A shader for launch files.
pub(crate) const LAUNCHED: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
override K: u32 = 1;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    o[id.x] = id.x * K;
}
";

/// A launch file with so many parameters, all of which dispatches use.
pub(crate) fn parameters(n: usize) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("p{i}")).collect();
    let mut text = "[[buffers]]\nname = \"o\"\ntype = \"u32\"\nelements = 64\n".to_owned();
    // A formula has a limit of length.
    for some in names.chunks(100) {
        let sum = some.join("+");
        let _ =
            write!(text, "[[dispatches]]\nentry_point = \"main\"\nworkgroups = \"1+0*({sum})\"\n");
    }
    let parameter = |p: &String| format!("[parameters.{p}]\ndescription=\"x\"\ndefault=1\n");
    text.extend(names.iter().map(parameter));
    text
}

/// A launch file with so many dispatches.
pub(crate) fn dispatches(n: usize) -> String {
    let single = "[[dispatches]]\nentry_point = \"main\"\nworkgroups = 1\n";
    format!("[[buffers]]\nname = \"o\"\ntype = \"u32\"\nelements = 64\n{}", single.repeat(n))
}

/// A record whose measurements are those of another, so many in all, each of another parameter.
pub(crate) fn measurements(good: &Value, n: usize) -> Value {
    let mut run = good.clone();
    let some = good["measurements"].as_array().unwrap();
    let all = (0..n).map(|i| {
        let mut measurement = some[i % some.len()].clone();
        measurement["parameters"]["n"] = json!(1000 + i / some.len());
        measurement
    });
    run["measurements"] = all.collect();
    run
}

/// A record of which every histogram has so many bins.
pub(crate) fn bins(good: &Value, n: usize) -> Value {
    let mut run = good.clone();
    for measurement in run["measurements"].as_array_mut().unwrap() {
        for dispatch in measurement["dispatches"].as_array_mut().unwrap() {
            for block in dispatch["blocks"].as_array_mut().unwrap() {
                block["histogram"] = json!(vec![0; n]);
            }
        }
    }
    run
}
