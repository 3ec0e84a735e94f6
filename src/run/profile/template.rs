//! The launch file that `lanescope profile --init` writes.
//!
//! Input: a request without a launch file. Output: the text of one, with comments, that gives the
//! same launch. It writes no file.

use std::fmt::Write;

use super::super::launched::parse;
use super::pilot::prepare_affordable;
use super::{Prepared, ProfileError, ProfileRequest, resources, textures, uses};
use crate::kernel::Description;
use crate::kernel::format::{
    BufferDescription, Default, DispatchDescription, FileDescription, FilePart, FillDescription,
    Formula, ImmediatesDescription, ScalarDescription, WorkgroupsDescription,
};
use crate::kernel::texture_description::{
    SamplerDescription, TexelFillDescription, TextureDescription,
};
use crate::program::{
    BindingAccess, BoundSampler, BoundTexture, Held, Interface, Override, OverrideKind, Parsed,
    Resource, Uses,
};
use crate::texture::{Filter, TextureAccess, TextureClass};

/// What an integer override without a default is set to: small enough that workgroups of three
/// such sizes are allowed.
const INTEGER: i64 = 8;

/// The text of a launch file for a shader.
///
/// # Errors
///
/// As [`prepare_affordable`]; overrides without a default are none, they get a value that the text points out.
pub fn template(request: &ProfileRequest) -> Result<String, ProfileError> {
    let parsed = parse(&request.file, &request.source, request.derived.as_ref())?;
    let overrides = parsed.overrides();
    let mut description = Description::parse(&request.file, &dispatches(request, &parsed))?;
    for found in overrides.iter().filter(|found| !found.has_default) {
        let value = match found.kind {
            OverrideKind::Bool => Formula::Integer(1),
            OverrideKind::Integer => Formula::Integer(INTEGER),
            OverrideKind::Float => Formula::Real(1.0),
        };
        description.overrides.insert(found.name.clone(), value);
    }
    let request = ProfileRequest {
        description: Some((request.file.clone(), description)),
        ..request.clone()
    };
    let mut prepared =
        prepare_affordable(&request, &mut |name| Err(format!("`{name}` is not read")))?;
    // As large as without a launch file, whether by --n or by what the shader can afford.
    if let (Some(n), Some(parameter)) = (
        prepared.launch.parameters.get(super::SIZE),
        prepared.description.parameters.get_mut(super::SIZE),
    ) {
        parameter.default = Default::Same(n.clone());
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = render(&mut text, &request, &prepared, &overrides);
    Ok(text)
}

/// A launch file that dispatches every entry point, in the order of the text, where there are several and
/// none is asked for; else an empty one.
fn dispatches(request: &ProfileRequest, parsed: &Parsed) -> String {
    let names = parsed.entry_points();
    if request.entry_point.is_some() || names.len() < 2 {
        return String::new();
    }
    let dispatch = |name: &&str| format!("[[dispatches]]\nentry_point = {}\n", quote(name));
    names.iter().map(dispatch).collect()
}

fn render(
    out: &mut String,
    request: &ProfileRequest,
    prepared: &Prepared,
    overrides: &[Override],
) -> std::fmt::Result {
    let description = &prepared.description;
    let shader = &request.file;
    let beside = std::path::Path::new(shader).with_extension("toml");
    writeln!(out, "# How lanescope runs {shader}:")?;
    writeln!(out, "#     lanescope profile {shader} --launch {}", beside.display())?;
    writeln!(out, "# What is left out follows from the shader. Formulas may use the parameters.")?;
    writeln!(
        out,
        "# Counts come from a module with bounds, loop and division checks; for one without:"
    )?;
    writeln!(out, "# trusted = true")?;
    if let Some(immediates) = &description.immediates {
        writeln!(out, "\n# The shader's var<immediate>.")?;
        writeln!(out, "immediates = {}", render_immediates(immediates))?;
    }
    for (name, parameter) in &description.parameters {
        writeln!(out, "\n[parameters.{name}] # --n sets n for one run")?;
        writeln!(out, "description = {}", quote(&parameter.description))?;
        if let Default::Same(value) = &parameter.default {
            writeln!(out, "default = {value}")?;
        }
    }
    if !overrides.is_empty() {
        writeln!(out, "\n[overrides]")?;
    }
    for found in overrides {
        match description.overrides.get(&found.name) {
            Some(value) => writeln!(
                out,
                "{} = {} # line {}: the shader gives no value; put yours",
                found.name,
                formula(value),
                found.line
            )?,
            None => writeln!(out, "# {} = … # line {}: has a default", found.name, found.line)?,
        }
    }
    let resources = resources(&prepared.interfaces);
    let uses = uses(&prepared.interfaces);
    for buffer in &description.buffers {
        let resource = resources.get(&buffer.name);
        render_buffer(out, buffer, resource, &uses)?;
    }
    let bound = textures::textures(&prepared.interfaces);
    for texture in &description.textures {
        render_texture(out, texture, bound.iter().find(|bound| bound.name == texture.name))?;
    }
    let bound = textures::samplers(&prepared.interfaces);
    for sampler in &description.samplers {
        render_sampler(out, sampler, bound.iter().find(|bound| bound.name == sampler.name))?;
    }
    if description.dispatches.len() > 1 {
        writeln!(
            out,
            "\n# Every entry point once, in the order of the shader's text: leave out what you do"
        )?;
        writeln!(
            out,
            "# not want, and put the others into the order in which your program runs them."
        )?;
    }
    description.dispatches.iter().try_for_each(|dispatch| {
        let interfaces = &prepared.interfaces;
        let interface = interfaces.iter().find(|i| i.entry_point == dispatch.entry_point);
        render_dispatch(out, dispatch, interface)
    })
}

fn render_dispatch(
    out: &mut String,
    dispatch: &DispatchDescription,
    interface: Option<&Interface>,
) -> std::fmt::Result {
    let [x, y, z] = interface.map_or([1; 3], |interface| interface.workgroup_size);
    writeln!(
        out,
        "\n# Workgroups of {x} × {y} × {z}. Several dispatches run in order, over the same"
    )?;
    writeln!(out, "# buffers; `indirect = {{ buffer = \"…\" }}` takes the counts from a buffer.")?;
    writeln!(out, "[[dispatches]]")?;
    writeln!(out, "entry_point = {}", quote(&dispatch.entry_point))?;
    match &dispatch.workgroups {
        Some(WorkgroupsDescription::Count(count)) => {
            writeln!(out, "workgroups = {}", formula(count))
        }
        Some(WorkgroupsDescription::Grid(counts)) => {
            writeln!(out, "workgroups = [{}]", counts.each_ref().map(formula).join(", "))
        }
        None => Ok(()),
    }
}

fn render_buffer(
    out: &mut String,
    buffer: &BufferDescription,
    resource: Option<&Resource>,
    uses: &Uses,
) -> std::fmt::Result {
    writeln!(out)?;
    if let Some(resource) = resource {
        let access = match (resource.access, resource.written) {
            (BindingAccess::Uniform, _) => "uniform",
            (BindingAccess::Read, _) => "storage, read",
            (BindingAccess::ReadWrite, true) => "storage, written",
            (BindingAccess::ReadWrite, false) => "storage, never written",
        };
        let Resource { group, binding, line, .. } = resource;
        writeln!(out, "# Line {line}, @group({group}) @binding({binding}): {access}.")?;
        if !buffer.scalars.is_empty()
            && let Some(leaves) = resource.shape.leaves(super::describe::SCALARS_MAX)
        {
            let names: Vec<String> = leaves.into_iter().map(|leaf| leaf.name).collect();
            if names.iter().any(|name| !name.is_empty()) {
                writeln!(out, "# In order, with padding: {}.", names.join(", "))?;
            }
        }
    }
    writeln!(out, "[[buffers]]")?;
    writeln!(out, "name = {}", quote(&buffer.name))?;
    if let Some(scalar) = buffer.scalar {
        writeln!(out, "type = \"{scalar}\"")?;
    }
    if let Some(elements) = &buffer.elements {
        writeln!(out, "elements = {}", formula(elements))?;
    }
    if !buffer.scalars.is_empty() {
        return writeln!(out, "scalars = {}", scalars(&buffer.scalars));
    }
    render_fill(out, &buffer.fill, &buffer.name, uses)
}

/// A buffer's fill, a member of a struct a line.
fn render_fill(
    out: &mut String,
    fill: &FillDescription,
    name: &str,
    uses: &Uses,
) -> std::fmt::Result {
    if let FillDescription::Members(members) = fill {
        writeln!(out, "[buffers.fill.members] # the others by type")?;
        return members.iter().try_for_each(|(member, fill)| {
            let held = uses.held(&format!("{name}.{member}"));
            writeln!(out, "{} = {}{}", key(member), inline(fill), remark(fill, held))
        });
    }
    writeln!(out, "fill = {}{}", inline(fill), remark(fill, uses.held(name)))
}

/// A fill in one line, as a launch file gives it.
fn inline(fill: &FillDescription) -> String {
    match fill {
        FillDescription::Zero => "\"zero\"".to_owned(),
        FillDescription::Constant(value) => format!("{{ constant = {} }}", formula(value)),
        FillDescription::Default => "\"default\"".to_owned(),
        FillDescription::Uniform(range) => format!("{{ uniform = {} }}", list(range)),
        FillDescription::Series { first, step } => {
            format!("{{ series = {{ first = {}, step = {} }} }}", formula(first), formula(step))
        }
        FillDescription::File(given) => format!("{{ file = {} }}", file(given)),
        FillDescription::Permutation => "\"permutation\"".to_owned(),
        FillDescription::Sorted { range, moved } => {
            let (range, moved) = (list(range), formula(moved));
            format!("{{ sorted = {{ range = {range}, moved = {moved} }} }}")
        }
        FillDescription::Points { from, to, stride } => {
            let stride = stride.iter().map(|each| format!(", stride = {}", formula(each)));
            let stride: String = stride.collect();
            format!("{{ points = {{ from = {}, to = {}{stride} }} }}", list(from), list(to))
        }
        FillDescription::Bvh { leaves, node, siblings, .. } => {
            let words: Vec<String> =
                node.iter().map(|word| serde_json::to_string(word).unwrap_or_default()).collect();
            format!(
                "{{ bvh = {{ leaves = {}, node = [{}], tree = \"complete\", siblings = {siblings} }} }}",
                formula(leaves),
                words.join(", ")
            )
        }
        FillDescription::Members(members) => {
            let member = |(member, fill): (&String, &FillDescription)| {
                format!("{} = {}", key(member), inline(fill))
            };
            let all: Vec<String> = members.iter().map(member).collect();
            format!("{{ members = {{ {} }} }}", all.join(", "))
        }
        // A template is written from the shader alone, which asks for none of the others: lengths are uniform.
        FillDescription::Offsets { last, .. } => {
            format!("{{ offsets = {{ last = {}, lengths = \"uniform\" }} }}", formula(last))
        }
        FillDescription::Skewed { .. }
        | FillDescription::Choice { .. }
        | FillDescription::Zipf { .. }
        | FillDescription::Image { .. } => "\"default\"".to_owned(),
    }
}

/// What else a fill may be, or what it is for, as a comment behind it.
fn remark(fill: &FillDescription, held: &Held) -> String {
    let text = match fill {
        FillDescription::Default => "by type: indices, extents, floats from 0 to 1",
        FillDescription::Uniform(_) => others(held),
        FillDescription::Offsets { .. } => "or \"constant\", \"power_law\": where rows begin",
        FillDescription::Permutation => "places that are written: each once",
        FillDescription::Sorted { .. } => "keys in order; moved = 0.05: nearly",
        FillDescription::Points { .. } => "points in a box",
        FillDescription::Bvh { .. } => "or \"random\"",
        FillDescription::Members(_)
        | FillDescription::Zero
        | FillDescription::Constant(_)
        | FillDescription::Series { .. }
        | FillDescription::File(_)
        | FillDescription::Skewed { .. }
        | FillDescription::Choice { .. }
        | FillDescription::Zipf { .. }
        | FillDescription::Image { .. } => return String::new(),
    };
    format!(" # {text}")
}

/// Other fills for numbers that are random, as a comment: those that their use suggests.
fn others(held: &Held) -> &'static str {
    match held {
        Held::Bins => {
            "numbers of bins; where few are common: { zipf = { ids = \"n\", exponent = 1 } }"
        }
        Held::Nodes => {
            "numbers of other elements; each once: \"permutation\"; boxes: bvh; { file = \"tree.npy\" }"
        }
        Held::Pixels => {
            "pixels; smooth: { image = { width = \"floor(sqrt(n))\", of = \"noise\" } }, or gradient, checkers; \
             { file = \"a.npy\" }"
        }
        Held::Unknown | Held::Offsets { .. } | Held::Places | Held::Points | Held::SortedKeys => {
            "or \"zero\", { series = { first = 0, step = 1 } }, { file = \"data.npy\" }"
        }
    }
}

