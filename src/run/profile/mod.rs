//! A user's shader made into a launch: what the launch file leaves out follows from the shader.
//!
//! Input: a shader's text, a launch file's description where there is one, an entry point, n.
//! Output: a [`Launch`] that every device runs alike, or the text of a launch file to start from. It
//! opens no file and no device.
//!
//! # What follows from the shader
//!
//! There is one way: whatever a launch file does not describe is described here in the same terms
//! ([`describe`]), and the whole is then worked out as the catalogue's kernels are. The file that
//! `--init` writes is that description as text ([`template`]), and so it gives the same launch.
//!
//! - `n` is 65,536, or as many elements as fit into [`BUFFER_BYTES`] where they are large.
//! - Run-time arrays have n elements; contents are as [`crate::kernel::shape`] says.
//! - A dispatch that says no workgroups has as many as follow from n.
//! - There is an invocation for each of n elements: along x for 1D workgroups; as a square for 2D ones, and
//!   where the shader asks for y; as a cube for 3D ones. More than 65,535 workgroups along x are folded into y.
//! - Every buffer and texture that the shader may write is an output.
//! - Textures and samplers are as `textures` says.

pub mod describe;
pub mod files;
pub mod made_up;
pub mod pilot;
mod placed;
pub mod repeated;
pub mod template;
mod texels;
mod textures;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::binary::Derived;
use crate::kernel::captured::After;
use crate::kernel::format::{self, FileDescription, ImmediatesDescription, Parameter};
use crate::kernel::{
    Description, DeviceClass, Kernel, KernelError, KernelLanguage, Launch, Shape, Surroundings,
    Workgroups, launch, names,
};
use crate::program::{
    BindingAccess, Interface, Overrides, Parsed, PlaceBounds, ProgramError, Resource, Uses,
};
use crate::record::Value;
use crate::run::launched::parse;
use crate::units::text::listed;

/// The parameter that holds the number of elements.
pub const SIZE: &str = "n";

/// The number of elements where nothing else is asked for.
pub const ELEMENTS: u64 = 65_536;

/// The most bytes of one buffer where nothing is asked for: half of what every device binds.
pub const BUFFER_BYTES: u64 = 64 << 20;

/// What to make a launch from.
#[derive(Clone, Debug)]
pub struct ProfileRequest {
    /// The shader's path, as messages show it.
    pub file: String,
    /// The kernel's name: the file's, without folder and ending.
    pub name: String,
    /// The shader's text, where it is one.
    pub source: String,
    /// The shader's module, where it is SPIR-V, or its text with a map of its lines.
    pub derived: Option<Derived>,
    /// The launch file's path and what it says, where there is one.
    pub description: Option<(String, Description)>,
    /// The entry point, where the launch file does not say it.
    pub entry_point: Option<String>,
    /// Workgroups along x, y and z, where they do not follow from n.
    pub workgroups: Option<[u32; 3]>,
    /// The number of elements.
    pub n: Option<u64>,
    /// Seed of generated contents.
    pub seed: u64,
}

/// A launch with what it was made from.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The launch.
    pub launch: Launch,
    /// What it follows from: the launch file's description with everything filled in.
    pub description: Description,
    /// What its entry points ask for, in the order of the dispatches, each once.
    pub interfaces: Vec<Interface>,
    /// Whether n was lanescope's choice.
    pub n_is_default: bool,
}

/// Why there is no launch.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The shader cannot be used.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The launch file cannot be used.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The shader has nothing to dispatch.
    #[error(
        "{file} has no compute entry point: lanescope profiles functions marked @compute \
         @workgroup_size(…){}",
        if *.spirv { ", which SPIR-V names in OpEntryPoint with GLCompute (or the file is damaged)" } else { "" }
    )]
    NoEntryPoint {
        /// The shader.
        file: String,
        /// Whether it is SPIR-V.
        spirv: bool,
    },
    /// It is not clear which to dispatch.
    #[error(
        "{file} has several compute entry points: {names}; choose one, or dispatch several in a launch \
         file"
    )]
    EntryPoints {
        /// The shader.
        file: String,
        /// Their names.
        names: String,
    },
    /// The launch file and the shader do not fit.
    #[error("{file}: {message}")]
    Unfit {
        /// The launch file, or the shader where there is none.
        file: String,
        /// What does not fit, and what to do.
        message: String,
    },
}

