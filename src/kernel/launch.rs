//! One point of a sweep, ready for any device: a list of dispatches over named buffers.
//!
//! Input: a kernel and a value for each parameter. Output: [`Launch`], plain data that can be sent
//! to another process; contents of buffers are made where they are needed. It knows nothing of
//! devices or of naga.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::captured::After;
use super::described::{Kernel, KernelLanguage};
use super::dispatches::{self, Dispatch, Workgroups};
use super::error::KernelError;
use super::format::{
    BlockDescription, BufferDescription, FileDescription, FillDescription, Formula,
    ImmediatesDescription, Reference, ScalarDescription,
};
use super::formula::{self, Names};
use super::generate::{self, Fill};
use super::limits::{BUFFER_BYTES_MAX, EMPTY_BYTES, SHOWN_ELEMENTS_MAX};
use super::names::{numbers, overrides};
use super::pattern::Pattern;
use super::scalars;
use super::shape::Extent;
use super::textures::{self, Sampler, Texture};
use super::{multisplit, replacements};
use crate::binary::Derived;
use crate::layout::{ScalarType, Shape};
use crate::record::Value;
use crate::texture::TextureView;
use crate::units::Width;
use crate::units::text::listed;

/// One point of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// `family/name` of the kernel, or the path of a user's shader.
    pub kernel: String,
    /// The shader's file name for messages.
    pub file: String,
    /// The shader's text; of a shader that was made from other files the text that is shown, on whose lines
    /// figures stand.
    pub source: String,
    /// What is run, where that is not the text: SPIR-V, or WGSL that a preprocessor wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<Derived>,
    /// Every parameter with its value.
    pub parameters: BTreeMap<String, Value>,
    /// The seed of generated contents.
    pub seed: u64,
    /// Values of overrides.
    pub overrides: BTreeMap<String, f64>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Textures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<Texture>,
    /// Samplers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samplers: Vec<Sampler>,
    /// Dispatches in order.
    pub dispatches: Vec<Dispatch>,
    /// Whether the whole list can be repeated without making the buffers anew.
    pub repeatable: bool,
    /// Whether its modules may be created without run-time checks.
    pub trusted: bool,
    /// Whether workgroup memory begins as zeros.
    pub workgroup_memory_zeroed: bool,
    /// Bytes of the immediate address space.
    pub immediates: Vec<u8>,
    /// The CPU reference, where there is one.
    pub reference: Option<Reference>,
    /// The bytes that the launch must read and write, where the kernel says so.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The output buffers whose contents go into the record.
    #[serde(default)]
    pub shown: Vec<String>,
    /// What is expected of blocks, by their label.
    pub expected: BTreeMap<String, ExpectedBlock>,
    /// Why counts need not agree between devices; `None` where they must.
    pub exempt_from_agreement: Option<String>,
    /// Whether it is counted to compare widths alone, and shown nowhere else.
    #[serde(default)]
    pub for_widths: bool,
    /// Whether simulators keep what lanes do along time: not along a sweep that compares widths alone, of which nobody
    /// looks at each point.
    #[serde(default = "is_traced")]
    pub traced: bool,
    /// Whether the record says by hashes what its buffers hold at first.
    #[serde(default)]
    pub inputs_hashed: bool,
    /// Of a captured dispatch what buffers and textures held after the program's own, by variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub after: BTreeMap<String, After>,
}

fn is_traced() -> bool {
    true
}

/// A buffer of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffer {
    /// The shader's variable that it is bound to.
    pub name: String,
    /// Its size in bytes, a multiple of four.
    pub size: u64,
    /// What it holds at first.
    pub fill: Fill,
    /// The type of its elements, for comparing outputs.
    pub scalar: ScalarType,
    /// Whether it is compared with the reference.
    pub output: bool,
}

