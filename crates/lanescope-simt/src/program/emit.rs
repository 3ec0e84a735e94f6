//! naga's back-ends, all four: what a driver of Vulkan, Metal or DX12 would be given, and a browser.
//!
//! Input: a module that validates, plain or instrumented, without overrides. Output: an [`Emission`]
//! for each language, the text or why there is none. Nothing is run, and no binding is real: slots
//! are numbered as they come. wgpu emits again by itself, with its own options; this shows on any
//! machine that a module can be emitted for the others.

use std::collections::BTreeMap;

use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo};
use naga::{Module, ResourceBinding, ShaderStage};

use super::error::{ProgramError, TargetLanguage};
use super::portable::portable;
use super::source::Text;
use super::validate::{guard, run_validator, validate};

/// What one back-end gave.
#[derive(Debug)]
pub struct Emission {
    /// The language.
    pub language: TargetLanguage,
    /// The shader in it: SPIR-V's words as little-endian bytes, else text in UTF-8.
    pub result: Result<Vec<u8>, ProgramError>,
}

/// Emits `module` as SPIR-V 1.5, MSL 3.0 and HLSL for shader model 6.6, with run-time checks, and
/// as WGSL that browsers take; `text` is what messages refer to.
///
/// Each emission ends in success, in [`ProgramError::Emit`], or in [`ProgramError::Panicked`].
///
/// # Errors
///
/// What [`validate`] says: back-ends take valid modules only.
pub fn emit_all(module: &Module, text: &Text) -> Result<Vec<Emission>, ProgramError> {
    let info = validate(module, text)?;
    let emission = |language| Emission { language, result: emit(language, module, &info, text) };
    Ok([TargetLanguage::SpirV, TargetLanguage::Msl, TargetLanguage::Hlsl, TargetLanguage::Wgsl]
        .map(emission)
        .into())
}

/// A back-end: a module with its analysis in, bytes or naga's message out.
type BackEnd = fn(&Module, &ModuleInfo) -> Result<Vec<u8>, String>;

fn emit(
    language: TargetLanguage,
    module: &Module,
    info: &ModuleInfo,
    text: &Text,
) -> Result<Vec<u8>, ProgramError> {
    let (stage, takes, emit): (_, Capabilities, BackEnd) = match language {
        TargetLanguage::SpirV => ("emitted SPIR-V for", spv::supported_capabilities(), spir_v),
        TargetLanguage::Msl => ("emitted MSL for", msl::supported_capabilities(), metal),
        TargetLanguage::Hlsl => ("emitted HLSL for", hlsl::supported_capabilities(), direct_x),
        TargetLanguage::Wgsl => return Ok(portable(module, text)?.text.into_bytes()),
    };
    let entry = module.entry_points.first().map(|entry| entry.name.clone()).unwrap_or_default();
    let file = text.file().to_owned();
    let problem = |offset: usize, message| ProgramError::Emit {
        file: file.clone(),
        line: text.location(offset).line,
        entry: entry.clone(),
        language,
        message,
    };
    // Back-ends give no spans: the entry point's line is the nearest that is known.
    let near = text.function_start(&entry).unwrap_or(0);
    // What a language lacks altogether is found with its place before its back-end would panic.
    run_validator(module, text, takes)?.map_err(|error| {
        let place = error.spans().filter_map(|(span, _)| span.to_range()).find(|r| r.end > 0);
        let diagnostic = error.emit_to_string_with_path(text.original(), text.file());
        problem(
            place.map_or(near, |range| range.start),
            format!("it is not part of it:\n{diagnostic}"),
        )
    })?;
    guard(text.file(), stage, || emit(module, info))?.map_err(|message| problem(near, message))
}

/// Indices are held within their arrays, as wgpu has it where the driver does not do it.
const CHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Restrict,
    buffer: BoundsCheckPolicy::Restrict,
    image_load: BoundsCheckPolicy::Restrict,
    binding_array: BoundsCheckPolicy::Unchecked,
};

