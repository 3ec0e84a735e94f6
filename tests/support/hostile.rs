//! Hostile inputs of every kind, by seed: shaders, launch files, records, environments, arguments.
//!
//! Input: a kind and a seed. Output: a [`Case`], the files, arguments and variables of one run of the
//! program; and what is wrong with how such a run ended ([`Case::run`]). The same for a seed, on every
//! machine. Nothing here knows what the program makes of it.

#![expect(clippy::unwrap_used, reason = "what runs a program and cannot go on fails")]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lanescope::units::random::SplitMix64;
use lanescope::units::visible::is_hidden;
use serde_json::{Value, json};

use super::bounded::{Ended, files_in, wait};

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostileKind {
    /// Shaders, profiled on the simulator.
    Shader,
    /// Launch files of a good shader.
    Launch,
    /// Records, of which `report` or `compare` makes something.
    Record,
    /// Variables, limits of the system, places to write, arguments.
    Environment,
    /// Runs that are killed.
    Kill,
}

impl HostileKind {
    /// Every kind, with its name.
    pub(crate) const ALL: [(&str, Self); 5] = [
        ("shader", Self::Shader),
        ("launch", Self::Launch),
        ("record", Self::Record),
        ("environment", Self::Environment),
        ("kill", Self::Kill),
    ];
}

/// One run of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    /// What it is, in a few words.
    pub(crate) what: String,
    /// The files that it finds in its folder.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    /// A command of the shell that comes before, such as `ulimit -n 16`.
    before: Option<&'static str>,
    /// After how long it is killed.
    killed_after: Option<Duration>,
}

/// What every case of a session shares.
#[derive(Debug)]
pub(crate) struct Stock {
    /// Shaders to mutate.
    pub(crate) shaders: Vec<String>,
    /// A record with all parts.
    pub(crate) record: Value,
}

/// The longest that a run may take.
const LIMIT: Duration = Duration::from_secs(60);

impl Case {
    /// The case of a kind and a seed.
    pub(crate) fn new(kind: HostileKind, seed: u64, stock: &Stock) -> Self {
        let mut any = Any(SplitMix64::new(seed ^ 0x5eed_0000));
        match kind {
            HostileKind::Shader => shader(&mut any, stock),
            HostileKind::Launch => launch(&mut any),
            HostileKind::Record => record(&mut any, stock),
            HostileKind::Environment => environment(&mut any),
            HostileKind::Kill => kill(&mut any),
        }
    }

    /// Runs it with `program` in an empty folder; says what is wrong with how it ended.
    ///
    /// # Panics
    ///
    /// When the folder cannot be written, or the program not started.
    #[expect(clippy::disallowed_methods, reason = "a test makes its own input")]
    pub(crate) fn run(&self, program: &Path, folder: &Path) -> Result<Ended, String> {
        let place = folder.join("here");
        std::fs::create_dir(&place).unwrap();
        for (name, bytes) in &self.files {
            let path = place.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let mut command = match self.before {
            None => Command::new(program),
            Some(before) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("{before}\nexec \"$0\" \"$@\"")).arg(program);
                shell
            }
        };
        command
            .current_dir(&place)
            .args(&self.arguments)
            .env_remove("WGPU_BACKEND")
            .env("VK_DRIVER_FILES", "/nonexistent/no_driver.json")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let ended = wait(child, self.killed_after.unwrap_or(LIMIT));
        let killed = self.killed_after.is_some() && ended.code.is_none();
        let trouble = match ended.unsound() {
            Some(trouble) if !killed => Some(trouble),
            _ => self.wrote_wrong(folder),
        };
        match trouble {
            Some(trouble) => Err(trouble),
            None => Ok(ended),
        }
    }

    /// What is wrong with what lies in the folder now.
    fn wrote_wrong(&self, folder: &Path) -> Option<String> {
        let place = folder.join("here");
        let given = |path: &Path| self.files.iter().any(|(name, _)| place.join(name) == path);
        for path in files_in(folder) {
            if given(&path) {
                continue;
            }
            if !path.starts_with(&place) {
                return Some(format!("it wrote {}", path.display()));
            }
            if path.file_name().is_some_and(|name| name == "result.json") {
                if let Err(error) = lanescope::store::load(&path) {
                    return Some(format!("its record does not load: {error}"));
                }
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let page = path.extension().is_some_and(|e| e == "html" || e == "svg");
            if page && (text.contains(is_hidden) || text.contains(">NaN") || text.contains(">inf"))
            {
                return Some(format!("{} hides something or shows no number", path.display()));
            }
            if page && text.contains("<script") {
                return Some(format!("{} has a script", path.display()));
            }
        }
        None
    }
}

