//! Textures and samplers.
//!
//! Input: naga's expressions and statements of textures. Output: operations in the table of textures'.
//! Which format a texture has, and how a sampler is set, is known at the launch only (`textures`).

use naga::{
    AtomicFunction, Expression, GlobalVariable, Handle, ImageQuery, Literal, SampleLevel,
    ScalarKind, Span, TypeInner,
};

use super::statement::touch;
use super::{CodeBuilder, CompiledFunction, Result, Value, VariablePlace, index};
use crate::program::view_of;
use crate::simulate::error::Limit;
use crate::simulate::op::{
    Coordinate, FOLLOW_NONE, FollowId, Op, Reg, SampledLevel, TexelParts, TextureAction, TextureOp,
};
use crate::simulate::table::Root;
use crate::texture::{SampledKind, TextureClass, TextureFormat, TextureView};

/// Where a texel is: its coordinates, and the layer.
type TexelPlace = (Handle<Expression>, Option<Handle<Expression>>);

impl<'a> CodeBuilder<'a> {
    /// Gives a texture its root and a sampler its number; what is neither has no place.
    pub(super) fn handle(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &GlobalVariable,
    ) -> Result<Option<VariablePlace>> {
        let inner = &self.module.types[variable.ty].inner;
        let Some(place) = variable.binding else { return Ok(None) };
        let (group, binding) = (place.group, place.binding);
        if let Some((view, class)) = view_of(inner) {
            let root = u16::try_from(self.roots.len()).map_err(|_| self.limit(Limit::Buffers))?;
            self.roots.push(Root::Texture { group, binding, view, class });
            // Neither has an address: whoever names it is given its root or number.
            self.handles.insert(handle.index(), Value::Texture(root));
        } else if let TypeInner::Sampler { .. } = inner {
            let number =
                u16::try_from(self.samplers.len()).map_err(|_| self.limit(Limit::Buffers))?;
            self.samplers.push((group, binding));
            self.handles.insert(handle.index(), Value::Sampler(number));
        }
        Ok(None)
    }

    /// The root of a texture, and how the shader sees it.
    fn texture_root(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        image: Handle<Expression>,
        span: Span,
    ) -> Result<(u16, TextureView, TextureClass)> {
        let value = self.value(frame, image)?;
        self.note_use(frame, image);
        if let Value::Texture(root) = value
            && let Root::Texture { view, class, .. } = self.roots[usize::from(root)]
        {
            return Ok((root, view, class));
        }
        Err(self.unsupported("a texture that is no variable".to_owned(), span))
    }

    /// A register with an integer.
    fn coordinate(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Coordinate> {
        Ok(self.coordinates(frame, handle)?[0])
    }

    /// The registers of a vector, or of one number.
    fn coordinates(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
    ) -> Result<Vec<Coordinate>> {
        let signed = self.scalar_type(frame, handle)?.kind == ScalarKind::Sint;
        let slots = self.slots(frame, handle)?;
        Ok(slots.into_iter().map(|register| Coordinate { register, signed }).collect())
    }

    fn optional(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Option<Handle<Expression>>,
    ) -> Result<Option<Coordinate>> {
        handle.map(|handle| self.coordinate(frame, handle)).transpose()
    }

    fn push_texture(&mut self, texture: TextureOp) -> Result<()> {
        self.textures.push(texture);
        let with = index(self.textures.len() - 1);
        self.push(Op::Texture { with })
    }

    /// Compiles an expression that reads or asks a texture.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other expression is no texture's")]
    pub(super) fn texture(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        handle: Handle<Expression>,
        expression: &Expression,
        span: Span,
    ) -> Result<Vec<Reg>> {
        let follow = self.follow(frame, handle, span)?;
        match *expression {
            Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
                let (root, view, class) = self.texture_root(frame, image, span)?;
                let at = self.coordinates(frame, coordinate)?;
                let layer = self.optional(frame, array_index)?;
                let level = self.optional(frame, level)?;
                let sample = self.optional(frame, sample)?;
                let parts = parts(class);
                let (dst, slots) = self.texel_registers(parts)?;
                let action = TextureAction::Load { dst, parts, level, sample };
                self.texture_op((root, view), (at, layer), action, follow, span)?;
                Ok(slots)
            }
            Expression::ImageSample { image, sampler, .. } => {
                let (root, view, class) = self.texture_root(frame, image, span)?;
                let number = self.value(frame, sampler)?;
                self.note_use(frame, sampler);
                let Value::Sampler(number) = number else {
                    return Err(self.unsupported("a sampler that is no variable".to_owned(), span));
                };
                let parts = parts(class);
                self.texture_sample(frame, (root, view, number), (expression, parts), follow, span)
            }
            Expression::ImageQuery { image, query } => {
                let (root, view, _) = self.texture_root(frame, image, span)?;
                let (count, level) = match query {
                    ImageQuery::Size { level } => {
                        let count = match view {
                            TextureView::D1 => 1,
                            TextureView::D3 => 3,
                            TextureView::D2
                            | TextureView::D2Array
                            | TextureView::Cube
                            | TextureView::CubeArray => 2,
                        };
                        (count, self.optional(frame, level)?)
                    }
                    ImageQuery::NumLevels | ImageQuery::NumLayers | ImageQuery::NumSamples => {
                        (1, None)
                    }
                };
                let dst = self.fresh(usize::from(count))?;
                let action = match query {
                    ImageQuery::Size { .. } => TextureAction::Size { dst, count, level },
                    ImageQuery::NumLevels => TextureAction::Levels { dst },
                    ImageQuery::NumLayers => TextureAction::Layers { dst },
                    ImageQuery::NumSamples => TextureAction::Samples { dst },
                };
                self.texture_op((root, view), (Vec::new(), None), action, FOLLOW_NONE, span)?;
                Ok((dst..dst + count).collect())
            }
            ref other => Err(self.unsupported(format!("{other:?}"), span)),
        }
    }

