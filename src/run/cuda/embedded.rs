//! PTX of the catalogue's default points, for machines that have NVIDIA's driver and no NVRTC.
//!
//! Input: an emitted C++ text. Output: its PTX, where lanescope brings it. `embedded/ptx.tar.xz` holds
//! the files, each named by the SHA-256 of the text that it was compiled from, so that PTX of another
//! text is never found: a translation that changes makes its PTX missing, not wrong. `index.toml`
//! beside it says of which kernel each is ([`PtxIndex`]). What there must be is [`texts`]; what differs
//! is stale, which a test lists. `lab embed-ptx` compiles what is stale, with the NVRTC that
//! [`MADE_WITH`] names. This module writes no files.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::OnceLock;

use lzma_rust2::XzReader;
use serde::{Deserialize, Serialize};

use super::nvrtc::Image;
use super::translation::{options_for, probes};
use crate::instrument::{CounterScheme, Instrumented, Options};
use crate::kernel::{Catalogue, DeviceClass, Kernel, KernelLanguage, Launch, SEED};
use crate::program::Program;
use crate::record::Value;
use crate::run::counting::COUNTER_BYTES_MAX;
use crate::run::launched::{programs, sha256};
use crate::run::{RunError, RunErrorKind};
use crate::translate::{self, WIDTH};

/// The version of NVRTC that compiles what is embedded: drivers since 2024 take its PTX.
pub const MADE_WITH: (u32, u32) = (12, 4);

/// The architecture: the oldest that has all instructions; drivers compile it for newer ones.
pub const ARCHITECTURE: &str = "compute_75";

/// Where the archive and its index lie, from the package's root.
pub const FOLDER: &str = "src/run/cuda/embedded";

/// The archive: a file `<key>.ptx` for each text.
pub const ARCHIVE: &str = "ptx.tar.xz";

/// The index of the archive.
pub const INDEX: &str = "index.toml";

/// How the names of the archive's files end.
pub const ENDING: &str = ".ptx";

/// The classes whose default points are embedded: those that a GPU is run with.
const CLASSES: [(DeviceClass, &str); 2] =
    [(DeviceClass::Gpu, "gpu"), (DeviceClass::Quick, "quick")];

/// The parameter whose value a row shows.
const FORM: &str = "form";

/// What a probe's row calls its kernel.
const PROBE: &str = "probe";

static PACKED: &[u8] = include_bytes!("embedded/ptx.tar.xz");
static INDEX_TEXT: &str = include_str!("embedded/index.toml");

/// What the archive holds, by the key of each text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PtxIndex {
    /// The NVRTC that compiled it, `12.4`.
    pub nvrtc: String,
    /// What it was compiled for.
    pub architecture: String,
    /// Of which kernel each text is, by its [`key`].
    pub texts: BTreeMap<String, PtxRow>,
}

/// Of which kernel a text is; where several points share it, the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PtxRow {
    /// `family/name`, or `probe` for what measures a device.
    pub kernel: String,
    /// The entry point; `None` if a text in CUDA C++ holds them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<String>,
    /// The classes of devices whose default points have it, `gpu` and `quick`.
    pub class: Vec<String>,
    /// The parameter `form`, where the kernel has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Whether it counts, with executed counters.
    pub counted: bool,
}

/// A text that must have PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedText {
    /// Of which kernel it is.
    pub row: PtxRow,
    /// C++.
    pub source: String,
}

/// What of the archive does not fit the program's texts, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    /// Texts without PTX, or whose row says something else.
    pub missing: BTreeMap<String, PtxRow>,
    /// PTX of texts that are no more.
    pub left_over: BTreeMap<String, PtxRow>,
}

impl PtxIndex {
    /// The index of what is embedded.
    ///
    /// # Errors
    ///
    /// The parser's message.
    pub fn embedded() -> Result<Self, toml::de::Error> {
        toml::from_str(INDEX_TEXT)
    }

    /// The index of these texts, compiled by [`MADE_WITH`] for [`ARCHITECTURE`].
    pub fn from_texts(texts: &BTreeMap<String, EmbeddedText>) -> Self {
        Self {
            nvrtc: format!("{}.{}", MADE_WITH.0, MADE_WITH.1),
            architecture: ARCHITECTURE.to_owned(),
            texts: texts.iter().map(|(key, text)| (key.clone(), text.row.clone())).collect(),
        }
    }

    /// What of these texts is not in it, and what of it is none of them.
    pub fn stale(&self, texts: &BTreeMap<String, EmbeddedText>) -> Stale {
        let missing = texts.iter().filter(|(key, text)| self.texts.get(*key) != Some(&text.row));
        let left_over = self.texts.iter().filter(|(key, _)| !texts.contains_key(*key));
        Stale {
            missing: missing.map(|(key, text)| (key.clone(), text.row.clone())).collect(),
            left_over: left_over.map(|(key, row)| (key.clone(), row.clone())).collect(),
        }
    }
}