/// Random choices.
struct Any(SplitMix64);

impl Any {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn choose<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn size(&mut self, bits: usize) -> usize {
        let bits = self.below(bits);
        1 + self.below(1 << bits)
    }
}

fn arguments(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

// Shaders.

/// Numbers at which something turns, as WGSL writes them.
const NUMBERS: [&str; 22] = [
    "0u",
    "1u",
    "31u",
    "32u",
    "33u",
    "65535u",
    "65536u",
    "2147483648u",
    "4294967295u",
    "-1",
    "2147483647",
    "-2147483648",
    "0",
    "1e38f",
    "-0.0",
    "1e-45f",
    "3.4028235e38f",
    "0x1p-149f",
    "0xffffffffu",
    "id.x",
    "(1u << 31u)",
    "~0u",
];

/// Statements that ask for something unusual.
const STATEMENTS: [&str; 40] = [
    "x = x / (id.x & 1u);",
    "x = x % (id.x - id.x);",
    "y = (-2147483647 - 1) / -1;",
    "y = (-2147483647 - i32(x | 1u)) % -1;",
    "x = x << (x & 63u);",
    "x = o[x * 1000003u];",
    "o[x] = 1u;",
    "o[arrayLength(&o) - 1u] = x; o[arrayLength(&o)] = x;",
    "x = w[x];",
    "w[id.x * 70u] = x;",
    "loop { x += 1u; if x == 7u { break; } }",
    "loop { if x > 3u { break; } continuing { x += 1u; break if x > 1000000u; } }",
    "while true { x += 1u; if (x & 65535u) == 3u { return; } }",
    "for (;;) { x = x * 3u + 1u; if x < 100u { break; } }",
    "if (id.x & 1u) == 0u { workgroupBarrier(); }",
    "while atomicLoad(&a) != 5u { }",
    "while atomicExchange(&a, 1u) != 0u { }  atomicStore(&a, 0u);",
    "if id.x == 3u { return; } x = subgroupAdd(x);",
    "x = subgroupShuffle(x, x);",
    "x = subgroupBroadcastFirst(x); if subgroupElect() { x = subgroupMax(x); }",
    "x = pack4x8snorm(vec4f(1e38f, -1e38f, f, -f));",
    "f = sqrt(-1.0 - f); f = f / f; y = i32(f); x = u32(f);",
    "f = exp(f * 1e30); f = log(-f); f = pow(f, -f); f = fract(f);",
    "f = ldexp(f, 2147483647); let g = frexp(f); f = g.fract;",
    "x = extractBits(x, x, x); x = insertBits(x, x, 40u, 40u);",
    "x = firstLeadingBit(x) + firstTrailingBit(0u) + countOneBits(x);",
    "switch x { case 0u, 1u: { return; } case 4294967295u: { break; } default: { x = 1u; } }",
    "switch y { default: { loop { break; } } case -2147483648: { } }",
    "let p = &x; *p = *p + 1u; { let x = vec3u(*p); o[x.z] = x.y; }",
    "var m = mat4x4f(); m[x][y] = f; f = determinant(m * transpose(m));",
    "var v = vec4u(x); v[x] = 1u; v[y] = 2u; x = v[x & 7u];",
    "var big: array<array<u32, 64>, 64>; big[x][x] = x; x = big[y][y];",
    "{ { { { { { { { { { x += 1u; } } } } } } } } } }",
    "x = select(x, x / 0u, x == 0u);",
    "x = r1(x); x = r2(x, &x);",
    "storageBarrier(); workgroupBarrier(); textureBarrier();",
    "y = bitcast<i32>(bitcast<f32>(x ^ 0x7fc00000u) * 2.0);",
    "x = dot(vec3u(x), vec3u(4294967295u)); f = distance(vec2f(f), vec2f(1e38f));",
    "f = f16_like(f); x = u32(round(f)) + u32(f32(0x7fffffff));",
    "const c = array<i32, 3>(1, 2, 3); y = c[y]; y = c[x & 3u];",
];

/// Whole declarations that ask for something unusual.
const DECLARATIONS: [&str; 26] = [
    "@id(65535) override q: u32 = 4294967295u;",
    "@id(65536) override q: u32;",
    "override q: f32 = 1.0 / 0.0;",
    "override q = 1 << 40;",
    "override len: u32 = 4u; var<workgroup> ow: array<u32, len * 1000000u>;",
    "var<private> huge: array<u32, 268435456>;",
    "var<workgroup> huge: array<u32, 4294967295>;",
    "struct S { @align(1073741824) a: u32, b: array<S2> } struct S2 { x: vec3f, }",
    "@group(0) @binding(7) var<uniform> u7: array<vec4f, 4096>;",
    "@group(4294967295) @binding(4294967295) var<storage> far: array<u32>;",
    "@group(0) @binding(0) var<storage> twice: array<u32>;",
    "@group(1) @binding(1) var<storage, read_write> deep: array<array<array<atomic<u32>, 3>, 5>>;",
    "@group(1) @binding(2) var<storage> many: array<u32, 536870912>;",
    "@group(1) @binding(3) var t: texture_2d<f32>; @group(1) @binding(4) var sm: sampler;",
    "@group(1) @binding(5) var ts: texture_storage_2d<rgba8unorm, write>;",
    "@group(1) @binding(6) var bt: binding_array<texture_2d<f32>, 4>;",
    "var<immediate> im: vec3f;",
    "fn rec(x: u32) -> u32 { return rec(x); }",
    "alias A = array<B, 4>; alias B = A;",
    "const_assert 1 == 2;",
    "const big = 1e400;",
    "enable f16; requires nothing_at_all;",
    "diagnostic(off, derivative_uniformity);",
    "fn \u{e9}\u{202e}t\u{e9}() {}",
    "fn \u{4f60}\u{597d}(\u{5e74}: u32) -> u32 { return \u{5e74}; }",
    "@compute @workgroup_size(1) fn main2() {} @compute @workgroup_size(1) fn main2() {}",
];

const SIZES: [&str; 9] =
    ["64", "1", "0", "65536", "1024, 1, 2", "3, 5, 7", "q", "4294967295", "256, 4"];

fn written(any: &mut Any) -> String {
    let mut text = String::from(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n\
         @group(0) @binding(1) var<storage, read_write> a: atomic<u32>;\n\
         var<workgroup> w: array<u32, 64>;\n\
         fn r1(x: u32) -> u32 { if x > 9u { return x; } return x + 1u; }\n\
         fn r2(x: u32, p: ptr<function, u32>) -> u32 { *p += x; return *p; }\n\
         fn f16_like(f: f32) -> f32 { return quantizeToF16(f); }\n",
    );
    for _ in 0..any.below(3) {
        text += any.choose(&DECLARATIONS);
        text.push('\n');
    }
    let size = if any.one_in(3) { any.choose(&SIZES) } else { "64" };
    text += &format!(
        "@compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3u) {{\n\
         var x = id.x; var y = i32(x) - 9; var f = f32(y);\n"
    );
    let mut open = 0;
    for _ in 0..any.below(14) {
        if any.one_in(4) && open < 100 {
            text += any.choose(&[
                "if x > 3u {\n",
                "loop { if x > 30u { break; } x += 1u;\n",
                "for (var i = 0u; i < (x & 7u); i++) {\n",
                "switch x & 3u { default: {\n",
                "while x < 9u { x += 2u;\n",
                "if f > 0.0 {} else {\n",
            ]);
            open += 1;
            if text.ends_with("default: {\n") {
                open += 1;
            }
        } else {
            text += any.choose(&STATEMENTS);
            text.push('\n');
        }
        if open > 0 && any.one_in(4) {
            text.push_str("}\n");
            open -= 1;
        }
    }
    text + &"}".repeat(open) + "\no[id.x] = x + u32(y) + bitcast<u32>(f);\n}\n"
}

/// Something that is opened often, and something within.
fn deep(any: &mut Any) -> String {
    let n = any.size(15);
    let (open, middle, close) = [
        ("(", "1u", ")"),
        ("{", "", "}"),
        ("if x > 1u {", "x = 1u;", "}"),
        ("if x == 1u {} else ", "{}", ""),
        ("loop { if x > 3u { break; } x++; ", "x = 2u;", "}"),
        ("switch x { default: {", "", "}}"),
        ("-", "1", ""),
        ("!", "true", ""),
        ("abs(", "1", ")"),
        ("/*", "", "*/"),
        ("array<", "u32", ", 2>"),
        ("o[", "0", "]"),
        ("1 + (", "1", ") * 2"),
        ("vec2(", "1", ").x"),
        ("x && ", "true", ""),
        ("&*", "x", ""),
    ][any.below(16)];
    let nest = format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    let place = [
        format!("x = {nest};"),
        nest.clone(),
        format!("let q = {nest};"),
        format!("}} const q = {nest}; fn g() {{"),
        format!("}} var<private> q: {nest}; fn g() {{"),
    ];
    format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n\
         @compute @workgroup_size(64) fn main() {{ var x = 1u;\n{}\n}}",
        place[any.below(5)]
    )
}

