//! The JSON Schema of a record, from the types that write it.
//!
//! Input: the sources of `record`, of `store`'s form of a file, of units and of marks. Output:
//! `docs/record.schema.json`, draft 7; with `--check` nothing is written, and exit code 1 says that it would change.
//! A key may be left out where serde may leave it out or a reader does without it. The types are read as text
//! (syn): a derive in the types would put the schema into the program. What of serde's attributes is not
//! understood is an error.
//!
//! `cargo run --release -p lab -- schema`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use syn::{Attribute, Expr, Field, Fields, GenericArgument, Item, Lit, PathArguments, Type};

use crate::{Generated, root, write_generated};

/// The schema.
const FILE: &str = "docs/record.schema.json";

/// Where the types are.
const PLACES: [&str; 4] = [
    "src/record",
    "src/store/written.rs",
    "src/analyze/marks.rs",
    "crates/lanescope-simt/src/units.rs",
];

/// The type of the whole.
const ROOT: &str = "Exported";

/// The whole, which is written in parts: `store` puts the tables of blocks behind the run, an export the marks.
const WHOLE: &str = "
/// A record as it is exported.
#[derive(Serialize)]
struct Exported {
    /// The record, as a result file has it.
    #[serde(flatten)]
    run: Run<Dispatch<Counts>>,
    block_tables: BTreeMap<String, Vec<BlockCode>>,
    /// What there is to say at places of the sources: figures, advice and findings, of `profile`; worked out
    /// when it was exported, and no part of the record.
    #[serde(skip_serializing_if = \"Vec::is_empty\")]
    marks: Vec<Mark>,
}";

/// What stands for a type's parameters, by their names.
const PARAMETERS: [(&str, &str); 2] = [("D", "Dispatch"), ("B", "Counts")];

/// Types that write themselves, and as what.
const BY_HAND: [(&str, &str); 2] = [("Tag", "string"), ("Width", "integer")];

/// Writes the JSON Schema of the record.
pub(crate) fn run(arguments: &Generated) -> anyhow::Result<ExitCode> {
    write_generated(FILE, &text(&root())?, arguments)
}

/// The schema's text.
fn text(root: &Path) -> anyhow::Result<String> {
    let mut schema = Schema::default();
    for place in PLACES {
        for path in crate::index::files(&root.join(place))? {
            let source = std::fs::read_to_string(&path)?;
            let file = syn::parse_file(&source).with_context(|| format!("{}", path.display()))?;
            schema.add(file.items)?;
        }
    }
    schema.add(syn::parse_file(WHOLE)?.items)?;
    let whole = schema.definition(ROOT)?;
    let mut definitions = Map::new();
    while let Some(name) = schema.wanted.iter().find(|n| !definitions.contains_key(*n)).cloned() {
        let definition = schema.definition(&name)?;
        definitions.insert(name, definition);
    }
    let mut document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": format!("A record of lanescope, schema {}", lanescope::record::SCHEMA),
    });
    let all = document.as_object_mut().context("an object")?;
    all.extend(whole.as_object().cloned().unwrap_or_default());
    let definitions = lines(&definitions).replace('\n', "\n ");
    let rest = lines(all);
    let rest = rest.strip_suffix("\n}").context("an object")?;
    Ok(format!("{rest},\n \"definitions\": {definitions}\n}}\n"))
}

/// An object, a line for each of its values.
fn lines(object: &Map<String, Value>) -> String {
    let each = object.iter().map(|(key, value)| format!("\n {}: {value}", json!(key)));
    format!("{{{}\n}}", each.collect::<Vec<_>>().join(","))
}

/// A type that is written.
enum SchemaKind {
    Struct(syn::ItemStruct),
    Enum(syn::ItemEnum),
}

/// The types that are known, and those that are asked for.
#[derive(Default)]
struct Schema {
    kinds: BTreeMap<String, SchemaKind>,
    constants: BTreeMap<String, u64>,
    wanted: BTreeSet<String>,
}

