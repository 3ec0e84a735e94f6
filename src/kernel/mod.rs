//! The catalogue: every kernel's shader and description, embedded in the program.
//!
//! Input: `shaders/<family>/<name>.wgsl` with `.toml` beside it, at compile time, or the same from
//! a user's folder (`.cu` in place of `.wgsl` for the few kernels that WGSL cannot say); then a choice of parameters. Output: [`Launch`], one point of a sweep: a list
//! of dispatches over named buffers with seeded contents. It knows nothing of devices, and does not
//! read the WGSL: `program` does.
//!
//! Adding a kernel is adding two files; Rust is written only for a CPU reference ([`mod@reference`])
//! that the existing ones cannot express.

mod allowed;
mod dispatches;
pub mod format;
pub mod formula;
pub mod generate;
pub mod launch;
mod multisplit;
mod note;
pub mod reference;
pub mod shape;

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};

pub use format::{Description, Published};
pub use generate::Fill;
pub use launch::{Buffer, Dispatch, Launch, Native, Surroundings, Workgroups};
pub use shape::Extent;

pub use crate::layout::{ScalarType, Shape};
use crate::record::Value;

static SHADERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/shaders");

/// The ledger of claims, as committed.
const CLAIMS: &str = include_str!("../../shaders/claims.toml");

/// What the files of parts that kernels share end in.
const PART: &str = ".part.wgsl";

/// The seed of generated inputs where none is given.
pub const SEED: u64 = 1;

/// A kernel: its shader and its description.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// `family/name`.
    pub id: String,
    /// What it is written in.
    pub language: Language,
    /// The shader's text.
    pub source: String,
    /// What its TOML says.
    pub description: Description,
}

/// What a kernel is written in: its file's ending says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// WGSL, which every device runs.
    Wgsl,
    /// CUDA C++, for what WGSL cannot say: NVIDIA's GPUs through CUDA run it, and nobody else. Its
    /// kernels are `extern "C"`, and take the addresses of the description's buffers, in order.
    Cuda,
}

impl Language {
    /// The language of a file; WGSL where the ending is none of ours.
    pub fn of_file(name: &str) -> Self {
        if name.ends_with(".cu") { Self::Cuda } else { Self::Wgsl }
    }

    /// The ending of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Cuda => "cu",
        }
    }
}

/// Every kernel, in the order of their ids.
#[derive(Clone, Debug)]
pub struct Catalogue {
    kernels: BTreeMap<String, Kernel>,
}

/// A statement of the ledger of claims.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// The article's short name.
    pub source: String,
    /// What is claimed.
    pub statement: String,
    /// The family of experiments.
    pub family: String,
    /// What counting, or other articles, say against it.
    pub doubt: Option<String>,
}

#[derive(serde::Deserialize)]
struct Ledger {
    claim: Vec<Claim>,
}

/// What class a device is of, where defaults differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceClass {
    /// A GPU.
    Gpu,
    /// A CPU driver or the simulator.
    Cpu,
    /// Any device with `--quick`.
    Quick,
}

/// Why a kernel cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The TOML does not parse, or has an unknown key; the message has line and key.
    #[error("{file}: {message}")]
    Toml {
        /// The file.
        file: String,
        /// toml's message with line, column and the line itself.
        message: String,
    },
    /// The description cannot be worked out.
    #[error("{file}: {message}")]
    Description {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// One of a kernel's two files is missing.
    #[error("{present} has no {missing} beside it")]
    Pair {
        /// The file there is.
        present: String,
        /// The file there is not.
        missing: String,
    },
    /// There is no kernel and no family of this name.
    #[error("there is no kernel or family {name:?}{hint}; `lanescope list` shows all")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Near matches, worded.
        hint: String,
    },
    /// The kernel has no such parameter.
    #[error("{kernel} has no parameter {name:?}; it has: {known}")]
    Parameter {
        /// The kernel.
        kernel: String,
        /// What was asked for.
        name: String,
        /// Its parameters.
        known: String,
    },
    /// The parameter does not take this value.
    #[error("{kernel}: {name} cannot be {value}; it takes: {known}")]
    ParameterValue {
        /// The kernel.
        kernel: String,
        /// The parameter.
        name: String,
        /// What was asked for.
        value: String,
        /// What it takes.
        known: String,
    },
    /// The parameters do not take these values together.
    #[error("{kernel}: {problem}")]
    Combination {
        /// The kernel.
        kernel: String,
        /// Which values, what goes together, and why.
        problem: String,
    },
}

impl Kernel {
    /// Reads a kernel in WGSL from its two texts; `id` is `family/name`.
    ///
    /// # Errors
    ///
    /// [`KernelError::Toml`] with file, line and key.
    pub fn parse(id: &str, source: &str, description: &str) -> Result<Self, KernelError> {
        let description = Description::parse(&format!("{id}.toml"), description)?;
        let language = Language::Wgsl;
        Ok(Self { id: id.to_owned(), language, source: source.to_owned(), description })
    }

    /// Its family.
    pub fn family(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Its name within the family.
    pub fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or_default()
    }