/// What is expected of a block: formulas in `W` and the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedBlock {
    /// Names that the formulas use beside `W` and the parameters, each with its formula, in order.
    #[serde(default)]
    pub terms: Vec<[String; 2]>,
    /// Mean active lanes, in lanes.
    pub active_lanes_mean: String,
    /// Exact executions, where the shader alone gives them.
    pub executions: Option<String>,
    /// Exact lanes summed over the executions.
    pub lanes: Option<String>,
}

impl Launch {
    /// The same launch on the input of the next seed, which tells blocks apart that ran alike on this one's.
    #[must_use]
    pub fn next_input(&self) -> Self {
        Self { seed: self.seed.wrapping_add(1), ..self.clone() }
    }

    /// A launch of a bare shader in WGSL, of one dispatch of its entry point `main`: checked, with the seed
    /// 1, and with nothing expected of it.
    pub fn of_shader(file: &str, source: &str, buffers: Vec<Buffer>, workgroups: [u32; 3]) -> Self {
        let main = Dispatch {
            entry_point: "main".to_owned(),
            workgroups: Workgroups::Direct(workgroups),
            native: None,
            overrides: BTreeMap::new(),
            setup: false,
        };
        Self {
            kernel: file.to_owned(),
            file: file.to_owned(),
            source: source.to_owned(),
            derived: None,
            parameters: BTreeMap::new(),
            seed: 1,
            overrides: BTreeMap::new(),
            buffers,
            textures: Vec::new(),
            samplers: Vec::new(),
            dispatches: vec![main],
            repeatable: true,
            trusted: false,
            workgroup_memory_zeroed: true,
            immediates: Vec::new(),
            reference: None,
            bytes: None,
            shown: Vec::new(),
            expected: BTreeMap::new(),
            exempt_from_agreement: None,
            for_widths: false,
            traced: true,
            inputs_hashed: false,
            after: BTreeMap::new(),
        }
    }

    /// What it is written in, by its file's name.
    pub fn language(&self) -> KernelLanguage {
        KernelLanguage::of_file(&self.file)
    }

    /// The buffer `name`.
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }

    /// The first content of `buffer`.
    pub fn contents(&self, buffer: &Buffer) -> Vec<u8> {
        generate::contents_kept(&buffer.fill, self.seed, &buffer.name, buffer.size)
    }

    /// The texture `name`.
    pub fn texture(&self, name: &str) -> Option<&Texture> {
        self.textures.iter().find(|texture| texture.name == name)
    }

    /// The sampler `name`.
    pub fn sampler(&self, name: &str) -> Option<&Sampler> {
        self.samplers.iter().find(|sampler| sampler.name == name)
    }

    /// The bytes of its buffers and textures together.
    pub fn bytes(&self) -> u64 {
        let buffers = self.buffers.iter().map(|buffer| buffer.size);
        let textures = self.textures.iter().map(|texture| texture.layout.bytes());
        buffers.chain(textures).fold(0, u64::saturating_add)
    }

    /// The first texels of `texture`.
    pub fn texels(&self, texture: &Texture) -> Vec<u8> {
        texture.contents(self.seed)
    }

    /// Whether another seed gives other contents.
    pub fn depends_on_seed(&self) -> bool {
        self.seeded().next().is_some()
    }

    /// The buffers and textures whose contents another seed makes anew, by the shader's variable.
    pub fn seeded(&self) -> impl Iterator<Item = &str> {
        let is_seeded = |buffer: &&Buffer| match &buffer.fill {
            Fill::Uniform { low, high, .. } => low < high,
            Fill::Skewed { .. }
            | Fill::Pattern { .. }
            | Fill::Default { .. }
            | Fill::Members { .. } => true,
            Fill::Zero | Fill::Words(_) | Fill::Series { .. } | Fill::Bytes(_) => false,
        };
        let buffers = self.buffers.iter().filter(is_seeded).map(|buffer| buffer.name.as_str());
        let textures = self.textures.iter().filter(|texture| texture.depends_on_seed());
        buffers.chain(textures.map(|texture| texture.name.as_str()))
    }

    /// The expected mean active lanes of the blocks labelled `label` at a width, where the kernel
    /// says what it expects.
    ///
    /// # Errors
    ///
    /// A sentence that quotes the formula, when it cannot be worked out.
    pub fn active_lanes_mean_expected(
        &self,
        label: &str,
        width: Width,
    ) -> Result<Option<f64>, String> {
        let Some(block) = self.expected.get(label) else { return Ok(None) };
        self.at_width(block, &block.active_lanes_mean, width).map(Some)
    }

    /// The exact executions and lanes of each block labelled `label` at a width, where the kernel's
    /// description gives both.
    ///
    /// # Errors
    ///
    /// A sentence that quotes the formula, when it cannot be worked out.
    pub fn counts_expected(&self, label: &str, width: Width) -> Result<Option<(f64, f64)>, String> {
        let Some(block) = self.expected.get(label) else { return Ok(None) };
        let (Some(executions), Some(lanes)) = (&block.executions, &block.lanes) else {
            return Ok(None);
        };
        Ok(Some((self.at_width(block, executions, width)?, self.at_width(block, lanes, width)?)))
    }

    fn at_width(&self, block: &ExpectedBlock, formula: &str, width: Width) -> Result<f64, String> {
        let mut names = numbers(&self.parameters);
        names.insert("W".to_owned(), f64::from(width.lanes()));
        for [name, term] in &block.terms {
            let value = formula::evaluate_text(term, &names)?;
            names.insert(name.clone(), value);
        }
        formula::evaluate_text(formula, &names)
    }
}