fn render_texture(
    out: &mut String,
    texture: &TextureDescription,
    bound: Option<&BoundTexture>,
) -> std::fmt::Result {
    writeln!(out)?;
    if let Some(BoundTexture { group, binding, line, view, class, .. }) = bound {
        let what = match class {
            TextureClass::Sampled { kind, .. } => format!("sampled, {}", kind.words()),
            TextureClass::Storage { access: TextureAccess::Read, .. } => "storage, read".to_owned(),
            TextureClass::Storage { .. } => "storage, written".to_owned(),
        };
        let view = view.name();
        writeln!(
            out,
            "# Line {line}, @group({group}) @binding({binding}): a {view} texture, {what}."
        )?;
    }
    writeln!(out, "[[textures]]")?;
    writeln!(out, "name = {}", quote(&texture.name))?;
    if let Some(format) = texture.format {
        writeln!(out, "format = \"{format}\"")?;
    }
    if let Some(size) = &texture.size {
        let extents: Vec<String> = size.iter().map(formula).collect();
        writeln!(out, "size = [{}]", extents.join(", "))?;
    }
    if let Some(layers) = &texture.layers {
        writeln!(out, "layers = {}", formula(layers))?;
    }
    if let Some(levels) = &texture.mip_levels {
        writeln!(out, "mip_levels = {}", formula(levels))?;
    }
    if let Some(samples) = texture.samples {
        writeln!(out, "samples = {samples}")?;
    }
    let range = |[low, high]: &[Formula; 2]| format!("[{}, {}]", formula(low), formula(high));
    match &texture.fill {
        None => Ok(()),
        Some(TexelFillDescription::Zero) => writeln!(out, "fill = \"zero\""),
        Some(TexelFillDescription::Noise(given)) => writeln!(
            out,
            "fill = {{ noise = {} }} # smooth; or uniform, gradient, checkers, {{ file = \"a.png\" }}",
            range(given)
        ),
        Some(TexelFillDescription::Uniform(given)) => writeln!(
            out,
            "fill = {{ uniform = {} }} # or noise, gradient, checkers, {{ file = \"a.npy\" }}",
            range(given)
        ),
        Some(TexelFillDescription::Gradient(given)) => {
            writeln!(out, "fill = {{ gradient = {} }}", range(given))
        }
        Some(TexelFillDescription::Checkers(given)) => {
            writeln!(out, "fill = {{ checkers = {} }}", range(given))
        }
        Some(TexelFillDescription::File(given)) => {
            writeln!(out, "fill = {{ file = {} }}", file(given))
        }
    }
}

