//! Pages for browsers: one HTML file each, which asks for nothing after it was loaded and works from a disk as
//! from any server.
//!
//! Input: kernels of the catalogue, or lanescope's core as a WASM module. Output: the text of a file.
//! [`page`] measures the device of whoever opens it: what it runs is made here, each kernel's WGSL,
//! plain and with counters, and what the simulator counts at each width. [`paste_page`] profiles what is
//! pasted into it: its module is [`Core`], which answers questions. No device is opened.
//!
//! | file | what it does |
//! |---|---|
//! | `data` | what devices' workers are given: launches, texts, expectations, the form of the record |
//! | `error` | why there is no page |
//! | `html` | puts a file together: packed data, policy by hashes |
//! | `paste` | the core of the paste page: questions as JSON, answers as `profile`'s page and record |
//! | `page.html`, `page.css`, `paste.html`, `paste.css` | the frames, and how they look |
//! | `worker.js` | owns the device: features, width, counts, outputs, samples |
//! | `core.js` | owns the core of the paste page |
//! | `parts.js` | what both pages have: elements, workers, packing |
//! | `figures.js` | statistics, and sums over counts |
//! | `record.js` | what was seen as a record, and as a link |
//! | `page.js`, `paste.js` | what the visitor sees and presses; keep what workers said, restart them |
//!
//! # What the page claims
//!
//! Counts are the device's, by *executed* counting; where it has no subgroup operations, by
//! *estimated* counting at an assumed width. A browser adds bounds checks to every module, and gives
//! workgroup memory as zeros: records say so. Outputs are checked by the references of
//! [`kernel::reference`](crate::kernel::reference) that are written in JavaScript too; where there is
//! none, an output with the simulator's bytes is verified, for these were, and another is unchecked.
//! Nobody can show that a record was measured and not written by hand: each is marked
//! [`Tag::Unattested`](crate::record::Tag::Unattested).
//!
//! The paste page's counts are the simulator's, the same as natively; of a GPU they are held against the
//! simulator's at its width, block by block.

mod data;
mod error;
mod html;
mod paste;

pub use error::WebError;
pub use paste::{Core, SOURCE_BYTES_MAX};

use crate::kernel::{Catalogue, Kernel};

/// A page, and what it holds.
#[derive(Clone, Debug)]
pub struct Page {
    /// The file's text.
    pub html: String,
    /// How many launches it counts.
    pub launches: usize,
    /// Kernels that it leaves out, a sentence each.
    pub left_out: Vec<String>,
}

/// The kernels of a page where none are named: the self-test, the default set, and those that are
/// about the grain of branches.
pub fn usual(catalogue: &Catalogue) -> Vec<&Kernel> {
    let usual = |kernel: &&Kernel| {
        let description = &kernel.description;
        is_part(kernel) || description.in_default_set || description.grain.is_some()
    };
    catalogue.kernels().filter(usual).collect()
}

/// Makes the page of some kernels, each at its default points, and where it is timed at growing sizes.
/// The self-test belongs to every page.
///
/// # Errors
///
/// [`WebError`]: most are faults of lanescope's own.
pub fn page(catalogue: &Catalogue, kernels: &[&Kernel]) -> Result<Page, WebError> {
    let tested = catalogue.kernels().filter(is_part);
    let others = kernels.iter().copied().filter(|kernel| !is_part(kernel));
    let kernels: Vec<&Kernel> = tested.chain(others).collect();
    let (data, left_out) = data::collect(catalogue, &kernels)?;
    let html = html::assemble(&data)?;
    Ok(Page { html, launches: data.launches.len(), left_out })
}

/// Makes the page on which one pastes a shader, around [`Core`] as a WASM module; `unpacker` is the module
/// that unpacks it there (`lab/wasm/examples/unpack.rs`).
///
/// # Errors
///
/// [`WebError::Pack`] where a module cannot be packed.
pub fn paste_page(core: &[u8], unpacker: &[u8]) -> Result<String, WebError> {
    html::assemble_paste(core, unpacker)
}

/// Whether a kernel is a part of the self-test.
fn is_part(kernel: &&Kernel) -> bool {
    kernel.description.tests.is_some()
}