/// Makes a launch; `read` gives the content of a file that the launch file names.
///
/// # Errors
///
/// [`ProfileError`], each with the file, and the line where there is one.
#[expect(clippy::too_many_lines, reason = "the parts of a launch, one after the other")]
pub fn prepare(
    request: &ProfileRequest,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Prepared, ProfileError> {
    let parsed = parse(&request.file, &request.source, request.derived.as_ref())?;
    let (file, mut description) = match &request.description {
        Some((file, description)) => (file.clone(), description.clone()),
        None => (request.file.clone(), Description::parse(&request.file, "")?),
    };
    let unfit = |message: String| ProfileError::Unfit { file: file.clone(), message };
    let unfit_at = |description: &Description, key: &str, message: String| ProfileError::Unfit {
        file: description.lines.place(&file, key),
        message,
    };
    if !description.sets.is_empty() {
        return Err(unfit(
            "`sets` is for kernels of the catalogue, which have a family".to_owned(),
        ));
    }
    if description.multisplit.is_some() || description.dispatches.iter().any(|d| d.multisplit) {
        let message = "`multisplit` is for kernels of the catalogue, which have its shader as a part; \
                       list its dispatches and buffers";
        return Err(unfit(message.to_owned()));
    }
    let n_is_default = request.n.is_none() && !description.parameters.contains_key(SIZE);
    description.parameters.entry(SIZE.to_owned()).or_insert_with(|| size_parameter(ELEMENTS));
    let mut parameters = choose_parameters(request, &description)?;
    let entry_points = entry_points(request, &parsed, &description, &parameters)?;
    let overrides = names::overrides(&description.overrides, &parameters).map_err(unfit)?;
    let interfaces = interfaces(&parsed, &entry_points, &overrides)?;
    let resources = resources(&interfaces);
    placed::name_places(&mut description, &interfaces)
        .map_err(|(key, message)| unfit_at(&description, &key, message))?;
    let n_is_described =
        request.description.as_ref().is_none_or(|(_, given)| given.parameters.contains_key(SIZE));
    if n_is_default {
        let fits = elements_that_fit(&resources, &interfaces);
        description.parameters.insert(SIZE.to_owned(), size_parameter(fits));
        parameters = choose_parameters(request, &description)?;
    }
    check_captured(&description, &interfaces).map_err(unfit)?;
    fill_in(&mut description, request, &interfaces, &resources);
    types(&description, &resources, &request.file).map_err(unfit)?;
    let texels = texels::read_all(&mut description, read)
        .map_err(|(key, message)| unfit_at(&description, &key, message))?;
    textures::fill_in(&mut description, &interfaces);
    let surroundings = Surroundings {
        shapes: resources.iter().map(|(name, r)| (name.clone(), r.shape.clone())).collect(),
        immediates: immediates(&interfaces).cloned(),
        dimensions: interfaces.iter().map(Interface::dimensions).max().unwrap_or(1),
        files: contents(&description, &resources, read).map_err(unfit)?,
        immediates_file: immediates_file(&description, read)
            .map_err(|message| unfit_at(&description, "immediates", message))?,
        views: textures::textures(&interfaces).into_iter().map(|t| (t.name, t.view)).collect(),
        texels,
    };
    let shown = match &request.derived {
        Some(_) => parsed.text().original().to_owned(),
        None => request.source.clone(),
    };
    let kernel = Kernel {
        id: request.name.clone(),
        language: KernelLanguage::Wgsl,
        source: shown,
        description: description.clone(),
    };
    let build = |parameters| launch::build(&kernel, &file, parameters, request.seed, &surroundings);
    // What can be worked out without n says nothing of it.
    let mut without = parameters.clone();
    without.remove(SIZE);
    let alone = if n_is_described { None } else { build(without).ok() };
    let n_is_used = alone.is_none();
    // One n may be meant for many shaders, of which some have a launch of their own; a captured dispatch
    // is what a program ran, and has no n.
    if let (false, Some(n), Some(_)) = (n_is_used, request.n, &description.capture) {
        return Err(unfit(format!("n = {n} has no effect: nothing of the launch follows from n")));
    }
    let mut launch = alone.map_or_else(|| build(parameters), Ok)?;
    launch.file.clone_from(&request.file);
    launch.derived.clone_from(&request.derived);
    launch.trusted = description.trusted.unwrap_or(false);
    launch.inputs_hashed = true;
    check(&launch, &resources, &surroundings).map_err(unfit)?;
    check_textures(&launch, &interfaces)
        .map_err(|(key, message)| unfit_at(&description, &key, message))?;
    for buffer in &mut launch.buffers {
        let bound = resources.get(&buffer.name);
        buffer.output |= bound.is_some_and(|resource| resource.access == BindingAccess::ReadWrite);
    }
    for texture in &mut launch.textures {
        let mut bound = interfaces.iter().flat_map(|interface| &interface.textures);
        texture.output |= bound.any(|bound| bound.name == texture.name && bound.is_writable());
    }
    launch.after = after(&launch, &description, &surroundings, read)
        .map_err(|(key, message)| unfit_at(&description, &key, message))?;
    Ok(Prepared { launch, description, interfaces, n_is_default: n_is_default && n_is_used })
}

/// Refuses a captured dispatch that lacks what the shader uses: nothing is made up for it.
fn check_captured(description: &Description, interfaces: &[Interface]) -> Result<(), String> {
    let Some(capture) = &description.capture else { return Ok(()) };
    let buffers = description.buffers.iter().map(|buffer| &buffer.name);
    let textures = description.textures.iter().map(|texture| &texture.name);
    let samplers = description.samplers.iter().map(|sampler| &sampler.name);
    let held: BTreeSet<&String> = buffers.chain(textures).chain(samplers).collect();
    for interface in interfaces {
        let buffers = interface.resources.iter().map(|r| (&r.name, r.group, r.binding));
        let textures = interface.textures.iter().map(|t| (&t.name, t.group, t.binding));
        let samplers = interface.samplers.iter().map(|s| (&s.name, s.group, s.binding));
        let mut used = buffers.chain(textures).chain(samplers);
        if let Some((name, group, binding)) = used.find(|(name, ..)| !held.contains(name)) {
            let missing = capture.missing.iter().map(|what| format!("; not read: {what}"));
            return Err(format!(
                "the capture holds nothing for `{name}` at @group({group}) @binding({binding}){}",
                missing.collect::<String>()
            ));
        }
    }
    if description.immediates.is_none() && immediates(interfaces).is_some() {
        return Err("the capture holds nothing for the shader's `var<immediate>`".to_owned());
    }
    if description.dispatches.is_empty() {
        return Err("the capture has no [[dispatches]]".to_owned());
    }
    Ok(())
}

/// What buffers and textures held after the program's own dispatch, where the launch file says it.
fn after(
    launch: &Launch,
    description: &Description,
    surroundings: &Surroundings,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<BTreeMap<String, After>, (String, String)> {
    let tolerances = description
        .capture
        .as_ref()
        .map_or((0.0, 0.0), |capture| (capture.tolerance_relative, capture.tolerance_absolute));
    let buffers = description.buffers.iter().map(|b| ("buffer", &b.name, &b.after));
    let textures = description.textures.iter().map(|t| ("texture", &t.name, &t.after));
    let mut all = BTreeMap::new();
    for (what, name, file) in buffers.chain(textures) {
        let Some(file) = file else { continue };
        let wrong = |message: String| {
            (format!("{what}s.{name}.after"), format!("{what} `{name}`: `after`: {message}"))
        };
        let bytes = read(file.name()).and_then(|bytes| file.cut(bytes)).map_err(wrong)?;
        let buffer = launch.buffer(name).map(|buffer| buffer.size);
        let texels = launch.texture(name).map(|texture| texture.layout.bytes());
        let Some(wanted) = buffer.or(texels).filter(|_| bytes.len() as u64 != 0) else { continue };
        if bytes.len() as u64 != wanted {
            let (file, length) = (file.name(), bytes.len());
            let message = format!("`{file}` has {length} bytes for it, and it has {wanted}");
            return Err(wrong(message));
        }
        all.insert(
            name.clone(),
            After {
                bytes,
                shape: surroundings.shapes.get(name).cloned(),
                tolerance_relative: tolerances.0,
                tolerance_absolute: tolerances.1,
            },
        );
    }
    // What is read back is what the shader may write.
    all.retain(|name, _| {
        launch.buffer(name).is_some_and(|buffer| buffer.output)
            || launch.texture(name).is_some_and(|texture| texture.output)
    });
    Ok(all)
}

/// The bytes of the file that holds the immediate data, where one does.
fn immediates_file(
    description: &Description,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Option<Vec<u8>>, String> {
    let Some(ImmediatesDescription::File(given)) = &description.immediates else { return Ok(None) };
    let bytes = read(given.file.name()).and_then(|bytes| given.file.cut(bytes));
    bytes.map(Some).map_err(|message| format!("`immediates`: {message}"))
}

/// Whether textures and samplers fit the variables that they are bound to, in every entry point.
fn check_textures(launch: &Launch, interfaces: &[Interface]) -> Result<(), (String, String)> {
    for bound in interfaces.iter().flat_map(|interface| &interface.textures) {
        let texture = launch.texture(&bound.name);
        let why = texture.and_then(|texture| texture.layout.unfit(bound.view, bound.class));
        if let Some(why) = why {
            let message =
                format!("texture `{}` ({} line {}): {why}", bound.name, launch.file, bound.line);
            return Err((format!("textures.{}", bound.name), message));
        }
    }
    let samplers = textures::samplers(interfaces);
    for sampler in &launch.samplers {
        let key = format!("samplers.{}", sampler.name);
        let Some(bound) = samplers.iter().find(|bound| bound.name == sampler.name) else {
            let known: Vec<&str> = samplers.iter().map(|bound| bound.name.as_str()).collect();
            let message = format!(
                "there is a sampler `{}`, but no dispatched entry point uses a sampler of that name; \
                 they use: {}",
                sampler.name,
                listed(&known)
            );
            return Err((key, message));
        };
        if sampler.settings.compare.is_some() != bound.comparison {
            let message = if bound.comparison {
                format!("sampler `{}` needs `compare`, such as \"less\"", sampler.name)
            } else {
                format!("sampler `{}` does not compare: leave `compare` out", sampler.name)
            };
            return Err((key, message));
        }
    }
    Ok(())
}

/// The parameter n with a default.
fn size_parameter(n: u64) -> Parameter {
    Parameter {
        description: "elements, one invocation each".to_owned(),
        default: format::Default::Same(Value::Integer(i64::try_from(n).unwrap_or(i64::MAX))),
        values: Vec::new(),
        min: Some(0.0),
        max: None,
        multiple_of: None,
        power_of_two: false,
        shown_beside: Vec::new(),
    }
}

/// The value of each parameter: a class's defaults, the same on every device, with `--n` over them.
fn choose_parameters(
    request: &ProfileRequest,
    description: &Description,
) -> Result<BTreeMap<String, Value>, ProfileError> {
    let kernel = Kernel {
        id: request.name.clone(),
        language: KernelLanguage::Wgsl,
        source: String::new(),
        description: description.clone(),
    };
    let n = request.n.map(|n| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX)));
    let given = n.into_iter().map(|n| (SIZE.to_owned(), n)).collect();
    let parameters = kernel.parameters(DeviceClass::Cpu, &given)?;
    match parameters.get(SIZE) {
        Some(Value::Integer(n)) if *n >= 1 => Ok(parameters),
        other => {
            let shown = other.map_or_else(|| "nothing".to_owned(), Value::to_string);
            let message = format!("n is {shown}; it must be a whole number, at least 1");
            Err(ProfileError::Unfit { file: request.file.clone(), message })
        }
    }
}

/// The entry points of the dispatches, or the one that is asked for, or the only one.
fn entry_points(
    request: &ProfileRequest,
    parsed: &Parsed,
    description: &Description,
    parameters: &BTreeMap<String, Value>,
) -> Result<Vec<String>, ProfileError> {
    if !description.dispatches.is_empty() {
        let mut names: Vec<String> = Vec::new();
        for dispatch in &description.dispatches {
            let name = names::interpolate(&dispatch.entry_point, parameters);
            let file = request.description.as_ref().map_or(&request.file, |(file, _)| file).clone();
            let name = name.map_err(|message| ProfileError::Unfit { file, message })?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        return Ok(names);
    }
    let file = request.file.clone();
    match (&request.entry_point, &parsed.entry_points()[..]) {
        (_, []) => {
            let spirv = matches!(request.derived, Some(Derived::SpirV(_)));
            Err(ProfileError::NoEntryPoint { file, spirv })
        }
        (Some(name), _) => Ok(vec![name.clone()]),
        (None, [name]) => Ok(vec![(*name).to_owned()]),
        (None, several) => Err(ProfileError::EntryPoints { file, names: listed(several) }),
    }
}

fn interfaces(
    parsed: &Parsed,
    entry_points: &[String],
    overrides: &Overrides,
) -> Result<Vec<Interface>, ProfileError> {
    let interface = |name: &String| Ok(parsed.resolve(name, overrides)?.interface()?);
    entry_points.iter().map(interface).collect()
}

/// Buffers by their names, in the order of the shader.
type Resources = IndexMap<String, Resource>;

/// The buffers of all entry points, each once; written where any may write it.
fn resources(interfaces: &[Interface]) -> Resources {
    let mut all = Resources::new();
    for resource in interfaces.iter().flat_map(|interface| &interface.resources) {
        let known = all.entry(resource.name.clone()).or_insert_with(|| resource.clone());
        known.written |= resource.written;
    }
    all
}

/// The largest immediate data of any entry point: the others use its beginning.
fn immediates(interfaces: &[Interface]) -> Option<&Shape> {
    interfaces.iter().filter_map(|i| i.immediates.as_ref()).max_by_key(|shape| shape.size(0))
}

/// How many elements to take where nobody says it: of 1D workgroups, as many as fill them, so that no
/// invocation is left over.
fn elements_that_fit(resources: &Resources, interfaces: &[Interface]) -> u64 {
    let largest = resources.values().filter_map(|resource| resource.shape.stride()).max();
    let fits =
        largest.map_or(ELEMENTS, |stride| ELEMENTS.min((BUFFER_BYTES / stride.max(1)).max(1)));
    let flat = interfaces.iter().filter(|interface| interface.dimensions() == 1);
    let sizes = flat.map(|interface| u64::from(interface.workgroup_size[0]).max(1));
    let whole = sizes.fold(1, least_common_multiple);
    if whole <= fits { fits / whole * whole } else { fits }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// What the entry points' use of arrays tells, the first one's first.
fn uses(interfaces: &[Interface]) -> Uses {
    let mut all = Uses::default();
    interfaces.iter().for_each(|interface| all.extend(&interface.uses));
    all
}

/// Describes what the launch file leaves out.
fn fill_in(
    description: &mut Description,
    request: &ProfileRequest,
    interfaces: &[Interface],
    resources: &Resources,
) {
    let dimensions = interfaces.iter().map(Interface::dimensions).max().unwrap_or(1);
    let uses = uses(interfaces);
    let mut bounds = PlaceBounds::default();
    interfaces.iter().for_each(|interface| bounds.extend(&interface.place_bounds));
    let (limits, indices) = (uses.limits.clone(), uses.indices.clone());
    let numbers = describe::Numbers { dimensions, bounds, limits, indices };
    // Where an array is the user's, so is its length: what leads into it stays below that.
    let arrays = describe::Arrays::new(resources.values(), &uses, &description.buffers);
    let given: BTreeSet<&str> =
        description.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    let made = resources.values().filter(|resource| !given.contains(resource.name.as_str()));
    let added: Vec<_> =
        made.map(|resource| describe::buffer(resource, &numbers, &arrays)).collect();
    description.buffers.extend(added);
    if description.immediates.is_none() {
        description.immediates =
            immediates(interfaces).map(|shape| describe::immediates(shape, &numbers));
    }
    if let (true, Some(interface)) = (description.dispatches.is_empty(), interfaces.first()) {
        description.dispatches.push(describe::dispatch(interface, request.workgroups));
    }
    for dispatch in &mut description.dispatches {
        let interface =
            interfaces.iter().find(|interface| interface.entry_point == dispatch.entry_point);
        if let (None, None, Some(interface)) = (&dispatch.workgroups, &dispatch.indirect, interface)
        {
            dispatch.workgroups = describe::dispatch(interface, None).workgroups;
        }
    }
}

/// Refuses a buffer whose `type` is of another kind or size than what the shader's variable holds;
/// whether integers have a sign makes no difference to their bytes.
fn types(description: &Description, resources: &Resources, shader: &str) -> Result<(), String> {
    for buffer in &description.buffers {
        let bound = resources.get(&buffer.name);
        let (Some(given), Some(bound)) = (buffer.scalar, bound) else { continue };
        let Some((held, _)) = bound.shape.uniform_scalar() else { continue };
        if (given.is_float(), given.bytes()) != (held.is_float(), held.bytes()) {
            return Err(format!(
                "buffer `{}`: `type` is \"{given}\", and the variable of {shader} line {} holds \
                 {held}",
                buffer.name, bound.line
            ));
        }
    }
    Ok(())
}

/// The contents of the files that fill buffers.
fn contents(
    description: &Description,
    resources: &Resources,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut files = BTreeMap::new();
    for buffer in &description.buffers {
        let mut asked = Vec::new();
        buffer
            .fill
            .for_each_file(&buffer.name, &mut |name, file| asked.push((name.to_owned(), file)));
        for (filled, file) in asked {
            let name = file.name();
            let bound = resources.get(&buffer.name);
            let members = filled.strip_prefix(&*buffer.name).unwrap_or_default();
            let mut members = members.split('.').filter(|member| !member.is_empty());
            let shape = bound.and_then(|resource| {
                members.try_fold(&resource.shape, |shape, member| {
                    shape.member(member, 0).map(|places| places.shape)
                })
            });
            let alike = shape.and_then(Shape::uniform_scalar);
            let wanted = buffer.scalar.or(alike.map(|(scalar, _)| scalar));
            let bytes = read(name)?;
            let bytes = match file {
                FileDescription::Whole(_) => files::decode(name, bytes, wanted),
                FileDescription::Part(_) => file.cut(bytes),
            };
            let bytes = bytes.map_err(|message| format!("buffer `{filled}`: {message}"))?;
            files.insert(filled, bytes);
        }
    }
    Ok(files)
}

/// Whether the buffers are those that the shader binds, and large enough.
fn check(
    launch: &Launch,
    resources: &Resources,
    surroundings: &Surroundings,
) -> Result<(), String> {
    for buffer in &launch.buffers {
        let bound = resources.get(&buffer.name);
        let indirect = launch.dispatches.iter().any(|dispatch| {
            matches!(&dispatch.workgroups, Workgroups::Indirect { buffer: b, .. } if *b == buffer.name)
        });
        match bound {
            Some(resource) if buffer.size < resource.size_min => {
                return Err(format!(
                    "buffer `{}` has {} bytes, and {} line {} needs at least {}: give it more \
                     `elements`",
                    buffer.name, buffer.size, launch.file, resource.line, resource.size_min
                ));
            }
            None if !indirect => {
                let known: Vec<&str> = resources.keys().map(String::as_str).collect();
                return Err(format!(
                    "there is a buffer `{}`, but no dispatched entry point uses a variable of that \
                     name and no dispatch is indirect from it; they use: {}",
                    buffer.name,
                    listed(&known)
                ));
            }
            Some(_) | None => {}
        }
    }
    let needed = surroundings.immediates.as_ref().map_or(0, |shape| shape.size(0));
    if (launch.immediates.len() as u64) < needed {
        return Err(format!(
            "`immediates` has {} bytes, and the shader's variable needs {needed}",
            launch.immediates.len()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
