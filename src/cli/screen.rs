//! What standard output and standard error are written through: nothing in it steers a terminal.
//!
//! Input: text from anywhere. Output: the same text, but for what
//! [`visible`](crate::units::visible) shows as escapes. Colours pass on standard output alone, where
//! only the annotated listing has any, which shows foreign text as escapes itself. Messages, which go to
//! standard error, are broken at spaces where the terminal is too narrow; what goes to standard output comes
//! as it shall be.

use std::io::{self, StderrLock, StdoutLock, Write};

use crate::present::error_columns;
use crate::present::fit::{fold_after, width_of};
use crate::units::visible::visible;

/// What a continued line of a message begins with.
const HANG: &str = "  ";

/// What stands in lines that show a place in a shader, and are no sentences.
const DRAWN: [char; 2] = ['│', '┌'];

/// What begins a colour.
const COLOUR: &str = "\u{1b}[";

/// A writer that shows hidden characters as escapes.
#[derive(Debug)]
pub(crate) struct Screen<W: Write> {
    to: W,
    /// Whether colours pass.
    colours: bool,
    /// The columns into which lines are broken; `None` if they are not.
    columns: Option<usize>,
    /// The beginning of a character, or where lines are broken of a line, whose end was not written yet.
    begun: Vec<u8>,
}

/// Standard output.
pub(crate) fn stdout() -> Screen<StdoutLock<'static>> {
    Screen::new(io::stdout().lock(), true, None)
}

/// Standard error.
pub(crate) fn stderr() -> Screen<StderrLock<'static>> {
    Screen::new(io::stderr().lock(), false, error_columns())
}

impl<W: Write> Screen<W> {
    fn new(to: W, colours: bool, columns: Option<usize>) -> Self {
        Self { to, colours, columns, begun: Vec::new() }
    }

    /// Writes the lines of a message.
    fn show_lines(&mut self, text: &str, columns: usize) -> io::Result<()> {
        for line in text.split_inclusive('\n') {
            let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
            if width_of(text) <= columns || text.contains(DRAWN) {
                self.show(text)?;
            } else {
                let rest = text.trim_start();
                let head = &text[..text.len() - rest.len()];
                self.show(&fold_after(head, rest, &format!("{head}{HANG}"), Some(columns)))?;
            }
            self.to.write_all(end.as_bytes())?;
        }
        Ok(())
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
        if let Some(columns) = self.columns {
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            self.begun = text.split_off(whole);
            self.show_lines(&String::from_utf8_lossy(&text), columns)?;
            return Ok(bytes.len());
        }
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
        if let Some(columns) = self.columns {
            let rest = std::mem::take(&mut self.begun);
            self.show_lines(&String::from_utf8_lossy(&rest), columns)?;
        }
        self.to.flush()
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // Nothing is left to tell it to when standard error is closed.
        let _ = self.flush();
    }
}

/// A writer that may go on where its reader is gone: what is written then is lost.
#[derive(Debug)]
pub(crate) struct Outliving<W: Write> {
    to: W,
    /// Whether it goes on.
    goes_on: bool,
}

impl<W: Write> Outliving<W> {
    /// Writes to `to`, and goes on without its reader where `goes_on` says so.
    pub(crate) fn new(goes_on: bool, to: W) -> Self {
        Self { to, goes_on }
    }

    fn lost<T>(&self, done: io::Result<T>, otherwise: T) -> io::Result<T> {
        match done {
            Err(error) if self.goes_on && error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(otherwise)
            }
            done => done,
        }
    }
}

impl<W: Write> Write for Outliving<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.to.write(bytes);
        self.lost(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.to.flush();
        self.lost(done, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(colours: bool, parts: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        let mut screen = Screen::new(&mut bytes, colours, None);
        parts.iter().for_each(|part| screen.write_all(part).unwrap());
        screen.flush().unwrap();
        drop(screen);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_message_is_broken_at_spaces_and_a_drawing_is_not() {
        let mut bytes = Vec::new();
        let mut screen = Screen::new(&mut bytes, false, Some(20));
        let drawn = "12 │ let x = 1u; // as the shader has it\n";
        screen.write_all("a sentence of many ".as_bytes()).unwrap();
        write!(screen, "words, {}\n  and one\n{drawn}a/path/longer/than/a/line\nends", 1).unwrap();
        drop(screen);
        let shown = "a sentence of many\n  words, 1\n  and one\n";
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, format!("{shown}{drawn}a/path/longer/than/a/line\nends"));
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
