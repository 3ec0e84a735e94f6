//! The writer of a module: what all parts of the translation share.
//!
//! Input: a module. Output: names, errors with their place, and options; it writes no C++.

use std::collections::BTreeMap;

use naga::proc::{Layouter, NameKey, Namer};
use naga::valid::ModuleInfo;
use naga::{FastHashMap, GlobalVariable, Handle, Module, Span};

use super::error::Error;
use super::keywords;
use super::prelude::Prelude;
use super::translated::{Checks, Options, Result};
use crate::program::Text;
/// Writes a module.
pub(super) struct Writer<'a> {
    pub(super) module: &'a Module,
    pub(super) info: &'a ModuleInfo,
    pub(super) text: &'a Text,
    pub(super) checks: Checks,
    pub(super) zero_memory: bool,
    pub(super) layouter: Layouter,
    pub(super) namer: Namer,
    pub(super) names: FastHashMap<NameKey, String>,
    pub(super) prelude: Prelude,
    /// For each function of the module, whether it reaches a subgroup operation.
    pub(super) tracked: Vec<bool>,
    /// The uniform buffers that lie in constant memory, with the number of their copies.
    pub(super) constant: BTreeMap<Handle<GlobalVariable>, u32>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        module: &'a Module,
        info: &'a ModuleInfo,
        text: &'a Text,
        options: &Options,
    ) -> Result<Self> {
        let mut namer = Namer::default();
        let mut names = FastHashMap::default();
        let insensitive = naga::proc::CaseInsensitiveKeywordSet::empty();
        namer.reset(
            module,
            &keywords::KEYWORDS,
            naga::proc::KeywordSet::empty(),
            insensitive,
            &["__"],
            &mut names,
        );
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).map_err(|error| Error::Layout {
            file: text.file().to_owned(),
            name: "a type".to_owned(),
            why: error.to_string(),
        })?;
        Ok(Self {
            module,
            info,
            text,
            checks: options.checks,
            zero_memory: options.zero_memory,
            layouter,
            namer,
            names,
            prelude: Prelude::default(),
            tracked: Vec::new(),
            constant: BTreeMap::new(),
        })
    }

    /// An error about something at a place in the source.
    pub(super) fn unsupported(&self, what: impl Into<String>, span: Span) -> Error {
        let offset = span.to_range().filter(|range| range.end > 0).map_or(0, |range| range.start);
        let location = self.text.location(offset);
        Error::Unsupported {
            file: self.text.file().to_owned(),
            line: location.line,
            column: location.column,
            what: what.into(),
        }
    }

    /// The name that the namer gave.
    pub(super) fn name(&self, key: &NameKey) -> String {
        self.names.get(key).cloned().unwrap_or_else(|| "unnamed".to_owned())
    }

    pub(super) fn is_checked(&self) -> bool {
        self.checks == Checks::Checked
    }
}