/// A shader of the stock with tokens changed.
fn mutated(any: &mut Any, stock: &Stock) -> String {
    let mut text = stock.shaders[any.below(stock.shaders.len())].clone();
    for _ in 0..any.size(4) {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts: Vec<usize> = text
            .char_indices()
            .zip(std::iter::once(' ').chain(text.chars()))
            .filter(|((_, c), before)| word(*c) != word(*before) || !word(*c))
            .map(|((at, _), _)| at)
            .collect();
        if starts.len() < 3 {
            break;
        }
        let (mut from, mut to) = (any.below(starts.len()), any.below(starts.len()));
        (from, to) = (from.min(to), (from.max(to)).min(from + 40));
        let range = starts[from]..starts[to];
        let piece = text[range.clone()].to_owned();
        match any.below(6) {
            0 => text.replace_range(range, ""),
            1 => text.insert_str(starts[any.below(starts.len())], &piece),
            2 => text.replace_range(range, any.choose(&NUMBERS)),
            3 => text.insert_str(range.start, any.choose(&STATEMENTS)),
            4 => text.insert_str(
                range.start,
                any.choose(&["{", "}", "(", ")", ";", "<", ",", "&", "*", "@"]),
            ),
            _ => text.insert_str(range.start, &piece.repeat(any.size(6))),
        }
    }
    text
}

