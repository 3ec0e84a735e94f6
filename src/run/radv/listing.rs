//! The listing's lines beside the instructions that were decoded.
//!
//! Input: the driver's listing, whose lines end in the words that they show. Output: for each
//! instruction the text of its line, where the line shows its words. The text is for people: lines
//! that LLVM misprints, or leaves out where an instruction repeats, have no text here.

use crate::amd::Code;

/// The text of each instruction's line.
pub(super) fn lines(code: &Code, words: &[u32], listing: &str) -> Vec<Option<String>> {
    let mut listed = listing.lines().filter_map(parse_line).peekable();
    let mut texts = Vec::new();
    for (index, instruction) in code.instructions().iter().enumerate() {
        let at = code.offset(index) / 4;
        let encoded = &words[at..at + instruction.length];
        let mut found = None;
        // A line of other words is skipped where one of the next has them.
        let ahead = listed.clone().take(3).position(|(_, shown)| shown == encoded);
        if let Some(skipped) = ahead {
            found = listed.nth(skipped).map(|(text, _)| text);
        }
        texts.push(found);
    }
    texts
}

/// A line's text and words.
fn parse_line(line: &str) -> Option<(String, Vec<u32>)> {
    let (text, words) = line.split_once(';')?;
    let words = words.split_whitespace().map(|word| u32::from_str_radix(word, 16).ok());
    Some((text.trim().to_owned(), words.collect::<Option<Vec<u32>>>()?))
}
