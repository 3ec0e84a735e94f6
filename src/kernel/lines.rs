//! On which lines of a launch file its parts stand.
//!
//! Input: the file's text. Output: a line for each key, by the names on the way to it: `parameters.n`,
//! `buffers.input.fill`, `dispatches.0.workgroups`. A table of a list goes by its `name` where it has one,
//! else by its place. It judges nothing.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// How deep keys are looked at: that of a buffer's fill.
const DEPTH: usize = 3;

/// Lines by keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// Reads the lines of a text; none of what is no TOML.
    pub fn read(text: &str) -> Self {
        let mut offsets = BTreeMap::new();
        if let Ok(table) = DeTable::parse(text) {
            add_table(table.get_ref(), "", DEPTH, &mut offsets);
        }
        // Offsets in ascending order, so that the text is read once.
        let mut ordered: Vec<(usize, String)> =
            offsets.into_iter().map(|(key, offset)| (offset, key)).collect();
        ordered.sort_unstable();
        let (mut line, mut at) = (1, 0);
        let lines = ordered.into_iter().map(|(offset, key)| {
            let between = text.as_bytes().get(at..offset).unwrap_or_default();
            line += between.iter().filter(|byte| **byte == b'\n').count();
            at = offset.max(at);
            (key, line)
        });
        Self(lines.collect())
    }

    /// Where a key stands, for messages: `file:line`, or the file alone where the line is not known.
    /// A key that is left out stands where what it would be in does.
    pub fn place(&self, file: &str, key: &str) -> String {
        let mut key = key;
        loop {
            if let Some(line) = self.0.get(key) {
                return format!("{file}:{line}");
            }
            let Some((outer, _)) = key.rsplit_once('.') else { return file.to_owned() };
            key = outer;
        }
    }
}

fn add_table(
    table: &DeTable<'_>,
    before: &str,
    depth: usize,
    offsets: &mut BTreeMap<String, usize>,
) {
    for (key, value) in table {
        add(value, &format!("{before}{}", key.get_ref()), key.span().start, depth, offsets);
    }
}

fn add(
    value: &Spanned<DeValue<'_>>,
    key: &str,
    offset: usize,
    depth: usize,
    offsets: &mut BTreeMap<String, usize>,
) {
    offsets.entry(key.to_owned()).or_insert(offset);
    if depth == 0 {
        return;
    }
    match value.get_ref() {
        DeValue::Table(table) => add_table(table, &format!("{key}."), depth - 1, offsets),
        DeValue::Array(array) => {
            for (index, part) in array.iter().enumerate() {
                let name = part.get_ref().get("name").and_then(|name| name.get_ref().as_str());
                let name = name.map_or_else(|| index.to_string(), str::to_owned);
                add(part, &format!("{key}.{name}"), part.span().start, depth - 1, offsets);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_name_and_by_place() {
        let text = "trusted = true\n[parameters.n]\ndefault = 4\n\n[[buffers]]\nname = \"a\"\n\
                    fill = { uniform = [0, 1] }\n[[buffers]]\ntype = \"u32\"\nname = \"b\"\n\
                    [[dispatches]]\nentry_point = \"main\"\nworkgroups = 1\n";
        let lines = Lines::read(text);
        let place = |key: &str| lines.place("x.toml", key);
        assert_eq!(place("trusted"), "x.toml:1");
        assert_eq!(place("parameters.n"), "x.toml:2");
        assert_eq!(place("parameters.n.default"), "x.toml:3");
        assert_eq!(place("buffers.a.fill"), "x.toml:7");
        assert_eq!(place("buffers.b"), "x.toml:8");
        assert_eq!(place("buffers.b.fill"), "x.toml:8");
        assert_eq!(place("dispatches.0.workgroups"), "x.toml:13");
        assert_eq!(place("immediates"), "x.toml");
        assert_eq!(Lines::read("=").place("x.toml", "a.b"), "x.toml");
    }
}
