//! `lanescope list`: the catalogue.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::arguments::ListArguments;
use super::catalogue;
use super::failure::{Exit, Failure};
use crate::kernel::{DeviceClass, Kernel, KernelLanguage, SEED, format};
use crate::program::Needs;
use crate::run::launched::programs;

/// Prints the kernels that the arguments choose.
pub(crate) fn list(arguments: &ListArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let catalogue = catalogue::read(arguments.shaders.as_deref())?;
    let kernels = catalogue::choose(&catalogue, &arguments.kernels)?;
    if arguments.json {
        let kernels: Vec<_> = kernels.iter().map(|kernel| describe(kernel)).collect();
        serde_json::to_writer_pretty(&mut *out, &kernels).map_err(Failure::bad_input)?;
        writeln!(out)?;
        return Ok(Exit::Done);
    }
    for kernel in kernels {
        let description = &kernel.description;
        let beside = if description.in_default_set { "" } else { " (not in the default set)" };
        let alone = match kernel.language {
            KernelLanguage::Wgsl => "",
            KernelLanguage::Cuda => " (CUDA C++, on cuda:N alone)",
        };
        writeln!(out, "{}{beside}{alone}\n    {}", kernel.id, description.question)?;
        if arguments.long {
            for (name, parameter) in &description.parameters {
                writeln!(out, "    {name}: {}; {}", parameter.description, values(parameter))?;
            }
            if !description.claims.is_empty() {
                writeln!(out, "    tests the claims {}", description.claims.join(", "))?;
            }
            let beyond = beyond_defaults(kernel)?;
            if !beyond.is_empty() {
                let beyond = beyond.join(", ");
                writeln!(out, "    needs more than WebGPU promises everywhere: {beyond}")?;
            }
        }
    }
    Ok(Exit::Done)
}

/// What a kernel takes beyond WebGPU's defaults at its default point on a GPU, in words.
fn beyond_defaults(kernel: &Kernel) -> Result<Vec<String>, Failure> {
    if kernel.language == KernelLanguage::Cuda {
        return Ok(Vec::new());
    }
    let launch =
        kernel.launch(DeviceClass::Gpu, &BTreeMap::new(), SEED).map_err(Failure::bad_input)?;
    let programs = programs(&launch).map_err(Failure::bad_input)?;
    let needs = programs.iter().map(|program| Needs::from_module(program.module()));
    Ok(needs.reduce(Needs::most).map_or_else(Vec::new, Needs::beyond_defaults))
}

fn values(parameter: &format::Parameter) -> String {
    let default = match &parameter.default {
        format::Default::Same(value) => format!("default {value}"),
        format::Default::ByClass { gpu, cpu, quick } => {
            format!("default {gpu} on GPUs, {cpu} on the processor, {quick} with --quick")
        }
    };
    let one = if parameter.values.is_empty() { "" } else { "one of " };
    format!("{one}{}; {default}", parameter.allowed_text(parameter.default.any()))
}

fn describe(kernel: &Kernel) -> serde_json::Value {
    let description = &kernel.description;
    json!({
        "kernel": kernel.id,
        "question": description.question,
        "language": kernel.language.extension(),
        "in_default_set": description.in_default_set,
        "parameters": description.parameters.iter().map(|(name, parameter)| (name.clone(), json!({
            "description": parameter.description,
            "values": parameter.values,
            "allowed": parameter.allowed_text(parameter.default.any()),
        }))).collect::<serde_json::Map<_, _>>(),
        "claims": description.claims,
    })
}
