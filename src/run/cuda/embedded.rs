//! PTX of some of the catalogue's kernels, for machines that have NVIDIA's driver and no NVRTC.
//!
//! Input: an emitted C++ text. Output: its PTX, where lanescope brings it. The files of
//! `src/run/cuda/ptx` are named by the SHA-256 of the text that they were compiled from, so that PTX
//! of another text is never found: a translation that changes makes its PTX missing, not wrong. What
//! there must be is [`sources`]; `cargo run --release --example embed_ptx` compiles it anew, with the
//! NVRTC that [`MADE_WITH`] names, and a test fails where a file is missing or left over.

use std::collections::BTreeMap;

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

/// The families that are embedded: what counting is shown and tested with. All others, whose many
/// choices would more than double what is carried, need NVRTC.
pub const FAMILIES: [&str; 3] = ["five_patterns", "hot_loops", "self_test"];

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/run/cuda/ptx");

/// The file of a text.
pub fn file_name(source: &str) -> String {
    format!("{}.ptx", &sha256(source)[..32])
}

/// Every file that is embedded.
pub fn files() -> Vec<&'static str> {
    FILES.files().filter_map(|file| file.path().to_str()).filter(|n| n.ends_with(".ptx")).collect()
}

/// The PTX of a text, where there is one.
pub(super) fn find(source: &str) -> Option<Image> {
    let file = FILES.get_file(file_name(source))?;
    let mut bytes = file.contents().to_vec();
    bytes.push(0);
    Some(Image { bytes, architecture: format!("{ARCHITECTURE}, embedded") })
}

/// The C++ of what must be embedded, by file name: the default points of [`FAMILIES`], plain and
/// with executed counters, the probes, and the kernels that are written in CUDA C++.
///
/// # Errors
///
/// What translating gives.
pub fn sources() -> Result<BTreeMap<String, String>, RunError> {
    let bad = |message: String| RunError::new(RunErrorKind::BadInput, message);
    let catalogue = Catalogue::embedded().map_err(|error| bad(error.to_string()))?;
    let mut all = probe::sources()?;
    for kernel in catalogue.kernels().filter(|kernel| FAMILIES.contains(&kernel.family())) {
        for point in kernel.points(&BTreeMap::new()) {
            let launch = kernel
                .launch(DeviceClass::Quick, &point, SEED)
                .map_err(|error| bad(error.to_string()))?;
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
