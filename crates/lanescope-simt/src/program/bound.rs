//! Everything that an entry point binds: buffers, textures and samplers.
//!
//! Input: a [`Program`]. Output: [`Bound`], plain data by group and binding. Back ends that bind buffers
//! alone ask [`Program::bindings`], which refuses the rest by name.

use std::collections::BTreeSet;

use naga::valid::GlobalUse;
use naga::{
    AddressSpace, Expression, Function, GlobalVariable, Handle, ImageClass, ImageDimension,
    ImageQuery, Literal, SampleLevel, ScalarKind, StorageAccess, StorageFormat, Type, TypeInner,
};

use super::error::ProgramError;
use super::parsed::{Binding, Program};
use crate::texture::{SampledKind, TextureAccess, TextureClass, TextureFormat, TextureView};

/// What an entry point binds, each kind by group and binding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Uniform and storage buffers.
    pub buffers: Vec<Binding>,
    /// Textures.
    pub textures: Vec<BoundTexture>,
    /// Samplers.
    pub samplers: Vec<BoundSampler>,
}

/// A texture that the host must bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundTexture {
    /// The variable's name in the source.
    pub name: String,
    /// Bind group.
    pub group: u32,
    /// Binding in the group.
    pub binding: u32,
    /// The line of its declaration, from 1.
    pub line: u32,
    /// How the shader sees it.
    pub view: TextureView,
    /// What the shader may do with it.
    pub class: TextureClass,
    /// Whether the entry point, or what it calls, writes it.
    pub written: bool,
    /// Whether the shader asks for a mip level other than the first.
    pub levels: bool,
    /// Whether a sampler that may filter reads it.
    pub filtered: bool,
}

/// A sampler that the host must bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundSampler {
    /// The variable's name in the source.
    pub name: String,
    /// Bind group.
    pub group: u32,
    /// Binding in the group.
    pub binding: u32,
    /// The line of its declaration, from 1.
    pub line: u32,
    /// Whether it compares.
    pub comparison: bool,
    /// Whether WebGPU lets it filter: it does not read depth or integers.
    pub filters: bool,
}

impl BoundTexture {
    /// Whether the shader may write it.
    pub fn is_writable(&self) -> bool {
        match self.class {
            TextureClass::Sampled { .. } => false,
            TextureClass::Storage { access, .. } => access != TextureAccess::Read,
        }
    }
}

impl Program {
    /// Everything that the entry point binds.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Resource`] for external textures, binding arrays and acceleration structures,
    /// naming the first with its line.
    #[expect(clippy::too_many_lines, reason = "a match, one arm a kind of resource")]
    pub fn bound(&self) -> Result<Bound, ProgramError> {
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(self.module().to_ctx()).map_err(|error| ProgramError::Validate {
            file: self.text().file().to_owned(),
            diagnostic: error.to_string(),
        })?;
        let uses = TextureUses::find(self);
        let mut bound = Bound::default();
        for (handle, variable) in self.module().global_variables.iter() {
            let Some(place) = variable.binding else { continue };
            let name = variable.name.clone().unwrap_or_default();
            let (group, binding, line) = (place.group, place.binding, self.line(handle));
            let inner = &self.module().types[variable.ty].inner;
            let is_array = matches!(inner, TypeInner::BindingArray { .. });
            match variable.space {
                AddressSpace::Storage { .. } | AddressSpace::Uniform if !is_array => {
                    let writable = match variable.space {
                        AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
                        _ => false,
                    };
                    bound.buffers.push(Binding {
                        name,
                        group,
                        binding,
                        uniform: variable.space == AddressSpace::Uniform,
                        writable,
                        size_min: u64::from(layouter[variable.ty].size),
                        handle,
                    });
                }
                _ => {
                    if let Some((view, class)) = view_of(inner) {
                        let written = GlobalUse::WRITE | GlobalUse::ATOMIC;
                        bound.textures.push(BoundTexture {
                            name,
                            group,
                            binding,
                            line,
                            view,
                            class,
                            written: self.info().get_entry_point(0)[handle].intersects(written),
                            levels: uses.levels.contains(&handle),
                            filtered: uses.filtered.contains(&handle),
                        });
                    } else if let TypeInner::Sampler { comparison } = *inner {
                        let filters = !uses.unfiltering.contains(&handle);
                        bound.samplers.push(BoundSampler {
                            name,
                            group,
                            binding,
                            line,
                            comparison,
                            filters,
                        });
                    } else {
                        let file = self.text().file().to_owned();
                        let what = resource(inner);
                        return Err(ProgramError::Resource {
                            file,
                            line,
                            name,
                            group,
                            binding,
                            what,
                        });
                    }
                }
            }
        }
        bound.buffers.sort_by_key(|binding| (binding.group, binding.binding));
        bound.textures.sort_by_key(|texture| (texture.group, texture.binding));
        bound.samplers.sort_by_key(|sampler| (sampler.group, sampler.binding));
        Ok(bound)
    }

