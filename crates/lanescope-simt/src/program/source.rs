//! A shader's text: fixed up so that naga accepts it, and searched for what naga does not keep.
//!
//! Input: the text as the user wrote it. Output: [`Text`], which holds the original, a *cleaned*
//! copy of the same length in bytes (so that every span holds for both), the directives that were
//! blanked, and the marker comments. It knows comments and braces, no other syntax.

use std::collections::BTreeMap;
use std::ops::Range;

use naga::Span;

use crate::binary::SourceFile;

/// Directives that naga 30 does not know but whose features it has without being asked.
const BLANKED: [&str; 3] = ["subgroups", "subgroup_id", "subgroup_uniformity"];

/// What some editors put before UTF-8; WGSL does not have it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The comment that labels blocks: `// block: NAME`.
const MARKER: &str = "block:";

/// Operators of one expression: a chain of them takes about 400 bytes of stack each in naga's front
/// end, and up to some thousands in its back-ends.
pub const OPERATORS_MAX: u32 = 10_000;

/// A shader's text, original and cleaned.
#[derive(Clone, Debug)]
pub struct Text {
    file: String,
    original: String,
    cleaned: String,
    directives: Vec<String>,
    line_starts: Vec<usize>,
    scopes: Vec<LabelChange>,
    /// The text with comments turned to spaces.
    code: String,
    /// The offset of the keyword `fn` of each function.
    functions: BTreeMap<String, usize>,
    /// The files that it consists of, where there is more to say than `file`.
    parts: Vec<SourcePart>,
}

/// A file that is part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePart {
    /// Its name.
    pub name: String,
    /// The line of the text in which it begins, from 1.
    pub first_line: u32,
}

/// From `offset` on, blocks carry `label`, until the next change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelChange {
    offset: usize,
    label: Option<String>,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// The start of a span that the parser gave; generated code has none, or 0..0.
pub(super) fn find_start(span: Span) -> Option<usize> {
    span.to_range().filter(|range| range.end > 0).map(|range| range.start)
}

