//! Charts and the page, from records to files.
//!
//! Input: runs. Output: one SVG a figure and `report.html`, in a folder. It can
//! be done again from the result files at any time.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::iter;
use std::path::{Path, PathBuf};

use super::failure::{Exit, Failure};
use super::screen;
use crate::analyze;
use crate::record::{PeerRow, Run};
use crate::report;

/// The most characters of a figure's name that its file's has: systems allow 255 bytes.
const NAME_MAX: usize = 56;

/// Seconds that figures and page take for each measurement, about: half as much to twice as much, on a core of 2024.
const MEASUREMENT_S: f64 = 0.001;

/// Seconds from which on it is said how long they take.
const LONG_S: f64 = 2.0;

/// The page's name in its folder.
pub(crate) const PAGE: &str = "report.html";

/// Writes every chart and the page, and gives the page's path.
pub(crate) fn write(folder: &Path, runs: &[Run], peers: &[PeerRow]) -> Result<PathBuf, Failure> {
    let measurements: usize = runs.iter().map(|run| run.measurements.len()).sum();
    if let Some(text) = long_page(measurements) {
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(screen::stderr(), "{text}");
    }
    let made = report::page(runs, peers).map_err(Failure::bad_input)?;
    let mut names = BTreeSet::new();
    for (name, svg) in &made.figures {
        save(&folder.join(format!("{}.svg", file_stem(name, &mut names))), svg)?;
    }
    let page = folder.join(PAGE);
    save(&page, &made.html)?;
    Ok(page)
}

/// What is said before figures and page that take long, so that nobody takes them for hung.
fn long_page(measurements: usize) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let seconds = measurements as f64 * MEASUREMENT_S;
    (seconds >= LONG_S).then(|| {
        format!("figures and page of {measurements} measurements take some {seconds:.0} s")
    })
}

/// Writes the pages of profiles, and gives their paths; of several, each is named for its shader.
pub(crate) fn profile_pages(
    folder: &Path,
    profiles: &[analyze::Profile],
    run: &Run,
) -> Result<Vec<PathBuf>, Failure> {
    let mut pages: Vec<PathBuf> = Vec::new();
    for profile in profiles {
        let name = match profiles.len() {
            1 => PAGE.to_owned(),
            _ => format!("{}.html", profile.kernel),
        };
        let mut page = folder.join(name);
        // Two folders may have shaders of one name.
        if pages.contains(&page) {
            page = folder.join(format!("{}-{}.html", profile.kernel, pages.len()));
        }
        let advice = analyze::advice_of(profile);
        save(&page, &report::profile_html(profile, &advice, run).map_err(Failure::bad_input)?)?;
        pages.push(page);
    }
    Ok(pages)
}

/// The name of a comparison's page in its folder.
const COMPARISON_PAGE: &str = "compare.html";

/// Writes the page of a comparison, and gives its path.
pub(crate) fn comparison_page(
    folder: &Path,
    names: &[String; 2],
    comparison: &analyze::Comparison,
    launches: &[analyze::LaunchComparison],
) -> Result<PathBuf, Failure> {
    let page = folder.join(COMPARISON_PAGE);
    std::fs::create_dir_all(folder)?;
    let text = report::comparison_html(names, comparison, launches).map_err(Failure::bad_input)?;
    save(&page, &text)?;
    Ok(page)
}

/// The name of a file for a figure, no path whatever the figure is called: records name figures. One that
/// is in `names` already, in letters of any case, gets a number.
fn file_stem(name: &str, names: &mut BTreeSet<String>) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.+=,".contains(c) { c } else { '_' };
    let stem: String = name.trim_start_matches('.').chars().take(NAME_MAX).map(safe).collect();
    let numbered = (2..).map(|number: u64| format!("{stem}-{number}"));
    let mut names_free = iter::once(stem.clone()).chain(numbered);
    names_free.find(|name| names.insert(name.to_lowercase())).unwrap_or(stem)
}

#[expect(clippy::disallowed_methods, reason = "`cli` writes the files that the user asked for")]
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        // A page that ends in the middle is none.
        let _ = std::fs::remove_file(path);
        Failure::message(Exit::BadInput, format!("{} cannot be written: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_names_become_files_of_one_folder_each_its_own() {
        let mut names = BTreeSet::new();
        let mut stem = |name: &str| file_stem(name, &mut names);
        assert_eq!(stem("lanes-x/../../victim/k"), "lanes-x_.._.._victim_k");
        assert_eq!(stem("lanes-x\\..\\.._victim_k"), "lanes-x_.._.._victim_k-2");
        assert_eq!(stem("../../x"), "_.._x");
        assert_eq!(stem("C:nul\0\u{202e}\n"), "C_nul___");
        assert_eq!([stem("a"), stem("A"), stem("a")], ["a", "A-2", "a-3"]);
        assert_eq!(stem(""), "");
        assert!(stem(&"漢".repeat(10_000)).len() < 200);
    }
}