/// Bytes that no editor writes.
fn strange(any: &mut Any, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..any.size(3) {
        let at = any.below(bytes.len() + 1);
        let piece: &[u8] = any.choose(&[
            b"\0".as_slice(),
            b"\xff\xfe",
            b"\xef\xbb\xbf",
            b"\r",
            b"\x1b[2J\x1b]0;x\x07",
            "\u{202e}\u{2066}".as_bytes(),
            "\u{2028}\u{85}\u{b}".as_bytes(),
            b"/*",
            b"\x80\x80",
            "\u{1f680}".as_bytes(),
        ]);
        drop(bytes.splice(at..at, piece.iter().copied()));
    }
    bytes
}

fn shader(any: &mut Any, stock: &Stock) -> Case {
    let (what, text) = match any.below(8) {
        0..=3 => ("written", written(any)),
        4 => ("deep", deep(any)),
        _ => ("mutated", mutated(any, stock)),
    };
    let bytes = if any.one_in(8) { strange(any, text.into_bytes()) } else { text.into_bytes() };
    let device = any.choose(&["sim:8", "sim:32", "sim:64", "sim:1", "sim:128"]);
    let n = any.choose(&["64", "1", "1000", "4096"]);
    let mut all = arguments(&["profile", "s.wgsl", "--device", device, "--n", n, "--out", "o"]);
    all.extend(arguments(&["--steps", "200000", "--operations", "2M"]));
    if any.one_in(5) {
        all.extend(arguments(&["--what-if"]));
    }
    Case {
        what: format!("shader, {what}"),
        files: vec![("s.wgsl".into(), bytes)],
        arguments: all,
        ..Case::default()
    }
}

// Launch files.

const LAUNCHED: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
struct P { n: u32, f: f32, v: vec3f, m: mat3x3f }
@group(0) @binding(1) var<uniform> p: P;
@group(0) @binding(2) var<storage> i: array<f32>;
@group(0) @binding(3) var t: texture_2d<f32>;
override K: u32 = 1u;
var<workgroup> w: array<u32, K>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    w[0] = 1u;
    if id.x < p.n { o[id.x] = u32(i[id.x] + p.f + p.v.x + p.m[0].x) + w[0] + u32(textureLoad(t, vec2(0), 0).x); }
}
";

