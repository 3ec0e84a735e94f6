//! One entry point of a parsed module, with values for its overrides.
//!
//! Input: a name and override values. Output: the program, compacted and validated anew, or which
//! value is missing or does not fit.

use std::collections::BTreeMap;
use std::sync::Arc;

use naga::{Module, ShaderStage};

use super::error::ProgramError;
use super::overrides::{Override, Overrides};
use super::parsed::{Parsed, Program};
use super::reflect;
use super::structure;
use super::validate::{guard, reasons, validate};
use crate::units::text::{listed, number};

impl Parsed {
    /// Picks the compute entry point `name` and puts in override values.
    ///
    /// # Errors
    ///
    /// [`ProgramError::EntryPoint`] when there is none of that name, [`ProgramError::Overrides`]
    /// when a value is unknown or does not fit, [`ProgramError::OverridesMissing`] when there is
    /// none, [`ProgramError::Validate`] when the module
    /// is no longer valid with these values.
    pub fn resolve(&self, name: &str, overrides: &Overrides) -> Result<Program, ProgramError> {
        if let Some(given) = self.with_constants(overrides)? {
            return given.resolve(name, &Overrides::new());
        }
        let file = self.text.file();
        if !self.entry_points().contains(&name) {
            return Err(ProgramError::EntryPoint {
                file: file.to_owned(),
                name: name.to_owned(),
                known: listed(&self.entry_points()),
            });
        }
        let mut module = self.module.clone();
        module.entry_points.retain(|e| e.stage == ShaderStage::Compute && e.name == name);
        let module = guard(file, "resolved overrides of", || {
            naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
            let info = validate(&module, &self.text)?;
            let constants = self.constants(&module, overrides)?;
            naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
                .map(|(resolved, _)| resolved.into_owned())
                .map_err(|error| ProgramError::Overrides {
                    file: file.to_owned(),
                    message: reasons(&error),
                })
        })??;
        let info = validate(&module, &self.text)?;
        let structure = structure::analyse(&module, &info, &self.text);
        Ok(Program { text: Arc::clone(&self.text), module, info, structure })
    }

    /// The values by the keys that naga looks for, of the overrides that are left in `module`.
    ///
    /// Naga refuses a key that its module does not have, and each entry point may read some only.
    fn constants(
        &self,
        module: &Module,
        values: &Overrides,
    ) -> Result<naga::back::PipelineConstants, ProgramError> {
        let file = self.text.file().to_owned();
        let overrides = self.overrides();
        let mut given = BTreeMap::new();
        for (word, value) in values {
            let known =
                |o: &&Override| o.name == *word || o.id.is_some_and(|id| id.to_string() == *word);
            let Some(found) = overrides.iter().find(known) else {
                let names: Vec<&str> = overrides.iter().map(|o| o.name.as_str()).collect();
                let names = listed(&names);
                let message = format!("there is no override {word:?}; the shader has: {names}");
                return Err(ProgramError::Overrides { file, message });
            };
            if let Some(needed) = reflect::unfit(self.module(), &found.name, *value) {
                let (name, line) = (&found.name, found.line);
                let value = number(*value);
                let message = format!("`{name}` (line {line}) is {value}, and must be {needed}");
                return Err(ProgramError::Overrides { file, message });
            }
            given.insert(found.name.clone(), *value);
        }
        let left = |o: &&Override| {
            module.overrides.iter().any(|(_, left)| left.name.as_deref() == Some(o.name.as_str()))
        };
        let missing: Vec<&Override> = overrides
            .iter()
            .filter(left)
            .filter(|o| !o.has_default && !given.contains_key(&o.name))
            .collect();
        if let Some(first) = missing.first() {
            let names: Vec<String> =
                missing.iter().map(|o| format!("`{}` (line {})", o.name, o.line)).collect();
            let names = listed(&names);
            return Err(ProgramError::OverridesMissing { file, line: first.line, names });
        }
        let pairs = overrides.iter().filter(left).filter_map(|o| {
            let key = o.id.map_or_else(|| o.name.clone(), |id| id.to_string());
            Some((key, *given.get(&o.name)?))
        });
        Ok(pairs.collect())
    }
}
