//! WGSL in colours: a text cut into words of a few kinds.
//!
//! Input: a source text. Output: for each line its parts with a class for the style sheet. It knows
//! comments, numbers, attributes, keywords, predeclared types and calls, and judges nothing: what it
//! does not know stays plain.

use serde::Serialize;

/// A run of characters of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct TextPart {
    /// The style sheet's class: `com`, `num`, `att`, `key`, `typ`, `fun`, or nothing.
    pub(super) class: &'static str,
    /// The characters.
    pub(super) text: String,
}

/// WGSL's keywords.
const KEYWORDS: [&str; 29] = [
    "alias",
    "break",
    "case",
    "const",
    "const_assert",
    "continue",
    "continuing",
    "default",
    "diagnostic",
    "discard",
    "else",
    "enable",
    "false",
    "fn",
    "for",
    "if",
    "let",
    "loop",
    "override",
    "requires",
    "return",
    "struct",
    "switch",
    "true",
    "var",
    "while",
    "private",
    "workgroup",
    "uniform",
];

/// The beginnings of predeclared types' names, and whole names.
const TYPES: [&str; 13] = [
    "array",
    "atomic",
    "bool",
    "f16",
    "f32",
    "i32",
    "ptr",
    "u32",
    "sampler",
    "storage",
    "function",
    "read",
    "read_write",
];

/// Cuts a text into lines, and those into parts.
pub(super) fn highlight(text: &str) -> Vec<Vec<TextPart>> {
    // How many block comments are open: they nest.
    let mut open = 0;
    text.lines().map(|line| cut_into_words(line, &mut open)).collect()
}

fn cut_into_words(line: &str, open: &mut usize) -> Vec<TextPart> {
    let mut parts: Vec<TextPart> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (class, length) = next(rest, open);
        let (text, after) = rest.split_at(length);
        match parts.last_mut() {
            Some(last) if last.class == class => last.text.push_str(text),
            _ => parts.push(TextPart { class, text: text.to_owned() }),
        }
        rest = after;
    }
    parts
}

/// The class and the length in bytes of what a line goes on with; `rest` is not empty.
fn next(rest: &str, open: &mut usize) -> (&'static str, usize) {
    if *open > 0 || rest.starts_with("/*") {
        return ("com", comment(rest, open));
    }
    if rest.starts_with("//") {
        return ("com", rest.len());
    }
    let word =
        |from: &str| from.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(from.len());
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        let number = |c: char| c.is_alphanumeric() || c == '.';
        return ("num", rest.find(|c| !number(c)).unwrap_or(rest.len()));
    }
    if first == '@' {
        return ("att", 1 + word(&rest[1..]));
    }
    if first.is_alphabetic() || first == '_' {
        let length = word(rest);
        return (class(&rest[..length], &rest[length..]), length);
    }
    ("", first.len_utf8())
}

/// The length of a block comment's part on this line.
fn comment(rest: &str, open: &mut usize) -> usize {
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            *open += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            *open -= 1;
            at += 2;
            if *open == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

fn class(word: &str, after: &str) -> &'static str {
    if KEYWORDS.contains(&word) {
        "key"
    } else if TYPES.contains(&word) || vector(word) {
        "typ"
    } else if after.trim_start().starts_with('(') {
        "fun"
    } else {
        ""
    }
}

/// Whether a word is a vector's or a matrix's type, such as `vec3u` or `mat4x4`.
fn vector(word: &str) -> bool {
    let rest = word.strip_prefix("vec").or_else(|| word.strip_prefix("mat"));
    rest.is_some_and(|rest| {
        rest.starts_with(['2', '3', '4'])
            && rest.chars().all(|c| matches!(c, '2'..='4' | 'x' | 'f' | 'h' | 'i' | 'u'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let line = |parts: &Vec<TextPart>| {
            let part = |part: &TextPart| match part.class {
                "" => part.text.clone(),
                class => format!("[{class} {}]", part.text),
            };
            parts.iter().map(part).collect::<String>()
        };
        highlight(text).iter().map(line).collect()
    }

    #[test]
    fn words_get_their_classes() {
        assert_eq!(
            shown("@compute fn main(x: vec3u) { let y2 = max(0x1fu, 2.5e0); } // é <done>"),
            ["[att @compute] [key fn] [fun main](x: [typ vec3u]) { [key let] y2 = [fun max]\
              ([num 0x1fu], [num 2.5e0]); } [com // é <done>]"]
        );
    }

    #[test]
    fn block_comments_nest_and_go_on() {
        assert_eq!(
            shown("a /* b /* c\nd */ é\n*/ let x"),
            ["a [com /* b /* c]", "[com d */ é]", "[com */] [key let] x"]
        );
    }

    #[test]
    fn nothing_is_lost() {
        for text in ["/*/ *", "@", "1.", "_", "vec", "\u{10348} /*é*/ //"] {
            let whole: String = highlight(text)[0].iter().map(|part| &*part.text).collect();
            assert_eq!(whole, text);
        }
    }
}
