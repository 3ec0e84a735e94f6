//! What an entry point asks of its host, as plain data.
//!
//! Input: a [`Program`]. Output: an [`Interface`]: every binding with its layout as a
//! [`Shape`], the immediate data, the workgroup size. It chooses no data and no dispatch.

use naga::valid::GlobalUse;
use naga::{AddressSpace, ArraySize, Handle, Scalar, ScalarKind, Type, TypeInner};

use super::bound::{Bound, BoundSampler, BoundTexture};
use super::error::ProgramError;
use super::followed::PlaceBounds;
use super::held::Uses;
use super::overrides::{Override, OverrideKind};
use super::parsed::{Parsed, Program};
use crate::layout::{Field, ScalarType, Shape};

/// What an entry point asks of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The entry point's name.
    pub entry_point: String,
    /// Invocations a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// The last axis whose component of `global_invocation_id` the entry point takes, from 1 for x.
    pub last_axis: u32,
    /// How many elements a row of the grid has, where y counts only as rows of so many: `y * 1024 + x`.
    pub row_length: Option<u64>,
    /// The buffers that it uses, by group and binding.
    pub resources: Vec<Resource>,
    /// The textures that it uses, by group and binding.
    pub textures: Vec<BoundTexture>,
    /// The samplers that it uses, by group and binding.
    pub samplers: Vec<BoundSampler>,
    /// The layout of its immediate data, where it has any.
    pub immediates: Option<Shape>,
    /// Which numbers of buffers and immediate data bound places of invocations.
    pub place_bounds: PlaceBounds,
    /// What the use of its buffers' arrays tells.
    pub uses: Uses,
}

/// A buffer that the host must bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The variable's name in the source.
    pub name: String,
    /// Bind group.
    pub group: u32,
    /// Binding in the group.
    pub binding: u32,
    /// The line of its declaration, from 1.
    pub line: u32,
    /// How the shader may access it.
    pub access: BindingAccess,
    /// Whether the entry point, or what it calls, writes it: atomic operations count.
    pub written: bool,
    /// Its layout.
    pub shape: Shape,
    /// The least size in bytes that holds it, with one element of a run-time array.
    pub size_min: u64,
}

/// How a shader may access a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingAccess {
    /// A uniform buffer: small, read only.
    Uniform,
    /// A storage buffer, read only.
    Read,
    /// A storage buffer that may be written.
    ReadWrite,
}

/// What the override `name` takes, where `value` is none of that.
pub(super) fn unfit(module: &naga::Module, name: &str, value: f64) -> Option<String> {
    let (_, found) = module.overrides.iter().find(|(_, o)| o.name.as_deref() == Some(name))?;
    let TypeInner::Scalar(Scalar { kind, width }) = module.types[found.ty].inner else {
        return None;
    };
    let bits = i32::from(width) * 8;
    let (low, high) = match kind {
        ScalarKind::Uint => (0.0, 2_f64.powi(bits)),
        ScalarKind::Sint => (-2_f64.powi(bits - 1), 2_f64.powi(bits - 1)),
        ScalarKind::Float => {
            let max = if width == 2 { 65_504.0 } else { f64::from(f32::MAX) };
            let fits = width == 8 || value.abs() <= max;
            return (!fits).then(|| format!("from {} to {max} (f{bits})", -max));
        }
        ScalarKind::Bool | ScalarKind::AbstractInt | ScalarKind::AbstractFloat => return None,
    };
    let fits = value.fract() == 0.0 && (low..high).contains(&value);
    let sign = if low < 0.0 { 'i' } else { 'u' };
    (!fits).then(|| format!("a whole number from {low} to {} ({sign}{bits})", high - 1.0))
}

impl Interface {
    /// Along how many dimensions its invocations are told apart, 1 to 3: those along which its workgroups
    /// extend; of workgroups in a row two where it asks for y, too.
    pub fn dimensions(&self) -> u32 {
        match self.workgroup_size {
            [_, 1, 1] => self.last_axis.min(2),
            [_, _, 1] => 2,
            [..] => 3,
        }
    }
}

