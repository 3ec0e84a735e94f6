//! Which line of one text is which of another.
//!
//! Input: two texts. Output: every line of both in one order, those that belong together side by side.
//! Lines that are the same but for the space around them are found first, by a diff; between two of
//! these, a line that was changed is set beside the one it came from where two fifths of their words
//! are the same. Nothing is counted here.

use std::collections::BTreeSet;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The least part of words in common at which a line was changed, and not taken away and another added.
const ALIKE_MIN: f64 = 0.4;

/// The longest stretch of changed lines whose words are compared, in lines of each text: the work
/// grows with their product.
const STRETCH_MAX: usize = 200;

/// The least part of lines in common at which two texts are two versions of one, where nobody says so.
const VERSIONS_MIN: f64 = 0.25;

/// A line that both texts have, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinePair {
    /// Its number in A, from 1; `None` if A does not have it.
    pub a: Option<u32>,
    /// Its number in B, from 1; `None` if B does not have it.
    pub b: Option<u32>,
    /// Whether both have the same text, but for the space around it.
    pub same_text: bool,
}

/// Pairs the lines of two texts, in an order that keeps that of both.
pub(super) fn pair_lines(a: &str, b: &str) -> Vec<LinePair> {
    let (a, b) = (trim_lines(a), trim_lines(b));
    let mut pairs = Vec::new();
    let (mut from_a, mut from_b) = (0, 0);
    for (at_a, at_b) in find_equal(&a, &b).into_iter().chain([(a.len(), b.len())]) {
        pair_changed(&a, &b, (from_a, at_a), (from_b, at_b), &mut pairs);
        if at_a < a.len() {
            pairs.push(pair(Some(at_a), Some(at_b), true));
        }
        (from_a, from_b) = (at_a + 1, at_b + 1);
    }
    pairs
}

/// Whether two texts look like two versions of one.
pub(super) fn are_versions(a: &str, b: &str) -> bool {
    let (a, b) = (trim_lines(a), trim_lines(b));
    let equal = find_equal(&a, &b);
    let common = equal.iter().filter(|(line, _)| has_words(a[*line])).count();
    let total = a.iter().chain(&b).filter(|line| has_words(line)).count();
    #[expect(clippy::cast_precision_loss, reason = "numbers of lines")]
    let part = 2.0 * common as f64 / total.max(1) as f64;
    part >= VERSIONS_MIN
}

/// Whether a line that says something stands in both texts.
pub(super) fn have_common_words(a: &str, b: &str) -> bool {
    let in_a: BTreeSet<&str> = trim_lines(a).into_iter().filter(|line| has_words(line)).collect();
    trim_lines(b).iter().any(|line| in_a.contains(line))
}

/// The lines of a text without the space around them.
fn trim_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

/// Whether a line says something, and is not only brackets.
fn has_words(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

fn pair(a: Option<usize>, b: Option<usize>, same_text: bool) -> LinePair {
    let number = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    LinePair { a: a.map(number), b: b.map(number), same_text }
}

/// The lines that are the same in both, by their places, in order.
fn find_equal(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    // A line that the other text does not have cannot be matched: left out beforehand, texts that have
    // little in common cost little.
    let in_a: BTreeSet<&str> = a.iter().copied().collect();
    let in_b: BTreeSet<&str> = b.iter().copied().collect();
    let shared = |lines: &[&str], others: &BTreeSet<&str>| -> Vec<usize> {
        (0..lines.len()).filter(|index| others.contains(lines[*index])).collect()
    };
    let (places_a, places_b) = (shared(a, &in_b), shared(b, &in_a));
    let left: Vec<&str> = places_a.iter().map(|index| a[*index]).collect();
    let right: Vec<&str> = places_b.iter().map(|index| b[*index]).collect();
    let mut equal = Vec::new();
    for operation in capture_diff_slices(Algorithm::Patience, &left, &right) {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            let places = (0..len).map(|step| (old_index + step, new_index + step));
            equal.extend(places.map(|(old, new)| (places_a[old], places_b[new])));
        }
    }
    equal
}