/// What a launch file may speak of beside itself; the catalogue has nothing of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The shapes of the shader's variables, by name.
    pub shapes: BTreeMap<String, Shape>,
    /// The shape of the immediate data.
    pub immediates: Option<Shape>,
    /// Along how many dimensions workgroups extend, 1 to 3.
    pub dimensions: u32,
    /// The contents of files that fill buffers, by variable.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The bytes of the file that holds the immediate data.
    pub immediates_file: Option<Vec<u8>>,
    /// How the shader sees its textures, by variable.
    pub views: BTreeMap<String, TextureView>,
    /// The texels of files that fill textures, by variable.
    pub texels: BTreeMap<String, Vec<u8>>,
}

/// Works out a kernel's launch for one choice of parameters; `file` is what messages call the
/// description.
///
/// # Errors
///
/// [`KernelError::Description`] that names `file` and what in it cannot be worked out.
#[expect(clippy::too_many_lines, reason = "the parts of a launch, one after the other")]
pub fn build(
    kernel: &Kernel,
    file: &str,
    parameters: BTreeMap<String, Value>,
    seed: u64,
    surroundings: &Surroundings,
) -> Result<Launch, KernelError> {
    let names = numbers(&parameters);
    let problem = |message: String| KernelError::Description { file: file.to_owned(), message };
    let problem_at = |key: &str| {
        let file = kernel.description.lines.place(file, key);
        move |message: String| KernelError::Description { file, message }
    };
    let present = kernel.description.at(&parameters).map_err(problem)?;
    let description = &multisplit::expand(&present, &parameters).map_err(problem)?;
    if description.dispatches.is_empty() {
        return Err(problem("there are no [[dispatches]]".to_owned()));
    }
    distinct(&description.buffers).map_err(problem)?;
    let builder = BufferBuilder { names: &names, parameters: &parameters, surroundings };
    let buffers: Vec<Buffer> = description
        .buffers
        .iter()
        .map(|buffer| {
            let built = with_type(buffer, &parameters).and_then(|typed| builder.buffer(&typed));
            built.map_err(|message| {
                // The part that is to blame, where one is named.
                let named = |key: &&str| message.contains(&format!("`{key}`"));
                let part = ["fill", "scalars", "elements"].into_iter().find(named);
                problem_at(&format!("buffers.{}.{}", buffer.name, part.unwrap_or("")))(message)
            })
        })
        .collect::<Result<_, _>>()?;
    let (textures, samplers) = textures::build_all(
        &description.textures,
        &description.samplers,
        &surroundings.views,
        &names,
        &surroundings.texels,
    )
    .map_err(|(key, message)| problem_at(&key)(message))?;
    let immediates = description
        .immediates
        .as_ref()
        .map_or(Ok(Vec::new()), |given| builder.immediates(given, seed));
    let immediates = immediates.map_err(problem_at("immediates"))?;
    let overrides =
        overrides(&description.overrides, &parameters).map_err(problem_at("overrides"))?;
    let source = replacements::apply(&kernel.source, &description.replacements, &parameters);
    let source = source.map_err(problem_at("replacements"))?;
    let bytes = description.bytes.as_ref().and_then(|bytes| bytes.choose(&parameters));
    let bytes = bytes.map(|formula| formula::evaluate_count(formula, &names)).transpose();
    let bytes = bytes.map_err(|message| problem(format!("`bytes`: {message}")))?;
    let dispatches = dispatches::build_all(kernel.language, description, &parameters, &names)
        .map_err(problem_at("dispatches"))?;
    let expected = expected_blocks(&description.blocks, &parameters);
    let shown = shown_names(&description.buffers, &buffers).map_err(problem)?;
    Ok(Launch {
        kernel: kernel.id.clone(),
        file: format!("{}.{}", kernel.id, kernel.language.extension()),
        source,
        derived: None,
        parameters,
        seed,
        overrides,
        buffers,
        textures,
        samplers,
        dispatches,
        repeatable: description.repeatable,
        trusted: description.trusted.unwrap_or(true),
        workgroup_memory_zeroed: description.workgroup_memory_zeroed,
        immediates,
        reference: description.reference.clone(),
        bytes,
        shown,
        expected,
        exempt_from_agreement: description.exempt_from_agreement.clone(),
        for_widths: false,
        traced: true,
        inputs_hashed: false,
        after: BTreeMap::new(),
    })
}

