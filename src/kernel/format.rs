//! The TOML beside each shader, as serde types; their documentation is the format's specification.
//!
//! Input: the text of a `.toml`. Output: [`Description`]. Unknown keys are refused. What the text
//! means for one choice of parameters is worked out in `launch`, not here.
//!
//! A launch file of `lanescope profile` has the same format. There everything may be left out:
//! buffers and dispatches that are not described follow from the shader. Only there may a buffer be
//! filled from a file or by its shape, because the catalogue is embedded and knows no shaders.
//! In the catalogue alone a description may have a partition's dispatches and buffers worked out,
//! see [`MultisplitDescription`].

use std::collections::{BTreeMap, BTreeSet};

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

pub use super::buffer_description::{
    BufferDescription, DefaultWord, FileDescription, FilePart, FillDescription,
    ImmediatesDescription, ImmediatesFile, ScalarDescription,
};
use super::captured::CaptureDescription;
use super::condition::Condition;
use super::error::KernelError;
pub use super::expression::Formula;
use super::limits::PARAMETERS_MAX;
use super::lines::Lines;
use super::texture_description::{SamplerDescription, TextureDescription};
use crate::record::{
    Axis, Divergence, FigureNote, GrainNote, Reading, ShownNote, StageNote, Value,
};

/// A kernel's description.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The question that the kernel asks, one sentence; every kernel of the catalogue has one.
    #[serde(default)]
    pub question: String,
    /// Sets of its family's `family.toml` that it inherits from, see [`mod@super::family`]. In a
    /// kernel of the catalogue alone.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Parts that its shader shares with others, `family/name`: the text of each
    /// `family/name.part.wgsl` is put after the shader's own. In the catalogue alone.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Ids in the ledger of claims that it tests.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The kernel whose time is the divisor of time ratios, `family/name`.
    pub baseline: Option<String>,
    /// The form of control flow that it is doctor's test of, as records name it, such as `branch`. In
    /// the catalogue alone.
    pub tests: Option<String>,
    /// Whether `lanescope run` without names runs it; doctor's self-test kernels are not.
    #[serde(default = "yes")]
    pub in_default_set: bool,
    /// Whether the default run counts it on simulators to compare widths, where it does not run it
    /// otherwise.
    #[serde(default = "yes")]
    pub compared_across_widths: bool,
    /// Whether it can be dispatched again and again without a reset.
    #[serde(default)]
    pub repeatable: bool,
    /// Whether its modules are created without bounds, loop and division checks. Left out, kernels
    /// of the catalogue are, and a user's shader is not.
    pub trusted: Option<bool>,
    /// Whether workgroup memory begins as zeros, as WGSL has it. Drivers may leave that to a single
    /// invocation, which takes longer than the rest of a short workgroup: a kernel that writes before
    /// it reads can do without.
    #[serde(default = "yes")]
    pub workgroup_memory_zeroed: bool,
    /// The CPU reference and how far outputs may lie from it.
    pub reference: Option<Reference>,
    /// The bytes that one launch must read from and write to memory however it is done, a formula
    /// over the parameters: inputs once and outputs once, nothing that a kernel adds by itself.
    /// Given where the time is best understood as a share of the device's copy rate.
    pub bytes: Option<ByParameter<Formula>>,
    /// A figure that an article gives for it.
    pub published: Option<PublishedDescription>,
    /// A speed-up over its baseline that an article gives for it.
    pub published_speedup: Option<PublishedSpeedup>,
    /// Parameters by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// Which values of several parameters go together; all where absent.
    #[serde(default)]
    pub combinations: Vec<Combination>,
    /// Names that follow from a parameter, for entry points: `{name}` is replaced with them too.
    #[serde(default)]
    pub names: BTreeMap<String, NameChoice>,
    /// Lines of the shader that depend on parameters where overrides cannot: types, operators,
    /// lengths of arrays. Applied in order.
    #[serde(default)]
    pub replacements: Vec<Replacement>,
    /// What the default run measures beside the defaults: the product of each sweep's values.
    #[serde(default)]
    pub sweeps: Vec<Sweep>,
    /// Whether the simulator takes the CPU drivers' sizes even beside a GPU, whose own would take it
    /// hours.
    #[serde(default)]
    pub small_on_simulator: bool,
    /// Values of the shader's overrides, formulas over the parameters.
    #[serde(default)]
    pub overrides: BTreeMap<String, Formula>,
    /// A stable partition by class that its dispatches work on. In the catalogue alone.
    pub multisplit: Option<MultisplitDescription>,
    /// Buffers, named as the shader's variables.
    #[serde(default)]
    pub buffers: Vec<BufferDescription>,
    /// Textures, named as the shader's variables. In a launch file alone.
    #[serde(default)]
    pub textures: Vec<TextureDescription>,
    /// Samplers, named as the shader's variables. In a launch file alone.
    #[serde(default)]
    pub samplers: Vec<SamplerDescription>,
    /// Immediate data: scalars in order, or `"default"` in a launch file.
    pub immediates: Option<ImmediatesDescription>,
    /// Dispatches in order.
    #[serde(default)]
    pub dispatches: Vec<DispatchDescription>,
    /// Where the contents come from, in the launch file of a captured dispatch alone.
    pub capture: Option<CaptureDescription>,
    /// What is expected of blocks, by the label that a marker comment gives them.
    #[serde(default)]
    pub blocks: BTreeMap<String, BlockDescription>,
    /// Why its counts need not agree between devices; absent where they must.
    pub exempt_from_agreement: Option<String>,
    /// What figures call what it gives, where kernels of its family give different things.
    pub result_words: Option<String>,
    /// The parameters along which it is asked where the kernel pays, those that matter most first.
    #[serde(default, deserialize_with = "strict")]
    pub axes: Vec<Axis>,
    /// The values that parameters usually have.
    #[serde(default)]
    pub usual: BTreeMap<String, Value>,
    /// The stages of its launches, in the order of their colours.
    #[serde(default, deserialize_with = "strict")]
    pub stages: Vec<StageNote>,
    /// The parameters whose product is how many elements are put in order, where some are.
    #[serde(default)]
    pub ordered: Vec<String>,
    /// Launches, by values of parameters, whose outputs are right only where something that waits gave up at its limit.
    #[serde(default)]
    pub gives_up: Vec<BTreeMap<String, Value>>,
    /// How lanes of its baseline part, where that is known.
    #[serde(default, deserialize_with = "strict")]
    pub divergence: Option<Divergence>,
    /// The figures that its launches are drawn in.
    #[serde(default, deserialize_with = "strict")]
    pub figures: Vec<FigureNote>,
    /// What its launches are read as beside, where they need a table of their own.
    #[serde(default, deserialize_with = "strict")]
    pub reading: Option<Reading>,
    /// The shown output that is read so, and how it lies; absent where times are read.
    #[serde(default, deserialize_with = "strict")]
    pub read_from: Option<ShownNote>,
    /// The parameter that says how far neighbours go the same way, where it has one.
    #[serde(default, deserialize_with = "strict")]
    pub grain: Option<GrainNote>,
    /// Where its parts stand; known of launch files alone.
    #[serde(skip)]
    pub lines: Lines,
}

