//! Functions, the entry point, and what they take.
//!
//! Input: naga's functions. Output: their C++. WGSL's arguments come first, then the globals that the
//! function or what it calls uses: buffers as pointers unless they are constants, immediates and lengths by reference, private
//! variables in one structure, and the mask of active lanes where subgroup operations are reachable.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use naga::proc::NameKey;
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, ArraySize, BuiltIn, Function, FunctionArgument, GlobalVariable, Handle, Module,
    Span, StorageAccess, Type, TypeInner,
};

use super::frame::{Owner, TranslatedFunction};
use super::materialise::materialise;
use super::uniform::changes;
use super::{Constant, Length, Parameter, Result, WIDTH, Writer};
use crate::program::Body;

/// What the module's global variables become.
pub(super) struct Globals {
    /// Declarations before all functions.
    pub(super) declarations: String,
    /// The kernel's parameters, in C++.
    kernel: Vec<String>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) constants: Vec<Constant>,
    /// The declarations of the constants.
    held: String,
    pub(super) workgroup_bytes: u32,
    /// Statements at the kernel's beginning.
    opening: Vec<String>,
}

impl Globals {
    /// Puts the uniform buffers in constant memory before the other declarations.
    fn add_constants(&mut self) {
        if !self.held.is_empty() {
            let text = format!(
                "\n// Uniform buffers in constant memory; two copies, so that neighbours are read apart.\n{}",
                self.held
            );
            self.declarations.insert_str(0, &text);
        }
    }

    /// Declares the lengths of run-time arrays, and the parameter that has them.
    fn add_lengths(&mut self, lengths: Vec<(String, Length)>) {
        if lengths.is_empty() {
            return;
        }
        let text = &mut self.declarations;
        text.push_str("\n// How many elements run-time arrays have.\nstruct Lengths {\n");
        for (name, _) in &lengths {
            let _ = writeln!(text, "    u32 {name};");
        }
        text.push_str("};\n");
        self.kernel.push("const Lengths lengths".to_owned());
        let lengths = lengths.into_iter().map(|(_, length)| length).collect();
        self.parameters.push(Parameter::Lengths(lengths));
    }
}

impl<'a> Writer<'a> {
    /// The line of a span, where it has one.
    pub(super) fn line(&self, span: Span) -> Option<u32> {
        let range = span.to_range().filter(|range| range.end > 0)?;
        Some(self.text.location(range.start).line)
    }

