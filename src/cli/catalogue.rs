//! The catalogue that a command works on, and the kernels of it that words choose.
//!
//! Input: a folder of families, words. Output: a catalogue, and kernels in its order.

use std::collections::BTreeSet;
use std::path::Path;

use super::failure::Failure;
use crate::kernel::{Catalogue, Kernel};

/// The catalogue, with the families of a folder where one is named.
pub(crate) fn read(folder: Option<&Path>) -> Result<Catalogue, Failure> {
    let catalogue = folder.map_or_else(Catalogue::embedded, Catalogue::with_folder);
    catalogue.map_err(Failure::bad_input)
}

/// The kernels that words choose, each once, in the catalogue's order; all where there are none.
pub(crate) fn choose<'a>(
    catalogue: &'a Catalogue,
    words: &[String],
) -> Result<Vec<&'a Kernel>, Failure> {
    if words.is_empty() {
        return Ok(catalogue.all().collect());
    }
    let mut ids = BTreeSet::new();
    for word in words {
        let kernels = catalogue.select(word).map_err(Failure::bad_input)?;
        ids.extend(kernels.into_iter().map(|kernel| kernel.id.clone()));
    }
    Ok(catalogue.all().filter(|kernel| ids.contains(&kernel.id)).collect())
}