    fn texture_op(
        &mut self,
        (root, view): (u16, TextureView),
        (at, layer): (Vec<Coordinate>, Option<Coordinate>),
        action: TextureAction,
        follow: FollowId,
        span: Span,
    ) -> Result<()> {
        let (site, line) = (self.site(span), self.location(span).line);
        self.push_texture(TextureOp { root, view, at, layer, action, site, line, follow })
    }

    /// Fresh registers for a texel.
    fn texel_registers(&mut self, parts: TexelParts) -> Result<(Reg, Vec<Reg>)> {
        let count = match parts {
            TexelParts::One => 1,
            TexelParts::Four => 4,
            TexelParts::Wide => 8,
        };
        let dst = self.fresh(count)?;
        Ok((dst, (dst..).take(count).collect()))
    }

    fn texture_sample(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        (root, view, sampler): (u16, TextureView, u16),
        (expression, parts): (&Expression, TexelParts),
        follow: FollowId,
        span: Span,
    ) -> Result<Vec<Reg>> {
        let Expression::ImageSample {
            image: _,
            sampler: _,
            gather,
            coordinate,
            array_index,
            offset,
            level,
            depth_ref,
            clamp_to_edge,
        } = *expression
        else {
            return Err(self.unsupported("a texture".to_owned(), span));
        };
        let at = self.coordinates(frame, coordinate)?;
        let layer = self.optional(frame, array_index)?;
        let offset = match offset {
            Some(offset) => self.constant_offset(frame, offset, span)?,
            None => [0; 3],
        };
        let level = match level {
            SampleLevel::Zero => SampledLevel::Zero,
            // Of depth textures WGSL takes a whole level.
            SampleLevel::Exact(level) => {
                let float = self.scalar_type(frame, level)?.kind == ScalarKind::Float;
                let level = self.coordinate(frame, level)?;
                if float { SampledLevel::Exact(level.register) } else { SampledLevel::Whole(level) }
            }
            SampleLevel::Gradient { x, y } => {
                SampledLevel::Gradient(self.slots(frame, x)?, self.slots(frame, y)?)
            }
            SampleLevel::Auto | SampleLevel::Bias(_) => {
                let what = "a level of detail that follows from neighbouring pixels";
                return Err(self.unsupported(what.to_owned(), span));
            }
        };
        let reference = depth_ref.map(|handle| self.slots(frame, handle)).transpose()?;
        let reference = reference.map(|slots| slots[0]);
        // A gather gives one component of four texels, a comparison one number.
        let (action, slots) = match gather {
            Some(component) => {
                let dst = self.fresh(4)?;
                let component = component as u8;
                let action = TextureAction::Gather { dst, sampler, component, offset, reference };
                (action, (dst..dst + 4).collect())
            }
            None => {
                let parts = if reference.is_some() { TexelParts::One } else { parts };
                let (dst, slots) = self.texel_registers(parts)?;
                let action = TextureAction::Sample {
                    dst,
                    parts,
                    sampler,
                    level,
                    offset,
                    reference,
                    clamp_to_edge,
                };
                (action, slots)
            }
        };
        self.texture_op((root, view), (at, layer), action, follow, span)?;
        Ok(slots)
    }