/// Adds the words of a value's texts and keys.
fn add_words(value: &toml::Value, words: &mut BTreeSet<String>) {
    let mut add = |text: &str| {
        let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    };
    match value {
        toml::Value::String(text) => add(text),
        toml::Value::Table(table) => {
            table.keys().for_each(|key| add(key));
            table.values().for_each(|value| add_words(value, words));
        }
        toml::Value::Array(array) => array.iter().for_each(|value| add_words(value, words)),
        _ => {}
    }
}

/// Reads what the record has a type for, and refuses a key that the type does not have: records are read
/// leniently, descriptions are not.
fn strict<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned + Serialize,
    D: Deserializer<'de>,
{
    let given = toml::Value::deserialize(deserializer)?;
    // As JSON, since records are read and written as that.
    let text = serde_json::to_vec(&given).map_err(D::Error::custom)?;
    let read: T = serde_json::from_slice(&text).map_err(|error| {
        // Its place is in that text.
        let error = error.to_string();
        D::Error::custom(error.rsplit_once(" at line ").map_or(&*error, |(what, _)| what))
    })?;
    let again = serde_json::to_vec(&read).map_err(D::Error::custom)?;
    let known = serde_json::from_slice(&again).map_err(D::Error::custom)?;
    let given = serde_json::from_slice(&text).map_err(D::Error::custom)?;
    match unknown_key(&given, &known) {
        Some(key) => Err(D::Error::custom(format!("unknown field `{key}`"))),
        None => Ok(read),
    }
}

