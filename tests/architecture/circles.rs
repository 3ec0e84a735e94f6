//! Circles of files inside a module: none.
//!
//! Input: the sources of every package. Output: a failure for each circle of files, with its arrows.
//! A file points at another where it imports an item of it or names one by a path; an item that a
//! `mod.rs` re-exports belongs to the file that defines it, so that a re-export is no arrow. Code
//! under `#[cfg(test)]` points at nothing, and methods are not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A module's path inside its package: `["kernel", "launch"]`.
type Module = Vec<String>;

/// The packages' folders of sources.
pub(super) const PACKAGES: [&str; 5] = [
    "src",
    "crates/lanescope-simt/src",
    "crates/lanescope-algorithms/src",
    "crates/lanescope-capture/src",
    "lab/src",
];

/// What a file says of others.
#[derive(Debug, Default)]
struct SourceFile {
    module: Module,
    /// What its `use` lines bring, by the name that it has here.
    names: BTreeMap<String, Module>,
    /// Modules of which everything is imported.
    globs: Vec<Module>,
    /// What it names: imported items, and paths in its code.
    paths: Vec<Module>,
    /// What it defines.
    items: BTreeSet<String>,
}

/// Files by module.
type Files = BTreeMap<Module, SourceFile>;

/// Arrows from a file to others, each with an item that it is there for.
type Arrows = BTreeMap<Module, BTreeMap<Module, String>>;

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

impl SourceFile {
    fn read(module: Module, text: &str) -> Self {
        let mut file = Self { module, ..Self::default() };
        file.visit_file(&syn::parse_file(text).unwrap());
        file
    }

    /// The path from the package's root, of one that begins with `crate`, `self` or `super`.
    fn at_root(&self, path: &[String]) -> Option<Module> {
        let mut from = self.module.clone();
        match path.first().map(String::as_str) {
            Some("crate") => return Some(path[1..].to_vec()),
            Some("self") => {
                from.extend_from_slice(&path[1..]);
                return Some(from);
            }
            Some("super") => {}
            _ => return None,
        }
        let ups = path.iter().take_while(|segment| *segment == "super").count();
        from.truncate(from.len().saturating_sub(ups));
        from.extend_from_slice(&path[ups..]);
        Some(from)
    }

    fn import(&mut self, tree: &syn::UseTree, before: &mut Module, public: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before, public);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, before, public));
            }
            syn::UseTree::Glob(_) => self.globs.push(before.clone()),
            syn::UseTree::Name(name) => {
                self.bring(&name.ident.to_string(), &name.ident.to_string(), before, public);
            }
            syn::UseTree::Rename(name) => {
                self.bring(&name.ident.to_string(), &name.rename.to_string(), before, public);
            }
        }
    }

    fn bring(&mut self, item: &str, name: &str, before: &[String], public: bool) {
        let mut path = before.to_vec();
        // `use a::{self}` brings `a`.
        let name = match (item, before.last()) {
            ("self", Some(last)) if name == "self" => last.clone(),
            _ => name.to_owned(),
        };
        if item != "self" {
            path.push(item.to_owned());
        }
        if !public {
            self.paths.push(path.clone());
        }
        self.names.insert(name, path);
    }

    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Module = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.paths.push(std::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                other => {
                    self.paths.push(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.paths.push(path);
    }
}

impl<'ast> Visit<'ast> for SourceFile {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            syn::Item::Impl(item) => (&item.attrs, None),
            syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            syn::Item::Mod(item) => (&item.attrs, None),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Union(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Use(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        self.items.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &mut Vec::new(), public);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.scan(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

/// The path from the root of what `file` calls `path`; `None` where it is no path of this package.
fn absolute(files: &Files, file: &SourceFile, path: &[String]) -> Option<Module> {
    if let Some(path) = file.at_root(path) {
        return Some(path);
    }
    let first = path.first()?;
    let child: Module = file.module.iter().chain([first]).cloned().collect();
    let mut found = match file.names.get(first) {
        // A module and a function of it may have one name: `use curves::curves;`.
        _ if path.len() > 1 && files.contains_key(&child) => child,
        Some(import) if import.first() != Some(first) || files.contains_key(&child) => {
            absolute(files, file, import)?
        }
        None if files.contains_key(&child) => child,
        _ => return None,
    };
    found.extend_from_slice(&path[1..]);
    Some(found)
}

/// The file that defines what lies at a path from the root, and the item in it; `None` for what lies
/// in another package, and for a module itself.
fn owner(files: &Files, path: Module) -> Option<(Module, String)> {
    let mut path = path;
    // Re-exports of re-exports: more than a few there are not.
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|&n| files.contains_key(&path[..n]))?;
        let file = &files[&path[..length]];
        let item = path.get(length)?;
        if file.items.contains(item) {
            return Some((file.module.clone(), item.clone()));
        }
        path = match file.names.get(item) {
            Some(_) => absolute(files, file, &path[length..])?,
            None => file.globs.iter().find_map(|glob| {
                let glob = absolute(files, file, glob)?;
                let holds = files.get(&glob).is_some_and(|file| file.items.contains(item));
                holds.then(|| glob.into_iter().chain(path[length..].iter().cloned()).collect())
            })?,
        };
    }
    None
}

fn arrows(files: &Files) -> Arrows {
    let mut arrows = Arrows::new();
    for file in files.values() {
        let found = file.paths.iter().filter_map(|path| absolute(files, file, path));
        for (other, item) in found.filter_map(|path| owner(files, path)) {
            if other != file.module {
                arrows.entry(file.module.clone()).or_default().insert(other, item);
            }
        }
    }
    arrows
}

/// The files that can be reached from one along arrows.
fn reach<'a>(arrows: &'a Arrows, from: &Module) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = arrows.get(from).map_or_else(Vec::new, |to| to.keys().collect());
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(arrows.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

/// Every arrow that is part of a circle, with an item that it is there for.
fn circles(arrows: &Arrows) -> Vec<(String, String, String)> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|from| (from, reach(arrows, from))).collect();
    let mut found = Vec::new();
    for (from, to) in arrows {
        for (to, item) in to {
            if reached.get(to).is_some_and(|reached| reached.contains(from)) {
                found.push((from.join("/"), to.join("/"), item.clone()));
            }
        }
    }
    found
}

