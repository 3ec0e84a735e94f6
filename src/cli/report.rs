//! `lanescope report`: charts and page again, from result files.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::arguments::ReportArguments;
use super::failure::{Exit, Failure};
use super::render;
use super::run::write_tables;
use super::screen;
use super::watch::{RESULT_FILE, RESULTS};
use crate::analyze;
use crate::kernel::Catalogue;
use crate::record::Run;
use crate::store;

/// Makes tables, charts and page of the files that the arguments name.
pub(crate) fn report(arguments: &ReportArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let files = if arguments.files.is_empty() { vec![newest()?] } else { arguments.files.clone() };
    let runs = files.iter().map(|file| load(file)).collect::<Result<Vec<_>, _>>()?;
    let folder = arguments.out.clone().unwrap_or_else(|| beside(&files[0]));
    std::fs::create_dir_all(&folder)?;
    let run = analyze::merge(&runs).map_err(Failure::bad_input)?;
    write_tables(&run, out)?;
    let peers = match &arguments.peers {
        Some(file) => store::load_peers(file).map_err(Failure::bad_input)?.rows,
        None => Vec::new(),
    };
    let page = render::write(&folder, &runs, &peers)?;
    writeln!(screen::stderr(), "Page: {}", page.display())?;
    Ok(Exit::Done)
}

/// Loads a result file; one that says nothing of its kernels, as those of older versions, gets what
/// this program knows of them.
pub(crate) fn load(file: &Path) -> Result<Run, Failure> {
    let mut run = store::load(file).map_err(Failure::bad_input)?;
    Catalogue::embedded().map_err(Failure::bad_input)?.annotate(&mut run);
    Ok(run)
}

/// The folder that a result file lies in; a folder itself.
fn beside(file: &Path) -> PathBuf {
    if file.is_dir() {
        return file.to_owned();
    }
    let parent = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// The newest result under the default folder; folders are named by the time.
fn newest() -> Result<PathBuf, Failure> {
    let entries = std::fs::read_dir(RESULTS).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path().join(RESULT_FILE)).filter(|file| file.exists()).collect();
    found.sort();
    found.pop().ok_or_else(|| {
        let message =
            format!("there is no result under {RESULTS}/; run `lanescope` first, or name a file");
        Failure::message(Exit::BadInput, message)
    })
}
