//! A family's `family.toml`: what its kernels share, and what is known of the family as a whole.
//!
//! Input: the text of `shaders/<family>/family.toml` and of a kernel's own TOML. Output: a
//! [`Family`], and the kernel's [`Description`] with what it inherits. It reads no shader and works
//! out no launch.
//!
//! # What a kernel inherits
//!
//! `[kernels]` and each `[sets.<name>]` are descriptions as [`mod@super::format`] has them, of
//! which everything may be left out. A kernel inherits `[kernels]`, then the sets that its own TOML
//! names in `sets = [...]`, in that order, and says the rest itself. What stands nearer to the
//! kernel goes before what stands further away:
//!
//! | what | how it is put together |
//! |---|---|
//! | `parameters`, `overrides`, `names`, `blocks`, `usual` | by name: each whole, the nearest one's |
//! | `buffers` | by name, in the place of the first; what is new comes behind |
//! | `claims`, `parts`, `combinations`, `replacements`, `figures` | added up, the furthest first |
//! | `sweeps` | added up; what is inherited loses the axes that the kernel has no parameter for |
//! | everything else, `dispatches` among it | the nearest one's, whole |
//!
//! Each text is read by itself first, so that a key that is unknown is reported with its own file and
//! line.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value as Toml};

use super::KernelError;
use super::format::Description;
use crate::record::Value;

/// The file's name in its family's folder.
pub const FILE: &str = "family.toml";

/// What is put together by name from tables.
const BY_NAME: [&str; 5] = ["parameters", "overrides", "names", "blocks", "usual"];

/// Lists that add up.
const ADDED: [&str; 6] = ["claims", "parts", "sweeps", "combinations", "replacements", "figures"];

/// A family, as its `family.toml` says it; without one nothing is shared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What the family asks, one sentence; every family of the catalogue has one.
    #[serde(default)]
    pub question: String,
    /// What of it texts print that make the claims, and where that is here; empty where kernels have their form.
    #[serde(default)]
    pub article: String,
    /// What every kernel of it inherits.
    pub kernels: Option<Description>,
    /// What kernels inherit that name the set.
    #[serde(default)]
    pub sets: BTreeMap<String, Description>,
    /// Kernels that records know by another name or with fewer parameters, in any order.
    #[serde(default)]
    pub renamed: Vec<Renamed>,
    /// The texts of `kernels` and `sets`, as they are put together.
    #[serde(skip)]
    texts: Table,
}

/// A kernel under the name, and with the parameters, that records of earlier days have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// Its id then, `family/name`.
    pub from: String,
    /// Its id today; the same where it is left out.
    #[serde(default)]
    pub to: String,
    /// Parameters that it has today and had not then, with the values that it ran with.
    pub parameters: BTreeMap<String, Value>,
}

impl Renamed {
    /// Its parameters as they are asked for: `sort=before`.
    pub fn parameters_text(&self) -> String {
        let setting = |(name, value): (&String, &Value)| format!("{name}={value}");
        self.parameters.iter().map(setting).collect::<Vec<_>>().join(" -a ")
    }
}

impl Family {
    /// Reads a family from its text; `file` is what messages call it.
    ///
    /// # Errors
    ///
    /// [`KernelError::Toml`] with file, line and key.
    pub fn parse(file: &str, text: &str) -> Result<Self, KernelError> {
        let mut family: Self = toml::from_str(text).map_err(|error| toml_error(file, &error))?;
        for renamed in family.renamed.iter_mut().filter(|renamed| renamed.to.is_empty()) {
            renamed.to.clone_from(&renamed.from);
        }
        let mut table = text.parse::<Table>().map_err(|error| toml_error(file, &error))?;
        table.retain(|key, _| ["kernels", "sets"].contains(&key));
        family.texts = table;
        Ok(family)
    }

    /// A kernel's description with what it inherits; `file` is what messages call its own text.
    ///
    /// # Errors
    ///
    /// [`KernelError::Toml`] with file, line and key, [`KernelError::Description`] for a set that
    /// the family does not have.
    pub fn describe(&self, file: &str, text: &str) -> Result<Description, KernelError> {
        let parsed = Description::parse(file, text)?;
        let mut all = self.texts.get("kernels").and_then(Toml::as_table).cloned();
        let all = all.get_or_insert_default();
        for set in &parsed.sets {
            let inherited = self.texts.get("sets").and_then(|sets| sets.get(set));
            let inherited = inherited.and_then(Toml::as_table).ok_or_else(|| {
                let known: Vec<&str> = self.sets.keys().map(String::as_str).collect();
                let known = known.join(", ");
                let message = format!("the family has no set {set:?}; it has: {known}");
                KernelError::Description { file: file.to_owned(), message }
            })?;
            add(all, inherited.clone());
        }
        let inherited_sweeps = all.get("sweeps").and_then(Toml::as_array).map_or(0, Vec::len);
        add(all, text.parse::<Table>().map_err(|error| toml_error(file, &error))?);
        // As a text, since a second way to read a description is as much code again.
        let mut description: Description =
            toml::from_str(&all.to_string()).map_err(|error| toml_error(file, &error))?;
        let Description { sweeps, parameters, .. } = &mut description;
        for sweep in sweeps.iter_mut().take(inherited_sweeps) {
            sweep.axes.retain(|name, _| parameters.contains_key(name));
        }
        sweeps.retain(|sweep| !sweep.axes.is_empty());
        Ok(description)
    }
}