fn read(root: &Path) -> Files {
    let mut paths = Vec::new();
    super::sources(root, &mut paths);
    assert!(paths.len() > 5, "{} was not found", root.display());
    let mut files = Files::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap().with_extension("");
        let mut module: Module =
            name.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        let is_test = |part: &String| part == "tests" || part == "fixtures";
        if module.iter().any(is_test) || module == ["main"] {
            continue;
        }
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        let file = SourceFile::read(module.clone(), &fs::read_to_string(&path).unwrap());
        assert!(files.insert(module, file).is_none(), "{} twice", path.display());
    }
    files
}

/// No file uses, by way of others, itself.
#[test]
fn files_form_no_circles() {
    let mut wrong = Vec::new();
    for package in PACKAGES {
        let files = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(package));
        let arrows = arrows(&files);
        let circles = circles(&arrows).into_iter();
        wrong.extend(circles.map(|(a, b, item)| format!("{package}: {a} uses {item} of {b}")));
    }
    assert!(wrong.is_empty(), "arrows of circles:\n{}", wrong.join("\n"));
}

/// The check itself can fail: through a re-export, a path in code, a path in a macro and a glob.
#[test]
fn planted_circles_are_found() {
    let files = |texts: &[(&str, &str)]| -> Files {
        let file = |(path, text): &(&str, &str)| {
            let module: Module =
                path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
            (module.clone(), SourceFile::read(module, text))
        };
        texts.iter().map(file).collect()
    };
    let found = |texts: &[(&str, &str)]| circles(&arrows(&files(texts)));
    let door = ("room", "mod table; mod chair; pub use table::Table; use chair::*;");
    let chair = ("room/chair", "use super::Table; pub struct Chair(Table);");
    let harmless = "pub struct Table; #[cfg(test)] mod tests { use super::super::Chair; }";
    assert_eq!(found(&[("", ""), door, chair, ("room/table", harmless)]), []);
    let arrow =
        |from: &str, to: &str, item: &str| (from.to_owned(), to.to_owned(), item.to_owned());
    for offender in [
        "pub struct Table(crate::room::Chair);",
        "use super::chair; pub struct Table(chair::Chair);",
        "pub struct Table; fn f() { print!(\"{}\", super::chair::Chair::new()) }",
        "pub struct Table; use super::{chair::{self, Chair as Seat}};",
    ] {
        let expected = [
            arrow("room/chair", "room/table", "Table"),
            arrow("room/table", "room/chair", "Chair"),
        ];
        assert_eq!(
            found(&[("", ""), door, chair, ("room/table", offender)]),
            expected,
            "{offender}"
        );
    }
}
