//! One HTML page that holds everything a run says, figures included.
//!
//! Input: runs. Output: the text of a page that needs no other file, no network and
//! no script, reads on a phone and on paper, and follows the reader's light or dark setting. Each
//! number is text; bars and colours only repeat it. Nothing is computed here: `analyze` makes the
//! tables, `chart` the figures, the template their places.

mod comparison;
mod context;
mod counters;
mod error;
mod format;
mod gallery;
mod highlight;
mod profile;
mod sources;
mod table;
#[cfg(test)]
mod tests;

pub use comparison::comparison_html;
pub use error::ReportError;
pub use gallery::GalleryPage;
pub use profile::profile_html;

use std::borrow::Cow;

use minijinja::{
    Environment, UndefinedBehavior, Value, escape_formatter, syntax::SyntaxConfig, value::Serde,
};

use crate::{
    analyze::merge,
    record::{PeerRow, Run},
    units::visible::visible,
};

/// The template's name; its ending turns HTML escaping on.
const TEMPLATE: &str = "report.html";

/// The name of the style sheet of the pages of shaders, which their templates include.
const STYLE: &str = "style.css";

/// That style sheet.
pub(crate) const PROFILE_STYLE: &str = include_str!("style.css");

/// Makes the page for one or more runs; several are shown side by side, as [`merge`] joins them. Rows
/// of peers get a table of their own.
///
/// # Errors
///
/// [`ReportError::Runs`] for an empty list or runs of two counting rules; the others are faults of lanescope's own.
pub fn html(runs: &[Run], peers: &[PeerRow]) -> Result<String, ReportError> {
    page(runs, peers).map(|page| page.html)
}

/// A page, and the figures on it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page itself, which holds the figures.
    pub html: String,
    /// Each figure's name, and its SVG.
    pub figures: Vec<(String, String)>,
}

/// Makes the page as [`html`] does, and gives its figures beside it: each is drawn once.
///
/// # Errors
///
/// As [`html`].
pub fn page(runs: &[Run], peers: &[PeerRow]) -> Result<Page, ReportError> {
    let joined = merge(runs)?;
    let mut environment = environment()?;
    environment.add_template(TEMPLATE, include_str!("template.html"))?;
    let (context, figures) = context::context(runs, &joined, peers)?;
    let html = environment.get_template(TEMPLATE)?.render(Serde(context))?;
    Ok(Page { html, figures })
}

/// An environment in which what is missing is a fault, no value holds hidden characters, and blocks
/// leave no lines of their own.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(|out, state, value| match value.as_str().map(visible) {
        Some(Cow::Owned(shown)) if !value.is_safe() => {
            escape_formatter(out, state, &Value::from(shown))
        }
        _ => escape_formatter(out, state, value),
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    // In running text, a number and its sign stay on one line.
    environment.add_filter("unbroken", |text: String| text.replace(" %", "\u{a0}%"));
    environment.add_global("no_figure", format::NONE);
    environment.add_template(STYLE, PROFILE_STYLE)?;
    Ok(environment)
}