/// Refuses two buffers of one name: a variable is bound once.
fn distinct(buffers: &[BufferDescription]) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    match buffers.iter().find(|buffer| !names.insert(&buffer.name)) {
        Some(twice) => Err(format!("there are two [[buffers]] of the name `{}`", twice.name)),
        None => Ok(()),
    }
}

/// A buffer whose type a parameter gives, with that type.
fn with_type(
    buffer: &BufferDescription,
    parameters: &BTreeMap<String, Value>,
) -> Result<BufferDescription, String> {
    let Some(parameter) = &buffer.type_parameter else { return Ok(buffer.clone()) };
    let name = &buffer.name;
    let value = parameters
        .get(parameter)
        .ok_or_else(|| format!("buffer `{name}`: there is no parameter `{parameter}`"))?;
    let scalar = ScalarType::from_name(&value.to_string())
        .ok_or_else(|| format!("buffer `{name}`: {parameter} = {value} is no type"))?;
    Ok(BufferDescription { scalar: Some(scalar), ..buffer.clone() })
}

/// The names of the buffers that the record shows.
fn shown_names(given: &[BufferDescription], buffers: &[Buffer]) -> Result<Vec<String>, String> {
    let asked = given.iter().zip(buffers).filter(|(given, _)| given.shown);
    asked
        .map(|(_, buffer)| {
            let elements = buffer.size / buffer.scalar.bytes();
            if buffer.output && elements <= SHOWN_ELEMENTS_MAX {
                return Ok(buffer.name.clone());
            }
            Err(format!(
                "buffer `{}` is to be shown, so it must be an output of at most \
                 {SHOWN_ELEMENTS_MAX} elements; it has {elements}",
                buffer.name
            ))
        })
        .collect()
}

