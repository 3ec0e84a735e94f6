//! `lanescope web`: the page that measures in a browser.

use std::io::Write;

use super::arguments::WebArguments;
use super::catalogue;
use super::failure::{Exit, Failure};
use super::screen;
use crate::kernel::Kernel;
use crate::web;

/// The page's file in the folder that was named.
const PAGE_FILE: &str = "index.html";

/// Writes the page of the kernels that the arguments choose.
pub(crate) fn web(arguments: &WebArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let catalogue = catalogue::read(None)?;
    let kernels: Vec<&Kernel> = match (arguments.all, arguments.kernels.is_empty()) {
        (true, _) => catalogue.kernels().collect(),
        (false, true) => web::usual(&catalogue),
        (false, false) => catalogue::choose(&catalogue, &arguments.kernels)?,
    };
    let page = web::page(&catalogue, &kernels).map_err(Failure::bad_input)?;
    std::fs::create_dir_all(&arguments.out)?;
    let path = arguments.out.join(PAGE_FILE);
    let mut file = std::fs::File::create(&path)?;
    file.write_all(page.html.as_bytes())?;
    let mut stderr = screen::stderr();
    for sentence in &page.left_out {
        writeln!(stderr, "{sentence}")?;
    }
    let (launches, kilobytes) = (page.launches, page.html.len().div_ceil(1000));
    writeln!(out, "{}: {launches} launches, {kilobytes} kB", path.display())?;
    Ok(Exit::Done)
}