impl Parsed {
    /// The overrides of the module, in the source's order.
    ///
    /// Of a SPIR-V module its specialisation constants, which are frozen in the module.
    pub fn overrides(&self) -> Vec<Override> {
        if let Some(origin) = &self.origin {
            return origin.specials.iter().map(|special| special.shown.clone()).collect();
        }
        let module = self.module();
        let overrides = module.overrides.iter().map(|(handle, found)| {
            let span = module.overrides.get_span(handle);
            let offset = span.to_range().map_or(0, |range| range.start);
            let kind = match module.types[found.ty].inner {
                TypeInner::Scalar(Scalar { kind: ScalarKind::Bool, .. }) => OverrideKind::Bool,
                TypeInner::Scalar(Scalar { kind: ScalarKind::Float, .. }) => OverrideKind::Float,
                _ => OverrideKind::Integer,
            };
            Override {
                name: found.name.clone().unwrap_or_default(),
                id: found.id,
                line: self.text().location(offset).line,
                has_default: found.init.is_some(),
                kind,
            }
        });
        overrides.collect()
    }
}

impl Program {
    /// The name of the variable of immediate data, where there is one.
    pub fn immediates_name(&self) -> Option<&str> {
        let mut variables = self.module().global_variables.iter();
        let found = variables.find(|(_, variable)| variable.space == AddressSpace::Immediate);
        found.and_then(|(_, variable)| variable.name.as_deref())
    }

    /// What the entry point asks of its host.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Resource`] for external textures and what else cannot be bound, and
    /// [`ProgramError::Layout`] for a variable whose layout lanescope does not know, each with its
    /// line.
    pub fn interface(&self) -> Result<Interface, ProgramError> {
        let info = self.info().get_entry_point(0);
        let mut resources = Vec::new();
        let Bound { buffers, textures, samplers } = self.bound()?;
        for binding in buffers {
            let used = info[binding.handle];
            let access = match (binding.uniform, binding.writable) {
                (true, _) => BindingAccess::Uniform,
                (false, false) => BindingAccess::Read,
                (false, true) => BindingAccess::ReadWrite,
            };
            resources.push(Resource {
                line: self.line(binding.handle),
                shape: self.shape(binding.handle)?,
                name: binding.name,
                group: binding.group,
                binding: binding.binding,
                access,
                written: used.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC),
                size_min: binding.size_min,
            });
        }
        let variables = self.module().global_variables.iter();
        let mut immediates =
            variables.filter(|(_, variable)| variable.space == AddressSpace::Immediate);
        let immediates = immediates.next().map(|(handle, _)| self.shape(handle)).transpose()?;
        Ok(Interface {
            entry_point: self.entry_point().name.clone(),
            workgroup_size: self.workgroup_size(),
            last_axis: super::axes::last_axis(self.module(), self.entry_point()),
            row_length: super::axes::row_length(self.module(), self.entry_point()),
            resources,
            textures,
            samplers,
            immediates,
            place_bounds: self.find_place_bounds(),
            uses: self.find_uses(),
        })
    }

    /// The line of a variable's declaration.
    pub(super) fn line(&self, variable: Handle<naga::GlobalVariable>) -> u32 {
        let span = self.module().global_variables.get_span(variable);
        self.text().location(span.to_range().map_or(0, |range| range.start)).line
    }

    fn shape(&self, handle: Handle<naga::GlobalVariable>) -> Result<Shape, ProgramError> {
        let variable = &self.module().global_variables[handle];
        self.shape_of(variable.ty).map_err(|what| ProgramError::Layout {
            file: self.text().file().to_owned(),
            line: self.line(handle),
            name: variable.name.clone().unwrap_or_default(),
            what,
        })
    }

    /// The shape of a type; what has none in words.
    fn shape_of(&self, ty: Handle<Type>) -> Result<Shape, &'static str> {
        let types = &self.module().types;
        Ok(match types[ty].inner {
            TypeInner::Scalar(kind) => Shape::Scalar { scalar: scalar(kind)?, atomic: false },
            TypeInner::Atomic(kind) => Shape::Scalar { scalar: scalar(kind)?, atomic: true },
            TypeInner::Vector { size, scalar: kind } => {
                Shape::Vector { scalar: scalar(kind)?, components: size as u32 }
            }
            TypeInner::Matrix { columns, rows, scalar: kind } => {
                let scalar = scalar(kind)?;
                // Columns lie as vectors in an array: those of three at the alignment of four.
                let aligned = if rows as u32 == 3 { 4 } else { rows as u32 };
                let stride = u64::from(aligned) * scalar.bytes();
                Shape::Matrix { scalar, columns: columns as u32, rows: rows as u32, stride }
            }
            TypeInner::Array { base, size, stride } => {
                let count = match size {
                    ArraySize::Constant(count) => Some(u64::from(count.get())),
                    ArraySize::Dynamic => None,
                    ArraySize::Pending(_) => return Err("an array of a size not yet known"),
                };
                let element = Box::new(self.shape_of(base)?);
                Shape::Array { element, stride: u64::from(stride), count }
            }
            TypeInner::Struct { ref members, span } => {
                let field = |member: &naga::StructMember| {
                    Ok(Field {
                        name: member.name.clone().unwrap_or_default(),
                        offset: u64::from(member.offset),
                        shape: self.shape_of(member.ty)?,
                    })
                };
                let fields = members.iter().map(field).collect::<Result<_, &'static str>>()?;
                Shape::Struct { fields, size: u64::from(span) }
            }
            TypeInner::CooperativeMatrix { .. } => return Err("a cooperative matrix"),
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => return Err("a pointer"),
            TypeInner::Image { .. } => return Err("a texture"),
            TypeInner::Sampler { .. } => return Err("a sampler"),
            TypeInner::AccelerationStructure { .. } => return Err("an acceleration structure"),
            TypeInner::RayQuery { .. } => return Err("a ray query"),
            TypeInner::BindingArray { .. } => return Err("a binding array"),
        })
    }
}