    /// The buffers that the entry point uses, by group and binding, for a back end that binds nothing
    /// else.
    ///
    /// # Errors
    ///
    /// As [`Program::bound`], and [`ProgramError::OnlyBuffers`] for a texture or a sampler, naming the
    /// first with its line.
    pub fn bindings(&self) -> Result<Vec<Binding>, ProgramError> {
        let Bound { buffers, textures, samplers } = self.bound()?;
        let only = |what, name: &str, group, binding, line| {
            Err(ProgramError::OnlyBuffers {
                file: self.text().file().to_owned(),
                line,
                name: name.to_owned(),
                group,
                binding,
                what,
            })
        };
        if let Some(texture) = textures.first() {
            let BoundTexture { ref name, group, binding, line, .. } = *texture;
            return only("a texture", name, group, binding, line);
        }
        if let Some(sampler) = samplers.first() {
            let BoundSampler { ref name, group, binding, line, .. } = *sampler;
            return only("a sampler", name, group, binding, line);
        }
        Ok(buffers)
    }
}

/// What a user calls a resource of this type.
fn resource(inner: &TypeInner) -> &'static str {
    match *inner {
        TypeInner::Image { class: ImageClass::External, .. } => "an external texture",
        TypeInner::Image { .. } => "a texture of an unusual kind",
        TypeInner::Sampler { .. } => "a sampler",
        TypeInner::AccelerationStructure { .. } => "an acceleration structure",
        TypeInner::BindingArray { .. } => "a binding array",
        TypeInner::Scalar(_)
        | TypeInner::Vector { .. }
        | TypeInner::Matrix { .. }
        | TypeInner::CooperativeMatrix { .. }
        | TypeInner::Atomic(_)
        | TypeInner::Pointer { .. }
        | TypeInner::ValuePointer { .. }
        | TypeInner::Array { .. }
        | TypeInner::Struct { .. }
        | TypeInner::RayQuery { .. } => "a resource outside buffers",
    }
}

/// How a shader sees a texture of this type; nothing for what is none, or an external one.
pub(crate) fn view_of(inner: &TypeInner) -> Option<(TextureView, TextureClass)> {
    let TypeInner::Image { dim, arrayed, class } = *inner else { return None };
    let view = match (dim, arrayed) {
        (ImageDimension::D1, false) => TextureView::D1,
        (ImageDimension::D2, false) => TextureView::D2,
        (ImageDimension::D2, true) => TextureView::D2Array,
        (ImageDimension::D3, false) => TextureView::D3,
        (ImageDimension::Cube, false) => TextureView::Cube,
        (ImageDimension::Cube, true) => TextureView::CubeArray,
        (ImageDimension::D1 | ImageDimension::D3, true) => return None,
    };
    let class = match class {
        ImageClass::Sampled { kind, multi: multisampled } => {
            let kind = match kind {
                ScalarKind::Float => SampledKind::Float,
                ScalarKind::Uint => SampledKind::Uint,
                ScalarKind::Sint => SampledKind::Sint,
                ScalarKind::Bool | ScalarKind::AbstractInt | ScalarKind::AbstractFloat => {
                    return None;
                }
            };
            TextureClass::Sampled { kind, multisampled }
        }
        ImageClass::Depth { multi: multisampled } => {
            TextureClass::Sampled { kind: SampledKind::Depth, multisampled }
        }
        ImageClass::Storage { format, access } => {
            let both = StorageAccess::LOAD | StorageAccess::STORE;
            let access = match access {
                _ if access.contains(StorageAccess::ATOMIC) => TextureAccess::Atomic,
                _ if access.contains(both) => TextureAccess::ReadWrite,
                _ if access.contains(StorageAccess::STORE) => TextureAccess::Write,
                _ => TextureAccess::Read,
            };
            TextureClass::Storage { format: format_of(format), access }
        }
        ImageClass::External => return None,
    };
    Some((view, class))
}