/// What is expected of blocks, its formulas as text; labels of which nothing is expected with these
/// parameters are left out.
fn expected_blocks(
    given: &BTreeMap<String, BlockDescription>,
    parameters: &BTreeMap<String, Value>,
) -> BTreeMap<String, ExpectedBlock> {
    given
        .iter()
        .filter_map(|(label, block)| {
            let block = ExpectedBlock {
                terms: block.terms.clone(),
                active_lanes_mean: block.active_lanes_mean.choose(parameters)?.to_string(),
                executions: block.executions.as_ref().map(Formula::to_string),
                lanes: block.lanes.as_ref().map(Formula::to_string),
            };
            Some((label.clone(), block))
        })
        .collect()
}

/// What buffers are worked out from.
struct BufferBuilder<'a> {
    names: &'a Names,
    parameters: &'a BTreeMap<String, Value>,
    surroundings: &'a Surroundings,
}

impl BufferBuilder<'_> {
    fn buffer(&self, buffer: &BufferDescription) -> Result<Buffer, String> {
        let name = &buffer.name;
        let output = buffer.output;
        if !buffer.scalars.is_empty() {
            if buffer.elements.is_some() || buffer.fill != FillDescription::Zero {
                return Err(format!(
                    "buffer `{name}` has `scalars`, so it takes no elements or fill"
                ));
            }
            let bytes = self.scalars(&buffer.scalars);
            let bytes = bytes.map_err(|why| format!("buffer `{name}`: `scalars`: {why}"))?;
            // Uniform structs are rounded up to 16 bytes by WGSL's layout rules.
            let size = (bytes.len() as u64).next_multiple_of(16);
            let fill = Fill::Words(words(&bytes));
            return Ok(Buffer { name: name.clone(), size, fill, scalar: ScalarType::U32, output });
        }
        let size = self.size(buffer)?;
        if size > BUFFER_BYTES_MAX {
            return Err(format!(
                "buffer `{name}` would take {size} bytes; at most {BUFFER_BYTES_MAX}"
            ));
        }
        let shape = self.surroundings.shapes.get(name);
        let scalar = buffer.scalar.or_else(|| self.scalar(name));
        let fill = self.fill(name, (scalar, shape), &buffer.fill).and_then(|fill| {
            check_fill(&fill, size)?;
            Ok(fill)
        });
        let fill = fill.map_err(|why| match why.starts_with("buffer `") {
            true => why,
            false => format!("buffer `{name}`: `fill`: {why}"),
        })?;
        let scalar = scalar.unwrap_or(ScalarType::U32);
        // A binding may not be empty: n = 0 still binds a vector of four, which nothing reads.
        let size = if size == 0 { EMPTY_BYTES } else { size.next_multiple_of(4) };
        Ok(Buffer { name: name.clone(), size, fill, scalar, output })
    }

    /// The type of the scalars of the shader's variable, where they are alike.
    fn scalar(&self, name: &str) -> Option<ScalarType> {
        self.surroundings.shapes.get(name)?.uniform_scalar().map(|(scalar, _)| scalar)
    }

    /// A buffer's size in bytes.
    fn size(&self, buffer: &BufferDescription) -> Result<u64, String> {
        let name = &buffer.name;
        let elements = buffer.elements.as_ref();
        let elements =
            elements.map(|formula| formula::evaluate_count(formula, self.names)).transpose();
        let elements =
            elements.map_err(|message| format!("buffer `{name}`: `elements`: {message}"))?;
        let shape = self.surroundings.shapes.get(name);
        let file = if let FillDescription::File(file) = &buffer.fill {
            Some(self.file(name, file)?.len() as u64)
        } else {
            None
        };
        match (elements, buffer.scalar, shape, file) {
            (Some(elements), Some(scalar), _, _) => Ok(elements.saturating_mul(scalar.bytes())),
            (Some(elements), None, Some(shape), _) if shape.stride().is_some() => {
                Ok(shape.size(elements))
            }
            (None, _, _, Some(bytes)) => Ok(bytes),
            (None, _, Some(shape), None) if shape.stride().is_none() => Ok(shape.size(0)),
            (Some(_), None, ..) => Err(format!(
                "buffer `{name}` has `elements`, so it needs a `type`, such as \"f32\""
            )),
            (None, ..) => Err(format!("buffer `{name}` needs `elements`, such as \"n\"")),
        }
    }

    /// What fills a buffer, or a member of one, whose scalars are of a type where they are alike.
    fn fill(
        &self,
        name: &str,
        (scalar, shape): (Option<ScalarType>, Option<&Shape>),
        given: &FillDescription,
    ) -> Result<Fill, String> {
        let typed =
            || scalar.ok_or_else(|| format!("buffer `{name}` needs a `type`, such as \"f32\""));
        let number = |formula: &Formula| formula::evaluate(formula, self.names);
        Ok(match given {
            FillDescription::Zero => Fill::Zero,
            FillDescription::Skewed { range: [low, high], exponent, length } => Fill::Skewed {
                scalar: typed()?,
                low: number(low)?,
                high: number(high)?,
                exponent: number(exponent)?,
                length: formula::evaluate_count(length, self.names)?.max(1),
            },
            FillDescription::Choice { by, of } => {
                let value = self.parameters.get(by).map(Value::to_string);
                let chosen = value.as_ref().and_then(|value| of.get(value));
                let chosen = chosen.ok_or_else(|| {
                    let known: Vec<&str> = of.keys().map(String::as_str).collect();
                    format!(
                        "buffer `{name}` is filled by `{by}`, which is {}; it may be: {}",
                        value.as_deref().unwrap_or("no parameter"),
                        listed(&known)
                    )
                })?;
                return self.fill(name, (scalar, shape), chosen);
            }
            FillDescription::Uniform([low, high]) => Fill::Uniform {
                scalar: typed()?,
                low: formula::evaluate(low, self.names)?,
                high: formula::evaluate(high, self.names)?,
            },
            FillDescription::Offsets { .. }
            | FillDescription::Permutation
            | FillDescription::Sorted { .. }
            | FillDescription::Zipf { .. }
            | FillDescription::Points { .. }
            | FillDescription::Image { .. }
            | FillDescription::Bvh { .. } => {
                let pattern = self.pattern(given)?.ok_or("a pattern was expected")?;
                let scalar = match pattern {
                    // Words of a node are of several types.
                    Pattern::Bvh { .. } => scalar.unwrap_or(ScalarType::U32),
                    _ => typed()?,
                };
                Fill::Pattern { scalar, pattern }
            }
            FillDescription::Constant(value) => Fill::Series {
                scalar: typed()?,
                first: formula::evaluate(value, self.names)?,
                step: 0.0,
            },
            FillDescription::Series { first, step } => Fill::Series {
                scalar: typed()?,
                first: formula::evaluate(first, self.names)?,
                step: formula::evaluate(step, self.names)?,
            },
            FillDescription::Default => {
                let shape = shape.ok_or_else(|| self.unknown(name, "\"default\""))?;
                Fill::Default { shape: shape.clone(), extent: self.extent()? }
            }
            FillDescription::Members(given) => {
                let shape = shape.ok_or_else(|| self.unknown(name, "`members`"))?;
                self.members(name, shape, given)?
            }
            FillDescription::File(file) => Fill::Bytes(self.file(name, file)?.to_vec()),
        })
    }

    /// Why a buffer that the shader does not bind cannot be filled by its type.
    fn unknown(&self, name: &str, by: &str) -> String {
        let known: Vec<&str> = self.surroundings.shapes.keys().map(String::as_str).collect();
        format!(
            "buffer `{name}` is filled by {by}, but the shader has no variable of that name; it has: {}",
            listed(&known)
        )
    }

    /// What fills the members of a struct, or of each element of an array of structs.
    fn members(
        &self,
        name: &str,
        shape: &Shape,
        given: &BTreeMap<String, FillDescription>,
    ) -> Result<Fill, String> {
        let mut members = BTreeMap::new();
        for (member, given) in given {
            let inner = format!("{name}.{member}");
            let known = shape.member(member, 0).map(|places| places.shape);
            let known = known.ok_or_else(|| {
                let names = shape.member_names();
                match &names[..] {
                    [] => format!("buffer `{name}` is no struct, so it takes no `members`"),
                    _ => {
                        format!(
                            "buffer `{name}` has no member `{member}`; it has: {}",
                            listed(&names)
                        )
                    }
                }
            })?;
            let scalar = known.uniform_scalar().map(|(scalar, _)| scalar);
            let fill = self.fill(&inner, (scalar, Some(known)), given);
            let fill = fill.map_err(|why| match why.starts_with("buffer `") {
                true => why,
                false => format!("member `{member}`: {why}"),
            })?;
            members.insert(member.clone(), fill);
        }
        Ok(Fill::Members { shape: shape.clone(), extent: self.extent()?, members })
    }

    /// The structure that a description gives contents; `None` if it gives none.
    fn pattern(&self, given: &FillDescription) -> Result<Option<Pattern>, String> {
        let number = |formula: &Formula| formula::evaluate(formula, self.names);
        let count = |formula: &Formula| formula::evaluate_count(formula, self.names);
        let numbers = |all: &[Formula]| all.iter().map(number).collect::<Result<Vec<_>, _>>();
        Ok(Some(match given {
            FillDescription::Offsets { last, lengths, exponent } => {
                let (last, exponent) = (number(last)?, number(exponent)?);
                if exponent <= 1.0 {
                    return Err(format!("`exponent` is {exponent}; lengths need one over 1"));
                }
                Pattern::Offsets { last, lengths: *lengths, exponent }
            }
            FillDescription::Permutation => Pattern::Permutation,
            FillDescription::Sorted { range: [low, high], moved } => {
                Pattern::Sorted { low: number(low)?, high: number(high)?, moved: number(moved)? }
            }
            FillDescription::Zipf { ids, exponent } => {
                Pattern::Zipf { ids: number(ids)?, exponent: number(exponent)? }
            }
            FillDescription::Points { from, to, stride } => {
                let (low, high) = (numbers(from)?, numbers(to)?);
                if low.len() != high.len() || low.is_empty() {
                    return Err("`from` and `to` need a number for each component".to_owned());
                }
                let stride = stride.as_ref().map(count).transpose()?;
                Pattern::Points { stride: stride.unwrap_or(low.len() as u64), low, high }
            }
            FillDescription::Image { width, of, range: [dark, light] } => Pattern::Image {
                width: count(width)?,
                of: *of,
                range: [number(dark)?, number(light)?],
            },
            FillDescription::Bvh { leaves, node, tree, siblings } => Pattern::Bvh {
                leaves: count(leaves)?,
                node: node.clone(),
                tree: *tree,
                siblings: *siblings,
            },
            FillDescription::Zero
            | FillDescription::Constant(_)
            | FillDescription::Uniform(_)
            | FillDescription::Series { .. }
            | FillDescription::Skewed { .. }
            | FillDescription::Choice { .. }
            | FillDescription::Members(_)
            | FillDescription::Default
            | FillDescription::File(_) => return Ok(None),
        }))
    }

    fn file(&self, buffer: &str, file: &FileDescription) -> Result<&[u8], String> {
        let found = self.surroundings.files.get(buffer).map(Vec::as_slice);
        let file = file.name();
        found.ok_or_else(|| format!("the file `{file}` was not read; only launch files name files"))
    }

    fn extent(&self) -> Result<Extent, String> {
        let n = formula::evaluate_count(&Formula::Text("n".to_owned()), self.names)?;
        Ok(Extent { n, dimensions: self.surroundings.dimensions.max(1) })
    }

    /// The bytes of scalars in order, each at the next multiple of its own size.
    fn scalars(&self, scalars: &[ScalarDescription]) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for scalar in scalars {
            let (kind, formula) = scalar.parts();
            let value = formula::evaluate(formula, self.names)?;
            scalars::check(kind, value)?;
            let bits = scalars::encode(kind, value);
            let length = usize::try_from(kind.bytes()).unwrap_or(8);
            bytes.resize(bytes.len().next_multiple_of(length), 0);
            bytes.extend_from_slice(&bits.to_le_bytes()[..length]);
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Ok(bytes)
    }

    fn immediates(&self, given: &ImmediatesDescription, seed: u64) -> Result<Vec<u8>, String> {
        match given {
            ImmediatesDescription::Scalars(scalars) => {
                self.scalars(scalars).map_err(|why| format!("`immediates`: {why}"))
            }
            ImmediatesDescription::File(given) => {
                let bytes = self.surroundings.immediates_file.clone().ok_or_else(|| {
                    let file = given.file.name();
                    format!(
                        "`immediates`: the file `{file}` was not read; only launch files name files"
                    )
                })?;
                if !bytes.len().is_multiple_of(4) {
                    let (file, length) = (given.file.name(), bytes.len());
                    return Err(format!(
                        "`immediates`: `{file}` has {length} bytes, which is no multiple of 4"
                    ));
                }
                Ok(bytes)
            }
            ImmediatesDescription::Word(_) => {
                let shape = self.surroundings.immediates.clone().ok_or_else(|| {
                    "`immediates` is \"default\", but the shader has no `var<immediate>`; leave it \
                     out"
                    .to_owned()
                })?;
                let size = shape.size(0).next_multiple_of(4);
                let fill = Fill::Default { shape, extent: self.extent()? };
                Ok(generate::contents(&fill, seed, "immediates", size))
            }
        }
    }
}

