//! The pages of `docs` that say what the code and the records say.
//!
//! Input: `lab/pages`, a template for each page, with the catalogue, the command line, the sources and
//! the committed records. Output: `docs`, and the charts that pages show in `results/charts`; with `--check` nothing is written, and exit code 1 says that
//! a page would change. A page under `docs` without a template is written by hand.
//!
//! A template is Markdown in which `{{ … }}` stands for what is generated: functions of [`code`] for
//! tables, of [`records`] for figures. Numbers with units are written in no other way; a test looks for
//! them. `docs/contributing/findings.md` lists the functions.
//!
//! `cargo run --release -p lab -- pages`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

mod code;
mod fields;
mod numbers;
mod others;
mod records;
mod select;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

use crate::root;
use records::Records;

/// Writes the pages of `docs` that are made of templates.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; exit code 1 where a page would change.
    #[arg(long)]
    check: bool,
}

/// Where templates are.
const TEMPLATES: &str = "lab/pages";

/// Where pages are.
const PAGES: &str = "docs";

#[expect(clippy::disallowed_methods, reason = "writes files of the checkout")]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut stale = 0;
    for (page, text) in render_all(&root())? {
        let path = root().join(&page);
        if std::fs::read_to_string(&path).is_ok_and(|written| written == text) {
            continue;
        }
        stale += 1;
        println!("{}: {}", page.display(), if arguments.check { "stale" } else { "written" });
        if !arguments.check {
            std::fs::create_dir_all(path.parent().context("no folder")?)?;
            std::fs::write(&path, text)?;
        }
    }
    println!("{stale} files changed");
    let failed = arguments.check && stale > 0;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The text of every page that has a template, and every chart that one shows, by its path in the checkout.
fn render_all(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let records = Arc::new(Records::from_checkout(root)?);
    let mut pages = BTreeMap::new();
    for template in templates(root)? {
        let inside = template.strip_prefix(root.join(TEMPLATES))?.to_owned();
        let page = Path::new(PAGES).join(&inside);
        let text = std::fs::read_to_string(&template)?;
        let text =
            render(&records, &page, &text).with_context(|| format!("{}", template.display()))?;
        pages.insert(page, text);
    }
    pages.extend(records.charts().into_iter().map(|(path, svg)| (PathBuf::from(path), svg)));
    Ok(pages)
}

/// The templates, in order.
fn templates(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = crate::index::files(&root.join(TEMPLATES))?;
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    Ok(found)
}

/// One page: its head, its text, and the records that it used.
fn render(records: &Arc<Records>, page: &Path, template: &str) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()?,
    );
    numbers::register(&mut environment);
    code::register(&mut environment);
    // From a page's folder to the checkout's.
    let up = "../".repeat(page.components().count() - 1);
    records::register(&mut environment, records, &up);
    others::register(&mut environment, records);
    records.begin_page();
    let name = page.display().to_string();
    let text = environment.render_named_str(&name, template, ()).map_err(|error| {
        let line = error.line().unwrap_or_default();
        let message = error.detail().map(str::to_owned).unwrap_or_else(|| error.to_string());
        anyhow::anyhow!("line {line}: {message}")
    })?;
    let inside = page.strip_prefix(PAGES)?.display();
    let head = format!("<!-- Made by `lab pages` from {TEMPLATES}/{inside}: edit that. -->\n\n");
    Ok(format!("{head}{text}{}", records.sources_table(&up)?))
}
