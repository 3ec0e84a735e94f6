//! A shader's text with what depends on parameters where overrides cannot: types, operators, links.
//!
//! Input: the text, a description's replacements, the parameters' values. Output: the text that is
//! compiled, each line under the number that it has in the file. It does not read WGSL.

use std::collections::BTreeMap;

use super::format::{Replacement, ReplacementText};
use super::names::interpolate;
use crate::record::Value;

/// The key of what takes a text's place at values that a table does not name.
const OTHERS: &str = "others";

/// The most bytes of a shader: replacements that hold what they replace double it, each time.
const SOURCE_BYTES_MAX: usize = 16 << 20;

/// Applies replacements, in order.
///
/// # Errors
///
/// A sentence that quotes the text, where the shader does not have it, or what takes its place has
/// more lines or is not there for a parameter's value.
pub(super) fn apply(
    source: &str,
    replacements: &[Replacement],
    parameters: &BTreeMap<String, Value>,
) -> Result<String, String> {
    let mut result = source.to_owned();
    for replacement in replacements {
        let Replacement { text, when, .. } = replacement;
        if !when.holds(parameters)? {
            continue;
        }
        let mut new = new_text(replacement, parameters)?;
        if text.is_empty() || !result.contains(text.as_str()) {
            return Err(format!("the shader has no `{text}` to replace"));
        }
        let (lines, lines_new) = (text.matches('\n').count(), new.matches('\n').count());
        if lines_new > lines {
            return Err(format!("what replaces `{text}` must have at most as many lines"));
        }
        new.push_str(&"\n".repeat(lines - lines_new));
        let bytes = text_bytes(&result, text, &new);
        if bytes > SOURCE_BYTES_MAX {
            return Err(format!(
                "with `{text}` replaced the shader has {bytes} bytes; at most {SOURCE_BYTES_MAX}"
            ));
        }
        result = result.replace(text, &new);
    }
    Ok(result)
}

/// The bytes that a source has once a text in it is replaced.
fn text_bytes(source: &str, text: &str, new: &str) -> usize {
    let places = source.matches(text).count();
    let without = source.len().saturating_sub(places.saturating_mul(text.len()));
    without.saturating_add(places.saturating_mul(new.len()))
}

/// What takes a text's place with these parameters.
fn new_text(
    Replacement { text, parameter, with, .. }: &Replacement,
    parameters: &BTreeMap<String, Value>,
) -> Result<String, String> {
    match (with, parameter) {
        (ReplacementText::Same(new), None) => interpolate(new, parameters),
        (ReplacementText::ByValue(texts), Some(name)) => {
            let value = parameters.get(name).map(Value::to_string).unwrap_or_default();
            let found = texts.get(&value).or_else(|| texts.get(OTHERS)).cloned();
            found.ok_or_else(|| format!("nothing replaces `{text}` where {name} = {value}"))
        }
        (ReplacementText::Same(_), Some(_)) | (ReplacementText::ByValue(_), None) => Err(format!(
            "what replaces `{text}` is either one text, or a table and its `parameter`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::condition::Condition;

    #[test]
    fn lines_keep_their_numbers_and_conditions_choose() {
        let replacement = |text: &str, with: &str, when: Condition| Replacement {
            text: text.to_owned(),
            parameter: None,
            with: ReplacementText::Same(with.to_owned()),
            when,
        };
        let form = Condition::Compared {
            name: "form".to_owned(),
            value: "published".to_owned(),
            equal: true,
        };
        let all = [
            replacement("let a = p.a;\nlet b = p.b;\n", "", form),
            replacement("fn sealed", "fn {form}", Condition::always()),
        ];
        let source = "fn sealed() {\nlet a = p.a;\nlet b = p.b;\nreturn; }";
        let replaced = |value: &str| {
            let parameters = [("form".to_owned(), Value::Name(value.to_owned()))];
            apply(source, &all, &BTreeMap::from(parameters)).unwrap()
        };
        assert_eq!(replaced("published"), "fn published() {\n\n\nreturn; }");
        assert_eq!(replaced("sealed"), source);
        let with = BTreeMap::from([("others".to_owned(), "x".to_owned())]);
        let by_value = Replacement {
            parameter: Some("form".to_owned()),
            with: ReplacementText::ByValue(with),
            ..replacement("return", "", Condition::always())
        };
        let parameters = BTreeMap::from([("form".to_owned(), Value::Name("sealed".to_owned()))]);
        assert!(apply(source, &[by_value], &parameters).unwrap().ends_with("\nx; }"));
    }
}