impl Schema {
    fn add(&mut self, items: Vec<Item>) -> anyhow::Result<()> {
        for item in items {
            let (name, attributes) = match &item {
                Item::Struct(item) => (item.ident.to_string(), &item.attrs),
                Item::Enum(item) => (item.ident.to_string(), &item.attrs),
                Item::Const(item) => {
                    if let Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. }) = &*item.expr {
                        self.constants.insert(item.ident.to_string(), number.base10_parse()?);
                    }
                    continue;
                }
                _ => continue,
            };
            if !is_written(attributes)? {
                continue;
            }
            let kind = match item {
                Item::Struct(item) => SchemaKind::Struct(item),
                Item::Enum(item) => SchemaKind::Enum(item),
                _ => continue,
            };
            if self.kinds.insert(name.clone(), kind).is_some() {
                bail!("two types are called {name}");
            }
        }
        Ok(())
    }

    /// The schema of a type by its name.
    fn definition(&mut self, name: &str) -> anyhow::Result<Value> {
        let kind = self.kinds.remove(name).with_context(|| format!("no type {name} is written"))?;
        let found = match &kind {
            SchemaKind::Struct(item) => {
                let made = match &item.fields {
                    Fields::Named(fields) => self.object(fields.named.iter())?,
                    Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                        self.schema_of(&fields.unnamed[0].ty)?
                    }
                    Fields::Unnamed(_) | Fields::Unit => bail!("{name} has no fields with names"),
                };
                describe(made, &item.attrs)
            }
            SchemaKind::Enum(item) => describe(self.choice(item)?, &item.attrs),
        };
        self.kinds.insert(name.to_owned(), kind);
        Ok(found)
    }

    /// An object with these keys.
    fn object<'a>(&mut self, fields: impl Iterator<Item = &'a Field>) -> anyhow::Result<Value> {
        let (mut properties, mut required) = (Map::new(), Vec::<Value>::new());
        for field in fields {
            let serde = serde(&field.attrs)?;
            if serde.contains_key("flatten") {
                let inner = self.find_name(&field.ty)?;
                let inner = self.definition(&inner)?;
                let part = |key: &str| inner.get(key).cloned().unwrap_or_default();
                properties.extend(part("properties").as_object().cloned().unwrap_or_default());
                required.extend(part("required").as_array().cloned().unwrap_or_default());
                continue;
            }
            let ident = field.ident.as_ref().context("a name")?.to_string();
            let name = serde.get("rename").cloned().unwrap_or(ident);
            let optional = serde.contains_key("default")
                || serde.contains_key("skip_serializing_if")
                || outer(&field.ty).is_some_and(|(name, _)| name == "Option");
            if !optional {
                required.push(name.clone().into());
            }
            properties.insert(name, describe(self.schema_of(&field.ty)?, &field.attrs));
        }
        required.sort_by_key(Value::to_string);
        Ok(json!({ "type": "object", "properties": properties, "required": required }))
    }

    /// One of an enum's variants, as serde writes them.
    fn choice(&mut self, item: &syn::ItemEnum) -> anyhow::Result<Value> {
        let serde_of = serde(&item.attrs)?;
        let untagged = serde_of.contains_key("untagged");
        let case = serde_of.get("rename_all").map(String::as_str);
        let (mut words, mut others) = (Vec::new(), Vec::new());
        for variant in &item.variants {
            let renamed = serde(&variant.attrs)?.get("rename").cloned();
            let word = match renamed {
                Some(word) => word,
                None => change_case(&variant.ident.to_string(), case)?,
            };
            let inner = match &variant.fields {
                Fields::Unit => {
                    words.push(Value::from(word));
                    continue;
                }
                Fields::Named(fields) => self.object(fields.named.iter())?,
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    self.schema_of(&fields.unnamed[0].ty)?
                }
                Fields::Unnamed(_) => bail!("{}::{} has two parts", item.ident, variant.ident),
            };
            others.push(if untagged {
                inner
            } else {
                json!({ "type": "object", "properties": { &word: inner }, "required": [&word] })
            });
        }
        if others.is_empty() {
            return Ok(json!({ "enum": words }));
        }
        if !words.is_empty() {
            others.insert(0, json!({ "enum": words }));
        }
        Ok(json!({ "anyOf": others }))
    }

    /// The schema of a type where it is used.
    fn schema_of(&mut self, kind: &Type) -> anyhow::Result<Value> {
        match kind {
            Type::Reference(reference) => return self.schema_of(&reference.elem),
            Type::Slice(slice) => {
                return Ok(json!({ "type": "array", "items": self.schema_of(&slice.elem)? }));
            }
            Type::Array(array) => {
                let length = self.length(&array.len)?;
                let items = self.schema_of(&array.elem)?;
                return Ok(json!({
                    "type": "array", "items": items, "minItems": length, "maxItems": length,
                }));
            }
            Type::Tuple(tuple) => {
                let items = tuple.elems.iter().map(|part| self.schema_of(part));
                let items = items.collect::<anyhow::Result<Vec<Value>>>()?;
                let length = items.len();
                return Ok(json!({
                    "type": "array", "items": items, "minItems": length, "maxItems": length,
                }));
            }
            _ => {}
        }
        let (name, arguments) = outer(kind).context("a type that is no name")?;
        let argument = |index: usize| arguments.get(index).copied().context("a type's argument");
        Ok(match name.as_str() {
            "String" | "str" => json!({ "type": "string" }),
            "bool" => json!({ "type": "boolean" }),
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
                json!({ "type": "integer", "minimum": 0 })
            }
            "i8" | "i16" | "i32" | "i64" => json!({ "type": "integer" }),
            "f32" | "f64" => json!({ "type": "number" }),
            "Option" => {
                let inner = self.schema_of(argument(0)?)?;
                json!({ "anyOf": [inner, { "type": "null" }] })
            }
            "Vec" | "BTreeSet" => {
                json!({ "type": "array", "items": self.schema_of(argument(0)?)? })
            }
            "BTreeMap" | "IndexMap" => {
                json!({ "type": "object", "additionalProperties": self.schema_of(argument(1)?)? })
            }
            "Arc" | "Box" => self.schema_of(argument(0)?)?,
            _ => {
                if let Some((_, written)) = BY_HAND.iter().find(|(by_hand, _)| *by_hand == name) {
                    return Ok(json!({ "type": written }));
                }
                let name = self.find_name(kind)?;
                self.wanted.insert(name.clone());
                json!({ "$ref": format!("#/definitions/{name}") })
            }
        })
    }

    /// The name of a type of ours, parameters replaced.
    fn find_name(&self, kind: &Type) -> anyhow::Result<String> {
        let (name, _) = outer(kind).context("a type that is no name")?;
        let replaced = PARAMETERS.iter().find(|(parameter, _)| *parameter == name);
        let name = replaced.map_or(name, |(_, stands)| (*stands).to_owned());
        Ok(name)
    }

    fn length(&self, expression: &Expr) -> anyhow::Result<u64> {
        match expression {
            Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. }) => Ok(number.base10_parse()?),
            Expr::Path(path) => {
                let name = path.path.segments.last().context("a name")?.ident.to_string();
                self.constants.get(&name).copied().with_context(|| format!("{name} is not known"))
            }
            _ => bail!("a length that is no number"),
        }
    }
}