/// Pairs the lines of a stretch that has none in common.
fn pair_changed(
    a: &[&str],
    b: &[&str],
    (from_a, to_a): (usize, usize),
    (from_b, to_b): (usize, usize),
    pairs: &mut Vec<LinePair>,
) {
    let (mut next_a, mut next_b) = (from_a, from_b);
    for (at_a, at_b) in align(&a[from_a..to_a], &b[from_b..to_b]) {
        let (at_a, at_b) = (from_a + at_a, from_b + at_b);
        pairs.extend((next_a..at_a).map(|line| pair(Some(line), None, false)));
        pairs.extend((next_b..at_b).map(|line| pair(None, Some(line), false)));
        pairs.push(pair(Some(at_a), Some(at_b), false));
        (next_a, next_b) = (at_a + 1, at_b + 1);
    }
    pairs.extend((next_a..to_a).map(|line| pair(Some(line), None, false)));
    pairs.extend((next_b..to_b).map(|line| pair(None, Some(line), false)));
}

/// The changed lines that belong together: the alignment with most words in common.
fn align(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() || a.len().max(b.len()) > STRETCH_MAX {
        return Vec::new();
    }
    let [a, b] = [a, b].map(|lines| lines.iter().map(|line| words(line)).collect::<Vec<_>>());
    let alike: Vec<Vec<f64>> =
        a.iter().map(|left| b.iter().map(|right| alike(left, right)).collect()).collect();
    // best[i][j]: the most that lines from i and j on have in common.
    let mut best = vec![vec![0.0_f64; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let together =
                if alike[i][j] >= ALIKE_MIN { alike[i][j] + best[i + 1][j + 1] } else { 0.0 };
            best[i][j] = together.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if best[i][j] <= best[i + 1][j] {
            i += 1;
        } else if best[i][j] <= best[i][j + 1] {
            j += 1;
        } else {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    found
}

/// A line's words: names and numbers, and each other character by itself.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) {
            rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

/// The part of words that two lines have in common, in order: 1 where they are the same.
fn alike(a: &[&str], b: &[&str]) -> f64 {
    let equal =
        capture_diff_slices(Algorithm::Myers, a, b).into_iter().map(|operation| match operation {
            DiffOp::Equal { len, .. } => len,
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => 0,
        });
    #[expect(clippy::cast_precision_loss, reason = "numbers of words")]
    let part = 2.0 * equal.sum::<usize>() as f64 / (a.len() + b.len()).max(1) as f64;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs as `1=1`, `2~3` for a changed line, `2-` and `+3` for those of one side.
    fn text(a: &str, b: &str) -> String {
        let text_of = |pair: &LinePair| match (pair.a, pair.b) {
            (Some(a), Some(b)) => format!("{a}{}{b}", if pair.same_text { '=' } else { '~' }),
            (Some(a), None) => format!("{a}-"),
            (None, Some(b)) => format!("+{b}"),
            (None, None) => String::new(),
        };
        pair_lines(a, b).iter().map(text_of).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_are_matched_by_text_then_by_words() {
        assert_eq!(text("a\nb\nc", "a\nb\nc"), "1=1 2=2 3=3");
        assert_eq!(text("a\nb\nc", "a\nx\nb\nc"), "1=1 +2 2=3 3=4");
        assert_eq!(text("a\nb\nc", "a\nc"), "1=1 2- 3=2");
        // What moved into a block is the same line.
        assert_eq!(text("s = 1;", "if x {\n    s = 1;\n}"), "+1 1=2 +3");
        let before = "let d = p - q;\nif v > 1.0 { v = v - 1.0; }\nout[i] = v;";
        let after = "let d = p - q;\nlet w = 1u;\nv = select(v, v - 1.0, v > 1.0);\nout[i] = v;";
        assert_eq!(text(before, after), "1=1 +2 2~3 3=4");
        assert_eq!(text("", "a"), "+1");
        assert_eq!(text("", ""), "");
    }

    #[test]
    fn every_line_stands_once_and_in_order() {
        let (a, b) = ("a\nb\na\nb\nq r s\nz", "b\na\nq r t\na\nz\nb");
        let pairs = pair_lines(a, b);
        let numbers = |side: fn(&LinePair) -> Option<u32>| -> Vec<u32> {
            pairs.iter().filter_map(side).collect()
        };
        assert_eq!(numbers(|pair| pair.a), [1, 2, 3, 4, 5, 6]);
        assert_eq!(numbers(|pair| pair.b), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn texts_of_ten_thousand_lines_with_nothing_in_common_are_told_apart_at_once() {
        let text = |word: &str| (0..10_000).fold(String::new(), |t, i| t + &format!("{word}{i}\n"));
        let (a, b) = (text("a"), text("b"));
        assert_eq!(pair_lines(&a, &b).len(), 20_000);
        assert!(!are_versions(&a, &b) && are_versions(&a, &a));
        assert!(!are_versions("fn main() {\n}\n", "struct S {\n}\n"), "brackets say nothing");
    }
}