const VALUES: [&str; 40] = [
    "0",
    "-1",
    "1",
    "64",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "-inf",
    "0.5",
    "true",
    "\"\"",
    "\"n\"",
    "\"2*n\"",
    "\"n/0\"",
    "\"n^n^n\"",
    "\"1e400\"",
    "\"((((((((\"",
    "\"sin(n)\"",
    "\"\u{202e}\"",
    "[]",
    "[1]",
    "[1, 2, 3]",
    "[65535, 65535, 65535]",
    "[nan, nan]",
    "[[1]]",
    "{}",
    "\"../../../etc/passwd\"",
    "\"/dev/zero\"",
    "\"/dev/stdin\"",
    "\"s.wgsl\"",
    "1979-05-27",
    "'''\n'''",
    "\"main\"",
    "\"zeros\"",
];

const KEYS: [&str; 36] = [
    "name",
    "type",
    "elements",
    "fill",
    "scalars",
    "file",
    "output",
    "shown",
    "entry_point",
    "workgroups",
    "repeat",
    "indirect",
    "description",
    "default",
    "min",
    "max",
    "multiple_of",
    "values",
    "text",
    "with",
    "K",
    "baseline",
    "repeatable",
    "trusted",
    "bytes",
    "question",
    "size",
    "format",
    "seed",
    "uniform",
    "series",
    "value",
    "width",
    "height",
    "setup",
    "when",
];

const TABLES: [&str; 14] = [
    "[[buffers]]",
    "[[dispatches]]",
    "[parameters.n]",
    "[parameters.k]",
    "[overrides]",
    "[[replacements]]",
    "[[textures]]",
    "[[samplers]]",
    "[reference]",
    "[immediates]",
    "[[sweeps]]",
    "[[combinations]]",
    "[blocks.b]",
    "[names.x]",
];

/// Lines that mean something, to be damaged.
const GOOD: [&str; 16] = [
    "[[buffers]]\nname = \"o\"\ntype = \"u32\"\nelements = V\nfill = {uniform = [V, V]}",
    "[[buffers]]\nname = \"p\"\nscalars = [{u32 = V}, {f32 = V}]",
    "[[buffers]]\nname = \"i\"\ntype = \"f32\"\nelements = 64\nfill = {series = {first = V, step = V}}",
    "[[buffers]]\nname = \"i\"\ntype = \"f32\"\nelements = 64\nfill = {file = V}",
    "[[buffers]]\nname = \"i\"\ntype = \"f32\"\nelements = V\nfill = {zipf = {s = V, values = V}}",
    "[[buffers]]\nname = \"i\"\ntype = \"u32\"\nelements = V\nfill = {permutation = V}",
    "[[dispatches]]\nentry_point = \"main\"\nworkgroups = V\nrepeat = V",
    "[[dispatches]]\nentry_point = \"main\"\nindirect = {buffer = \"o\", offset = V}",
    "[parameters.n]\ndescription = \"x\"\ndefault = V\nmin = V\nmax = V\nmultiple_of = V",
    "[parameters.k]\ndescription = \"x\"\ndefault = 1\nvalues = V",
    "[overrides]\nK = V",
    "[[replacements]]\ntext = \"o[\"\nwith = \"o[0u * o[\"",
    "[[replacements]]\ntext = V\nwith = V",
    "[[textures]]\nname = \"t\"\nformat = \"rgba8unorm\"\nsize = V\nfill = V",
    "[[textures]]\nname = \"t\"\nfill = {file = V}",
    "trusted = V",
];

fn launch(any: &mut Any) -> Case {
    let mut text = String::new();
    for _ in 0..any.size(3) {
        if any.one_in(4) {
            text += any.choose(&TABLES);
            text.push('\n');
            for _ in 0..any.size(3) {
                text += &format!("{} = {}\n", any.choose(&KEYS), any.choose(&VALUES));
            }
            continue;
        }
        let mut good = any.choose(&GOOD).to_owned();
        while let Some(at) = good.find(" V").or_else(|| good.find("[V")) {
            let value =
                if any.one_in(3) { any.choose(&VALUES) } else { any.choose(&["64", "1", "\"n\""]) };
            good.replace_range(at + 1..at + 2, value);
        }
        text += &good;
        text.push('\n');
        if text.len() < 4000 && any.one_in(12) {
            text = text.repeat(any.size(9));
        }
    }
    let bytes = if any.one_in(12) { strange(any, text.into_bytes()) } else { text.into_bytes() };
    let mut all = arguments(&["profile", "s.wgsl", "--launch", "l.toml", "--device", "sim:8"]);
    all.extend(arguments(&["--operations", "2M", "--out", "o"]));
    if any.one_in(2) {
        all.extend(arguments(&["--n", any.choose(&["64", "0", "1", "100000", "-5", "1e30"])]));
    }
    Case {
        what: "launch file".into(),
        files: vec![("s.wgsl".into(), LAUNCHED.into()), ("l.toml".into(), bytes)],
        arguments: all,
        ..Case::default()
    }
}

