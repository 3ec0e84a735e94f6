//! What standard output and standard error are written through: nothing in it steers a terminal.
//!
//! Input: text from anywhere. Output: the same text, but for what
//! [`visible`](crate::units::visible) shows as escapes. Colours pass on standard output alone, where
//! only the annotated listing has any, which shows foreign text as escapes itself.

use std::io::{self, StderrLock, StdoutLock, Write};

use crate::units::visible::visible;

/// What begins a colour.
const COLOUR: &str = "\u{1b}[";

/// A writer that shows hidden characters as escapes.
#[derive(Debug)]
pub(crate) struct Screen<W: Write> {
    to: W,
    /// Whether colours pass.
    colours: bool,
    /// The beginning of a character whose end was not written yet.
    begun: Vec<u8>,
}

/// Standard output.
pub(crate) fn stdout() -> Screen<StdoutLock<'static>> {
    Screen::new(io::stdout().lock(), true)
}

/// Standard error.
pub(crate) fn stderr() -> Screen<StderrLock<'static>> {
    Screen::new(io::stderr().lock(), false)
}

impl<W: Write> Screen<W> {
    fn new(to: W, colours: bool) -> Self {
        Self { to, colours, begun: Vec::new() }
    }

    fn show(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(COLOUR).filter(|_| self.colours) {
            let end = after.find(|c: char| !(c.is_ascii_digit() || c == ';'));
            let Some((codes, after)) = end.map(|end| after.split_at(end)) else { break };
            let Some(after) = after.strip_prefix('m') else { break };
            write!(self.to, "{}{COLOUR}{codes}m", visible(before))?;
            rest = after;
        }
        self.to.write_all(visible(rest).as_bytes())
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        let mut rest = &text[..];
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.show(text)?;
                    break;
                }
                Err(error) => {
                    let (known, unknown) = rest.split_at(error.valid_up_to());
                    self.show(str::from_utf8(known).unwrap_or_default())?;
                    let Some(length) = error.error_len() else {
                        self.begun = unknown.to_vec();
                        break;
                    };
                    self.show("\u{fffd}")?;
                    rest = &unknown[length..];
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(colours: bool, parts: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        let mut screen = Screen::new(&mut bytes, colours);
        parts.iter().for_each(|part| screen.write_all(part).unwrap());
        screen.flush().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn characters_in_pieces_come_out_whole_and_what_is_none_is_marked() {
        assert_eq!(written(false, &[b"a\xe6\xbc", b"\xa2b\xe2\x80", b"\xaec"]), "a漢b\\u202ec");
        assert_eq!(written(false, &[b"a\xffb\xfe"]), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn colours_pass_where_they_may_and_nothing_else_steers() {
        let text = "\u{1b}[1;38;5;32mx\u{1b}[0m\u{1b}[2J\u{1b}]0;t\u{7}\n";
        let shown = "\u{1b}[1;38;5;32mx\u{1b}[0m\\u001b[2J\\u001b]0;t\\u0007\n";
        assert_eq!(written(true, &[text.as_bytes()]), shown);
        assert_eq!(written(false, &[text.as_bytes()]), shown.replace('\u{1b}', "\\u001b"));
    }
}