/// The last part of a type's path, and its arguments.
fn outer(kind: &Type) -> Option<(String, Vec<&Type>)> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::AngleBracketed(all) => {
            let types = all.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(kind) => Some(kind),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    };
    Some((last.ident.to_string(), arguments))
}

/// Whether serde derives how a type is written.
fn is_written(attributes: &[Attribute]) -> anyhow::Result<bool> {
    let mut found = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("Serialize");
            Ok(())
        })?;
    }
    Ok(found)
}

/// serde's attributes of an item, with their values; those that say how to read are left out.
fn serde(attributes: &[Attribute]) -> anyhow::Result<BTreeMap<String, String>> {
    const KNOWN: [&str; 7] = [
        "default",
        "flatten",
        "rename",
        "rename_all",
        "skip_serializing_if",
        "transparent",
        "untagged",
    ];
    const OF_READING: [&str; 5] = ["alias", "bound", "from", "try_from", "into"];
    let mut found = BTreeMap::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let value = match meta.value() {
                Ok(value) => value.parse::<syn::LitStr>()?.value(),
                Err(_) => String::new(),
            };
            if KNOWN.contains(&name.as_str()) {
                found.insert(name, value);
            } else if !OF_READING.contains(&name.as_str()) {
                return Err(meta.error(format!("serde's `{name}` is not understood")));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// A variant's word.
fn change_case(name: &str, case: Option<&str>) -> anyhow::Result<String> {
    Ok(match case {
        None => name.to_owned(),
        Some("lowercase") => name.to_lowercase(),
        Some("snake_case") => {
            let mut word = String::new();
            for (index, letter) in name.chars().enumerate() {
                if letter.is_uppercase() && index > 0 {
                    word.push('_');
                }
                word.extend(letter.to_lowercase());
            }
            word
        }
        Some(other) => bail!("rename_all = {other} is not understood"),
    })
}

/// A schema with the first sentence of the documentation.
fn describe(schema: Value, attributes: &[Attribute]) -> Value {
    let docs = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text = docs.map(|line| line.trim().to_owned()).collect::<Vec<_>>().join(" ");
    let first = text.split_once(". ").map_or(text.as_str(), |(first, _)| first);
    let first = first.trim_end_matches('.').replace(['[', ']', '`'], "");
    if first.is_empty() {
        return schema;
    }
    // Beside `$ref` draft 7 ignores everything.
    let mut schema = match schema {
        Value::Object(map) if map.contains_key("$ref") => json!({ "allOf": [map] }),
        other => other,
    };
    schema["description"] = first.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schema_is_current() {
        let written = std::fs::read_to_string(root().join(FILE)).expect("a schema");
        let now = text(&root()).expect("types that are understood");
        assert!(written == now, "{FILE} is stale: cargo run --release -p lab -- schema");
    }

    #[test]
    fn what_serde_does_is_what_the_schema_says() {
        let source = "
            #[derive(Serialize)] struct Exported { a: u32, #[serde(default)] b: Option<ExportedPart>, c: [f64; TWO] }
            /// A part. More of it.
            #[derive(Serialize)] #[serde(rename_all = \"snake_case\")]
            enum ExportedPart { OneWord, Two { from: u64 }, Three(String) }
            const TWO: usize = 2;
            struct NotWritten { x: Unknown }";
        let mut schema = Schema::default();
        schema.add(syn::parse_file(source).expect("Rust").items).expect("understood");
        let whole = schema.definition("Exported").expect("known");
        assert_eq!(whole["required"], json!(["a", "c"]));
        assert_eq!(whole["properties"]["c"]["minItems"], 2);
        let part = schema.definition("ExportedPart").expect("known");
        assert_eq!(part["description"], "A part");
        assert_eq!(part["anyOf"][0], json!({ "enum": ["one_word"] }));
        assert_eq!(part["anyOf"][1]["required"], json!(["two"]));
        assert_eq!(part["anyOf"][2]["properties"]["three"], json!({ "type": "string" }));
        assert!(schema.definition("NotWritten").is_err());
        let unknown = "#[derive(Serialize)] struct A { #[serde(with = \"x\")] a: u32 }";
        schema.add(syn::parse_file(unknown).expect("Rust").items).expect("a type");
        assert!(schema.definition("A").is_err(), "what is not understood is an error");
    }
}
