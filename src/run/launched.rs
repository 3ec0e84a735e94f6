//! What everyone who runs launches asks of one: its programs, and digests of its outputs.
//!
//! Input: launches and the bytes of outputs. Output: programs by dispatch, SHA-256 and shown elements.
//! Nothing is run, and nothing is put into a record here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::{RunError, RunErrorKind, caught};
use crate::binary::SpirV;
use crate::kernel::{KernelLanguage, Launch, scalars};
use crate::program::{Parsed, Program, ProgramError};

/// SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    sha256_bytes(text.as_bytes())
}

/// SHA-256 of bytes in hexadecimal.
pub fn sha256_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of each of a launch's outputs, in hexadecimal, by name.
pub fn outputs_sha256(outputs: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    outputs.iter().map(|(name, bytes)| (name.clone(), sha256_bytes(bytes))).collect()
}

/// The elements of the outputs that a launch wants shown, by name.
pub fn outputs_shown(
    launch: &Launch,
    outputs: &BTreeMap<String, Vec<u8>>,
) -> BTreeMap<String, Vec<f64>> {
    let buffers = launch.buffers.iter().filter(|buffer| launch.shown.contains(&buffer.name));
    buffers
        .filter_map(|buffer| {
            let length = usize::try_from(buffer.scalar.bytes()).unwrap_or(8);
            let elements = outputs.get(&buffer.name)?.chunks_exact(length);
            let values = elements.map(|element| scalars::decode(buffer.scalar, element));
            Some((buffer.name.clone(), values.collect()))
        })
        .collect()
}

/// The three counts of an indirect dispatch that `buffer`, with the content `bytes`, holds at a byte.
///
/// # Errors
///
/// [`RunErrorKind::BadInput`] where the buffer ends before.
pub(super) fn indirect_counts(
    buffer: &str,
    bytes: &[u8],
    offset: u64,
) -> Result<[u32; 3], RunError> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let words = bytes.get(start..start.saturating_add(12)).unwrap_or_default().as_chunks::<4>().0;
    match words {
        [x, y, z] => Ok([x, y, z].map(|word| u32::from_le_bytes(*word))),
        _ => Err(RunError::new(
            RunErrorKind::BadInput,
            format!("buffer `{buffer}` does not hold three counts at byte {offset}"),
        )),
    }
}

/// What of a launch its programs are made from.
#[derive(Clone, Debug, PartialEq)]
struct Origin {
    file: String,
    source: String,
    overrides: BTreeMap<String, f64>,
    /// Entry point and overrides of each dispatch.
    dispatches: Vec<(String, BTreeMap<String, f64>)>,
}

impl Origin {
    /// Nothing where the programs are not kept: of modules, and of texts so long that keeping them would
    /// take much memory.
    fn from_launch(launch: &Launch) -> Option<Self> {
        (launch.spirv.is_none() && launch.source.len() <= KEPT_BYTES_MAX).then(|| Self {
            file: launch.file.clone(),
            source: launch.source.clone(),
            overrides: launch.overrides.clone(),
            dispatches: launch
                .dispatches
                .iter()
                .map(|dispatch| (dispatch.entry_point.clone(), dispatch.overrides.clone()))
                .collect(),
        })
    }
}

/// The programs that were asked for last, the newest first: a launch's are asked for when it is counted,
/// timed and put down, and for each seed and each point of a sweep.
static KEPT: Mutex<VecDeque<(Origin, Arc<[Program]>)>> = Mutex::new(VecDeque::new());

/// Launches whose programs are kept.
const KEPT_MAX: usize = 256;

/// The longest text whose programs are kept.
const KEPT_BYTES_MAX: usize = 1 << 15;

/// The program of each dispatch of a launch.
///
/// # Errors
///
/// [`RunErrorKind::BadInput`] with naga's diagnostic, [`RunErrorKind::Unsupported`] for CUDA C++,
/// which naga does not read.
pub fn programs(launch: &Launch) -> Result<Arc<[Program]>, RunError> {
    if launch.dispatches.is_empty() {
        return Ok(Arc::default());
    }
    if launch.language() == KernelLanguage::Cuda {
        return Err(RunError::new(RunErrorKind::Unsupported, not_available(&launch.kernel)));
    }
    let origin = Origin::from_launch(launch);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(origin) = &origin {
        let mut kept = kept();
        if let Some(known) = kept.iter().position(|(known, _)| known == origin)
            && let Some((origin, programs)) = kept.remove(known)
        {
            kept.push_front((origin, Arc::clone(&programs)));
            return Ok(programs);
        }
    }
    let programs = caught("analysis", &launch.file, || analyse(launch).map(Arc::from))?;
    if let Some(origin) = origin {
        let mut kept = kept();
        kept.push_front((origin, Arc::clone(&programs)));
        kept.truncate(KEPT_MAX);
    }
    Ok(programs)
}

/// Whether another seed may give other counts: a condition or an index follows contents that it makes anew. What
/// one dispatch leaves for the next is not followed, so that of several it is always said.
pub fn counts_depend_on_seed(launch: &Launch) -> bool {
    if !launch.depends_on_seed() {
        return false;
    }
    let Ok(programs) = programs(launch) else { return true };
    let [program] = &*programs else { return true };
    let deciding = program.find_deciding();
    launch.seeded().any(|name| deciding.contains_key(name))
}

/// Why a kernel in CUDA C++ does not run on a device, in a sentence.
pub fn not_available(kernel: &str) -> String {
    format!(
        "{kernel} is not available on this device: it is CUDA C++, for what WGSL cannot say, and \
         runs on cuda:N alone"
    )
}

/// Parses a shader: its module where it is SPIR-V, else its text.
///
/// # Errors
///
/// As [`Parsed::new`] and [`Parsed::from_spirv`].
pub fn parse(file: &str, text: &str, spirv: Option<&SpirV>) -> Result<Parsed, ProgramError> {
    match spirv {
        Some(spirv) => Parsed::from_spirv(file, spirv),
        None => Parsed::new(file, text),
    }
}

fn analyse(launch: &Launch) -> Result<Vec<Program>, RunError> {
    let bad = |error: ProgramError| {
        let kind = match error {
            ProgramError::Panicked { .. } => RunErrorKind::Panicked,
            _ => RunErrorKind::BadInput,
        };
        RunError::new(kind, error.to_string())
    };
    let parsed = parse(&launch.file, &launch.source, launch.spirv.as_ref()).map_err(bad)?;
    launch
        .dispatches
        .iter()
        .map(|dispatch| {
            // Each entry point may read a subset of the overrides; naga refuses unknown ones.
            let mut overrides = launch.overrides.clone();
            overrides.extend(dispatch.overrides.iter().map(|(name, value)| (name.clone(), *value)));
            parsed.resolve(&dispatch.entry_point, &overrides).map_err(bad)
        })
        .collect()
}