/// A key that a value has and what was read of it has not.
fn unknown_key(given: &Json, known: &Json) -> Option<String> {
    match (given, known) {
        (Json::Object(given), Json::Object(known)) => {
            given.iter().find_map(|(key, value)| match known.get(key) {
                Some(known) => unknown_key(value, known),
                None => Some(key.clone()),
            })
        }
        (Json::Array(given), Json::Array(known)) => {
            given.iter().zip(known).find_map(|(given, known)| unknown_key(given, known))
        }
        _ => None,
    }
}

/// A text of the shader that a parameter's value replaces.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The text as it stands in the shader, which is a whole shader as it stands; every occurrence
    /// is replaced, and there must be one.
    pub text: String,
    /// The parameter whose values choose, where `with` is a table.
    pub parameter: Option<String>,
    /// What takes its place, at most as many lines as there were; missing ones become blank, so that
    /// line numbers hold.
    pub with: ReplacementText,
    /// Whether it is replaced: a condition on a parameter, such as `"form == published"`.
    #[serde(default = "Condition::always")]
    pub when: Condition,
}

/// What takes a text's place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ReplacementText {
    /// One text; `{name}` in it is replaced with that parameter's value.
    Same(String),
    /// A text for each value of the parameter, or for `others`.
    ByValue(BTreeMap<String, String>),
}

fn yes() -> bool {
    true
}

/// A name that follows from a parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameChoice {
    /// The parameter.
    pub by: String,
    /// The name for each of its values.
    pub of: BTreeMap<String, String>,
}

/// The CPU reference.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its name in `kernel::reference`.
    pub name: String,
    /// Largest difference that is right, in the element's unit.
    pub tolerance_absolute: f64,
    /// Largest difference that is right, relative to the reference.
    pub tolerance_relative: f64,
    /// Why the tolerances are what they are.
    pub reason: String,
}

/// A figure from an article.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedDescription {
    /// Mean active lanes, in lanes of a warp of 32.
    pub active_lanes_mean: f64,
    /// The machine that it was measured on.
    pub hardware: String,
    /// The claim that holds it.
    pub claim: String,
}

/// A speed-up from an article.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedSpeedup {
    /// The baseline's time over the kernel's: 2 is twice as fast.
    pub factor: f64,
    /// The parameter `n` that it was measured with.
    pub n: i64,
    /// The machine that it was measured on.
    pub hardware: String,
    /// The claim that holds it.
    pub claim: String,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What it is, one line.
    pub description: String,
    /// Its value where nothing else is asked for.
    pub default: Default,
    /// The values allowed; where absent, numbers that keep the limits below, or any value where the
    /// default is no number. Where the default is whole, so is every value.
    #[serde(default)]
    pub values: Vec<Value>,
    /// The least number allowed; none is too small where absent.
    pub min: Option<f64>,
    /// The greatest number allowed; none is too large where absent.
    pub max: Option<f64>,
    /// Whole numbers must be a multiple of it.
    pub multiple_of: Option<i64>,
    /// Whether only powers of two are allowed.
    #[serde(default)]
    pub power_of_two: bool,
    /// Further values that the default run shows beside the default.
    #[serde(default)]
    pub shown_beside: Vec<Value>,
}

/// A condition on values of several parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// It holds where each of these parameters has one of the values beside it; always where absent.
    #[serde(default, rename = "where")]
    pub applies: BTreeMap<String, Vec<Value>>,
    /// The values that other parameters may have then.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<Value>>,
    /// A formula over the parameters that must not be negative then, such as `4 * items - columns`.
    pub not_negative: Option<Formula>,
    /// Why, a clause.
    pub reason: String,
}

/// Points that the default run measures side by side: every combination of the values. A parameter
/// that the user chose keeps the user's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Values by parameter.
    pub axes: BTreeMap<String, Vec<Value>>,
    /// Sweeps of the kernel with the same word are sampled side by side; each for itself where left
    /// out.
    pub group: Option<String>,
    /// Whether the kernels of the family that have the same point are sampled side by side, instead
    /// of the points of one kernel.
    #[serde(default)]
    pub beside_family: bool,
    /// Whether it is left out on CPU drivers and on the simulator, which have no such thing to show.
    #[serde(default)]
    pub gpu_only: bool,
    /// Whether simulators alone take it, to compare widths: counts at many points, where times at a few
    /// say enough. It is left out of the tables of single devices.
    #[serde(default)]
    pub simulator_only: bool,
}