    /// A point of a sweep, and the further values that the kernel shows beside its defaults.
    pub fn points(&self, point: &BTreeMap<String, Value>) -> Vec<BTreeMap<String, Value>> {
        let mut points = vec![point.clone()];
        for (name, parameter) in &self.description.parameters {
            if !point.contains_key(name) {
                for value in &parameter.shown_beside {
                    let mut more = point.clone();
                    more.insert(name.clone(), value.clone());
                    points.push(more);
                }
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

impl Description {
    /// Reads a description from its text; `file` is what messages call it.
    ///
    /// # Errors
    ///
    /// [`KernelError::Toml`] with file, line and key, or with which dispatch has no entry point.
    pub fn parse(file: &str, text: &str) -> Result<Self, KernelError> {
        let description: Self = toml::from_str(text).map_err(|error| KernelError::Toml {
            file: file.to_owned(),
            message: error.to_string(),
        })?;
        let empty = |dispatch: &format::DispatchDescription| {
            !dispatch.multisplit && dispatch.entry_point.is_empty()
        };
        if let Some(index) = description.dispatches.iter().position(empty) {
            let message = format!("[[dispatches]] number {} has no `entry_point`", index + 1);
            return Err(KernelError::Toml { file: file.to_owned(), message });
        }
        Ok(description)
    }
}

impl Catalogue {
    /// The embedded catalogue.
    ///
    /// # Errors
    ///
    /// What is wrong with a file of it; a test shows that nothing is.
    pub fn embedded() -> Result<Self, KernelError> {
        let mut files = BTreeMap::new();
        for family in SHADERS.dirs() {
            for file in family.files() {
                let text = file.contents_utf8().unwrap_or_default();
                files.insert(file.path().to_string_lossy().replace('\\', "/"), text.to_owned());
            }
        }
        let shared = crate::shaders::FILES;
        files.extend(shared.map(|(path, text)| (path.to_owned(), text.to_owned())));
        Self::from_files(&files)
    }

    /// A catalogue from texts by path: `family/name.wgsl` or `family/name.cu`, and
    /// `family/name.toml`; and the parts that they name, `family/name.part.wgsl`.
    ///
    /// # Errors
    ///
    /// [`KernelError::Pair`] where one of a pair or a part is missing, and what [`Kernel::parse`]
    /// says.
    pub fn from_files(files: &BTreeMap<String, String>) -> Result<Self, KernelError> {
        let pair = |present: &str, missing: String| KernelError::Pair {
            present: present.to_owned(),
            missing,
        };
        let mut kernels: BTreeMap<String, Kernel> = BTreeMap::new();
        for (path, text) in files {
            if path.ends_with(PART) {
                continue;
            }
            let Some((stem, ending)) = path.rsplit_once('.') else { continue };
            if ending == "toml" {
                let shaders = [Language::Wgsl, Language::Cuda].map(Language::extension);
                if !shaders.iter().any(|other| files.contains_key(&format!("{stem}.{other}"))) {
                    return Err(pair(path, format!("{stem}.wgsl")));
                }
                continue;
            }
            let language = Language::of_file(path);
            if ending != language.extension() {
                continue;
            }
            let description = format!("{stem}.toml");
            let beside = files.get(&description).ok_or_else(|| pair(path, description))?;
            let mut kernel = Kernel { language, ..Kernel::parse(stem, text, beside)? };
            for part in &kernel.description.parts {
                let missing = format!("{part}{PART}");
                let text = files.get(&missing).ok_or_else(|| pair(path, missing.clone()))?;
                kernel.source.push_str(&format!("\n// {missing}\n\n{text}"));
            }
            if let Some(other) = kernels.insert(stem.to_owned(), kernel) {
                let message = format!(
                    "there is {stem}.{} too; a kernel has one text",
                    other.language.extension()
                );
                return Err(KernelError::Description { file: path.clone(), message });
            }
        }
        Ok(Self { kernels })
    }

    /// The kernels in WGSL, which every device can be asked to run.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.all().filter(|kernel| kernel.language == Language::Wgsl)
    }

    /// Those, and the ones in CUDA C++.
    pub fn all(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.values()
    }

    /// The kernel `id`.
    pub fn kernel(&self, id: &str) -> Option<&Kernel> {
        self.kernels.get(id)
    }

    /// The kernels that a word chooses: a family, `family/name`, or a name.
    ///
    /// # Errors
    ///
    /// [`KernelError::Unknown`] with near matches.
    pub fn select(&self, word: &str) -> Result<Vec<&Kernel>, KernelError> {
        let chosen: Vec<&Kernel> = self
            .all()
            .filter(|kernel| kernel.id == word || kernel.family() == word || kernel.name() == word)
            .collect();
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let known = self.all().flat_map(|k| [k.id.as_str(), k.family(), k.name()]);
        Err(KernelError::Unknown { name: word.to_owned(), hint: near_matches(word, known) })
    }
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

/// The ledger of claims.
///
/// # Errors
///
/// toml's message, where the committed file is damaged; a test shows that it is not.
pub fn claims() -> Result<Vec<Claim>, KernelError> {
    let ledger: Ledger = toml::from_str(CLAIMS).map_err(|error| KernelError::Toml {
        file: "claims.toml".to_owned(),
        message: error.to_string(),
    })?;
    Ok(ledger.claim)
}

#[cfg(test)]
mod tests;
