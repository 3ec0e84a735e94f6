//! The machine code that lanescope brings: the catalogue's, for machines without Mesa.
//!
//! Input: the key of what is to be compiled. Output: its code, where it is there. `brought.tar.xz` holds
//! two files: [`CODE`], the words of every entry point one behind the other, and [`INDEX`], which says
//! what compiled them, of which kernel each is and what its compiler states of it. A key is made of the
//! SPIR-V, so that code of another text is never found: a shader that changes makes its code missing,
//! not wrong. What there must be is [`list_wanted`]; what differs is stale, which a test lists. `lab
//! embed-code` makes the archive. This module writes no files.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::OnceLock;

use lzma_rust2::XzReader;
use serde::{Deserialize, Serialize};

use crate::amd::{Code, Facts, FloatMode, Start};
use crate::kernel::{Catalogue, DeviceClass, Kernel, KernelLanguage, SEED};
use crate::record::Value;
use crate::run::RunError;
use crate::run::launched::programs;
use crate::units::Width;

use super::compiled::{Compiled, ToCompile, sha256_of};
use super::place::{FAMILIES, RadvPlace};

/// The archive, from the package's root.
pub const ARCHIVE: &str = "src/run/radv/brought.tar.xz";

/// The file of words in the archive, little-endian.
pub const CODE: &str = "code.bin";

/// The file that says what they are.
pub const INDEX: &str = "index.json";

/// The classes of devices whose default points are brought.
const CLASSES: [DeviceClass; 4] =
    [DeviceClass::Quick, DeviceClass::Gpu, DeviceClass::Cpu, DeviceClass::Simulator];

/// The sizes of waves that are brought.
const WAVES: [u32; 2] = [32, 64];

static PACKED: &[u8] = include_bytes!("brought.tar.xz");

/// What the archive holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeIndex {
    /// What compiled it: the driver's name and version.
    pub made_with: String,
    /// For which family.
    pub family: String,
    /// Each entry point, by its key.
    pub entry_points: BTreeMap<String, CodeRow>,
}

/// An entry point's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeRow {
    /// The kernel, `family/name`; where several share the code, the first.
    pub kernel: String,
    /// The entry point.
    pub entry_point: String,
    /// Lanes of a wave.
    pub wave: u32,
    /// Where its words begin in [`CODE`], in words.
    pub at: usize,
    /// How many there are.
    pub words: usize,
    /// Vector registers of each lane's own.
    pub vectors: u32,
    /// Bytes of the local data share.
    pub local_bytes: u32,
    /// What the scalar registers hold at the start.
    pub scalars: Vec<StartWords>,
}

/// A [`Start`] in the archive: its name and its number, where it has one.
pub type StartWords = (String, u32);

/// The archive, unpacked.
#[derive(Clone, Debug, Default)]
pub struct Brought {
    /// What compiled it.
    pub made_with: String,
    /// For which family.
    pub family: String,
    rows: BTreeMap<String, CodeRow>,
    words: Vec<u32>,
}

/// What must have code: a kernel's entry point at a place.
#[derive(Debug)]
pub struct Wanted {
    /// The kernel, `family/name`.
    pub kernel: String,
    /// The place.
    pub place: RadvPlace,
    /// What is compiled.
    pub asked: ToCompile,
    /// Invocations of a workgroup along x, y and z.
    pub workgroup: [u32; 3],
}

impl Brought {
    /// The code of a key; the reason where it is there and is not executed, `None` if it is not.
    pub(super) fn find(
        &self,
        key: &str,
        wave: Width,
        workgroup: [u32; 3],
    ) -> Option<Result<Compiled, String>> {
        let row = self.rows.get(key)?;
        let words = self.words.get(row.at..row.at + row.words)?.to_vec();
        let facts = Facts {
            wave: wave.lanes(),
            vectors: row.vectors,
            local_bytes: row.local_bytes,
            scratch_bytes: 0,
            workgroup,
            scalars: row.scalars.iter().filter_map(start_of).collect(),
            mode: FloatMode { flush32: true },
        };
        Some(Code::new(&words, facts).map_err(|error| error.to_string()).map(|code| Compiled {
            sha256: sha256_of(&words),
            lines: vec![None; code.instructions().len()],
            code,
            words,
        }))
    }

    /// The keys, each with its row.
    pub fn rows(&self) -> &BTreeMap<String, CodeRow> {
        &self.rows
    }

