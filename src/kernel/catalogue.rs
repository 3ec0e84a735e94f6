//! The catalogue's kernels: read from the embedded folder or another, chosen by words, and launched.
//!
//! Input: the folder `shaders`, at compile time, or one like it from elsewhere; then words and
//! parameters. Output: kernels, their points and launches.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{LazyLock, OnceLock};

use lzma_rust2::XzReader;
use rayon::prelude::*;

use super::allowed;
use super::described::{Kernel, KernelLanguage};
use super::error::KernelError;
use super::family::{self, Family, Renamed};
use super::format;
use super::launch::{self, Launch, Surroundings};
use crate::record::{Run, Value};

/// The folder `shaders` as `build.rs` packed it: path and text of each file, with a NUL behind either.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shaders.xz"));

/// The texts of the folder `shaders`, by their paths below it.
static SHADERS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut unpacked = String::new();
    XzReader::new(PACKED, false).read_to_string(&mut unpacked).expect("what build.rs packed");
    let mut parts = unpacked.split_terminator('\0').map(str::to_owned);
    std::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect()
});

/// The text of an embedded file, by its path below `shaders`; `None` if there is no such text.
pub fn embedded_text(path: &str) -> Option<&'static str> {
    SHADERS.get(path).map(String::as_str)
}

/// What the files of parts that kernels share end in.
const PART: &str = ".part.wgsl";

/// The folder of parts that kernels of several families share; no kernel is in it.
const LIBRARY: &str = "lib/";

/// The seed of generated inputs where none is given.
pub const SEED: u64 = 1;

/// Every kernel, in the order of their ids.
#[derive(Clone, Debug)]
pub struct Catalogue {
    kernels: BTreeMap<String, Kernel>,
    families: BTreeMap<String, Family>,
}

/// What class a device is of, where defaults differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// A GPU.
    Gpu,
    /// A CPU driver or the simulator.
    Cpu,
    /// Any device in a quick run.
    Quick,
    /// Simulators that run beside no device, in a run of the default set.
    Simulator,
}

impl Kernel {
    /// A point of a sweep, and the further values that the kernel shows beside its defaults: each with
    /// each, where several parameters have some.
    pub fn points(&self, point: &BTreeMap<String, Value>) -> Vec<BTreeMap<String, Value>> {
        let mut points = vec![point.clone()];
        for (name, parameter) in &self.description.parameters {
            if !point.contains_key(name) {
                let more = points.iter().flat_map(|point| {
                    parameter.shown_beside.iter().map(|value| {
                        let mut more = point.clone();
                        more.insert(name.clone(), value.clone());
                        more
                    })
                });
                points.extend(more.collect::<Vec<_>>());
            }
        }
        points
    }

    /// The default value of each parameter on a class of device.
    pub fn defaults(&self, class: DeviceClass) -> BTreeMap<String, Value> {
        let value = |parameter: &format::Parameter| match (&parameter.default, class) {
            (format::Default::Same(value), _) => value.clone(),
            (format::Default::ByClass { gpu, .. }, DeviceClass::Gpu) => gpu.clone(),
            (format::Default::ByClass { cpu, .. }, DeviceClass::Cpu) => cpu.clone(),
            (format::Default::ByClass { quick, .. }, DeviceClass::Quick) => quick.clone(),
            (format::Default::ByClass { cpu, simulator, .. }, DeviceClass::Simulator) => {
                simulator.as_ref().unwrap_or(cpu).clone()
            }
        };
        let parameters = self.description.parameters.iter();
        parameters.map(|(name, parameter)| (name.clone(), value(parameter))).collect()
    }

    /// The launch for the defaults of a class with `chosen` put over them.
    ///
    /// # Errors
    ///
    /// [`KernelError::Parameter`], [`KernelError::ParameterValue`] and [`KernelError::Combination`]
    /// for what the kernel does not take, [`KernelError::Description`] for a formula that cannot be
    /// worked out.
    pub fn launch(
        &self,
        class: DeviceClass,
        chosen: &BTreeMap<String, Value>,
        seed: u64,
    ) -> Result<Launch, KernelError> {
        let parameters = self.parameters(class, chosen)?;
        let file = format!("{}.toml", self.id);
        launch::build(self, &file, parameters, seed, &Surroundings::default())
    }