impl std::fmt::Display for PtxRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.kernel)?;
        if let Some(entry_point) = &self.entry_point {
            write!(formatter, " {entry_point}")?;
        }
        if let Some(form) = &self.form {
            write!(formatter, " {form}")?;
        }
        formatter.write_str(if self.counted { ", counted" } else { "" })
    }
}

/// The key of a text: the first half of its SHA-256, in hexadecimal.
pub fn key(source: &str) -> String {
    sha256(source)[..32].to_owned()
}

/// The PTX of a text, where there is one.
pub(super) fn find(source: &str) -> Option<Image> {
    let mut bytes = embedded().get(&key(source))?.clone();
    bytes.push(0);
    Some(Image { bytes, architecture: format!("{ARCHITECTURE}, embedded") })
}

/// All PTX that is embedded, by key; unpacked once, when it is first asked for. Empty where the
/// archive is damaged, which a test would find.
pub fn embedded() -> &'static BTreeMap<String, Vec<u8>> {
    static UNPACKED: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    UNPACKED.get_or_init(|| unpack(PACKED).unwrap_or_default())
}

/// The files of an archive, by key.
///
/// # Errors
///
/// What the decoder says of an archive that is damaged.
pub fn unpack(archive: &[u8]) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(XzReader::new(archive, false)).entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        if let Some(key) = name.strip_suffix(ENDING) {
            files.insert(key.to_owned(), bytes);
        }
    }
    Ok(files)
}

/// What must be embedded, by key: the default points of the catalogue, plain and with executed
/// counters, the probes, and the kernels that are written in CUDA C++.
///
/// # Errors
///
/// What translating gives.
pub fn texts() -> Result<BTreeMap<String, EmbeddedText>, RunError> {
    let bad = |message: String| RunError::new(RunErrorKind::BadInput, message);
    let catalogue = Catalogue::embedded().map_err(|error| bad(error.to_string()))?;
    let mut texts = BTreeMap::new();
    for source in probes()? {
        let row = PtxRow { class: classes(), ..row_of(PROBE, Some("main"), None) };
        add(&mut texts, EmbeddedText { row, source });
    }
    for kernel in catalogue.kernels() {
        for (class, name) in CLASSES {
            for point in kernel.points(&BTreeMap::new()) {
                let launch =
                    kernel.launch(class, &point, SEED).map_err(|error| bad(error.to_string()))?;
                for text in launch_texts(kernel, &launch, name)? {
                    add(&mut texts, text);
                }
            }
        }
    }
    for kernel in catalogue.all().filter(|kernel| kernel.language == KernelLanguage::Cuda) {
        let source = native_text(&format!("{}.cu", kernel.id), &kernel.source);
        let row = PtxRow { class: classes(), ..row_of(&kernel.id, None, None) };
        add(&mut texts, EmbeddedText { row, source });
    }
    Ok(texts)
}

/// What is compiled of a kernel in CUDA C++: its text, under its own name, since NVRTC would otherwise
/// write the folder that it happens to run in into what it makes.
pub fn native_text(file: &str, source: &str) -> String {
    format!("#line 1 \"/lanescope/{file}\"\n{source}")
}

/// The names of all classes.
fn classes() -> Vec<String> {
    CLASSES.iter().map(|(_, name)| (*name).to_owned()).collect()
}

/// A row of no class, of a text that does not count.
fn row_of(kernel: &str, entry_point: Option<&str>, form: Option<&Value>) -> PtxRow {
    PtxRow {
        kernel: kernel.to_owned(),
        entry_point: entry_point.map(str::to_owned),
        class: Vec::new(),
        form: form.map(ToString::to_string),
        counted: false,
    }
}

/// Adds a text, or its classes to the one that is there.
fn add(texts: &mut BTreeMap<String, EmbeddedText>, text: EmbeddedText) {
    let there = texts.entry(key(&text.source)).or_insert_with(|| text.clone());
    for class in text.row.class {
        if !there.row.class.contains(&class) {
            there.row.class.push(class);
        }
    }
}

/// The texts of a launch's programs, each plain and counting.
fn launch_texts(
    kernel: &Kernel,
    launch: &Launch,
    class: &str,
) -> Result<Vec<EmbeddedText>, RunError> {
    let form = launch.parameters.get(FORM);
    let mut texts = Vec::new();
    for program in programs(launch)?.iter() {
        let row = row_of(&kernel.id, Some(&program.entry_point().name), form);
        for (source, counted) in translate_both(program, launch)?.into_iter().zip([false, true]) {
            let row = PtxRow { class: vec![class.to_owned()], counted, ..row.clone() };
            texts.push(EmbeddedText { row, source });
        }
    }
    Ok(texts)
}

/// A program plain and counting.
fn translate_both(program: &Program, launch: &Launch) -> Result<[String; 2], RunError> {
    let refused = |message: String| RunError::new(RunErrorKind::Unsupported, message);
    let options = options_for(launch);
    let how = Options {
        method: CounterScheme::Executed,
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