    /// The words of a row.
    pub fn words(&self, row: &CodeRow) -> &[u32] {
        self.words.get(row.at..row.at + row.words).unwrap_or_default()
    }
}

/// What lanescope brings; unpacked once, when it is first asked for. Empty where the archive is damaged,
/// which a test would find.
pub fn embedded() -> &'static Brought {
    static UNPACKED: OnceLock<Brought> = OnceLock::new();
    UNPACKED.get_or_init(|| unpack(PACKED).unwrap_or_default())
}

/// What an archive holds.
///
/// # Errors
///
/// Where it is none.
pub fn unpack(packed: &[u8]) -> io::Result<Brought> {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(XzReader::new(packed, true));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.insert(name, bytes);
    }
    let file = |name: &str| files.get(name).map(Vec::as_slice).unwrap_or_default();
    let index: CodeIndex = serde_json::from_slice(file(INDEX)).map_err(io::Error::other)?;
    let (words, _) = file(CODE).as_chunks::<4>();
    Ok(Brought {
        made_with: index.made_with,
        family: index.family,
        rows: index.entry_points,
        words: words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
    })
}

/// The points of a kernel whose code is brought: its defaults, and where the main job runs it, those of its sweeps
/// that take no GPU and are not the simulator's alone.
fn points(kernel: &Kernel) -> Vec<BTreeMap<String, Value>> {
    let mut points = kernel.points(&BTreeMap::new());
    let sweeps = kernel.description.sweeps.iter();
    let taken = sweeps.filter(|sweep| !sweep.gpu_only && !sweep.simulator_only);
    if kernel.description.in_default_set {
        points.extend(taken.flat_map(|sweep| sweep.points(&BTreeMap::new())));
    }
    points
}

/// What must be in the archive, by key: the entry points of default points and of those that the main job runs.
///
/// # Errors
///
/// Where the catalogue cannot be read or a shader cannot be written as SPIR-V.
pub fn list_wanted() -> Result<BTreeMap<String, Wanted>, RunError> {
    let bad = |error: &dyn std::fmt::Display| {
        RunError::new(crate::run::RunErrorKind::BadInput, error.to_string())
    };
    let catalogue = Catalogue::embedded().map_err(|error| bad(&error))?;
    let mut wanted = BTreeMap::new();
    for kernel in catalogue.kernels() {
        if kernel.language != KernelLanguage::Wgsl {
            continue;
        }
        for class in CLASSES {
            for point in points(kernel) {
                let launch = kernel.launch(class, &point, SEED).map_err(|error| bad(&error))?;
                for program in programs(&launch)?.iter() {
                    let bindings = program.bindings().map_err(|error| bad(&error))?;
                    for wave in WAVES.iter().filter_map(|lanes| Width::new(*lanes).ok()) {
                        let place = RadvPlace { family: FAMILIES[0], wave };
                        let asked = ToCompile::new(program, &bindings, &launch)?;
                        let (kernel, workgroup) = (kernel.id.clone(), program.workgroup_size());
                        let compilation = Wanted { kernel, place, asked, workgroup };
                        wanted.entry(compilation.asked.key(place)).or_insert(compilation);
                    }
                }
            }
        }
    }
    Ok(wanted)
}

/// A start as the archive has it.
pub fn start_words(start: Start) -> StartWords {
    let (name, number) = match start {
        Start::Unused(count) => ("unused", u32::from(count)),
        Start::Descriptors(set) => ("descriptors", set),
        Start::Grid => ("grid", 0),
        Start::Workgroup(axis) => ("workgroup", u32::from(axis)),
        Start::WaveNumber => ("wave_number", 0),
        // No kernel of the catalogue has immediates; what reads them is refused before.
        Start::Immediates(..) => ("immediates", 0),
    };
    (name.to_owned(), number)
}

/// The start that the archive means; nothing for one that it does not know, which makes the code refused.
fn start_of((name, number): &StartWords) -> Option<Start> {
    let small = || u8::try_from(*number).ok();
    match name.as_str() {
        "unused" => small().map(Start::Unused),
        "descriptors" => Some(Start::Descriptors(*number)),
        "grid" => Some(Start::Grid),
        "workgroup" => small().map(Start::Workgroup),
        "wave_number" => Some(Start::WaveNumber),
        _ => None,
    }
}