/// naga's name of a format as ours.
fn format_of(format: StorageFormat) -> TextureFormat {
    use StorageFormat as S;
    use TextureFormat as T;
    match format {
        S::R8Unorm => T::R8Unorm,
        S::R8Snorm => T::R8Snorm,
        S::R8Uint => T::R8Uint,
        S::R8Sint => T::R8Sint,
        S::R16Uint => T::R16Uint,
        S::R16Sint => T::R16Sint,
        S::R16Float => T::R16Float,
        S::Rg8Unorm => T::Rg8Unorm,
        S::Rg8Snorm => T::Rg8Snorm,
        S::Rg8Uint => T::Rg8Uint,
        S::Rg8Sint => T::Rg8Sint,
        S::R32Uint => T::R32Uint,
        S::R32Sint => T::R32Sint,
        S::R32Float => T::R32Float,
        S::Rg16Uint => T::Rg16Uint,
        S::Rg16Sint => T::Rg16Sint,
        S::Rg16Float => T::Rg16Float,
        S::Rgba8Unorm => T::Rgba8Unorm,
        S::Rgba8Snorm => T::Rgba8Snorm,
        S::Rgba8Uint => T::Rgba8Uint,
        S::Rgba8Sint => T::Rgba8Sint,
        S::Bgra8Unorm => T::Bgra8Unorm,
        S::Rgb10a2Uint => T::Rgb10a2Uint,
        S::Rgb10a2Unorm => T::Rgb10a2Unorm,
        S::Rg11b10Ufloat => T::Rg11b10Ufloat,
        S::R64Uint => T::R64Uint,
        S::Rg32Uint => T::Rg32Uint,
        S::Rg32Sint => T::Rg32Sint,
        S::Rg32Float => T::Rg32Float,
        S::Rgba16Uint => T::Rgba16Uint,
        S::Rgba16Sint => T::Rgba16Sint,
        S::Rgba16Float => T::Rgba16Float,
        S::Rgba32Uint => T::Rgba32Uint,
        S::Rgba32Sint => T::Rgba32Sint,
        S::Rgba32Float => T::Rgba32Float,
        S::R16Unorm => T::R16Unorm,
        S::R16Snorm => T::R16Snorm,
        S::Rg16Unorm => T::Rg16Unorm,
        S::Rg16Snorm => T::Rg16Snorm,
        S::Rgba16Unorm => T::Rgba16Unorm,
        S::Rgba16Snorm => T::Rgba16Snorm,
    }
}

/// What the shader does with its textures and samplers.
#[derive(Default)]
struct TextureUses {
    /// Textures of which a level other than the first is asked for.
    levels: BTreeSet<Handle<GlobalVariable>>,
    /// Textures that a sampler without comparison reads.
    filtered: BTreeSet<Handle<GlobalVariable>>,
    /// Samplers that read depth or integers without comparison.
    unfiltering: BTreeSet<Handle<GlobalVariable>>,
}

impl TextureUses {
    fn find(program: &Program) -> Self {
        let mut uses = Self::default();
        let module = program.module();
        let variables = &module.global_variables;
        let inner = |variable: Handle<GlobalVariable>| &module.types[variables[variable].ty].inner;
        for pair in &program.info().get_entry_point(0).sampling_set {
            let comparison = matches!(inner(pair.sampler), TypeInner::Sampler { comparison: true });
            let TypeInner::Image { class, .. } = *inner(pair.image) else { continue };
            let floats = matches!(class, ImageClass::Sampled { kind: ScalarKind::Float, .. });
            if !comparison && floats {
                uses.filtered.insert(pair.image);
            } else if !comparison {
                uses.unfiltering.insert(pair.sampler);
            }
        }
        // WebGPU's rule is one of pairs: what a sampler that may not filter reads need not be filtered.
        for pair in &program.info().get_entry_point(0).sampling_set {
            if uses.unfiltering.contains(&pair.sampler) {
                uses.filtered.remove(&pair.image);
            }
        }
        let entry = program.entry_point();
        let functions = module.functions.iter().map(|(_, function)| function);
        for function in functions.chain([&entry.function]) {
            for (_, expression) in function.expressions.iter() {
                if let Some(image) = asks_for_level(function, expression) {
                    uses.add_levels(program, function, image);
                }
            }
        }
        uses
    }

    /// Notes the texture that an expression names; of an argument, every texture of its type.
    fn add_levels(&mut self, program: &Program, function: &Function, image: Handle<Expression>) {
        let variables = &program.module().global_variables;
        let of_type = |ty: Handle<Type>| variables.iter().filter(move |(_, v)| v.ty == ty);
        match function.expressions[image] {
            Expression::GlobalVariable(variable) => {
                self.levels.insert(variable);
            }
            Expression::FunctionArgument(number) => {
                let ty = function.arguments[number as usize].ty;
                self.levels.extend(of_type(ty).map(|(handle, _)| handle));
            }
            _ => {}
        }
    }
}

/// The texture of which an expression asks for a level that may not be the first.
fn asks_for_level(function: &Function, expression: &Expression) -> Option<Handle<Expression>> {
    let zero = |level: Handle<Expression>| match function.expressions[level] {
        Expression::Literal(Literal::I32(value)) => value == 0,
        Expression::Literal(Literal::U32(value)) => value == 0,
        Expression::Literal(Literal::F32(value)) => value == 0.0,
        _ => false,
    };
    match *expression {
        Expression::ImageSample { image, level: SampleLevel::Exact(level), .. } => {
            (!zero(level)).then_some(image)
        }
        Expression::ImageSample { image, level, .. } => {
            matches!(level, SampleLevel::Bias(_) | SampleLevel::Gradient { .. }).then_some(image)
        }
        Expression::ImageLoad { image, level: Some(level), .. }
        | Expression::ImageQuery { image, query: ImageQuery::Size { level: Some(level) } } => {
            (!zero(level)).then_some(image)
        }
        Expression::ImageQuery { image, query: ImageQuery::NumLevels } => Some(image),
        _ => None,
    }
}
