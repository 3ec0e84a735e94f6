//! Tables of the fields of types, from their documentation in the source.
//!
//! Input: files of the checkout or folders of them, and names of structs and enums. Output: Markdown, a
//! table for each. It reads what this checkout's format writes: `pub struct Name {`, a field or variant a
//! line, doc comments before it. A field without one has that of the same name in another of the types.

use std::path::Path;

use minijinja::Error;

use super::numbers::wrong;

/// A field, or a variant of an enum.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    kind: String,
    doc: String,
}

/// A type and its fields.
#[derive(Clone, Debug)]
struct Type {
    name: String,
    doc: String,
    fields: Vec<Field>,
}

/// The tables of some types, in the order of their names.
pub(super) fn tables(root: &Path, places: &[String], names: &[String]) -> Result<String, Error> {
    let mut types = Vec::new();
    for place in places {
        for path in crate::index::files(&root.join(place)).map_err(wrong)? {
            types.extend(read(&std::fs::read_to_string(&path).map_err(wrong)?));
        }
    }
    let mut text = String::new();
    for name in names {
        let found = types.iter().find(|kind| kind.name == *name);
        let found =
            found.ok_or_else(|| wrong(format!("no type {name} in {}", places.join(", "))))?;
        text +=
            &format!("### {name}\n\n{}\n\n| key | type | meaning |\n|---|---|---|\n", found.doc);
        for field in &found.fields {
            let doc =
                if field.doc.is_empty() { elsewhere(&types, &field.name) } else { &field.doc };
            if doc.is_empty() {
                return Err(wrong(format!("{name}.{} says nothing", field.name)));
            }
            let kind = field.kind.replace('|', "\\|");
            text += &format!("| `{}` | `{kind}` | {} |\n", field.name, doc.replace('|', "\\|"));
        }
        text.push('\n');
    }
    Ok(text.trim_end().to_owned())
}

/// What another type says of a field of this name.
fn elsewhere<'a>(types: &'a [Type], name: &str) -> &'a str {
    let fields = types.iter().flat_map(|kind| &kind.fields);
    fields
        .map(|field| (field, &field.doc))
        .find(|(field, doc)| field.name == name && !doc.is_empty())
        .map_or("", |(_, doc)| doc)
}

/// The types of a source file.
fn read(source: &str) -> Vec<Type> {
    let mut types = Vec::new();
    let mut doc = String::new();
    let mut inside: Option<Type> = None;
    let mut renamed: Option<String> = None;
    for line in source.lines() {
        let trimmed = line.trim();
        if let Some(words) = trimmed.strip_prefix("///") {
            if !doc.is_empty() {
                doc.push(' ');
            }
            doc += words.trim();
            continue;
        }
        if let Some(attribute) = trimmed.strip_prefix("#[") {
            let name =
                attribute.split_once("rename = \"").and_then(|(_, rest)| rest.split_once('"'));
            renamed = name.map(|(name, _)| name.to_owned()).or(renamed);
            continue;
        }
        let doc = plain(&std::mem::take(&mut doc));
        let renamed = renamed.take();
        if line == "}" {
            types.extend(inside.take());
        } else if let Some(name) = find_opened(line) {
            inside = Some(Type { name, doc, fields: Vec::new() });
        } else if let Some(field) = inside.as_ref().and_then(|_| field(line)) {
            let (name, kind) = field;
            if let Some(inside) = &mut inside {
                inside.fields.push(Field { name: renamed.unwrap_or(name), kind, doc });
            }
        }
    }
    types
}

/// The name of the struct that a line opens.
fn find_opened(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub(super) ").or_else(|| line.strip_prefix("pub "))?;
    let rest = rest.strip_prefix("struct ")?.strip_suffix('{')?;
    Some(rest.split(['<', ' ']).next()?.to_owned())
}

/// A field's name and type.
fn field(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("    ")?;
    let rest = rest.strip_prefix("pub ").unwrap_or(rest);
    let (name, kind) = rest.strip_suffix(',')?.split_once(": ")?;
    let named = name
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit());
    named.then(|| (name.to_owned(), kind.to_owned()))
}

/// A doc comment without links into the code.
fn plain(doc: &str) -> String {
    let mut text = doc.to_owned();
    for (from, to) in [("[`", "`"), ("`]", "`"), ("mod@super::", ""), ("super::", "")] {
        text = text.replace(from, to);
    }
    text
}
