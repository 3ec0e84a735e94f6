//! The documentation as one static site with search.
//!
//! Input: `README.md`, `CHANGELOG.md`, the pages of `docs` and `results/README.md`, with every file that
//! they link to. Output: a folder that mdbook reads, and its HTML where mdbook is installed, which is searched for
//! links that lead nowhere. Which page comes where follows from the tables of `docs/README.md` and of the
//! folders' own.
//!
//! `cargo run --release -p lab -- site`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};
use regex::Regex;

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
        let to = out.join("src").join(place(file));
        std::fs::create_dir_all(to.parent().context("no folder")?)?;
        if is_page(file) {
            std::fs::write(to, page_text(&std::fs::read_to_string(root().join(file))?))?;
        } else {
            std::fs::copy(root().join(file), to)?;
        }
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
            let html = out.join("book");
            let dead = dead_links(&html)?;
            ensure!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
            let index = |file: &PathBuf| file.display().to_string().contains("searchindex");
            ensure!(crate::index::files(&html)?.iter().any(index), "there is no search");
            println!("{}", html.join("index.html").display());
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
    /// Follows links from the index of the documentation on, page by page in the order in which they are found.
    fn read(root: &Path) -> anyhow::Result<Self> {
        let mut book = Self::default();
        book.add(root, PathBuf::from("docs/README.md"));
        let mut next = 0;
        while next < book.pages.len() {
            book.follow(root, next)?;
            next += 1;
        }
        Ok(book)
    }

    /// Adds what a page links to, after all that is there.
    fn follow(&mut self, root: &Path, page: usize) -> anyhow::Result<()> {
        let page = self.pages[page].clone();
        for link in links(&std::fs::read_to_string(root.join(&page))?) {
            self.add(root, resolve(&page, &link));
        }
        Ok(())
    }

    fn add(&mut self, root: &Path, file: PathBuf) {
        if root.join(&file).is_file() && self.files.insert(file.clone()) && is_page(&file) {
            self.pages.push(file);
        }
    }

    /// mdbook's table of contents: pages of a folder beneath the folder's own, in the order in which links lead
    /// to them.
    fn summary(&self) -> anyhow::Result<String> {
        let mut text = "# Summary\n\n[lanescope](index.md)\n\n".to_owned();
        self.list_beneath(None, 0, &mut text)?;
        Ok(text)
    }

    /// Lists the pages beneath one; beneath none, those that no page is above, but for the README.
    fn list_beneath(
        &self,
        above: Option<&Path>,
        depth: usize,
        text: &mut String,
    ) -> anyhow::Result<()> {
        let beneath = self.pages.iter().filter(|page| self.above(page) == above);
        let beneath = beneath.filter(|page| page.as_path() != Path::new("README.md"));
        for page in beneath {
            let at = place(page);
            *text += &format!("{:depth$}- [{}]({})\n", "", title(page)?, at.display());
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

/// The links of a folder's HTML, to files and to places in them, that lead nowhere within it.
fn dead_links(html: &Path) -> anyhow::Result<Vec<String>> {
    let link = Regex::new(r#"\b(?:href|src)="([^"]*)""#)?;
    let place = Regex::new(r#"\b(?:id|name)="([^"]*)""#)?;
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    for file in crate::index::files(html)? {
        if file.extension().is_some_and(|ending| ending == "html") {
            pages.insert(file.clone(), std::fs::read_to_string(&file)?);
        }
    }
    let has_place = |text: &str, wanted: &str| {
        place.captures_iter(text).any(|found| found.get(1).is_some_and(|id| id.as_str() == wanted))
    };
    let mut dead = Vec::new();
    // The page for addresses that are not there does not know where it is shown.
    for (page, text) in pages.iter().filter(|(page, _)| !page.ends_with("404.html")) {
        for found in link.captures_iter(text).filter_map(|found| found.get(1)) {
            let to = found.as_str();
            if to.is_empty() || to.contains(':') {
                continue;
            }
            let (path, id) = to.split_once('#').unwrap_or((to, ""));
            let target = match path {
                "" => page.clone(),
                path => resolve(page, path),
            };
            let there = match pages.get(&target) {
                Some(text) => id.is_empty() || has_place(text, id),
                None => target.exists(),
            };
            if !there {
                dead.push(format!("{to} in {}", page.display()));
            }
        }
    }
    Ok(dead)
}

fn is_page(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "md")
}

/// Where a file lies in the site: mdbook makes a folder's page of `index.md`, and leaves links to `README.md`
/// without a page.
fn place(file: &Path) -> PathBuf {
    if file.file_name().is_some_and(|name| name == "README.md") {
        file.with_file_name("index.md")
    } else {
        file.to_owned()
    }
}

/// A page as the site has it: with links to where pages lie there.
fn page_text(text: &str) -> String {
    let mut parts = text.split("](");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_at(part.find([')', '#']).unwrap_or(0));
        let local = !link.contains("://");
        let link =
            if local { place(Path::new(link)).display().to_string() } else { link.to_owned() };
        whole += &format!("]({link}{rest}");
    }
    whole
}

/// Where a page's links and pictures lead that stay in the checkout.
fn links(text: &str) -> Vec<String> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let pictures = text.split("<img src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let local = |link: &&str| {
        !link.is_empty() && !link.contains("://") && !link.contains(char::is_whitespace)
    };
    links.chain(pictures).filter(local).map(str::to_owned).collect()
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
        assert_eq!(depth("docs/index.md"), 0);
        assert_eq!([depth("docs/width.md"), depth("docs/findings/index.md")], [2, 2]);
        let at = |page: &str| summary.find(page).unwrap_or_else(|| panic!("{page}\n{summary}"));
        let order =
            ["(index.md)", "(docs/index.md)", "(docs/profile.md)", "(CHANGELOG.md)"].map(at);
        assert!(order.is_sorted(), "{summary}");
        assert_eq!([depth("docs/findings/peers.md"), depth("docs/contributing/rule.md")], [4, 4]);
        assert_eq!(depth("CHANGELOG.md"), 0);
        for path in crate::index::files(&root().join("docs")).unwrap() {
            let page = crate::index::relative(&root(), &path).unwrap();
            if page.ends_with(".md") {
                let page = page.replace("README.md", "index.md");
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
    fn every_link_and_picture_of_the_site_leads_to_a_file_of_it() {
        let book = Book::read(&root()).unwrap();
        let there: BTreeSet<PathBuf> = book.files.iter().map(|file| place(file)).collect();
        let mut dead = Vec::new();
        for page in &book.pages {
            let text = page_text(&std::fs::read_to_string(root().join(page)).unwrap());
            let to = links(&text).into_iter().map(|link| resolve(&place(page), &link));
            let missing = to.filter(|to| !there.contains(to));
            dead.extend(missing.map(|to| format!("{} in {}", to.display(), page.display())));
        }
        assert!(dead.is_empty(), "{dead:#?}");
        let pictures = there.iter().filter(|file| file.extension().is_some_and(|end| end == "png"));
        assert!(pictures.count() >= 6);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "pages for a test")]
    fn links_that_lead_nowhere_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.html",
            r##"<a href="b.html#there"><a href="#c"><p id="c"><a href="https://x.y">"##,
        );
        write("b.html", r#"<p id="there"><a href="a.html">"#);
        assert_eq!(dead_links(folder.path()).unwrap(), [""; 0]);
        write("b.html", r#"<p id="gone"><img src="no.png">"#);
        let dead = dead_links(folder.path()).unwrap().join(" ");
        assert!(dead.contains("b.html#there in") && dead.contains("no.png in"), "{dead}");
    }

    #[test]
    fn a_link_is_resolved_from_its_page() {
        let found = resolve(Path::new("docs/findings/a.md"), "../../results/b.svg");
        assert_eq!(found, Path::new("results/b.svg"));
    }
}
