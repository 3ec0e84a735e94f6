//! The documentation as one static site with search.
//!
//! Input: `README.md`, `CHANGELOG.md`, the pages of `docs` and `results/README.md`, with every file that
//! they link to. Output: a folder that mdbook reads, and its HTML where mdbook is installed. Which page
//! comes where follows from the tables of `docs/README.md` and of the folders' own.
//!
//! `cargo run --release -p lab -- site`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};

use crate::root;

/// Builds the documentation as one static site.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the site, which is made anew
    #[arg(long, default_value = "target/site")]
    out: PathBuf,
    /// Puts the page on which one pastes a shader beside the documentation, which takes some minutes to build
    #[arg(long)]
    paste: bool,
}

/// How a reader installs mdbook.
const INSTALL: &str = "cargo install mdbook --locked";

#[expect(clippy::disallowed_methods, reason = "writes files beneath target")]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let out = root().join(&arguments.out);
    if out.exists() {
        ensure!(out.join("book.toml").exists(), "{} is no site of ours", out.display());
        std::fs::remove_dir_all(&out)?;
    }
    let book = Book::read(&root())?;
    for file in &book.files {
        let to = out.join("src").join(file);
        std::fs::create_dir_all(to.parent().context("no folder")?)?;
        std::fs::copy(root().join(file), to)?;
    }
    std::fs::write(out.join("src/SUMMARY.md"), book.summary()?)?;
    std::fs::write(
        out.join("book.toml"),
        "[book]\ntitle = \"lanescope\"\nlanguage = \"en\"\n\n[output.html]\nno-section-label = true\n",
    )?;
    if arguments.paste {
        // mdbook copies what is no page of its own.
        crate::paste::write(&out.join("src"))?;
    }
    println!("{} pages, {} files: {}", book.pages.len(), book.files.len(), out.display());
    match Command::new("mdbook").arg("build").arg(&out).status() {
        Ok(status) if status.success() => {
            println!("{}", out.join("book/index.html").display());
            Ok(ExitCode::SUCCESS)
        }
        Ok(_) => Ok(ExitCode::FAILURE),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("mdbook is not installed, so that no HTML was made: {INSTALL}");
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(error).context("mdbook"),
    }
}

/// What the site consists of, by paths in the checkout.
#[derive(Debug, Default)]
struct Book {
    /// The pages in the order in which links lead to them.
    pages: Vec<PathBuf>,
    /// Every file, pages among them.
    files: BTreeSet<PathBuf>,
}

impl Book {
    /// Follows links from the README on.
    fn read(root: &Path) -> anyhow::Result<Self> {
        let mut book = Self::default();
        book.add(root, Path::new("README.md"))?;
        Ok(book)
    }

    /// Adds a file and, of a page, what it links to.
    fn add(&mut self, root: &Path, file: &Path) -> anyhow::Result<()> {
        if !root.join(file).is_file() || !self.files.insert(file.to_owned()) {
            return Ok(());
        }
        if file.extension().is_none_or(|ending| ending != "md") {
            return Ok(());
        }
        self.pages.push(file.to_owned());
        let text = std::fs::read_to_string(root.join(file))?;
        for rest in text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap_or_default();
            if !link.is_empty() && !link.contains("://") && !link.contains(char::is_whitespace) {
                self.add(root, &resolve(file, link))?;
            }
        }
        Ok(())
    }

    /// mdbook's table of contents: pages of a folder beneath the folder's own, in the order in which links lead
    /// to them.
    fn summary(&self) -> anyhow::Result<String> {
        let mut text = "# Summary\n\n[lanescope](README.md)\n\n".to_owned();
        self.list_beneath(None, 0, &mut text)?;
        Ok(text)
    }

    /// Lists the pages beneath one; beneath none, those that no page but the first is above.
    fn list_beneath(
        &self,
        above: Option<&Path>,
        depth: usize,
        text: &mut String,
    ) -> anyhow::Result<()> {
        let beneath = self.pages.iter().skip(1).filter(|page| self.above(page) == above);
        for page in beneath {
            *text += &format!("{:depth$}- [{}]({})\n", "", title(page)?, page.display());
            self.list_beneath(Some(page), depth + 2, text)?;
        }
        Ok(())
    }

    /// The page of the nearest folder that a page lies in, itself and the checkout's left out.
    fn above(&self, page: &Path) -> Option<&Path> {
        let folders = page.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let found = folders
            .map(|folder| folder.join("README.md"))
            .find_map(|head| self.pages.iter().find(|other| **other == head && *other != page));
        found.map(PathBuf::as_path)
    }
}

/// A page's first heading.
fn title(page: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(root().join(page))?;
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    Ok(heading.with_context(|| format!("{} has no heading", page.display()))?.to_owned())
}

/// Where a link of a page leads, from the checkout.
fn resolve(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_has_every_page_of_the_documentation_once() {
        let book = Book::read(&root()).unwrap();
        let summary = book.summary().unwrap();
        // Each folder's pages stand beneath its own, which stands beneath that of the folder around it.
        let depth = |page: &str| {
            let line = summary.lines().find(|line| line.ends_with(&format!("({page})")));
            line.and_then(|line| line.find('-')).unwrap_or_else(|| panic!("{page}\n{summary}"))
        };
        assert_eq!(depth("docs/README.md"), 0);
        assert_eq!([depth("docs/width.md"), depth("docs/findings/README.md")], [2, 2]);
        assert_eq!([depth("docs/findings/peers.md"), depth("docs/contributing/rule.md")], [4, 4]);
        assert_eq!(depth("CHANGELOG.md"), 0);
        for path in crate::index::files(&root().join("docs")).unwrap() {
            let page = crate::index::relative(&root(), &path).unwrap();
            if page.ends_with(".md") {
                assert_eq!(summary.matches(&format!("({page})")).count(), 1, "{page}\n{summary}");
            }
        }
        assert!(
            book.files
                .iter()
                .any(|file| file.extension().is_some_and(|extension| extension == "svg"))
        );
    }

    #[test]
    fn a_link_is_resolved_from_its_page() {
        let found = resolve(Path::new("docs/findings/a.md"), "../../results/b.svg");
        assert_eq!(found, Path::new("results/b.svg"));
    }
}