/// The type of a scalar that the host can share.
fn scalar(scalar: Scalar) -> Result<ScalarType, &'static str> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => Ok(ScalarType::F16),
        (ScalarKind::Float, 4) => Ok(ScalarType::F32),
        (ScalarKind::Float, 8) => Ok(ScalarType::F64),
        (ScalarKind::Uint, 2) => Ok(ScalarType::U16),
        (ScalarKind::Uint, 4) => Ok(ScalarType::U32),
        (ScalarKind::Uint, 8) => Ok(ScalarType::U64),
        (ScalarKind::Sint, 2) => Ok(ScalarType::I16),
        (ScalarKind::Sint, 4) => Ok(ScalarType::I32),
        (ScalarKind::Sint, 8) => Ok(ScalarType::I64),
        (ScalarKind::Bool, _) => Err("a bool, which hosts cannot share"),
        (
            ScalarKind::Float
            | ScalarKind::Uint
            | ScalarKind::Sint
            | ScalarKind::AbstractInt
            | ScalarKind::AbstractFloat,
            _,
        ) => Err("a number of an unusual size"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Held, Overrides};

    fn interface(text: &str) -> Interface {
        let parsed = Parsed::new("t.wgsl", text).unwrap();
        parsed.resolve("main", &Overrides::new()).unwrap().interface().unwrap()
    }

    #[test]
    fn rows_of_workgroups_are_told_apart_where_the_shader_asks_for_y() {
        let dimensions = |arguments: &str, body: &str| {
            interface(&format!(
                "struct In {{ @builtin(local_invocation_index) lane: u32, @builtin(global_invocation_id) at: vec3u }}
                 @group(0) @binding(0) var<storage, read_write> a: array<u32>;
                 @compute @workgroup_size(64) fn main({arguments}) {{ {body} }}"
            ))
            .dimensions()
        };
        let id = "@builtin(global_invocation_id) id: vec3u";
        assert_eq!(dimensions(id, "a[id.x] = 1u;"), 1);
        assert_eq!(dimensions(id, "a[id.y * 8u + id.x] = 1u;"), 2);
        assert_eq!(dimensions(id, "let at = vec2i(id.xy); a[at.x] = u32(at.y);"), 2);
        assert_eq!(dimensions(id, "let at = vec3i(id); a[at.x] = u32(at.y);"), 2);
        assert_eq!(dimensions("in: In", "a[in.lane] = in.at.x;"), 1);
        assert_eq!(dimensions("in: In", "a[in.lane] = in.at.y;"), 2);
        assert_eq!(dimensions("@builtin(workgroup_id) id: vec3u", "a[id.x] = id.y;"), 1);
    }

    #[test]
    fn bindings_come_with_access_layout_and_line() {
        let text = "
            struct Item { at: vec3<f32>, mass: f32, turn: mat3x3<f32> }
            struct Items { count: atomic<u32>, items: array<Item> }
            @group(0) @binding(1) var<uniform> size: vec2<u32>;
            @group(0) @binding(0) var<storage> input: array<f32>;
            @group(1) @binding(0) var<storage, read_write> state: Items;
            @group(1) @binding(1) var<storage, read_write> idle: array<u32, 8>;
            var<immediate> seed: u32;
            @compute @workgroup_size(8, 4)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                if (id.x < size.x + idle[0]) {
                    state.items[id.x].mass = input[id.x] + f32(seed);
                    atomicAdd(&state.count, 1u);
                }
            }";
        let interface = interface(text);
        assert_eq!((interface.workgroup_size, interface.dimensions()), ([8, 4, 1], 2));
        let shown: Vec<_> = interface
            .resources
            .iter()
            .map(|r| (r.name.as_str(), r.group, r.binding, r.line, r.access, r.written, r.size_min))
            .collect();
        assert_eq!(
            shown,
            [
                ("input", 0, 0, 5, BindingAccess::Read, false, 4),
                ("size", 0, 1, 4, BindingAccess::Uniform, false, 8),
                ("state", 1, 0, 6, BindingAccess::ReadWrite, true, 80),
                ("idle", 1, 1, 7, BindingAccess::ReadWrite, false, 32),
            ]
        );
        let state = &interface.resources[2].shape;
        assert_eq!((state.stride(), state.size(1), state.size(5)), (Some(64), 80, 336));
        let Shape::Struct { fields, .. } = state else { panic!("{state:?}") };
        assert_eq!(fields[0].shape, Shape::Scalar { scalar: ScalarType::U32, atomic: true });
        let Shape::Array { element, .. } = &fields[1].shape else { panic!("{fields:?}") };
        let Shape::Struct { fields, .. } = &**element else { panic!("{element:?}") };
        assert_eq!(fields.iter().map(|field| field.offset).collect::<Vec<_>>(), [0, 12, 16]);
        let turn = Shape::Matrix { scalar: ScalarType::F32, columns: 3, rows: 3, stride: 16 };
        assert_eq!(fields[2].shape, turn);
        assert_eq!(
            interface.immediates,
            Some(Shape::Scalar { scalar: ScalarType::U32, atomic: false })
        );
    }

    #[test]
    fn sizes_are_nagas() {
        let text = "
            struct A { a: vec3<f32>, b: mat2x3<f32>, c: array<vec2<f32>, 3>, d: f32 }
            struct B { a: A, b: array<mat4x2<f32>> }
            @group(0) @binding(0) var<storage, read_write> b: B;
            @group(0) @binding(1) var<storage, read_write> c: array<array<vec3<u32>, 5>>;
            @group(0) @binding(2) var<storage, read_write> d: mat3x4<f32>;
            @compute @workgroup_size(1) fn main() {
                b.b[0][0][0] = f32(c[0][0].x) + d[0][0];
            }";
        for resource in interface(text).resources {
            // naga rounds a struct with a run-time array up to its alignment, a shape does not.
            let size = resource.shape.size(1).next_multiple_of(16);
            assert_eq!(size, resource.size_min.next_multiple_of(16), "{}", resource.name);
        }
    }

    /// What is handed to a function comes back to the call that handed it in, and to no other.
    #[test]
    fn what_arrays_lead_into_is_followed_through_functions() {
        let text = "
            struct Graph { count: u32, offsets: array<u32, 9>, columns: array<u32> }
            @group(0) @binding(0) var<storage> graph: Graph;
            @group(0) @binding(1) var<storage> x: array<f32>;
            @group(0) @binding(2) var<storage, read_write> y: array<f32>;
            @group(0) @binding(3) var<storage> order: array<u32>;
            fn same(at: u32) -> u32 { return at; }
            fn first(row: u32) -> u32 { return graph.offsets[row]; }
            fn store(at: u32, value: f32) { y[at] = value; }
            @compute @workgroup_size(8)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                if (id.x >= graph.count) { return; }
                var sum = 0.0;
                for (var j = first(id.x); j < first(id.x + 1u); j++) {
                    sum += x[same(graph.columns[j])];
                }
                store(same(order[id.x]), sum);
            }";
        let uses = interface(text).uses;
        let columns = Held::Offsets { into: ["graph.columns".to_owned()].into() };
        assert_eq!(*uses.held("graph.offsets"), columns);
        assert_eq!((uses.held("order"), uses.held("x")), (&Held::Places, &Held::Unknown));
        let leads: Vec<String> =
            uses.leads.iter().map(|(array, into)| format!("{array}: {into:?}")).collect();
        assert_eq!(
            leads,
            ["graph.columns: {\"x\"}", "graph.offsets: {\"graph.columns\"}", "order: {\"y\"}",]
        );
        // Nine offsets are of eight rows.
        assert_eq!(uses.limits, [("graph.count".to_owned(), 8)].into());
        assert!(uses.indices.is_empty(), "{:?}", uses.indices);
    }

    #[test]
    fn what_is_an_index_into_a_fixed_array_is_below_its_length() {
        let text = "
            struct Params { face: u32, ring: vec2<i32>, far: f32, shift: u32, count: u32 }
            @group(0) @binding(0) var<uniform> params: Params;
            @group(0) @binding(1) var<uniform> level: u32;
            @group(0) @binding(2) var<storage, read_write> y: array<f32>;
            var<workgroup> sums: array<f32, 32>;
            fn towards(face: u32) -> vec3<f32> {
                const all = array<vec3<f32>, 6>();
                return all[face];
            }
            @compute @workgroup_size(8)
            fn main(@builtin(local_invocation_index) i: u32) {
                let weights = array<f32, 5>(1.0, 2.0, 3.0, 4.0, 5.0);
                let ring = params.ring;
                var at = ring.y;
                sums[i + level] = towards(params.face).x + weights[at] + weights[i];
                if (i < params.count) { y[i + params.shift] = sums[i] + sums[i / params.shift]; }
                y[u32(params.far)] = sums[level];
            }";
        // Not what divides, nor what a float leads to, nor an index into what is as long as its buffer.
        let limits = [("level", 31_u64), ("params.face", 5), ("params.ring.y", 4)];
        let limits = limits.map(|(name, most)| (name.to_owned(), most));
        assert_eq!(interface(text).uses.limits, limits.into());
    }

    #[test]
    fn overrides_are_listed_with_their_lines() {
        let text = "override n: u32;\n@id(7) override s = 0.5;\noverride on = true;
            @compute @workgroup_size(n) fn main() {}";
        let overrides = Parsed::new("t.wgsl", text).unwrap().overrides();
        let shown: Vec<_> = overrides
            .iter()
            .map(|o| (o.name.as_str(), o.id, o.line, o.has_default, o.kind))
            .collect();
        assert_eq!(
            shown,
            [
                ("n", None, 1, false, OverrideKind::Integer),
                ("s", Some(7), 2, true, OverrideKind::Float),
                ("on", None, 3, true, OverrideKind::Bool),
            ]
        );
    }
}