fn render_sampler(
    out: &mut String,
    sampler: &SamplerDescription,
    bound: Option<&BoundSampler>,
) -> std::fmt::Result {
    writeln!(out)?;
    if let Some(BoundSampler { group, binding, line, .. }) = bound {
        writeln!(
            out,
            "# Line {line}, @group({group}) @binding({binding}); `lod_min`, `lod_max` and filters by \
             themselves too."
        )?;
    }
    writeln!(out, "[[samplers]]")?;
    writeln!(out, "name = {}", quote(&sampler.name))?;
    match sampler.filter {
        Some(Filter::Linear) => writeln!(out, "filter = \"linear\" # or \"nearest\"")?,
        Some(Filter::Nearest) => writeln!(out, "filter = \"nearest\"")?,
        None => {}
    }
    writeln!(out, "address = \"clamp-to-edge\" # or \"repeat\", \"mirror-repeat\"")?;
    match sampler.compare {
        Some(_) => {
            writeln!(out, "compare = \"less\" # or \"less-equal\", \"greater\", \"equal\", …")
        }
        None => Ok(()),
    }
}

fn scalars(scalars: &[ScalarDescription]) -> String {
    let part = |scalar: &ScalarDescription| {
        let (kind, value) = scalar.parts();
        format!("{{ {kind} = {} }}", formula(value))
    };
    let all: Vec<String> = scalars.iter().map(part).collect();
    if all.len() <= 4 {
        format!("[{}]", all.join(", "))
    } else {
        format!("[\n    {},\n]", all.join(",\n    "))
    }
}