/// Refuses values that a buffer of `size` bytes does not hold.
fn check_fill(fill: &Fill, size: u64) -> Result<(), String> {
    match fill {
        Fill::Uniform { scalar, low, high } => scalars::check_range(*scalar, *low, *high),
        Fill::Skewed { scalar, low, high, exponent, .. } => {
            if *exponent < 0.0 {
                return Err(format!("`exponent` is {exponent}, and must be 0 or more"));
            }
            scalars::check_range(*scalar, *low, *high)
        }
        Fill::Series { scalar, first, step } => {
            #[expect(clippy::cast_precision_loss, reason = "indices lie far below 2^53")]
            let last = (size / scalar.bytes()).saturating_sub(1) as f64;
            let ends = [*first, first + step * last];
            scalars::check_range(*scalar, ends[0].min(ends[1]), ends[0].max(ends[1]))
        }
        Fill::Pattern { pattern: Pattern::Bvh { leaves, node, .. }, .. } => {
            let nodes = leaves.saturating_mul(2).saturating_sub(1);
            let bytes = nodes.saturating_mul(4 * node.len() as u64);
            if bytes > size {
                return Err(format!(
                    "a tree of {leaves} leaves has {nodes} nodes, which take {bytes} bytes; the buffer holds {size}"
                ));
            }
            Ok(())
        }
        Fill::Members { shape, members, .. } => members.iter().try_for_each(|(member, fill)| {
            let places = shape.member(member, size);
            let bytes = places.map_or(0, |places| places.size.saturating_mul(places.count));
            check_fill(fill, bytes).map_err(|why| format!("member `{member}`: {why}"))
        }),
        Fill::Zero
        | Fill::Words(_)
        | Fill::Bytes(_)
        | Fill::Default { .. }
        | Fill::Pattern { .. } => Ok(()),
    }
}

/// Bytes as 32-bit words; their number is a multiple of four.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
