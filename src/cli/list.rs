//! `lanescope list`: the catalogue.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::arguments::ListArguments;
use super::catalogue;
use super::failure::{Exit, Failure};
use crate::kernel::{Catalogue, DeviceClass, Kernel, KernelLanguage, SEED, format};
use crate::present::fit::{fold, fold_after};
use crate::present::terminal_columns;
use crate::program::Needs;
use crate::run::launched::programs;

/// Prints the kernels that the arguments choose.
pub(crate) fn list(arguments: &ListArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let catalogue = catalogue::read(arguments.shaders.as_deref())?;
    let kernels = catalogue::choose(&catalogue, &arguments.kernels)?;
    if arguments.json {
        let kernels = kernels.iter().map(|kernel| describe(kernel));
        let kernels = kernels.collect::<Result<Vec<_>, Failure>>()?;
        serde_json::to_writer_pretty(&mut *out, &kernels).map_err(Failure::bad_input)?;
        writeln!(out)?;
        return Ok(Exit::Done);
    }
    show(&catalogue, &kernels, arguments.long, terminal_columns(), out)?;
    Ok(Exit::Done)
}

/// Prints kernels on a terminal of so many columns; long, with parameters, claims and what they need, and with what of a
/// family its texts print.
fn show(
    catalogue: &Catalogue,
    kernels: &[&Kernel],
    long: bool,
    columns: Option<usize>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut family = "";
    for kernel in kernels {
        let description = &kernel.description;
        let beside = if description.in_default_set { " (runs where none is named)" } else { "" };
        let alone = match kernel.language {
            KernelLanguage::Wgsl => "",
            KernelLanguage::Cuda => " (CUDA C++, on cuda:N alone)",
        };
        // On a terminal a family is named once; what is searched line by line has whole names.
        let (of_family, short) = kernel.id.rsplit_once('/').unwrap_or(("", &kernel.id));
        if columns.is_some() && of_family != family {
            writeln!(out, "{}{of_family}", if family.is_empty() { "" } else { "\n" })?;
            family = of_family;
        }
        let name = if columns.is_some() && !of_family.is_empty() {
            format!("  {short}")
        } else {
            kernel.id.clone()
        };
        let indent = &name[..name.len() - name.trim_start().len()];
        let head = format!("{}{beside}{alone}", name.trim_start());
        writeln!(out, "{}", fold_after(indent, &head, "    ", columns))?;
        let mut tell = |line: &str| writeln!(out, "{}", fold(line, "    ", columns));
        tell(&description.question)?;
        if long {
            let article = catalogue.family(of_family).map_or("", |family| &family.article);
            if !article.is_empty() {
                tell(article)?;
            }
            for (name, parameter) in &description.parameters {
                tell(&format!("{name}: {}; {}", parameter.description, values(parameter)))?;
            }
            if !description.claims.is_empty() {
                tell(&format!("tests the claims {}", description.claims.join(", ")))?;
            }
            let beyond = beyond_defaults(kernel)?;
            if !beyond.is_empty() {
                let beyond = beyond.join(", ");
                tell(&format!(
                    "needs more than WebGPU promises everywhere: {beyond}; counting takes one storage buffer more"
                ))?;
            }
        }
    }
    Ok(())
}

/// What a kernel takes beyond WebGPU's defaults at its default point on a GPU, in words; counting adds
/// a storage buffer to it.
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
        format::Default::ByClass { gpu, cpu, quick, simulator } => {
            let alone = simulator.as_ref().map_or_else(String::new, |value| {
                format!(", {value} on simulators where `lanescope` finds no device")
            });
            format!("default {gpu} on GPUs, {cpu} on the processor, {quick} with --quick{alone}")
        }
    };
    let value = if parameter.values.is_empty() { "" } else { "one of " };
    format!("{value}{}; {default}", parameter.allowed_text(parameter.default.any()))
}

fn describe(kernel: &Kernel) -> Result<serde_json::Value, Failure> {
    let description = &kernel.description;
    Ok(json!({
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
        "beyond_webgpu_defaults": beyond_defaults(kernel)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::tests::on_every_terminal;

    #[test]
    fn the_catalogue_on_every_terminal() {
        let catalogue = Catalogue::embedded().unwrap();
        let kernels: Vec<&Kernel> = catalogue.all().take(7).collect();
        let families = kernels.iter().filter_map(|kernel| kernel.id.split_once('/'));
        let families: std::collections::BTreeSet<_> = families.map(|(family, _)| family).collect();
        assert!(families.len() > 1, "{families:?}");
        let shown = |columns: Option<usize>| {
            let mut out = Vec::new();
            show(&catalogue, &kernels, false, columns, &mut out).unwrap();
            // The long form of the first alone.
            show(&catalogue, &kernels[..1], true, columns, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!("list", on_every_terminal(shown));
    }
}