impl Text {
    /// Cleans `original`; `file` is the name that messages show.
    pub fn new(file: &str, original: &str) -> Self {
        let comments = comments(original);
        let (cleaned, directives) = blank_directives(original, &comments);
        let line_starts =
            std::iter::once(0).chain(original.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let scopes = label_changes(original, &comments);
        let code = without(original, &comments);
        let functions = functions(&code);
        Self {
            file: file.to_owned(),
            original: original.to_owned(),
            cleaned,
            directives,
            line_starts,
            scopes,
            code,
            functions,
            parts: Vec::new(),
        }
    }

    /// The files of a source as one text: the first from its first line, so that its lines keep their numbers, and
    /// behind it each other under a comment with its name. Those without text are left out; `file` is the name that
    /// messages show, that of what was made from them: a line of the whole is none of the first file's.
    pub(super) fn joined(file: &str, sources: &[SourceFile]) -> Self {
        let mut all = String::new();
        let mut parts: Vec<SourcePart> = Vec::new();
        for source in sources {
            let Some(text) = &source.text else { continue };
            if !all.is_empty() {
                if !all.ends_with('\n') {
                    all.push('\n');
                }
                all.push_str(&format!("\n// {}\n", source.name));
            }
            let first_line = u32::try_from(all.matches('\n').count() + 1).unwrap_or(u32::MAX);
            parts.push(SourcePart { name: source.name.clone(), first_line });
            all.push_str(text);
        }
        Self { parts, ..Self::new(file, &all) }
    }

    /// The files that it consists of; none where it is one file.
    pub fn parts(&self) -> &[SourcePart] {
        &self.parts
    }

    /// The part in which a line stands, and which line of it that is, from 1; nothing where the text is one file.
    pub fn line_of_its_part(&self, line: u32) -> Option<(&SourcePart, u32)> {
        let after = self.parts.partition_point(|part| part.first_line <= line);
        let part = self.parts.get(after.checked_sub(1)?)?;
        Some((part, line - part.first_line + 1))
    }

    /// The bytes of a line of a part, from a column on; the part's last line where it has fewer.
    fn line_of_part(&self, part: usize, line: u32, column: u32) -> Option<Range<usize>> {
        let first = self.parts.get(part)?.first_line as usize;
        // The next part's heading, with a line before it, is no part of this one.
        let next = self.parts.get(part + 1).map(|next| (next.first_line as usize).max(3) - 3);
        let last = next.unwrap_or(self.line_starts.len()).max(first);
        let line = (first + (line as usize).max(1) - 1).min(last);
        let start = *self.line_starts.get(line - 1)?;
        let length = self.original[start..].find('\n').unwrap_or(self.original.len() - start);
        let text = &self.original[start..start + length];
        let indented = text.len() - text.trim_start().len();
        let column = (column as usize).max(1) - 1;
        let column = if column < text.len() { column.max(indented) } else { indented };
        Some(start + column..start + length)
    }

    /// The span of a line of a part, from a column on.
    pub(super) fn line_span(&self, part: usize, line: u32, column: u32) -> Option<Span> {
        let range = self.line_of_part(part, line, column)?;
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Some(Span::new(offset(range.start), offset(range.end.max(range.start + 1))))
    }

    /// Where a word stands first, outside comments.
    pub(super) fn find_word(&self, word: &str) -> Option<usize> {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let whole = |(at, _): &(usize, &str)| {
            let (before, after) = (&self.code[..*at], &self.code[at + word.len()..]);
            !before.ends_with(part) && !after.starts_with(part)
        };
        (!word.is_empty()).then(|| self.code.match_indices(word).find(whole)).flatten().map(|f| f.0)
    }

    /// The name that messages show.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text as the user wrote it.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The text that naga parses: the same length, blanked directives turned to spaces.
    pub fn cleaned_text(&self) -> &str {
        &self.cleaned
    }

    /// The directives that were blanked, as written, to be put back when WGSL is exported.
    pub fn directives(&self) -> &[String] {
        &self.directives
    }

    /// Line and column of a byte offset; offsets past the end give the end.
    pub fn location(&self, offset: usize) -> Location {
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Location { line: small(line + 1), column: small(offset - self.line_starts[line] + 1) }
    }

    /// Where the keyword of a branch stands, whose statement begins at a byte offset; nothing where no `if` or
    /// `switch` is written there, as for what a loop or `&&` becomes.
    pub(super) fn find_branch(&self, start: usize) -> Option<usize> {
        let mut rest = self.code.get(start..)?.trim_start();
        // A chained `if` begins at its `else`.
        rest = rest.strip_prefix("else").map_or(rest, str::trim_start);
        let word = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        ["if", "switch"].contains(&word).then(|| self.code.len() - rest.len())
    }

    /// The line of a branch: of its keyword; else of the statement, which is the condition of a loop or the whole of
    /// an `&&`; nothing for what the parser made up. Where figures stand on another source's lines, as those of
    /// SPIR-V do, the condition's comes before the statement's.
    ///
    /// The condition may be worked out lines before, as that of `let won = …; if (won)` is.
    pub(super) fn branch_line(&self, condition: Span, statement: Span) -> Option<u32> {
        let [condition, statement] = [condition, statement].map(find_start);
        let keyword = statement.and_then(|start| self.find_branch(start));
        let written = self.parts.is_empty().then_some(statement).flatten();
        Some(self.location(keyword.or(written).or(condition).or(statement)?).line)
    }

    /// Where the `break if` of a loop stands, the last statement in it; the loop's place where none is written.
    pub(super) fn break_if(&self, of_loop: Span) -> Span {
        let range = of_loop.to_range().filter(|_| self.parts.is_empty()).unwrap_or(0..0);
        let inside = self.code.get(range.clone()).unwrap_or_default();
        let asks = |at: &usize| inside[at + "break".len()..].trim_start().starts_with("if");
        inside.rfind("break").filter(asks).map_or(of_loop, |at| {
            let [start, end] =
                [range.start + at, range.end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
            Span::new(start, end)
        })
    }

    /// The label in force at a byte offset.
    ///
    /// A marker comment `// block: NAME` labels what follows it in its brace-enclosed scope, inner
    /// scopes included, until the next marker or the scope's end; `// block: -` ends a label.
    pub fn label(&self, offset: usize) -> Option<&str> {
        let after = self.scopes.partition_point(|change| change.offset <= offset);
        after.checked_sub(1).and_then(|index| self.scopes[index].label.as_deref())
    }

    /// Every label that a marker gives, in order and with repetitions, with the marker's place;
    /// markers that end a label are left out.
    pub fn labels(&self) -> impl Iterator<Item = (&str, Location)> {
        comments(&self.original).into_iter().filter_map(|range| {
            let name = marker(&self.original[range.clone()]).filter(|name| *name != "-")?;
            Some((name, self.location(range.start)))
        })
    }

    /// The offset of the brace that closes function `name`, or the text's end.
    pub fn function_end(&self, name: &str) -> usize {
        self.function_start(name)
            .and_then(|start| closing_brace(&self.code, start))
            .unwrap_or(self.code.len())
    }

    /// The line of the first expression with more than `max` operators outside its parentheses.
    pub fn too_long(&self, max: u32) -> Option<u32> {
        let mut counts: Vec<u32> = vec![0];
        for (offset, byte) in self.code.bytes().enumerate() {
            let last = counts.len() - 1;
            match byte {
                b'(' | b'[' => counts.push(0),
                b')' | b']' if last > 0 => {
                    counts.pop();
                }
                b';' | b'{' | b'}' => counts = vec![0],
                b',' => counts[last] = 0,
                b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'~'
                | b'!' => {
                    counts[last] += 1;
                    if counts[last] > max {
                        return Some(self.location(offset).line);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The line of the innermost bracket and how many are open there, where there are any.
    pub fn deepest(&self) -> Option<(u32, usize)> {
        let (mut depth, mut deepest) = (0_usize, None);
        for (offset, byte) in self.code.bytes().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    if deepest.is_none_or(|(_, most)| depth > most) {
                        deepest = Some((offset, depth));
                    }
                }
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        deepest.map(|(offset, depth)| (self.location(offset).line, depth))
    }

    /// The function with most words and operators, of which an index is one, and how many it has: naga's front end takes
    /// time with the square of that number.
    pub fn longest_function(&self) -> Option<(&str, usize)> {
        let begins = self.functions.iter().map(|(name, begin)| (*begin, name.as_str()));
        let mut begins: Vec<(usize, &str)> = begins.collect();
        begins.sort_unstable();
        let ends = begins.iter().skip(1).map(|(begin, _)| *begin).chain([self.code.len()]);
        let sizes = begins.iter().zip(ends).map(|((begin, name), end)| {
            let bytes = &self.code.as_bytes()[*begin..end];
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let begins = bytes.windows(2).filter(|pair| !word(pair[0]) && word(pair[1])).count();
            let operators = bytes.iter().filter(|byte| b"+-*/%&|^<>!~[".contains(byte)).count();
            (*name, begins + operators)
        });
        sizes.max_by_key(|(_, size)| *size)
    }

    /// The line of the attribute that gives entry point `name` its workgroups' size.
    pub fn workgroup_size_line(&self, name: &str) -> Option<u32> {
        let start = self.function_start(name)?;
        let from = self.code[..start].rfind(['}', ';']).map_or(0, |end| end + 1);
        let at = self.code[from..start].find("workgroup_size")?;
        Some(self.location(from + at).line)
    }

    /// The offset of the keyword `fn` of function `name`, where there is such a function.
    pub fn function_start(&self, name: &str) -> Option<usize> {
        self.functions.get(name).copied()
    }
}

/// The offset of the keyword `fn` of each function in a text without comments; of one of two of a name the
/// first.
fn functions(code: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (start, _) in code.match_indices("fn ") {
        let rest = code[start + 3..].trim_start();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        found.entry(rest[..length.unwrap_or(rest.len())].to_owned()).or_insert(start);
    }
    found
}

/// The offset of the brace that closes the first one opened after `from`.
fn closing_brace(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in (from..).zip(code.as_bytes()[from..].iter().copied()) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The text with its comments turned to spaces, of the same length.
fn without(text: &str, comments: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in comments {
        blank(&mut bytes, range.clone());
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Turns a byte range to spaces, line ends kept.
fn blank(bytes: &mut [u8], range: Range<usize>) {
    for byte in &mut bytes[range] {
        if *byte != b'\n' && *byte != b'\r' {
            *byte = b' ';
        }
    }
}

/// The byte ranges of all comments; block comments nest in WGSL.
fn comments(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'/') => {
                let end = text[at..].find('\n').map_or(bytes.len(), |length| at + length);
                found.push(at..end);
                at = end;
            }
            (b'/', b'*') => {
                let end = block_comment_end(bytes, at);
                found.push(at..end);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') => (depth, at) = (depth + 1, at + 2),
            (b'*', b'/') if depth == 1 => return at + 2,
            (b'*', b'/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The name in a marker comment.
fn marker(comment: &str) -> Option<&str> {
    let name = comment.strip_prefix("//")?.trim().strip_prefix(MARKER)?.trim();
    (!name.is_empty()).then_some(name)
}

/// Blanks the names in `enable` and `requires` directives that naga does not know.
fn blank_directives(text: &str, comments: &[Range<usize>]) -> (String, Vec<String>) {
    let mut code = text.as_bytes().to_vec();
    for range in comments {
        blank(&mut code, range.clone());
    }
    let mut cleaned = text.as_bytes().to_vec();
    if text.starts_with(BYTE_ORDER_MARK) {
        blank(&mut code, 0..BYTE_ORDER_MARK.len_utf8());
        blank(&mut cleaned, 0..BYTE_ORDER_MARK.len_utf8());
    }
    let code = String::from_utf8(code).unwrap_or_default();
    let mut directives = Vec::new();
    let mut at = 0;
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        let Some(length) = code[at..].find(';') else { break };
        let statement = &code[at..at + length];
        let Some((keyword, names)) = statement.split_once(char::is_whitespace) else { break };
        if keyword == "enable" || keyword == "requires" {
            let all: Vec<&str> =
                names.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
            let unknown = |name: &&str| keyword == "requires" || BLANKED.contains(name);
            if all.iter().any(unknown) {
                directives.push(format!("{keyword} {};", all.join(", ")));
                let kept: Vec<&str> = all.iter().filter(|n| !unknown(n)).copied().collect();
                blank(&mut cleaned, at..at + length + 1);
                if !kept.is_empty() {
                    let line = format!("enable {};", kept.join(","));
                    cleaned[at..at + line.len()].copy_from_slice(line.as_bytes());
                }
            }
        } else if keyword != "diagnostic" && !keyword.starts_with("diagnostic(") {
            break;
        }
        at += length + 1;
    }
    (String::from_utf8(cleaned).unwrap_or_default(), directives)
}

/// The label in force from each offset on.
fn label_changes(text: &str, comments: &[Range<usize>]) -> Vec<LabelChange> {
    let mut stack: Vec<Option<String>> = vec![None];
    let mut changes = Vec::new();
    let mut next_comment = comments.iter().peekable();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if let Some(range) = next_comment.next_if(|range| range.start == at) {
            if let Some(name) = marker(&text[range.clone()]) {
                let label = (name != "-").then(|| name.to_owned());
                if let Some(top) = stack.last_mut() {
                    top.clone_from(&label);
                }
                changes.push(LabelChange { offset: at, label });
            }
            at = range.end;
            continue;
        }
        match bytes[at] {
            b'{' => stack.push(stack.last().cloned().flatten()),
            b'}' if stack.len() > 1 => {
                stack.pop();
                let label = stack.last().cloned().flatten();
                changes.push(LabelChange { offset: at + 1, label });
            }
            _ => {}
        }
        at += 1;
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_that_naga_rejects_become_spaces() {
        let text = "// hi\nenable f16, subgroups;\nrequires readonly_and_readwrite_storage_textures;\n\
                    diagnostic(off, subgroup_uniformity);\nfn f() {}\n";
        let cleaned = Text::new("a.wgsl", text);
        assert_eq!(cleaned.cleaned_text().len(), text.len());
        assert!(cleaned.cleaned_text().contains("enable f16;"));
        assert!(!cleaned.cleaned_text().contains("subgroups;"));
        assert!(!cleaned.cleaned_text().contains("requires"));
        assert!(cleaned.cleaned_text().contains("diagnostic(off"));
        assert_eq!(cleaned.directives()[0], "enable f16, subgroups;");
    }

    #[test]
    fn a_byte_order_mark_becomes_spaces() {
        let text = "\u{feff}enable subgroups;\nfn f() {}\n";
        let cleaned = Text::new("a.wgsl", text);
        assert_eq!(cleaned.cleaned_text().len(), text.len());
        assert_eq!(cleaned.cleaned_text().trim_start(), "fn f() {}\n");
        assert_eq!(cleaned.original(), text);
    }

    #[test]
    fn the_deepest_bracket_has_a_line() {
        let text = Text::new("a.wgsl", "fn f() { // ((((\n g((1)[\n2]); }");
        assert_eq!(text.deepest(), Some((2, 3)));
        assert_eq!(Text::new("a.wgsl", "x").deepest(), None);
    }

    #[test]
    fn a_label_holds_to_the_end_of_its_scope() {
        let text = "fn f() { a; if x { // block: hot\n b; loop { c; } } d; /* block: no */ e; }";
        let labelled = Text::new("a.wgsl", text);
        let label = |word: &str| labelled.label(text.find(word).unwrap()).map(str::to_owned);
        assert_eq!(label("a;"), None);
        assert_eq!(label("b;").as_deref(), Some("hot"));
        assert_eq!(label("c;").as_deref(), Some("hot"));
        assert_eq!(label("d;"), None);
        assert_eq!(label("e;"), None);
    }

    #[test]
    fn locations_count_from_one() {
        let text = Text::new("a.wgsl", "ab\ncd");
        assert_eq!(text.location(0), Location { line: 1, column: 1 });
        assert_eq!(text.location(4), Location { line: 2, column: 2 });
    }

    #[test]
    fn the_longest_function_is_found_by_its_words_and_operators() {
        let text =
            Text::new("a.wgsl", "fn a() { x = 1u; }\nfn b() { x = x * 3u + 1u; /* + + */ }\n");
        assert_eq!(text.longest_function(), Some(("b", 7)));
        let text = Text::new("a.wgsl", "fn a() { o[x][y] = 1u; }\nfn b() { x = y + 1u; }\n");
        assert_eq!(text.longest_function(), Some(("a", 7)));
        assert_eq!(Text::new("a.wgsl", "").longest_function(), None);
    }

    #[test]
    fn a_functions_end_is_its_closing_brace() {
        let text = Text::new("a.wgsl", "fn ab() { } fn a() { { // }\n } }");
        assert_eq!(text.function_end("a"), 31);
        assert_eq!(text.function_end("ab"), 10);
    }
}
