//! The committed records, by name.
//!
//! Input: `results/records/<device>/<family>-<what>-<date>.json.xz`. Output: a [`Run`] for a name
//! without its date, `h200-vulkan/sort-curves`, so that a record that is measured again keeps it. It
//! judges nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lanescope::record::Run;

/// The characters of `-2026-11-22`.
const DATE: usize = 11;

/// Every record's file, by its name.
pub(crate) fn files() -> BTreeMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/records");
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(&root).unwrap() {
        let folder = folder.unwrap().path();
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            let stem = name.strip_suffix(".json.xz").unwrap_or_else(|| panic!("{name}"));
            let other = files.insert(stem[..stem.len() - DATE].to_owned(), path.clone());
            assert_eq!(other, None, "two records of one name: {name}");
        }
    }
    files
}

/// The file of a record, by its name.
pub(crate) fn file(name: &str) -> PathBuf {
    files().remove(name).unwrap_or_else(|| panic!("no record is called {name}"))
}

/// The record of a name; one that says nothing of its kernels has what the catalogue knows of them.
pub(crate) fn load(name: &str) -> Run {
    let mut run = lanescope::store::load(&file(name)).unwrap();
    lanescope::kernel::Catalogue::embedded().unwrap().annotate(&mut run);
    run
}
