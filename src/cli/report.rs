//! `lanescope report`: charts and page again, from result files; one page of many; a copy to share.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::arguments::ReportArguments;
use super::failure::{Exit, Failure, chain};
use super::render;
use super::run::write_tables;
use super::screen;
use super::shader::{files_meant, folder_text};
use super::shared;
use super::watch::{RESULT_FILE, RESULTS, Work};
use crate::analyze;
use crate::kernel::Catalogue;
use crate::present::terminal_columns;
use crate::record::Run;
use crate::report::GalleryPage;
use crate::store;

/// The file of a page of many records.
const GALLERY_FILE: &str = "gallery.html";

/// Seconds that reading a record takes for each byte, about, on a core of 2024.
const READING_S: f64 = 3e-8;

/// How many bytes one of a packed record becomes, about.
const UNPACKED: u64 = 15;

/// Makes tables, charts and page of the files that the arguments name.
pub(crate) fn report(arguments: &ReportArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    if arguments.gallery {
        return gallery(arguments, out);
    }
    if let Some(copy) = &arguments.share {
        return share(arguments, copy);
    }
    let files = if arguments.files.is_empty() { vec![newest()?] } else { arguments.files.clone() };
    let work = Work::begin();
    let runs = read_each(&work, &files, load)?;
    drop(work);
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

/// Writes a copy of one record without paths; a file that is there stays as it is.
fn share(arguments: &ReportArguments, copy: &Path) -> Result<Exit, Failure> {
    let file = match &arguments.files[..] {
        [] => newest()?,
        [file] => file.clone(),
        _ => {
            let message = "--share takes one record: name one file".to_owned();
            return Err(Failure::message(Exit::BadInput, message));
        }
    };
    let work = Work::begin();
    work.begin_stage(&format!("reading {}", file.display()), weight(&file), READING_S);
    let run = read(&file)?;
    drop(work);
    let shared = shared::shared(&run).map_err(Failure::bad_input)?;
    let bytes = store::encode(&shared, copy).map_err(Failure::bad_input)?;
    File::create_new(copy)?.write_all(&bytes)?;
    writeln!(screen::stderr(), "Record to share: {}", copy.display())?;
    Ok(Exit::Done)
}

/// Makes one page of many records, of which one is held at a time.
fn gallery(arguments: &ReportArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    for path in &arguments.files {
        gather(path, &mut files)?;
    }
    files.retain(|file| file.extension().is_none_or(|ending| ending != "csv"));
    let catalogue = Catalogue::embedded().map_err(Failure::bad_input)?;
    let mut page = GalleryPage::default();
    let mut exit = Exit::Done;
    let work = Work::begin();
    read_each(&work, &files, |file| match store::load(file) {
        Ok(mut run) => {
            catalogue.annotate(&mut run);
            page.add(&run).map_err(Failure::bad_input)
        }
        Err(error) => {
            exit = Exit::PartFailed;
            let text = chain(&error.into());
            Ok(work.suspend(|| writeln!(screen::stderr(), "lanescope: {text}"))?)
        }
    })?;
    drop(work);
    let columns = terminal_columns();
    for table in page.tables() {
        writeln!(out, "{}", table.to_screen(columns))?;
    }
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(GALLERY_FILE);
    File::create(&path)?.write_all(page.html().map_err(Failure::bad_input)?.as_bytes())?;
    writeln!(screen::stderr(), "Page: {}", path.display())?;
    Ok(exit)
}

/// The files that a path stands for: itself, a folder's own result, else all records and tables beneath it.
pub(crate) fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() || store::NAMES.iter().any(|name| path.join(name).exists()) {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut inside: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    inside.sort();
    for path in inside {
        let name = path.to_string_lossy();
        let known =
            name.ends_with(".csv") || store::ENDINGS.iter().any(|ending| name.ends_with(ending));
        if path.is_dir() {
            gather(&path, files)?;
        } else if known {
            files.push(path);
        }
    }
    Ok(())
}

/// What a record counts for among those that are read: its bytes, unpacked, about.
fn weight(file: &Path) -> u64 {
    let within = store::NAMES.map(|name| file.join(name));
    let file = within.iter().find(|file| file.is_file()).map_or(file, PathBuf::as_path);
    let bytes = std::fs::metadata(file).map_or(0, |about| about.len());
    let is_packed = file.extension().is_some_and(|ending| ending == "gz" || ending == "xz");
    if is_packed { bytes.saturating_mul(UNPACKED) } else { bytes }
}

/// Reads files one after the other, and has the work tell which and how long they take.
///
/// # Errors
///
/// The first that `read` gives.
pub(super) fn read_each<T>(
    work: &Work,
    files: &[PathBuf],
    mut read: impl FnMut(&Path) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let weights: Vec<u64> = files.iter().map(|file| weight(file)).collect();
    work.begin_stage("reading", weights.iter().copied().fold(0, u64::saturating_add), READING_S);
    let mut all = Vec::with_capacity(files.len());
    for ((file, weight), number) in files.iter().zip(weights).zip(1_usize..) {
        let place = match files.len() {
            1 => String::new(),
            count => format!(" ({number} of {count})"),
        };
        work.doing(&format!("reading {}{place}", file.display()));
        all.push(read(file)?);
        work.advance(weight);
    }
    Ok(all)
}

/// Reads a result file as it is.
///
/// # Errors
///
/// Why it cannot be read; of one that is not there, which may have been meant and where results lie.
pub(crate) fn read(file: &Path) -> Result<Run, Failure> {
    if file.exists() {
        return store::load(file).map_err(Failure::bad_input);
    }
    let message = format!(
        "there is no result file {} in {}{}\n`lanescope` and `lanescope profile` write {RESULT_FILE} into a new \
         folder under {RESULTS}/, or into the one that --out names",
        file.file_name().unwrap_or_default().to_string_lossy(),
        folder_text(file),
        files_meant(file)
    );
    Err(Failure::message(Exit::BadInput, message))
}

/// Loads a result file; one that says nothing of its kernels, as those of older versions, gets what
/// this program knows of them.
pub(crate) fn load(file: &Path) -> Result<Run, Failure> {
    let mut run = read(file)?;
    // Commands that judge read hundreds of records.
    Catalogue::shared().map_err(Failure::bad_input)?.annotate(&mut run);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_record_that_is_not_there_it_is_said_where_records_come_from() {
        let failure = read(Path::new("no/such/nope.json")).expect_err("it is not there");
        let message = failure.error.to_string();
        assert_eq!(failure.exit, Exit::BadInput);
        assert!(message.starts_with("there is no result file nope.json in no/such"), "{message}");
        assert!(message.contains(RESULTS), "{message}");
    }
}
