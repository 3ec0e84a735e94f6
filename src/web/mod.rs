//! One HTML file that measures the device of whoever opens it, in a browser.
//!
//! Input: kernels of the catalogue. Output: [`Page`], the text of a file that asks for nothing after
//! it was loaded and works from a disk as from any server. What it runs is made here: each kernel's
//! WGSL, plain and with counters, and what the simulator counts at each width. No device is opened.
//!
//! | file | what it does |
//! |---|---|
//! | `data` | what the page is given: launches, texts, expectations, the form of its record |
//! | `error` | why there is no page |
//! | `html` | puts the file together: packed data, policy by hashes |
//! | `page.html`, `page.css` | the frame, and how it looks |
//! | `worker.js` | owns the device: features, width, counts, outputs, samples |
//! | `figures.js` | statistics, and sums over counts |
//! | `record.js` | what was seen as a record, and as a link |
//! | `page.js` | what the visitor sees and presses; keeps what workers said, restarts them |
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

mod data;
mod error;
mod html;

pub use error::WebError;

use crate::kernel::{Catalogue, Kernel};
use crate::run::self_test;

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

/// Whether a kernel is a part of the self-test.
fn is_part(kernel: &&Kernel) -> bool {
    kernel.family() == self_test::FAMILY
}