fn spir_v(module: &Module, info: &ModuleInfo) -> Result<Vec<u8>, String> {
    let options = spv::Options {
        lang_version: (1, 5),
        bounds_check_policies: CHECKED,
        ..spv::Options::default()
    };
    let words = spv::write_vec(module, info, &options, None).map_err(|error| error.to_string())?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// Every resource that the module binds.
fn bound(module: &Module) -> impl Iterator<Item = ResourceBinding> {
    module.global_variables.iter().filter_map(|(_, variable)| variable.binding)
}

fn metal(module: &Module, info: &ModuleInfo) -> Result<Vec<u8>, String> {
    // Buffers 0 and 1 are the sizes and the immediates.
    let target = |slot: usize| msl::BindTarget {
        buffer: u8::try_from(slot + 2).ok(),
        texture: u8::try_from(slot).ok(),
        sampler: u8::try_from(slot).ok().map(msl::BindSamplerTarget::Resource),
        external_texture: None,
        mutable: true,
    };
    let resources = msl::EntryPointResources {
        resources: bound(module).enumerate().map(|(slot, place)| (place, target(slot))).collect(),
        immediates_buffer: Some(1),
        sizes_buffer: Some(0),
    };
    let entry_points = module.entry_points.iter();
    let options = msl::Options {
        lang_version: (3, 0),
        per_entry_point_map: entry_points
            .map(|entry| (entry.name.clone(), resources.clone()))
            .collect(),
        bounds_check_policies: CHECKED,
        fake_missing_bindings: false,
        ..msl::Options::default()
    };
    let (text, translated) =
        msl::write_string(module, info, &options, &msl::PipelineOptions::default())
            .map_err(|error| error.to_string())?;
    for name in translated.entry_point_names {
        name.map_err(|error| error.to_string())?;
    }
    Ok(text.into_bytes())
}

fn direct_x(module: &Module, info: &ModuleInfo) -> Result<Vec<u8>, String> {
    let target = |register: usize, space: u8| hlsl::BindTarget {
        space,
        register: u32::try_from(register).unwrap_or(u32::MAX),
        restrict_indexing: true,
        ..hlsl::BindTarget::default()
    };
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_6,
        binding_map: bound(module)
            .enumerate()
            .map(|(register, place)| (place, target(register, 0)))
            .collect::<BTreeMap<_, _>>(),
        fake_missing_bindings: false,
        special_constants_binding: Some(target(0, 2)),
        immediates_target: Some(target(0, 1)),
        ..hlsl::Options::default()
    };
    let pipeline = hlsl::PipelineOptions {
        entry_point: module
            .entry_points
            .first()
            .map(|entry| (ShaderStage::Compute, entry.name.clone())),
    };
    let mut text = String::new();
    let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
    let reflected = writer.write(module, info, None).map_err(|error| error.to_string())?;
    for name in reflected.entry_point_names {
        name.map_err(|error| error.to_string())?;
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::{CounterScheme, Instrumented, Options};
    use crate::program::{Overrides, Parsed, Program};

    fn program(text: &str) -> Program {
        Parsed::new("t.wgsl", text).unwrap().resolve("main", &Overrides::new()).unwrap()
    }

    /// Plain and instrumented, in registers and in memory.
    fn modules(program: &Program) -> Vec<Module> {
        let mut modules = vec![program.module().clone()];
        for method in [
            CounterScheme::Executed,
            CounterScheme::Histogram,
            CounterScheme::Derived,
            CounterScheme::Estimated,
        ] {
            let options = Options {
                method,
                subgroup_width_max: 32,
                counter_bytes_max: 1 << 20,
                workgroups: None,
            };
            modules.push(Instrumented::new(program, &options).unwrap().module().clone());
        }
        modules
    }

    #[test]
    fn plain_and_instrumented_modules_come_out_in_four_languages() {
        let program = program(
            "struct P { n: u32, s: f32 }
             @group(0) @binding(0) var<uniform> p: P;
             @group(1) @binding(3) var<storage, read_write> data: array<f32>;
             var<workgroup> shared_: array<f32, 64>;
             struct I { seed: u32 }
             var<immediate> i_: I;
             @compute @workgroup_size(64)
             fn main(@builtin(global_invocation_id) id: vec3<u32>,
                     @builtin(local_invocation_index) l: u32) {
                 shared_[l] = data[id.x] * p.s;
                 workgroupBarrier();
                 for (var i = 0u; i < p.n % 7u + i_.seed; i++) {
                     if (l % 2u == 0u) { data[id.x] += shared_[(l + i) % 64u]; }
                 }
             }",
        );
        for module in modules(&program) {
            for emission in emit_all(&module, program.text()).unwrap() {
                let bytes = emission.result.unwrap();
                match emission.language {
                    TargetLanguage::SpirV => assert_eq!(bytes[..4], 0x0723_0203_u32.to_le_bytes()),
                    TargetLanguage::Msl => {
                        let text = String::from_utf8(bytes).unwrap();
                        assert!(text.contains("kernel void main_"), "{text}");
                    }
                    TargetLanguage::Hlsl => {
                        let text = String::from_utf8(bytes).unwrap();
                        assert!(text.contains("[numthreads(64, 1, 1)]"), "{text}");
                    }
                    TargetLanguage::Wgsl => {
                        let text = String::from_utf8(bytes).unwrap();
                        assert!(text.contains("@workgroup_size(64, 1, 1)"), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_language_lacks_is_an_error_with_the_line() {
        let program = program(
            "@group(0) @binding(0) var<storage, read_write> data: array<f64>;
             @compute @workgroup_size(64)
             fn main() { data[0] = data[1] * 2.0lf; }",
        );
        let emissions = emit_all(program.module(), program.text()).unwrap();
        let metal =
            emissions.iter().find(|emission| emission.language == TargetLanguage::Msl).unwrap();
        let message = metal.result.as_ref().unwrap_err().to_string();
        assert!(message.contains("t.wgsl:") && message.contains("MSL"), "{message}");
    }
}