    /// The value of each parameter: the defaults of a class with `chosen` put over them.
    ///
    /// # Errors
    ///
    /// [`KernelError::Parameter`], [`KernelError::ParameterValue`] and [`KernelError::Combination`]
    /// for what the kernel does not take.
    pub fn parameters(
        &self,
        class: DeviceClass,
        chosen: &BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, Value>, KernelError> {
        let mut parameters = self.defaults(class);
        for (name, value) in chosen {
            let Some(parameter) = self.description.parameters.get(name) else {
                let known: Vec<&str> = parameters.keys().map(String::as_str).collect();
                return Err(KernelError::Parameter {
                    kernel: self.id.clone(),
                    name: name.clone(),
                    known: known.join(", "),
                });
            };
            // `1` is a number too where fractions are taken.
            let value = match (value, parameter.default.any()) {
                (Value::Integer(number), Value::Real(_)) => &Value::Real(allowed::real(*number)),
                (value, _) => value,
            };
            if let Some(known) = parameter.refuses(value, parameter.default.any()) {
                return Err(KernelError::ParameterValue {
                    kernel: self.id.clone(),
                    name: name.clone(),
                    value: value.to_string(),
                    known,
                });
            }
            parameters.insert(name.clone(), value.clone());
        }
        for combination in &self.description.combinations {
            combination
                .check(&parameters)
                .map_err(|problem| KernelError::Combination { kernel: self.id.clone(), problem })?;
        }
        Ok(parameters)
    }
}

impl Catalogue {
    /// The embedded catalogue.
    ///
    /// # Errors
    ///
    /// What is wrong with a file of it; a test shows that nothing is.
    pub fn embedded() -> Result<Self, KernelError> {
        Self::from_files(&embedded_files())
    }

    /// The embedded catalogue, read once and kept.
    ///
    /// # Errors
    ///
    /// As [`Self::embedded`].
    pub fn shared() -> Result<&'static Self, KernelError> {
        static KEPT: OnceLock<Catalogue> = OnceLock::new();
        if let Some(kept) = KEPT.get() {
            return Ok(kept);
        }
        let read = Self::embedded()?;
        Ok(KEPT.get_or_init(|| read))
    }

    /// The embedded catalogue with the families of a folder like `shaders` beside it; a file of the
    /// folder takes the place of an embedded one of the same name.
    ///
    /// # Errors
    ///
    /// [`KernelError::Folder`] where it cannot be read, and what [`Self::from_files`] says.
    pub fn with_folder(folder: &std::path::Path) -> Result<Self, KernelError> {
        let mut files = embedded_files();
        let unread = |path: &std::path::Path| {
            let path = path.display().to_string();
            move |error| KernelError::Folder { path, error }
        };
        let entries = |path: &std::path::Path| -> Result<Vec<std::path::PathBuf>, KernelError> {
            let found = std::fs::read_dir(path).map_err(unread(path))?;
            found.map(|entry| Ok(entry.map_err(unread(path))?.path())).collect()
        };
        for family in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
            for file in entries(&family)?.into_iter().filter(|path| path.is_file()) {
                let name = file.strip_prefix(folder).unwrap_or(&file);
                let name = name.to_string_lossy().replace('\\', "/");
                files.insert(name, std::fs::read_to_string(&file).map_err(unread(&file))?);
            }
        }
        Self::from_files(&files)
    }

    /// A catalogue from texts by path, as the table above has them.
    ///
    /// # Errors
    ///
    /// [`KernelError::Pair`] where one of a pair or a part is missing, and what [`Family::parse`] and
    /// [`Family::describe`] say.
    pub fn from_files(files: &BTreeMap<String, String>) -> Result<Self, KernelError> {
        let mut families = BTreeMap::new();
        for (path, text) in files {
            if let Some(family) = path.strip_suffix(family::FILE).and_then(|p| p.strip_suffix('/'))
            {
                families.insert(family.to_owned(), Family::parse(path, text)?);
            }
        }
        let mut kernels: BTreeMap<String, Kernel> = BTreeMap::new();
        let read = |(path, text): (&String, &String)| {
            Some((path.clone(), kernel(files, &families, path, text).transpose()?))
        };
        let read: Vec<_> = files.par_iter().filter_map(read).collect();
        for (path, kernel) in read {
            let kernel = kernel?;
            if let Some(other) = kernels.insert(kernel.id.clone(), kernel) {
                let message = format!(
                    "there is {}.{} too; a kernel has one text",
                    other.id,
                    other.language.extension()
                );
                return Err(KernelError::Description { file: path, message });
            }
        }
        for kernel in kernels.values() {
            families.entry(kernel.family().to_owned()).or_default();
        }
        Ok(Self { kernels, families })
    }

    /// The kernels in WGSL, which every device can be asked to run.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.all().filter(|kernel| kernel.language == KernelLanguage::Wgsl)
    }

    /// Those, and the ones in CUDA C++.
    pub fn all(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.values()
    }

    /// What is known of a family as a whole.
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.get(name)
    }

    /// The families by name.
    pub fn families(&self) -> impl Iterator<Item = (&str, &Family)> {
        self.families.iter().map(|(name, family)| (name.as_str(), family))
    }

    /// The kernel `id`, or the one that records of earlier days call so.
    pub fn kernel(&self, id: &str) -> Option<&Kernel> {
        let renamed = || self.all_renamed().find(|renamed| renamed.from == id);
        self.kernels.get(id).or_else(|| self.kernels.get(&renamed()?.to))
    }

    fn all_renamed(&self) -> impl Iterator<Item = &Renamed> {
        self.families.values().flat_map(|family| &family.renamed)
    }

    /// The id and the parameters that a kernel of a record and its parameters are today.
    pub fn today(
        &self,
        kernel: &str,
        parameters: &BTreeMap<String, Value>,
    ) -> (String, BTreeMap<String, Value>) {
        let mut parameters = parameters.clone();
        let known = |renamed: &&Renamed| {
            let there = renamed.parameters.keys().any(|name| parameters.contains_key(name));
            renamed.from == kernel && !there
        };
        match self.all_renamed().find(known) {
            Some(renamed) => {
                parameters.extend(renamed.parameters.clone());
                (renamed.to.clone(), parameters)
            }
            None => (kernel.to_owned(), parameters),
        }
    }

    /// Gives the measurements of a record the names and parameters that kernels have today, so that it
    /// can be compared with one of today. A record's own page and tables keep its own words.
    pub fn renew(&self, run: &mut Run) {
        for measurement in &mut run.measurements {
            (measurement.kernel, measurement.parameters) =
                self.today(&measurement.kernel, &measurement.parameters);
        }
    }

    /// The kernels that a word chooses: a family, `family/name`, or a name.
    ///
    /// # Errors
    ///
    /// [`KernelError::Unknown`] with near matches, [`KernelError::Renamed`] for what has another name
    /// today.
    pub fn select(&self, word: &str) -> Result<Vec<&Kernel>, KernelError> {
        let chosen: Vec<&Kernel> = self
            .all()
            .filter(|kernel| kernel.id == word || kernel.family() == word || kernel.name() == word)
            .collect();
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let named = |renamed: &&Renamed| {
            renamed.from == word || renamed.from.rsplit('/').next() == Some(word)
        };
        if let Some(renamed) = self.all_renamed().find(named) {
            return Err(KernelError::Renamed {
                name: word.to_owned(),
                to: renamed.to.clone(),
                parameters: renamed.parameters_text(),
            });
        }
        let known = self.all().flat_map(|k| [k.id.as_str(), k.family(), k.name()]);
        Err(KernelError::Unknown { name: word.to_owned(), hint: near_matches(word, known) })
    }
}

