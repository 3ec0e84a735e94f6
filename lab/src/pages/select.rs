//! Which measurements of a record a template speaks of.
//!
//! Input: a text such as `moe/sorted top=2 n>=4096 @wgpu`. Output: whether a kernel, parameters and a
//! device are meant. It reads no record.
//!
//! The first word is a kernel's name, or several with `|` between them; a name that ends in `*` stands for
//! all that begin so. `name=value` and `name!=value` compare a parameter's text, `name>=value` and
//! `name<=value` its number; a parameter that a kernel does not have differs from everything. `@device` is how
//! the device's id begins.

use std::collections::BTreeMap;

use lanescope::record::Value;
use minijinja::Error;

use super::numbers::wrong;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Selection {
    kernels: Vec<String>,
    conditions: Vec<(String, Comparison, String)>,
    device: Option<String>,
}

/// How a parameter is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    AtLeast,
    AtMost,
    Differs,
    Equals,
}

impl Selection {
    /// Reads a selection.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut words = text.split_whitespace();
        let kernels = words.next().ok_or_else(|| wrong("an empty selection"))?;
        let mut selection = Self {
            kernels: kernels.split('|').map(str::to_owned).collect(),
            conditions: Vec::new(),
            device: None,
        };
        for word in words {
            if let Some(device) = word.strip_prefix('@') {
                selection.device = Some(device.to_owned());
                continue;
            }
            let kinds = [
                (">=", Comparison::AtLeast),
                ("<=", Comparison::AtMost),
                ("!=", Comparison::Differs),
                ("=", Comparison::Equals),
            ];
            let found = kinds.iter().find_map(|(sign, kind)| {
                word.split_once(sign)
                    .map(|(name, value)| (name.to_owned(), *kind, value.to_owned()))
            });
            selection.conditions.push(found.ok_or_else(|| wrong(format!("`{word}`?")))?);
        }
        Ok(selection)
    }

    /// Whether it means a measurement.
    pub(super) fn means(
        &self,
        kernel: &str,
        parameters: &BTreeMap<String, Value>,
        device: Option<&str>,
    ) -> bool {
        let named = |name: &String| match name.strip_suffix('*') {
            Some(start) => kernel.starts_with(start),
            None => kernel == name,
        };
        let on = |wanted: &String| device.is_none_or(|device| device.starts_with(wanted.as_str()));
        self.kernels.iter().any(named)
            && self.device.as_ref().is_none_or(on)
            && self.conditions.iter().all(|(name, kind, value)| {
                let Some(found) = parameters.get(name) else { return *kind == Comparison::Differs };
                match kind {
                    Comparison::Equals => found.to_string() == *value,
                    Comparison::Differs => found.to_string() != *value,
                    Comparison::AtLeast => compare(found, value, |found, wanted| found >= wanted),
                    Comparison::AtMost => compare(found, value, |found, wanted| found <= wanted),
                }
            })
    }
}

/// Whether a parameter that is a number holds against another.
fn compare(found: &Value, wanted: &str, holds: impl Fn(f64, f64) -> bool) -> bool {
    let found = found.number().zip(wanted.parse().ok());
    found.is_some_and(|(found, wanted)| holds(found, wanted))
}