fn formula(formula: &Formula) -> String {
    match formula {
        Formula::Integer(value) => value.to_string(),
        Formula::Real(value) => format!("{value:?}"),
        Formula::Text(text) => quote(text),
    }
}

/// Immediate data as a launch file gives it.
fn render_immediates(immediates: &ImmediatesDescription) -> String {
    match immediates {
        ImmediatesDescription::Word(_) => "\"default\"".to_owned(),
        ImmediatesDescription::File(given) => format!("{{ file = {} }}", file(&given.file)),
        ImmediatesDescription::Scalars(given) => scalars(given),
    }
}

/// A file as a launch file names it.
fn file(file: &FileDescription) -> String {
    match file {
        FileDescription::Whole(name) => quote(name),
        FileDescription::Part(FilePart { name, offset, bytes }) => {
            format!("{{ name = {}, offset = {offset}, bytes = {bytes} }}", quote(name))
        }
    }
}

/// Formulas as a list.
fn list(formulas: &[Formula]) -> String {
    format!("[{}]", formulas.iter().map(formula).collect::<Vec<_>>().join(", "))
}

/// A key as TOML writes it: bare where it may be.
fn key(name: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quote(name) }
}

/// A string as TOML writes it.
fn quote(text: &str) -> String {
    toml::Value::from(text).to_string()
}