/// The embedded texts, by path, those of the algorithms' package among them.
pub(super) fn embedded_files() -> BTreeMap<String, String> {
    let of_families = SHADERS.iter().filter(|(path, _)| path.contains('/'));
    let embedded = of_families.map(|(path, text)| (path.as_str(), text.as_str()));
    let all = embedded.chain(crate::shaders::FILES);
    all.map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

/// The kernel that a file is the shader of; nothing for a file of another kind.
fn kernel(
    files: &BTreeMap<String, String>,
    families: &BTreeMap<String, Family>,
    path: &str,
    text: &str,
) -> Result<Option<Kernel>, KernelError> {
    let pair = |missing: String| KernelError::Pair { present: path.to_owned(), missing };
    if path.ends_with(PART) || path.starts_with(LIBRARY) || path.ends_with(family::FILE) {
        return Ok(None);
    }
    let Some((stem, ending)) = path.rsplit_once('.') else { return Ok(None) };
    if ending == "toml" {
        let shaders = [KernelLanguage::Wgsl, KernelLanguage::Cuda].map(KernelLanguage::extension);
        if !shaders.iter().any(|other| files.contains_key(&format!("{stem}.{other}"))) {
            return Err(pair(format!("{stem}.wgsl")));
        }
        return Ok(None);
    }
    let language = KernelLanguage::of_file(path);
    if ending != language.extension() {
        return Ok(None);
    }
    let described = format!("{stem}.toml");
    let described_text = files.get(&described).ok_or_else(|| pair(described.clone()))?;
    let family = families.get(stem.split('/').next().unwrap_or_default());
    let description = match family {
        Some(family) => family.describe(&described, described_text)?,
        None => Family::default().describe(&described, described_text)?,
    };
    let mut source = text.to_owned();
    for part in &description.parts {
        let ending = if part.starts_with(LIBRARY) { ".wgsl" } else { PART };
        let missing = format!("{part}{ending}");
        let text = files.get(&missing).ok_or_else(|| pair(missing.clone()))?;
        source.push_str(&format!("\n// {missing}\n\n{text}"));
    }
    Ok(Some(Kernel { id: stem.to_owned(), language, source, description }))
}

/// The near matches of a word, worded as the end of a sentence, or nothing.
pub fn near_matches<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let mut names: Vec<&str> = scored.into_iter().map(|(_, name)| name).collect();
    names.dedup();
    names.truncate(3);
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}