// Records.

/// Every place of a tree of JSON, as pointers.
pub(crate) fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            pointers(value, &format!("{at}/{key}"), all);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(index, value)| {
            pointers(value, &format!("{at}/{index}"), all);
        }),
        _ => {}
    }
}

/// A value as no run writes it.
fn value(any: &mut Any) -> Value {
    match any.below(20) {
        0 => json!(null),
        1 => json!(0),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1e308),
        6 => json!(-1e-308),
        7 => json!(true),
        8 => json!(""),
        9 => json!("\u{1b}]0;x\u{7}\u{202e}\u{0}"),
        10 => json!("../../x"),
        11 => json!([]),
        12 => json!({}),
        13 => json!("<script>alert(1)</script>&lt;\"'"),
        14 => json!("x".repeat(1 << any.below(18))),
        15 => json!(vec![0; 1 << any.below(14)]),
        16 => (0..any.below(100)).fold(json!(1), |inner, _| json!([inner])),
        17 => json!({"tag": "loop_cut_off", "lines": [u32::MAX]}),
        18 => json!("{{ 7 * 7 }}{% for x in y %}"),
        _ => json!(2.5),
    }
}

fn damage(any: &mut Any, run: &mut Value) {
    let mut places = Vec::new();
    pointers(run, "", &mut places);
    let at = places[any.below(places.len())].clone();
    let other = places[any.below(places.len())].clone();
    let copied = run.pointer(&other).cloned();
    let new = value(any);
    let Some(found) = run.pointer_mut(&at) else { return };
    match (any.below(6), found) {
        (0, Value::Array(list)) if !list.is_empty() => {
            let item = list[any.below(list.len())].clone();
            list.extend(std::iter::repeat_n(item, any.size(8)));
        }
        (1, Value::Array(list)) if !list.is_empty() => {
            list.remove(any.below(list.len()));
        }
        (2, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(any.below(map.len())).cloned().unwrap_or_default();
            map.remove(&key);
        }
        (3, Value::Object(map)) => {
            map.insert(any.choose(&["x", "error", "../k", "\u{202e}", ""]).to_owned(), new);
        }
        (4, found) => *found = copied.unwrap_or_default(),
        (_, found) => *found = new,
    }
}

fn record(any: &mut Any, stock: &Stock) -> Case {
    let mut run = stock.record.clone();
    for _ in 0..any.size(3) {
        damage(any, &mut run);
    }
    let mut bytes = run.to_string().into_bytes();
    if any.one_in(6) {
        let at = any.below(bytes.len());
        match any.below(3) {
            0 => bytes.truncate(at),
            1 => bytes[at] = bytes[at].wrapping_add(1),
            _ => bytes = strange(any, bytes),
        }
    }
    let name = any.choose(&[
        "result.json",
        "result.json",
        "result.json",
        "result.json.gz",
        "result.json.xz",
    ]);
    let good = stock.record.to_string().into_bytes();
    let command = match any.below(4) {
        0 => arguments(&["compare", "good/result.json", &format!("o/{name}")]),
        1 => arguments(&["claims", "--from", &format!("o/{name}")]),
        _ => arguments(&["report", &format!("o/{name}")]),
    };
    Case {
        what: "record".into(),
        files: vec![(format!("o/{name}"), bytes), ("good/result.json".into(), good)],
        arguments: command,
        ..Case::default()
    }
}

// Environments.

const VARIABLES: [&str; 23] = [
    "RAYON_NUM_THREADS",
    "COLUMNS",
    "LINES",
    "TERM",
    "LANG",
    "LC_ALL",
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_LAYER_PATH",
    "VK_INSTANCE_LAYERS",
    "WGPU_BACKEND",
    "WGPU_ADAPTER_NAME",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "LANESCOPE_NVRTC",
    "LANESCOPE_CUPTI",
    "LP_NATIVE_VECTOR_WIDTH",
    "LD_LIBRARY_PATH",
    "LANESCOPE_WITHOUT_FEATURES",
];