    /// The numbers of a constant vector.
    fn constant_offset(
        &mut self,
        frame: &CompiledFunction<'a>,
        handle: Handle<Expression>,
        span: Span,
    ) -> Result<[i32; 3]> {
        let mut found = Vec::new();
        self.collect_constants(&frame.function.expressions, handle, &mut found);
        let mut offset = [0; 3];
        if found.is_empty() || found.len() > 3 {
            return Err(self.unsupported("an offset that is no constant".to_owned(), span));
        }
        offset[..found.len()].copy_from_slice(&found);
        Ok(offset)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what gives no constant leaves the list as it is"
    )]
    fn collect_constants(
        &self,
        arena: &naga::Arena<Expression>,
        handle: Handle<Expression>,
        into: &mut Vec<i32>,
    ) {
        match arena[handle] {
            Expression::Literal(Literal::I32(value)) => into.push(value),
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                self.collect_constants(&self.module.global_expressions, init, into);
            }
            Expression::Compose { ref components, .. } => {
                for &component in components {
                    self.collect_constants(arena, component, into);
                }
            }
            Expression::Splat { size, value } => {
                for _ in 0..size as usize {
                    self.collect_constants(arena, value, into);
                }
            }
            Expression::ZeroValue(ty) => {
                let vector = self.module.types[ty].inner.vector_size_and_scalar();
                let count = vector.and_then(|(size, _)| size).map_or(1, |size| size as usize);
                into.extend(std::iter::repeat_n(0, count));
            }
            _ => {}
        }
    }

    /// Compiles `textureStore`.
    pub(super) fn texture_store(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        image: Handle<Expression>,
        (coordinate, layer): TexelPlace,
        value: Handle<Expression>,
    ) -> Result<()> {
        let span = frame.span;
        let (root, view, class) = self.texture_root(frame, image, span)?;
        let at = self.coordinates(frame, coordinate)?;
        let layer = self.optional(frame, layer)?;
        let value = self.slots(frame, value)?;
        let parts = parts(class);
        let src = self.in_a_row(&value)?;
        let action = TextureAction::Store { src, parts };
        self.texture_op((root, view), (at, layer), action, FOLLOW_NONE, span)
    }

    /// Compiles `textureAtomicAdd` and its like, which give nothing back.
    pub(super) fn texture_atomic(
        &mut self,
        frame: &mut CompiledFunction<'a>,
        image: Handle<Expression>,
        (coordinate, layer): TexelPlace,
        fun: AtomicFunction,
        value: Handle<Expression>,
    ) -> Result<()> {
        let span = frame.span;
        let (root, view, _) = self.texture_root(frame, image, span)?;
        let at = self.coordinates(frame, coordinate)?;
        let layer = self.optional(frame, layer)?;
        let scalar = self.scalar_type(frame, value)?;
        let value = self.slots(frame, value)?[0];
        let mut compare = None;
        if let AtomicFunction::Exchange { compare: Some(expected) } = fun {
            compare = Some(self.slots(frame, expected)?[0]);
        }
        let change = self.change(frame, fun, scalar)?;
        let touch = touch(fun, scalar);
        let action = TextureAction::Atomic { change, value, compare, touch };
        self.texture_op((root, view), (at, layer), action, FOLLOW_NONE, span)
    }
}

/// The registers of a texel of a class.
fn parts(class: TextureClass) -> TexelParts {
    match class {
        TextureClass::Storage { format: TextureFormat::R64Uint, .. } => TexelParts::Wide,
        TextureClass::Sampled { kind: SampledKind::Depth, .. } => TexelParts::One,
        TextureClass::Storage { .. } | TextureClass::Sampled { .. } => TexelParts::Four,
    }
}