impl Sweep {
    /// The points of the sweep beside what was chosen: every combination of the values of the axes that `chosen`
    /// leaves open.
    pub fn points(&self, chosen: &BTreeMap<String, Value>) -> Vec<BTreeMap<String, Value>> {
        let mut points = vec![chosen.clone()];
        for (name, values) in self.axes.iter().filter(|(name, _)| !chosen.contains_key(*name)) {
            let with = |point: &BTreeMap<String, Value>, value: &Value| {
                let mut more = point.clone();
                more.insert(name.clone(), value.clone());
                more
            };
            points = points
                .iter()
                .flat_map(|point| values.iter().map(|value| with(point, value)))
                .collect();
        }
        points
    }
}

/// A parameter's default.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Default {
    /// The same everywhere.
    Same(Value),
    /// By the class of the device.
    ByClass {
        /// On GPUs.
        gpu: Value,
        /// On CPU drivers and the simulator.
        cpu: Value,
        /// Everywhere in a quick run.
        quick: Value,
        /// On simulators that run beside no device, in a run of the default set; as on CPU drivers where
        /// it is left out.
        simulator: Option<Value>,
    },
}

/// A stable partition by class, cut as [`mod@crate::partition`] says: the kernel has the parts
/// `sort/split` and those of `sort/split_few`, `sort/split_many` that its numbers of classes need.
///
/// The dispatch that says `multisplit = true` stands for all of the partition's, and brings their
/// overrides and buffers along. A buffer of theirs that the kernel fills or compares is described
/// without a type and a length, which follow; the others need not be described. Where no dispatch
/// says so, as in a kernel that does without the partition what others do with it, only `split` and
/// what is described are there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultisplitDescription {
    /// How many elements, from 0 on.
    pub elements: Formula,
    /// How many classes, 1 to 256: the buffer `keys` holds numbers below it.
    pub classes: Formula,
    /// What is written beside `offsets`; the permutation where it is left out.
    #[serde(default = "permutation")]
    pub writes: ByParameter<WritesDescription>,
}

/// What a partition writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WritesDescription {
    /// The buffer `permutation`.
    Permutation,
    /// The buffers `permutation` and `inverse`.
    PermutationAndInverse,
    /// The buffer `payload`, in order, into `payload_sorted`, and the classes into `keys_sorted`, which
    /// above 16 classes is called `keys_filled`.
    Pairs,
}

fn permutation() -> ByParameter<WritesDescription> {
    ByParameter::Same(WritesDescription::Permutation)
}

/// A dispatch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchDescription {
    /// The entry point; `{name}` is replaced with that parameter's value.
    #[serde(default)]
    pub entry_point: String,
    /// In place of an entry point: that it stands for the dispatches of `[multisplit]`, in order. Of
    /// the rest it takes `setup` and `when` alone.
    #[serde(default)]
    pub multisplit: bool,
    /// Workgroups: one formula (a count, folded into two dimensions where it is large) or three.
    pub workgroups: Option<WorkgroupsDescription>,
    /// In place of `workgroups`: the buffer that holds the three counts.
    pub indirect: Option<IndirectDescription>,
    /// Invocations a workgroup along x, y and z. In CUDA C++ alone, whose text does not say.
    pub workgroup_size: Option<[u32; 3]>,
    /// A number or a formula over the parameters; other than 0, the driver sees to it that all
    /// workgroups are on the device at once, or refuses. In CUDA C++ alone.
    pub cooperative: Option<Formula>,
    /// How often it stands in the list, one after the other; formulas of its overrides may then
    /// speak of `repetition`, from 0.
    pub repeat: Option<Formula>,
    /// Values of overrides for this dispatch alone: each has a pipeline of its own.
    #[serde(default)]
    pub overrides: BTreeMap<String, Formula>,
    /// Whether it makes ready what the others work on: it runs before them, outside what is timed,
    /// and its counts do not enter the launch's mean. A condition on a parameter may say when, such as
    /// `"sort == before"`.
    #[serde(default = "Condition::never")]
    pub setup: Condition,
    /// Whether there is such a dispatch: a condition on a parameter.
    #[serde(default = "Condition::always")]
    pub when: Condition,
}

/// The number of workgroups.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum WorkgroupsDescription {
    /// Along x, y and z.
    Grid([Formula; 3]),
    /// In all.
    Count(Formula),
}

