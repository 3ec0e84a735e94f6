//! Text in which nothing is hidden: what steers a terminal or turns text around is shown as an escape.
//!
//! Input: text from a record, a shader, a driver. Output: the same text, but for control characters
//! (C0 without newline and tab, DEL, C1), marks of writing direction, line separators other than a
//! newline, and what XML has no form for: each stands as `\u202e`, its number in hexadecimal.
//! The form is JSON's, so that JSON text with a raw character in it keeps its meaning.

use std::borrow::Cow;

/// Whether a character is not seen as itself wherever text is shown. A carriage return is hidden too,
/// where it does not end a line together with a newline.
pub fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    }
}

/// Whether a byte of ASCII may belong to a hidden character, or is none of ASCII.
fn may_hide(byte: u8) -> bool {
    !matches!(byte, b'\n' | b'\t' | 0x20..0x7f)
}

/// Shows hidden characters of a text as escapes.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Nearly all text is ASCII, whose bytes are looked at faster than characters.
    if !text.bytes().any(may_hide) || !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if is_hidden(character) && !(character == '\r' && characters.peek() == Some(&'\n')) {
            shown += &escape(character);
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// As [`visible`], with newlines and tabs as escapes too: for names, which stand on one line.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    let breaks = |c| matches!(c, '\n' | '\r' | '\t');
    if !text.contains(|c| breaks(c) || is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let shown = |c| if breaks(c) || is_hidden(c) { escape(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Shows hidden characters of JSON's strings as escapes of escapes, so that what is read from it has
/// none; all else is as it was, and what is no JSON is refused by whoever reads it.
pub fn visible_json(text: &[u8]) -> Cow<'_, [u8]> {
    let mut shown = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    let mut within = false;
    while at < text.len() {
        let (hidden, length) = match text[at] {
            b'"' => {
                within = !within;
                (None, 1)
            }
            b'\\' if within => read_escape(&text[at..]),
            0x20..0x7f => (None, 1),
            _ if within => raw(&text[at..]),
            _ => (None, 1),
        };
        if let Some(character) = hidden {
            shown.extend_from_slice(&text[copied..at]);
            shown.push(b'\\');
            shown.extend_from_slice(escape(character).as_bytes());
            copied = at + length;
        }
        at += length;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.extend_from_slice(&text[copied..]);
    Cow::Owned(shown)
}

/// What an escape of JSON stands for, where that is hidden, and its length in bytes.
fn read_escape(text: &[u8]) -> (Option<char>, usize) {
    match text.get(1) {
        Some(b'b') => (Some('\u{8}'), 2),
        Some(b'f') => (Some('\u{c}'), 2),
        // A line may end in \r\n.
        Some(b'r') if !text[2..].starts_with(b"\\n") => (Some('\r'), 2),
        Some(b'u') => {
            let digits = text.get(2..6).and_then(|digits| std::str::from_utf8(digits).ok());
            let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let character = number.and_then(char::from_u32).filter(|c| is_hidden(*c));
            let length = if digits.is_some() { 6 } else { 2 };
            (character, length)
        }
        _ => (None, 2),
    }
}

/// The character that a string of JSON goes on with, where it is hidden, and its length in bytes.
fn raw(text: &[u8]) -> (Option<char>, usize) {
    let length = match text[0] {
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => 1,
    };
    let character = text.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match character.and_then(|text| text.chars().next()) {
        Some(character) => (is_hidden(character).then_some(character), length),
        None => (None, 1),
    }
}

fn escape(character: char) -> String {
    format!("\\u{:04x}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_turns_is_shown_and_lines_stay() {
        let text = "a\u{1b}[31m\u{9b}2J\tb\r\nc\rd\u{202e}e\u{2066}é漢\u{7f}\0\u{fffe}\n";
        let shown =
            "a\\u001b[31m\\u009b2J\tb\r\nc\\u000dd\\u202ee\\u2066é漢\\u007f\\u0000\\ufffe\n";
        assert_eq!(visible(text), shown);
        assert_eq!(visible_line("a\r\n\tb"), "a\\u000d\\u000a\\u0009b");
        assert!(matches!(visible("é漢\n\t"), Cow::Borrowed(_)));
        assert!(matches!(visible_line("é漢 x"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_its_form_and_what_is_read_from_it_is_visible() {
        let hidden = "k\u{1b}\u{8}\u{c}\r\u{202e}\u{85}\u{7f}\u{fffe}\u{10348}é\\\"/\r\n\t end";
        let value = serde_json::json!({ hidden: [hidden, 1.5, null], "plain": "\\u202e" });
        let spelt: String = hidden.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        let whole = format!("{{\"spelt\":\"{spelt}\",\"v\":{value}}}");
        let read: serde_json::Value =
            serde_json::from_slice(&visible_json(whole.as_bytes())).unwrap();
        let shown = visible(hidden);
        assert_eq!(read["v"][&*shown], serde_json::json!([shown, 1.5, null]));
        assert_eq!(read["v"]["plain"], "\\u202e");
        // Spelt out, a pair of \r\n is not looked for.
        assert_eq!(read["spelt"], shown.replace('\r', "\\u000d"));
    }

    #[test]
    fn text_that_is_no_json_goes_through() {
        for text in
            [&b"\"\\"[..], b"\"\\u", b"\"\\u12", b"\"\xff\xfe", b"\"\xe2\x80", b"\xe2\x80\xae", b""]
        {
            assert_eq!(&*visible_json(text), text);
        }
    }
}