const SETTINGS: [&str; 18] = [
    "",
    "0",
    "-1",
    "1",
    "100000",
    "18446744073709551616",
    "nan",
    "/nonexistent",
    "/dev/null",
    "/dev/full",
    ".",
    "s.wgsl",
    "\u{202e}\u{1b}[2J",
    "vulkan",
    "dx12,metal",
    "C",
    "dumb",
    "a:b:c",
];

/// What the system does not give.
const LIMITS: [&str; 8] = [
    "ulimit -f 8",
    "ulimit -n 16",
    "ulimit -v 2000000",
    "ulimit -s 256",
    "ulimit -u 40; ulimit -n 40",
    "exec 2>&-",
    "exec 0<&-",
    "umask 777",
];

const PLACES: [&str; 10] = [
    "/dev/full",
    "/dev/null",
    "/proc/self/x",
    "s.wgsl",
    "s.wgsl/x",
    "\u{202e}\u{7}x",
    "a/b/c/d/e",
    "-",
    "o o \u{1f680}",
    "--out",
];

const COMMANDS: [&[&str]; 12] = [
    &["profile", "s.wgsl", "--device", "sim:8", "--n", "256"],
    &["run", "five_patterns/uniform", "--quick", "--device", "sim:8", "--seeds", "1"],
    &["profile", "s.wgsl", "s.wgsl", ".", "--device", "sim:32", "--n", "64"],
    &["list"],
    &["list", "--json"],
    &["doctor", "--device", "sim:8"],
    &["occupancy", "--arch", "sm_90"],
    &["claims", "--device", "sim:8", "--quick", "divergence"],
    &["compare", "s.wgsl", "s.wgsl", "--device", "sim:8"],
    &["profile", "s.wgsl", "--init"],
    &["completions", "bash"],
    &["profile", "-", "--device", "sim:8"],
];

const OPTIONS: [&str; 20] = [
    "--n",
    "--device",
    "--steps",
    "--operations",
    "--memory-max",
    "--time-limit",
    "--seed",
    "--entry",
    "--workgroups",
    "--launch",
    "--fail-on",
    "--export-json",
    "--sarif",
    "--out",
    "--budget",
    "--axis",
    "--seeds",
    "--shaders",
    "--what-if",
    "--nothing",
];

const GIVEN: [&str; 24] = [
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "1e99",
    "nan",
    "inf",
    "",
    " ",
    "sim:0",
    "sim:129",
    "sim:999999",
    "wgpu:99999999999",
    "cuda:0",
    "radv:x/32",
    "../..",
    "/dev/full",
    "n=[1:1000000:1]",
    "n=1e30",
    "lines > 3 && (",
    "efficiency<2",
    "0,0,0",
    "4294967295,4294967295,4294967295",
    "\u{202e}",
];

fn environment(any: &mut Any) -> Case {
    let shader = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n\
                  @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n\
                  if id.x % 3u == 0u { o[id.x] = 1u; }\n}\n";
    let mut case = Case {
        files: vec![("s.wgsl".into(), shader.into())],
        arguments: arguments(COMMANDS[any.below(COMMANDS.len())]),
        ..Case::default()
    };
    for _ in 0..any.below(3) {
        let (name, value) = (any.choose(&VARIABLES), any.choose(&SETTINGS));
        case.environment.push((name.into(), value.into()));
    }
    for _ in 0..any.below(3) {
        case.arguments.extend(arguments(&[any.choose(&OPTIONS), any.choose(&GIVEN)]));
    }
    if any.one_in(3) {
        case.arguments.extend(arguments(&["--out", any.choose(&PLACES)]));
    }
    if cfg!(unix) && any.one_in(4) {
        case.before = Some(any.choose(&LIMITS));
    }
    case.what = format!("{:?} with {:?}, {:?}", case.arguments, case.environment, case.before);
    case
}

fn kill(any: &mut Any) -> Case {
    let after = Duration::from_millis(5 + any.below(900) as u64);
    let words = [
        &["run", "five_patterns", "--quick", "--device", "sim:8", "--out", "o"][..],
        &["run", "grain", "--quick", "--device", "sim:32", "--histogram", "--out", "o"],
        &["claims", "--device", "sim:32", "--quick", "--out", "o"],
    ];
    Case {
        what: format!("killed after {after:?}"),
        arguments: arguments(words[any.below(3)]),
        killed_after: Some(after),
        ..Case::default()
    }
}