/// Where an indirect dispatch finds its three counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndirectDescription {
    /// The buffer's name.
    pub buffer: String,
    /// The offset in it, in bytes; a multiple of four.
    #[serde(default)]
    pub offset: u64,
    /// Bytes from one repetition's counts to the next one's; a multiple of four.
    #[serde(default)]
    pub stride: u64,
}

/// Something that may depend on a parameter's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ByParameter<T> {
    /// The same whatever the parameters are.
    Same(T),
    /// One for each value of a parameter.
    Choice {
        /// The parameter.
        by: String,
        /// What is chosen at each of its values.
        of: BTreeMap<String, T>,
    },
}

impl<T> ByParameter<T> {
    /// What holds with these parameters; nothing at a value that is not listed.
    pub fn choose(&self, parameters: &BTreeMap<String, Value>) -> Option<&T> {
        match self {
            Self::Same(fill) => Some(fill),
            Self::Choice { by, of } => of.get(&parameters.get(by)?.to_string()),
        }
    }
}

/// What is expected of the blocks of one label.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockDescription {
    /// Mean active lanes, a formula in `W` and the parameters, or one for each value of a parameter;
    /// nothing is expected at values that have none.
    pub active_lanes_mean: ByParameter<Formula>,
    /// Names for parts of the formulas, `["name", "formula"]` each: a formula may use those before it,
    /// `W` and the parameters.
    #[serde(default)]
    pub terms: Vec<[String; 2]>,
    /// Exact executions of each block of the label, a formula in `W` and the parameters; given where
    /// they follow from the shader alone.
    #[serde(alias = "issues")]
    pub executions: Option<Formula>,
    /// Exact active lanes, summed over the executions.
    pub lanes: Option<Formula>,
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
        let empty = |dispatch: &DispatchDescription| {
            !dispatch.multisplit && dispatch.entry_point.is_empty()
        };
        if let Some(index) = description.dispatches.iter().position(empty) {
            let message = format!("[[dispatches]] number {} has no `entry_point`", index + 1);
            return Err(KernelError::Toml { file: file.to_owned(), message });
        }
        let parameters = description.parameters.len();
        if parameters > PARAMETERS_MAX {
            let message = format!("there are {parameters} parameters; at most {PARAMETERS_MAX}");
            return Err(KernelError::Description { file: file.to_owned(), message });
        }
        for (name, parameter) in &description.parameters {
            if let Some(what) = parameter.contradiction() {
                let file = Lines::read(text).place(file, &format!("parameters.{name}"));
                let message = format!("the parameter `{name}`: {what}");
                return Err(KernelError::Description { file, message });
            }
        }
        Ok(description)
    }

    /// Reads a launch file, as [`Description::parse`]. In it each parameter must be used: one that is not
    /// is a word that was misspelt. `n` always is.
    ///
    /// # Errors
    ///
    /// As [`Description::parse`], and [`KernelError::Description`] for a parameter that nothing uses.
    pub fn parse_launch_file(file: &str, text: &str) -> Result<Self, KernelError> {
        let description = Self { lines: Lines::read(text), ..Self::parse(file, text)? };
        let mut document: toml::Table = toml::from_str(text).unwrap_or_default();
        document.remove("parameters");
        let mut words = BTreeSet::from(["n".to_owned()]);
        add_words(&toml::Value::Table(document), &mut words);
        if let Some(name) = description.parameters.keys().find(|name| !words.contains(*name)) {
            let file = description.lines.place(file, &format!("parameters.{name}"));
            let message = format!(
                "nothing uses the parameter `{name}`: no formula, condition or text of the file names it"
            );
            return Err(KernelError::Description { file, message });
        }
        Ok(description)
    }

    /// The description with the buffers and dispatches that are there with these parameters.
    ///
    /// # Errors
    ///
    /// As [`Condition::holds`].
    pub(super) fn at(&self, parameters: &BTreeMap<String, Value>) -> Result<Self, String> {
        let mut description = self.clone();
        let mut problem = None;
        let mut holds = |when: &Condition| {
            when.holds(parameters).unwrap_or_else(|message| {
                problem = Some(message);
                false
            })
        };
        description.buffers.retain(|buffer| holds(&buffer.when));
        description.textures.retain(|texture| holds(&texture.when));
        description.dispatches.retain(|dispatch| holds(&dispatch.when));
        problem.map_or(Ok(description), Err)
    }
}