    fn frame(
        &mut self,
        owner: Owner,
        function: &'a Function,
        info: &'a FunctionInfo,
        body: &Body,
        tracked: bool,
    ) -> TranslatedFunction<'a> {
        TranslatedFunction {
            owner,
            function,
            info,
            bake: materialise(self.module, function, info, self.text, body, self.is_checked()),
            values: BTreeMap::new(),
            tracked,
            mask: "mask".to_owned(),
            direct: true,
            constructs: Vec::new(),
            counters: Vec::new(),
            changes: changes(function, body),
            loops: 0,
            leaving: false,
            result: false,
            span: Span::UNDEFINED,
            out: String::new(),
            indent: 1,
            line_next: None,
            file: self.text.file(),
        }
    }

    /// Writes a function.
    pub(super) fn function(
        &mut self,
        handle: Handle<Function>,
        function: &'a Function,
        body: &Body,
    ) -> Result<String> {
        let info = &self.info[handle];
        let tracked = self.tracked[handle.index()];
        let place = self.module.functions.get_span(handle);
        let name = self.name(&NameKey::Function(handle));
        let result = match &function.result {
            Some(result) => self.type_name(result.ty, place)?,
            None => "void".to_owned(),
        };
        let mut parameters = Vec::new();
        for (number, argument) in (0..).zip(&function.arguments) {
            let name = self.argument_name(Owner::Function(handle), number);
            parameters.push(self.parameter(argument, &name, place)?);
        }
        parameters.extend(self.pass_globals(info, true)?);
        if tracked {
            parameters.push("const u32 mask".to_owned());
        }
        let mut frame = self.frame(Owner::Function(handle), function, info, body, tracked);
        self.body(&mut frame, body)?;
        let inner = self.finish(frame, &result)?;
        Ok(format!("DEVICE {result} {name}({}) {{\n{inner}}}\n", parameters.join(", ")))
    }

    /// Locals, the body, and what ends it.
    fn finish(&mut self, frame: TranslatedFunction<'a>, result: &str) -> Result<String> {
        let mut text = String::new();
        for (handle, local) in frame.function.local_variables.iter() {
            let span = frame.function.local_variables.get_span(handle);
            let key = match frame.owner {
                Owner::Function(function) => NameKey::FunctionLocal(function, handle),
                Owner::EntryPoint => NameKey::EntryPointLocal(0, handle),
            };
            let name = self.name(&key);
            let ty = self.type_name(local.ty, span)?;
            let value = match local.init {
                Some(init) => self.constant(&frame.function.expressions, init, span)?,
                None => self.zero(local.ty, span)?,
            };
            let _ = writeln!(text, "    {ty} {name} = {value};");
        }
        if frame.leaving {
            self.prelude.need("leaving");
            text.push_str("    Leaving leaving = STAYS;\n");
        }
        if frame.result {
            let _ = writeln!(text, "    {result} result = {{}};");
        }
        text.push_str(&frame.out);
        // Lanes that returned within a construct kept their result until here.
        if frame.result {
            text.push_str("    return result;\n");
        }
        Ok(text)
    }

    fn parameter(
        &mut self,
        argument: &FunctionArgument,
        name: &str,
        place: Span,
    ) -> Result<String> {
        let inner = &self.module.types[argument.ty].inner;
        let Some(space) = inner.pointer_space() else {
            return Ok(format!("const {} {name}", self.type_name(argument.ty, place)?));
        };
        let ty = if let TypeInner::Pointer { base, .. } = *inner {
            self.type_name(base, place)?
        } else if let TypeInner::ValuePointer { size: Some(size), scalar, .. } = *inner {
            self.vector_name(size, scalar, place)?
        } else if let TypeInner::ValuePointer { size: None, scalar, .. } = *inner {
            self.scalar_name(scalar, place)?.to_owned()
        } else {
            return Err(self.unsupported("this kind of pointer", place));
        };
        let constant = if writable(space) { "" } else { "const " };
        Ok(format!("{constant}{ty}& {name}"))
    }

    /// The globals that a function is handed, as parameters or as arguments.
    pub(super) fn pass_globals(
        &mut self,
        info: &FunctionInfo,
        declared: bool,
    ) -> Result<Vec<String>> {
        let mut passed = Vec::new();
        let (mut private, mut lengths) = (false, false);
        let module = self.module;
        for (handle, variable) in module.global_variables.iter() {
            if info[handle].is_empty() || self.constant.contains_key(&handle) {
                continue;
            }
            let name = self.name(&NameKey::GlobalVariable(handle));
            match variable.space {
                AddressSpace::Uniform | AddressSpace::Storage { .. } => {
                    lengths |= runtime_array(module, variable.ty).is_some();
                    passed.push(if declared { self.pointer(handle, variable)? } else { name });
                }
                AddressSpace::Immediate => {
                    let span = module.global_variables.get_span(handle);
                    let ty = self.type_name(variable.ty, span)?;
                    passed.push(if declared { format!("const {ty}& {name}") } else { name });
                }
                AddressSpace::Private => private = true,
                // Workgroup memory is declared outside of functions, where all see it.
                AddressSpace::WorkGroup
                | AddressSpace::Function
                | AddressSpace::Handle
                | AddressSpace::TaskPayload
                | AddressSpace::RayPayload
                | AddressSpace::IncomingRayPayload => {}
            }
        }
        if lengths {
            passed.push((if declared { "const Lengths& lengths" } else { "lengths" }).to_owned());
        }
        if private {
            passed.push((if declared { "Private& own" } else { "own" }).to_owned());
        }
        Ok(passed)
    }

    /// The parameter that a buffer becomes.
    fn pointer(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &GlobalVariable,
    ) -> Result<String> {
        let span = self.module.global_variables.get_span(handle);
        let ty = self.type_name(variable.ty, span)?;
        let name = self.name(&NameKey::GlobalVariable(handle));
        let constant = if writable(variable.space) { "" } else { "const " };
        Ok(format!("{constant}{ty}* __restrict__ {name}"))
    }

    /// What global variables become.
    pub(super) fn globals(&mut self) -> Result<Globals> {
        let module = self.module;
        let mut globals = Globals {
            declarations: String::new(),
            kernel: Vec::new(),
            parameters: Vec::new(),
            constants: Vec::new(),
            held: String::new(),
            workgroup_bytes: 0,
            opening: Vec::new(),
        };
        let mut private = String::new();
        let mut lengths: Vec<(String, Length)> = Vec::new();
        let mut immediates = None;
        for (handle, variable) in module.global_variables.iter() {
            let span = module.global_variables.get_span(handle);
            let name = self.name(&NameKey::GlobalVariable(handle));
            match variable.space {
                AddressSpace::Uniform | AddressSpace::Storage { .. } => {
                    lengths.extend(self.buffer(&mut globals, handle)?);
                }
                AddressSpace::Private => {
                    let ty = self.type_name(variable.ty, span)?;
                    let value = match variable.init {
                        Some(init) => self.constant(&module.global_expressions, init, span)?,
                        None => self.zero(variable.ty, span)?,
                    };
                    let _ = writeln!(private, "    {ty} {name} = {value};");
                }
                AddressSpace::WorkGroup => self.workgroup(&mut globals, variable, &name, span)?,
                AddressSpace::Immediate => {
                    let ty = self.type_name(variable.ty, span)?;
                    let size = self.layouter[variable.ty].size;
                    let size = self.layouter[variable.ty].alignment.round_up(size);
                    immediates = Some((format!("const {ty} {name}"), size));
                }
                AddressSpace::Function
                | AddressSpace::Handle
                | AddressSpace::TaskPayload
                | AddressSpace::RayPayload
                | AddressSpace::IncomingRayPayload => {
                    let what = format!("`{name}`, which is no buffer");
                    return Err(self.unsupported(what, span));
                }
            }
        }
        globals.add_constants();
        globals.add_lengths(lengths);
        if let Some((text, size)) = immediates {
            globals.kernel.push(text);
            globals.parameters.push(Parameter::Immediates { size });
        }
        if !private.is_empty() {
            let text = &mut globals.declarations;
            let _ = write!(
                text,
                "\n// Each invocation's own variables.\nstruct Private {{\n{private}}};\n"
            );
            globals.opening.push("Private own;".to_owned());
        }
        Ok(globals)
    }

    /// Adds a buffer as a constant or as a parameter; where it ends in a run-time array, its name and
    /// how long that is.
    fn buffer(
        &mut self,
        globals: &mut Globals,
        handle: Handle<GlobalVariable>,
    ) -> Result<Option<(String, Length)>> {
        let variable = &self.module.global_variables[handle];
        let Some(place) = variable.binding else {
            let span = self.module.global_variables.get_span(handle);
            return Err(self.unsupported("a buffer without a binding", span));
        };
        let (group, binding) = (place.group, place.binding);
        if self.constant.contains_key(&handle) {
            let (text, constant) = self.constant_buffer(handle, (group, binding))?;
            globals.held.push_str(&text);
            globals.constants.push(constant);
            return Ok(None);
        }
        globals.kernel.push(self.pointer(handle, variable)?);
        globals.parameters.push(Parameter::Buffer { group, binding });
        let name = self.name(&NameKey::GlobalVariable(handle));
        let array = runtime_array(self.module, variable.ty);
        Ok(array.map(|(offset, stride)| (name, Length { group, binding, offset, stride })))
    }

    fn workgroup(
        &mut self,
        globals: &mut Globals,
        variable: &GlobalVariable,
        name: &str,
        span: Span,
    ) -> Result<()> {
        let ty = self.type_name(variable.ty, span)?;
        if globals.workgroup_bytes == 0 {
            globals.declarations.push('\n');
        }
        let layout = self.layouter[variable.ty];
        let start = layout.alignment.round_up(globals.workgroup_bytes);
        globals.workgroup_bytes = start + layout.alignment.round_up(layout.size);
        let _ = writeln!(globals.declarations, "__shared__ alignas(16) {ty} {name};");
        if !self.zero_memory {
            return Ok(());
        }
        self.prelude.need("zero_memory");
        let step: u32 = self.module.entry_points[0].workgroup_size.iter().product();
        let index = self.invocation_index();
        let zero = format!("zero_memory(&{name}, sizeof({name}), {index}, {step}u);");
        globals.opening.push(zero);
        Ok(())
    }

    /// A call that gives `local_invocation_index`.
    pub(super) fn invocation_index(&mut self) -> String {
        let [x, y, z] = self.module.entry_points[0].workgroup_size;
        if (y, z) == (1, 1) {
            return "threadIdx.x".to_owned();
        }
        let body = format!("    return threadIdx.x + {x}u * (threadIdx.y + {y}u * threadIdx.z);\n");
        self.prelude.lift("u32 invocation_index()".to_owned(), &body);
        "invocation_index()".to_owned()
    }

    /// An expression that gives `subgroup_invocation_id`.
    pub(super) fn lane_index(&mut self) -> String {
        format!("({} & {}u)", self.invocation_index(), WIDTH - 1)
    }

    /// Writes the entry point; its name and its text.
    pub(super) fn entry_point(
        &mut self,
        globals: &Globals,
        body: &Body,
    ) -> Result<(String, String)> {
        let entry = &self.module.entry_points[0];
        let name = self.name(&NameKey::EntryPoint(0));
        let info = self.info.get_entry_point(0);
        let tracked = super::flow::subgroups_in(&self.tracked, body);
        let mut frame = self.frame(Owner::EntryPoint, &entry.function, info, body, tracked);
        let mut text = String::new();
        for line in &globals.opening {
            let _ = writeln!(text, "    {line}");
        }
        // Nobody reads workgroup memory before all invocations have zeroed their part of it.
        if globals.workgroup_bytes > 0 && self.zero_memory {
            text.push_str("    __syncthreads();\n");
        }
        for (number, argument) in (0..).zip(&entry.function.arguments) {
            let name = self.argument_name(Owner::EntryPoint, number);
            let ty = self.type_name(argument.ty, Span::UNDEFINED)?;
            let value = self.entry_argument(argument)?;
            let _ = writeln!(text, "    const {ty} {name} = {value};");
        }
        if tracked {
            let mask = self.mask_first();
            let _ = writeln!(text, "    const u32 mask = {mask};");
        }
        self.body(&mut frame, body)?;
        let inner = self.finish(frame, "void")?;
        let [x, y, z] = entry.workgroup_size;
        let parameters = globals.kernel.join(",\n    ");
        let text = format!(
            "extern \"C\" __global__ void __launch_bounds__({}) {name}(\n    {parameters}) {{\n\
             {text}{inner}}}\n",
            x * y * z
        );
        Ok((name, text))
    }

    /// The lanes that a subgroup has: the last one of a workgroup may be partial.
    fn mask_first(&mut self) -> String {
        let invocations: u32 = self.module.entry_points[0].workgroup_size.iter().product();
        let rest = invocations % WIDTH;
        let partial = format!("0x{:x}u", (1_u64 << rest) - 1);
        if rest == 0 {
            return "0xffffffffu".to_owned();
        }
        if invocations < WIDTH {
            return partial;
        }
        // Only the last subgroup is partial.
        let index = self.invocation_index();
        format!("{index} < {}u ? 0xffffffffu : {partial}", invocations - rest)
    }

    /// The built-in values that an entry point's argument is made of.
    fn entry_argument(&mut self, argument: &FunctionArgument) -> Result<String> {
        let binding = |binding: &Option<naga::Binding>| match binding {
            Some(naga::Binding::BuiltIn(builtin)) => Some(*builtin),
            _ => None,
        };
        let module = self.module;
        if let TypeInner::Struct { ref members, .. } = module.types[argument.ty].inner {
            let mut parts = Vec::new();
            for member in members {
                let Some(builtin) = binding(&member.binding) else {
                    return Err(self.unsupported("arguments with a location", Span::UNDEFINED));
                };
                parts.push(self.built_in(builtin)?);
            }
            return self.compose(argument.ty, &parts, Span::UNDEFINED);
        }
        match binding(&argument.binding) {
            Some(builtin) => self.built_in(builtin),
            None => Err(self.unsupported("arguments with a location", Span::UNDEFINED)),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other stages' built-in values are many")]
    fn built_in(&mut self, builtin: BuiltIn) -> Result<String> {
        let size = self.module.entry_points[0].workgroup_size;
        let [x, y, z] = size;
        let invocations: u32 = size.iter().product();
        let mut three = |text: String| {
            self.prelude.need("vec3");
            format!("vec3<u32>{{{text}}}")
        };
        Ok(match builtin {
            BuiltIn::GlobalInvocationId => three(format!(
                "blockIdx.x * {x}u + threadIdx.x, blockIdx.y * {y}u + threadIdx.y, \
                 blockIdx.z * {z}u + threadIdx.z"
            )),
            BuiltIn::LocalInvocationId => three("threadIdx.x, threadIdx.y, threadIdx.z".to_owned()),
            BuiltIn::WorkGroupId => three("blockIdx.x, blockIdx.y, blockIdx.z".to_owned()),
            BuiltIn::NumWorkGroups => three("gridDim.x, gridDim.y, gridDim.z".to_owned()),
            BuiltIn::WorkGroupSize => three(format!("{x}u, {y}u, {z}u")),
            BuiltIn::LocalInvocationIndex => self.invocation_index(),
            BuiltIn::SubgroupInvocationId => self.lane_index(),
            BuiltIn::SubgroupId => format!("{} / {WIDTH}u", self.invocation_index()),
            BuiltIn::SubgroupSize => format!("{WIDTH}u"),
            BuiltIn::NumSubgroups => format!("{}u", invocations.div_ceil(WIDTH)),
            other => {
                let what = format!("built-in value {other:?}");
                return Err(self.unsupported(what, Span::UNDEFINED));
            }
        })
    }
}

/// Whether what lies in an address space can be written.
fn writable(space: AddressSpace) -> bool {
    match space {
        AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
        AddressSpace::Uniform | AddressSpace::Immediate | AddressSpace::Handle => false,
        AddressSpace::Function
        | AddressSpace::Private
        | AddressSpace::WorkGroup
        | AddressSpace::TaskPayload
        | AddressSpace::RayPayload
        | AddressSpace::IncomingRayPayload => true,
    }
}

/// Where the run-time array of a type begins and its stride, in bytes.
fn runtime_array(module: &Module, ty: Handle<Type>) -> Option<(u32, u32)> {
    let inner = &module.types[ty].inner;
    if let TypeInner::Array { size: ArraySize::Dynamic, stride, .. } = *inner {
        return Some((0, stride));
    }
    let TypeInner::Struct { ref members, .. } = *inner else { return None };
    let last = members.last()?;
    let (offset, stride) = runtime_array(module, last.ty)?;
    Some((last.offset + offset, stride))
}
