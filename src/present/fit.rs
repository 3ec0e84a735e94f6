//! Text made to fit a terminal: tabs, wide characters, cutting and folding.
//!
//! Input: a text, and the terminal's columns where it is one. Output: a text. It knows no table and no
//! profile.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::units::visible::visible;

/// The least room that a source line is given, in columns.
const SOURCE_MIN: usize = 4;

/// The least room that text is folded into, in columns.
const TEXT_MIN: usize = 16;

/// Columns from one tab stop to the next.
const TAB: usize = 4;

/// The columns that a text takes.
pub fn width_of(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A source line as a terminal can show it.
pub fn tabs(code: &str) -> String {
    let mut text = String::new();
    for part in code.split_inclusive('\t') {
        let (part, ends) = part.strip_suffix('\t').map_or((part, false), |part| (part, true));
        text += &visible(part);
        if ends {
            text += &" ".repeat(TAB - width_of(&text) % TAB);
        }
    }
    text
}

/// Cuts what does not fit after `used` columns, on a terminal only.
pub fn cut(code: &str, used: usize, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return code.to_owned() };
    let room = columns.saturating_sub(used).max(SOURCE_MIN);
    if width_of(code) <= room {
        return code.to_owned();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < room
    };
    let kept: String = code.chars().take_while(fits).collect();
    format!("{kept}…")
}

/// Breaks a text into lines at spaces, each after `indent`; on a terminal only.
pub fn fold(text: &str, indent: &str, columns: Option<usize>) -> String {
    fold_after(indent, text, indent, columns)
}

/// Breaks a text into lines at spaces, the first after `head`, the others after `indent`; on a terminal
/// only.
pub fn fold_after(head: &str, text: &str, indent: &str, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.max(TEXT_MIN + indent.len()));
    let mut lines = vec![head.to_owned()];
    let mut used = width_of(head);
    let mut begun = false;
    // A figure keeps its unit.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let word = &*word.replace('\u{a0}', " ");
        let long = width_of(word);
        if begun && used + 1 + long > room {
            lines.push(indent.to_owned());
            used = width_of(indent);
            begun = false;
        }
        if let Some(line) = lines.last_mut() {
            if begun {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += long;
            begun = true;
        }
    }
    lines.join("\n")
}

/// Joins parts by `between` and breaks the line between parts, each line after `indent`; a part that is
/// longer than a line is broken at spaces. On a terminal only.
pub fn fold_parts(parts: &[String], between: &str, indent: &str, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.max(TEXT_MIN + indent.len()));
    let mut lines: Vec<String> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let end = if index + 1 < parts.len() { between } else { "" };
        let part = format!("{part}{end}");
        match lines.last_mut() {
            Some(line) if width_of(line) + width_of(part.trim_end()) <= room => {
                line.push_str(&part)
            }
            _ => {
                let folded = fold(&part, indent, columns);
                let space = if part.ends_with(' ') { " " } else { "" };
                lines.extend(folded.lines().map(str::to_owned));
                if let Some(line) = lines.last_mut() {
                    line.push_str(space);
                }
            }
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(tabs("\tx\ty"), "    x   y");
        assert_eq!(tabs("\t\tif"), "        if");
        assert_eq!(tabs("漢\tx"), "漢  x");
    }

    #[test]
    fn cutting_counts_columns_and_not_characters() {
        assert_eq!(cut("漢字漢字漢字漢字漢字", 0, Some(16)), "漢字漢字漢字漢…");
        assert_eq!(cut("0123456789abcdef", 0, Some(16)), "0123456789abcdef");
        assert_eq!(cut("0123456789abcdefg", 4, Some(20)), "0123456789abcde…");
        for columns in 17..40 {
            assert!(width_of(&cut(&"a漢".repeat(40), 0, Some(columns))) <= columns);
        }
    }

    #[test]
    fn a_figure_keeps_its_unit() {
        assert_eq!(fold("at most or least 54.4 %", "", Some(20)), "at most or least\n54.4 %");
    }

    #[test]
    fn parts_are_kept_whole_where_a_line_can_hold_them() {
        let parts = ["time 55.9 ms", "ratio 2.00×", "a part of many words"].map(str::to_owned);
        assert_eq!(
            fold_parts(&parts, "; ", "  ", Some(28)),
            "  time 55.9 ms; ratio 2.00×;\n  a part of many words"
        );
        assert_eq!(
            fold_parts(&parts, "; ", "", None),
            "time 55.9 ms; ratio 2.00×; a part of many words"
        );
        assert_eq!(
            fold_parts(&parts, "; ", "", Some(16)),
            "time 55.9 ms;\nratio 2.00×;\na part of many\nwords"
        );
    }
}
