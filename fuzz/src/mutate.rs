//! Mutations that mostly keep a shader a shader.
//!
//! Input: a text with its option byte, and a seed. Output: the same buffer, changed, and its new
//! length. One call in four leaves the work to libFuzzer's own mutations, with the dictionary. The
//! others cut, copy, move and splice lines, wrap them in control flow, and exchange tokens for
//! others of their kind. Lines to splice come from the corpus of shaders in `tests/wgsl`, read once
//! at the first call.

use std::path::Path;
use std::sync::OnceLock;

use lanescope::units::random::SplitMix64;

/// Numbers at which arithmetic turns.
const NUMBERS: [&str; 16] = [
    "0u",
    "1u",
    "2u",
    "4u",
    "31u",
    "32u",
    "64u",
    "4294967295u",
    "0",
    "-1",
    "2147483647",
    "-2147483648",
    "1.5f",
    "0.0",
    "3.4028235e38f",
    "0x7fu",
];

/// Operators, each of which may stand for another.
const OPERATORS: [&str; 20] = [
    " + ", " - ", " * ", " / ", " % ", " & ", " | ", " ^ ", " << ", " >> ", " == ", " != ", " < ",
    " > ", " <= ", " >= ", " && ", " || ", " += ", " = ",
];

/// Types.
const TYPES: [&str; 12] = [
    "u32",
    "i32",
    "f32",
    "bool",
    "vec2u",
    "vec3u",
    "vec4f",
    "vec2<i32>",
    "mat2x2f",
    "f16",
    "array<u32, 4>",
    "atomic<u32>",
];

/// Control flow around lines: what stands before and after.
const WRAPS: [(&str, &str); 10] = [
    ("if (true) {", "}"),
    ("if (1u < 2u) {", "} else {}"),
    ("{", "}"),
    ("for (var zz = 0u; zz < 3u; zz++) {", "}"),
    ("loop {", "break; }"),
    ("loop {", "continuing { break if true; } }"),
    ("while (false) {", "}"),
    ("switch (2u) { case 1u, 2u: {", "} default: {} }"),
    ("switch (3) { default: {", "} case 7: { } }"),
    ("loop { if (true) {", "return; } break; }"),
];

/// Statements that can stand almost everywhere.
const STATEMENTS: [&str; 12] = [
    "break;",
    "continue;",
    "return;",
    "workgroupBarrier();",
    "storageBarrier();",
    "let q = subgroupAdd(1u);",
    "let r = subgroupBallot(true);",
    "_ = subgroupElect();",
    "_ = 1u / 0u;",
    "var s = array<u32, 3>(1u, 2u, 3u);",
    "const_assert true;",
    "let t = quadBroadcast(1u, 2u);",
];

/// Changes `data[..size]` in place, within `max_size` bytes, and gives the new length.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(SplitMix64::new(u64::from(seed) << 1 | 1));
    let valid = random.below(4) != 0;
    let text = data[..size].split_last().and_then(|(option, text)| {
        std::str::from_utf8(text).ok().map(|text| (text.to_owned(), *option))
    });
    let (Some((mut text, mut option)), true) = (text, valid) else {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..=random.below(3) {
        match random.below(12) {
            0..5 => lines(&mut text, &mut random),
            5..11 => tokens(&mut text, &mut random),
            _ => option = random.below(256) as u8,
        }
    }
    if text.len() + 1 > max_size {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    data[..text.len()].copy_from_slice(text.as_bytes());
    data[text.len()] = option;
    text.len() + 1
}

/// Changes whole lines.
fn lines(text: &mut String, random: &mut Random) {
    let mut all: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let at = random.below(all.len());
    let end = (at + 1 + random.below(4)).min(all.len());
    match random.below(7) {
        0 => drop(all.drain(at..end)),
        1 => {
            let copy = all[at..end].to_vec();
            let to = random.below(all.len() + 1);
            all.splice(to..to, copy);
        }
        2 => {
            let other = random.below(all.len());
            all.swap(at, other);
        }
        3 => {
            let (before, after) = WRAPS[random.below(WRAPS.len())];
            all.insert(end, after.to_owned());
            all.insert(at, before.to_owned());
        }
        4 => all.insert(at, STATEMENTS[random.below(STATEMENTS.len())].to_owned()),
        5 => {
            if let Some(given) = donor(random) {
                all.splice(at..at, given);
            }
        }
        _ => {
            if let Some(given) = donor(random) {
                all.splice(at..end, given);
            }
        }
    }
    *text = all.join("\n");
}

/// A few lines of a shader of the corpus.
fn donor(random: &mut Random) -> Option<Vec<String>> {
    static DONORS: OnceLock<Vec<String>> = OnceLock::new();
    let donors = DONORS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wgsl");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = files.map(|file| file.path()).collect();
        paths.sort();
        paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    });
    if donors.is_empty() {
        return None;
    }
    let all: Vec<&str> = donors[random.below(donors.len())].lines().collect();
    let at = random.below(all.len().max(1));
    let end = (at + 1 + random.below(6)).min(all.len());
    Some(all.get(at..end)?.iter().map(|&line| line.to_owned()).collect())
}

/// Exchanges one token for another of its kind.
fn tokens(text: &mut String, random: &mut Random) {
    let found = words(text);
    if found.is_empty() {
        return;
    }
    let (start, end) = found[random.below(found.len())];
    let word = text[start..end].to_owned();
    let new = if word.starts_with(|c: char| c.is_ascii_digit()) {
        NUMBERS[random.below(NUMBERS.len())].to_owned()
    } else if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        OPERATORS[random.below(OPERATORS.len())].to_owned()
    } else if TYPES.contains(&word.as_str()) {
        TYPES[random.below(TYPES.len())].to_owned()
    } else {
        // Another name of the same shader.
        let (start, end) = found[random.below(found.len())];
        text[start..end].to_owned()
    };
    text.replace_range(start..end, &new);
}

/// The ranges of words and of runs of operators.
fn words(text: &str) -> Vec<(usize, usize)> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '.' => 1,
        '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '=' | '!' => 2,
        _ => 0,
    };
    let mut found = Vec::new();
    let mut open: Option<(usize, u8)> = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let now = kind(c);
        if let Some((start, before)) = open.filter(|(_, before)| *before != now) {
            if before != 0 {
                found.push((start, at));
            }
            open = None;
        }
        if open.is_none() {
            open = Some((at, now));
        }
    }
    found
}

/// A stream of numbers from one seed.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.bits() % limit.max(1) as u64) as usize
    }
}
