//! PTX of the catalogue's default points, for machines that have NVIDIA's driver and no NVRTC.
//!
//! Input: an emitted C++ text. Output: its PTX, where lanescope brings it. The files of
//! `src/run/cuda/ptx` are named by the SHA-256 of the text that they were compiled from, so that PTX
//! of another text is never found: a translation that changes makes its PTX missing, not wrong. They
//! are compressed, to a seventh. What there must be is [`sources`]; `cargo run --release --example
//! embed_ptx` compiles it anew, with the NVRTC that [`MADE_WITH`] names, and a test fails where a file
//! is missing or left over.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use include_dir::{Dir, include_dir};

use super::nvrtc::Image;
use super::probe;
use super::runner::options_for;
use crate::instrument::{Instrumented, Method, Options};
use crate::kernel::{Catalogue, DeviceClass, Language, Launch, SEED};
use crate::program::Program;
use crate::run::counting::COUNTER_BYTES_MAX;
use crate::run::measure::{programs, sha256};
use crate::run::{RunError, RunErrorKind};
use crate::translate::{self, WIDTH};

/// The version of NVRTC that compiles what is embedded: drivers since 2024 take its PTX.
pub const MADE_WITH: (u32, u32) = (12, 4);

/// The architecture: the oldest that has all instructions; drivers compile it for newer ones.
pub const ARCHITECTURE: &str = "compute_75";

/// The classes whose default points are embedded: those that a GPU is run with.
const CLASSES: [DeviceClass; 2] = [DeviceClass::Gpu, DeviceClass::Quick];

/// How the files' names end.
pub const ENDING: &str = ".ptx.gz";

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/run/cuda/ptx");

/// The file of a text.
pub fn file_name(source: &str) -> String {
    format!("{}{ENDING}", &sha256(source)[..32])
}

/// PTX as a file holds it: the same bytes from the same PTX.
///
/// # Errors
///
/// What the encoder gives.
pub fn packed(ptx: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(ptx)?;
    encoder.finish()
}

/// Every file that is embedded.
pub fn files() -> Vec<&'static str> {
    FILES.files().filter_map(|file| file.path().to_str()).filter(|n| n.ends_with(ENDING)).collect()
}

/// The PTX of a text, where there is one.
pub(super) fn find(source: &str) -> Option<Image> {
    let mut bytes = unpacked(&file_name(source))?;
    bytes.push(0);
    Some(Image { bytes, architecture: format!("{ARCHITECTURE}, embedded") })
}

/// The PTX of a file that is embedded.
pub fn unpacked(name: &str) -> Option<Vec<u8>> {
    let file = FILES.get_file(name)?;
    let mut bytes = Vec::new();
    GzDecoder::new(file.contents()).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The C++ of what must be embedded, by file name: the default points of the catalogue, plain and
/// with executed counters, the probes, and the kernels that are written in CUDA C++.
///
/// # Errors
///
/// What translating gives.
pub fn sources() -> Result<BTreeMap<String, String>, RunError> {
    let bad = |message: String| RunError::new(RunErrorKind::BadInput, message);
    let catalogue = Catalogue::embedded().map_err(|error| bad(error.to_string()))?;
    let mut all = probe::sources()?;
    for kernel in catalogue.kernels() {
        let points = kernel.points(&BTreeMap::new());
        for (class, point) in CLASSES.iter().flat_map(|class| points.iter().map(|p| (*class, p))) {
            let launch =
                kernel.launch(class, point, SEED).map_err(|error| bad(error.to_string()))?;
            for program in programs(&launch)? {
                all.extend(both(&program, &launch)?);
            }
        }
    }
    let native = catalogue.all().filter(|kernel| kernel.language == Language::Cuda);
    all.extend(native.map(|kernel| native_text(&format!("{}.cu", kernel.id), &kernel.source)));
    Ok(all.into_iter().map(|source| (file_name(&source), source)).collect())
}

/// What is compiled of a kernel in CUDA C++: its text, under its own name, since NVRTC would otherwise
/// write the folder that it happens to run in into what it makes.
pub fn native_text(file: &str, source: &str) -> String {
    format!("#line 1 \"/lanescope/{file}\"\n{source}")
}

/// A program plain and counting.
fn both(program: &Program, launch: &Launch) -> Result<[String; 2], RunError> {
    let refused = |message: String| RunError::new(RunErrorKind::Unsupported, message);
    let options = options_for(launch);
    let how = Options {
        method: Method::Executed,
        subgroup_width_max: WIDTH,
        counter_bytes_max: COUNTER_BYTES_MAX,
        // What they are is left out of executed counters.
        workgroups: None,
    };
    let counting = Instrumented::new(program, &how).map_err(|error| refused(error.to_string()))?;
    let text = |module, info| {
        translate::cuda(module, info, program.text(), &options)
            .map(|translated| translated.source)
            .map_err(|error| refused(error.to_string()))
    };
    Ok([text(program.module(), program.info())?, text(counting.module(), counting.info())?])
}
