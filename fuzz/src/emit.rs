//! What each back-end of naga makes of a program and of its instrumented twin.
//!
//! Input: both. Output: a panic, which is a finding, where the plain module is written and the
//! instrumented one is not. What a back-end cannot write at all is its own matter.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lanescope::instrument::Instrumented;
use lanescope::program::Program;
use naga::Module;
use naga::back::{hlsl, msl, spv};
use naga::valid::ModuleInfo;

type BackEnd = fn(&Module, &ModuleInfo) -> Result<(), String>;

const BACK_ENDS: [(&str, BackEnd); 3] = [("SPIR-V", to_spirv), ("MSL", to_msl), ("HLSL", to_hlsl)];

/// Writes both modules with every back-end.
///
/// # Panics
///
/// Where a back-end writes the plain module and fails or panics on the instrumented one.
pub fn compare(program: &Program, instrumented: &Instrumented) {
    for (name, back_end) in BACK_ENDS {
        let written = |module, info| -> Result<(), String> {
            catch_unwind(AssertUnwindSafe(|| back_end(module, info)))
                .unwrap_or_else(|_| Err("panicked".to_owned()))
        };
        if let Err(error) = written(program.module(), program.info()) {
            if error == "panicked" {
                eprintln!("naga's {name} back-end panicked on a plain module");
            }
            continue;
        }
        if let Err(error) = written(instrumented.module(), instrumented.info()) {
            panic!("{name} is written of the plain module, not of the instrumented one: {error}");
        }
    }
}

fn to_spirv(module: &Module, info: &ModuleInfo) -> Result<(), String> {
    let options = spv::Options { lang_version: (1, 3), ..Default::default() };
    spv::write_vec(module, info, &options, None).map(drop).map_err(|error| error.to_string())
}

fn to_msl(module: &Module, info: &ModuleInfo) -> Result<(), String> {
    let options =
        msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    msl::write_string(module, info, &options, &msl::PipelineOptions::default())
        .map(drop)
        .map_err(|error| error.to_string())
}

fn to_hlsl(module: &Module, info: &ModuleInfo) -> Result<(), String> {
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_2,
        fake_missing_bindings: true,
        ..Default::default()
    };
    let pipeline = hlsl::PipelineOptions::default();
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .map(drop)
        .map_err(|error| error.to_string())
}
