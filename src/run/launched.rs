//! What everyone who runs launches asks of one: its programs, and digests of its outputs.
//!
//! Input: launches and the bytes of outputs. Output: programs by dispatch, SHA-256 and shown elements.
//! Nothing is run, and nothing is put into a record here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use super::{RunError, RunErrorKind, caught};
use crate::binary::Derived;
use crate::kernel::{KernelLanguage, Launch, scalars};
use crate::program::{Construct, Parsed, Program, ProgramError};
use crate::record::BlockCode;
use crate::simulate::{Compiled, Limit, SimulateError};

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

/// The line on which the size of a program's workgroups stands; where the text has none, as SPIR-V's, that of the
/// entry point's first block.
pub(super) fn size_line(program: &Program) -> u32 {
    let name = &program.entry_point().name;
    if let Some(line) = program.text().workgroup_size_line(name) {
        return line;
    }
    let first = program.blocks().iter().find(|block| block.function == *name);
    first.map_or(1, |block| block.location.line)
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
    /// `None` if the programs are not kept: of what was made from other files.
    fn from_launch(launch: &Launch) -> Option<Self> {
        launch.derived.is_none().then(|| Self {
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

/// The programs of a launch's dispatches, with what is worked out of them once, when it is first asked for.
#[derive(Debug, Default)]
pub struct Programs {
    list: Vec<Program>,
    compiled: Vec<OnceLock<Result<Compiled, SimulateError>>>,
    codes: Vec<OnceLock<Vec<Arc<BlockCode>>>>,
    deciding: OnceLock<BTreeSet<String>>,
    constructs: OnceLock<BTreeSet<Construct>>,
}

impl Programs {
    fn new(list: Vec<Program>) -> Self {
        let compiled = list.iter().map(|_| OnceLock::new()).collect();
        let codes = list.iter().map(|_| OnceLock::new()).collect();
        let (deciding, constructs) = (OnceLock::new(), OnceLock::new());
        Self { list, compiled, codes, deciding, constructs }
    }

    /// A dispatch's program, compiled for the simulator.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    ///
    /// # Panics
    ///
    /// Where there is no dispatch of this number.
    pub fn compiled(&self, dispatch: usize) -> Result<&Compiled, RunError> {
        let compiled = self.compiled[dispatch].get_or_init(|| Compiled::new(&self.list[dispatch]));
        let unsupported =
            |error: &SimulateError| RunError::new(RunErrorKind::Unsupported, error.to_string());
        compiled.as_ref().map_err(unsupported)
    }

    /// Refuses a dispatch whose invocations have more variables and values than the simulator takes.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] with the simulator's sentence.
    ///
    /// # Panics
    ///
    /// As [`Self::compiled`].
    pub fn check_variables(&self, dispatch: usize) -> Result<(), RunError> {
        let refused = self.compiled(dispatch).err();
        let compiled = self.compiled[dispatch].get().map(Result::as_ref);
        let too_many = |error: &SimulateError| {
            matches!(error, SimulateError::Limit { limit: Limit::Registers { .. }, .. })
        };
        match compiled {
            Some(Err(error)) if too_many(error) => refused.map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// What a record says of each block of a dispatch, made by `make` where nobody asked before.
    pub(super) fn codes(
        &self,
        dispatch: usize,
        make: impl FnOnce(&Program) -> Vec<Arc<BlockCode>>,
    ) -> &[Arc<BlockCode>] {
        self.codes[dispatch].get_or_init(|| make(&self.list[dispatch]))
    }

    /// The variables whose contents decide something, of any dispatch.
    fn deciding(&self) -> &BTreeSet<String> {
        let names = |program: &Program| program.find_deciding().into_keys();
        self.deciding.get_or_init(|| self.list.iter().flat_map(names).collect())
    }

    /// The forms of control flow of all dispatches together.
    pub(super) fn constructs(&self) -> &BTreeSet<Construct> {
        self.constructs.get_or_init(|| self.list.iter().flat_map(Program::constructs).collect())
    }
}

impl Deref for Programs {
    type Target = [Program];

    fn deref(&self) -> &[Program] {
        &self.list
    }
}

/// The programs that were asked for last, the newest first: a launch's are asked for when it is counted,
/// timed and put down, and for each seed and each point of a sweep.
static KEPT: Mutex<VecDeque<(Origin, Arc<Programs>)>> = Mutex::new(VecDeque::new());

/// Launches whose programs are kept.
const KEPT_MAX: usize = 256;

/// Bytes of the texts of all programs that are kept.
const KEPT_BYTES_SUM_MAX: usize = 1 << 21;

/// Launches whose programs are kept however long their texts are: a launch is read once, whatever looks at it,
/// with another and what they were changed into beside it.
const KEPT_LONG_MAX: usize = 4;

/// Bytes of the texts of those.
const KEPT_LONG_BYTES_SUM_MAX: usize = 1 << 26;

/// The program of each dispatch of a launch.
///
/// # Errors
///
/// [`RunErrorKind::BadInput`] with naga's diagnostic, [`RunErrorKind::Unsupported`] for CUDA C++,
/// which naga does not read.
pub fn programs(launch: &Launch) -> Result<Arc<Programs>, RunError> {
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
    let programs = caught("analysis", &launch.file, || {
        analyse(launch).map(|list| Arc::new(Programs::new(list)))
    })?;
    if let Some(origin) = origin {
        let mut kept = kept();
        kept.push_front((origin, Arc::clone(&programs)));
        let fit = kept_count(kept.iter().map(|(known, _)| known.source.len()));
        kept.truncate(fit);
    }
    Ok(programs)
}

/// How many of the launches whose texts have so many bytes are kept, the newest first.
fn kept_count(bytes: impl Iterator<Item = usize>) -> usize {
    let sums = bytes.scan(0, |sum, bytes| {
        *sum += bytes;
        Some(*sum)
    });
    let fits = |(index, sum): &(usize, usize)| match *index < KEPT_LONG_MAX {
        true => *sum <= KEPT_LONG_BYTES_SUM_MAX,
        false => *sum <= KEPT_BYTES_SUM_MAX,
    };
    sums.enumerate().take_while(fits).count().min(KEPT_MAX)
}

/// Whether another seed may give other counts: a condition or an index follows contents that it makes anew. What
/// one dispatch leaves for the next is not followed, so that of several it is always said.
pub fn counts_depend_on_seed(launch: &Launch) -> bool {
    if !launch.depends_on_seed() {
        return false;
    }
    let Ok(programs) = programs(launch) else { return true };
    let [_] = &**programs else { return true };
    launch.seeded().any(|name| programs.deciding().contains(name))
}

/// Whether a simulated run at 64 lanes counts for narrower ones as well, by the parts of its masks: see
/// [`Program::parts_are_executions`].
pub fn parts_are_executions(launch: &Launch) -> bool {
    programs(launch)
        .is_ok_and(|programs| programs.iter().all(|program| program.parts_are_executions()))
}

/// Why a kernel in CUDA C++ does not run on a device, in a sentence.
pub fn not_available(kernel: &str) -> String {
    format!(
        "{kernel} is not available on this device: it is CUDA C++, for what WGSL cannot say, and \
         runs on cuda:N alone"
    )
}

/// The text that was parsed last, with its file and its module: a launch is made of it, changed and made again, and
/// naga takes time with the square of a function's length. One alone is kept, whose text has a limit.
static PARSED: Mutex<Option<ParsedText>> = Mutex::new(None);

/// A text that was parsed.
struct ParsedText {
    file: String,
    text: String,
    parsed: Arc<Parsed>,
}

/// Parses a shader: what was made from other files where it was, else its text, unless that was parsed last.
///
/// # Errors
///
/// As [`Parsed::new`], [`Parsed::from_spirv`] and [`Parsed::from_mapped`].
pub fn parse(
    file: &str,
    text: &str,
    derived: Option<&Derived>,
) -> Result<Arc<Parsed>, ProgramError> {
    match derived {
        Some(Derived::SpirV(spirv)) => return Parsed::from_spirv(file, spirv).map(Arc::new),
        Some(Derived::Wgsl(mapped)) => return Parsed::from_mapped(file, mapped).map(Arc::new),
        None => {}
    }
    let last = || PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |last: &&ParsedText| last.file == file && last.text == text;
    if let Some(last) = last().as_ref().filter(is_same) {
        return Ok(Arc::clone(&last.parsed));
    }
    let parsed = Arc::new(Parsed::new(file, text)?);
    let (file, text) = (file.to_owned(), text.to_owned());
    *last() = Some(ParsedText { file, text, parsed: Arc::clone(&parsed) });
    Ok(parsed)
}

fn analyse(launch: &Launch) -> Result<Vec<Program>, RunError> {
    let bad = |error: ProgramError| {
        let kind = match error {
            ProgramError::Panicked { .. } => RunErrorKind::Panicked,
            _ => RunErrorKind::BadInput,
        };
        RunError::new(kind, error.to_string())
    };
    let parsed = parse(&launch.file, &launch.source, launch.derived.as_ref()).map_err(bad)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_launches_are_kept_however_long_their_texts_are_and_many_short_ones() {
        let kept = |count, bytes| kept_count(std::iter::repeat_n(bytes, count));
        assert_eq!(kept(1000, 1 << 10), KEPT_MAX);
        assert_eq!(kept(1000, 1 << 17), 16);
        assert_eq!(kept(1000, (1 << 17) + 1), 15, "no step where a text becomes longer");
        assert_eq!(kept(1000, 1 << 20), KEPT_LONG_MAX);
        assert_eq!(kept(1000, 1 << 24), 4);
        assert_eq!(kept(2, KEPT_LONG_BYTES_SUM_MAX), 1);
    }

    #[test]
    fn a_long_text_is_read_once() {
        let shader = "@compute @workgroup_size(8) fn main() {}";
        let source = format!("{}{shader}", "// A line that is not short.\n".repeat(9_000));
        assert!(source.len() > 1 << 17);
        let launch = Launch::of_shader("long.wgsl", &source, Vec::new(), [1; 3]);
        let (first, again) = (programs(&launch).unwrap(), programs(&launch).unwrap());
        assert!(Arc::ptr_eq(&first, &again));
    }

    #[test]
    fn the_text_that_was_parsed_last_is_kept_for_its_file_alone() {
        let text = "@compute @workgroup_size(4) fn main() {}";
        let parsed = |file: &str, text: &str| parse(file, text, None).unwrap();
        // Other tests parse too, at any moment.
        let is_kept = || Arc::ptr_eq(&parsed("kept.wgsl", text), &parsed("kept.wgsl", text));
        assert!((0..1000).any(|_| is_kept()));
        let (first, other) = (parsed("kept.wgsl", text), parsed("other.wgsl", text));
        assert!(!Arc::ptr_eq(&first, &other), "messages name the file");
        let longer = format!("{text} ");
        assert!(!Arc::ptr_eq(&other, &parsed("other.wgsl", &longer)));
        assert!(parse("kept.wgsl", "fn", None).is_err());
    }
}