fn toml_error(file: &str, error: &toml::de::Error) -> KernelError {
    KernelError::Toml { file: file.to_owned(), message: error.to_string() }
}

/// Puts what stands nearer over what stands further away.
fn add(further: &mut Table, nearer: Table) {
    for (key, value) in nearer {
        match (further.get_mut(&key), value) {
            (Some(Toml::Table(known)), Toml::Table(more)) if BY_NAME.contains(&key.as_str()) => {
                known.extend(more);
            }
            (Some(Toml::Array(known)), Toml::Array(more)) if key == "buffers" => {
                for buffer in more {
                    let same = |other: &&mut Toml| other.get("name") == buffer.get("name");
                    match known.iter_mut().find(same) {
                        Some(other) => *other = buffer,
                        None => known.push(buffer),
                    }
                }
            }
            (Some(Toml::Array(known)), Toml::Array(more)) if ADDED.contains(&key.as_str()) => {
                known.extend(more);
            }
            (_, value) => {
                further.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: &str = r#"
[kernels]
repeatable = true
claims = ["a"]
buffers = [{ name = "x", type = "f32", elements = "n" }, { name = "y", type = "f32", elements = 1 }]
parameters.n = { description = "elements", default = 8 }
sweeps = [{ axes = { n = [1, 2], m = [3] } }, { axes = { m = [1] } }]
dispatches = [{ entry_point = "main", workgroups = 1 }]

[sets.two]
parameters.m = { description = "more", default = 2 }
buffers = [{ name = "y", type = "u32", elements = "m" }, { name = "z", type = "u32", elements = 1 }]
"#;

    fn family() -> Family {
        Family::parse("f/family.toml", FAMILY).unwrap()
    }

    #[test]
    fn what_stands_nearer_goes_before_what_stands_further_away() {
        let dispatch = "question = \"?\"\nsets = [\"two\"]\nclaims = [\"b\"]\nrepeatable = false\n\
                   dispatches = [{ entry_point = \"other\", workgroups = 2 }]\n";
        let made = family().describe("f/k.toml", dispatch).unwrap();
        assert_eq!((made.claims, made.repeatable), (vec!["a".to_owned(), "b".to_owned()], false));
        let names: Vec<&str> = made.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
        assert_eq!(names, ["x", "y", "z"]);
        assert_eq!(made.buffers[1].elements.as_ref().unwrap().to_string(), "m");
        let parameters: Vec<&str> = made.parameters.keys().map(String::as_str).collect();
        assert_eq!(parameters, ["m", "n"]);
        assert_eq!(made.dispatches.len(), 1);
        assert_eq!(made.dispatches[0].entry_point, "other");
        assert_eq!((made.sweeps.len(), made.sweeps[0].axes.len()), (2, 2));
    }

    #[test]
    fn inherited_sweeps_lose_the_axes_that_a_kernel_lacks() {
        let made = family().describe("f/k.toml", "question = \"?\"\n").unwrap();
        let axes: Vec<Vec<&str>> = made
            .sweeps
            .iter()
            .map(|sweep| sweep.axes.keys().map(String::as_str).collect())
            .collect();
        assert_eq!(axes, [["n"]]);
        let text = "question = \"?\"\nsweeps = [{ axes = { q = [1] } }]\n";
        assert_eq!(family().describe("f/k.toml", text).unwrap().sweeps.len(), 2);
    }

    #[test]
    fn what_is_unknown_is_refused_where_it_stands() {
        let wrong = FAMILY.replace("[sets.two]", "[sets.two]\ncolour = 3");
        let message = Family::parse("f/family.toml", &wrong).unwrap_err().to_string();
        assert!(message.contains("f/family.toml") && message.contains("line 11"), "{message}");
        assert!(message.contains("colour"), "{message}");
        let message = family().describe("f/k.toml", "colour = 3\n").unwrap_err().to_string();
        assert!(message.contains("f/k.toml") && message.contains("line 1"), "{message}");
        let message = family().describe("f/k.toml", "sets = [\"three\"]\n").unwrap_err();
        assert!(message.to_string().contains("no set \"three\"; it has: two"), "{message}");
    }
}
