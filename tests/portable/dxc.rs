//! DXC, the compiler of DX12, over what naga writes for it.
//!
//! Input: every module of [`cases`](super::cases), plain and counted as devices count at first;
//! `LANESCOPE_DXC`, a folder with DXC's library for Linux and its headers, as the wheel `compushady-lrtu`
//! brings them; a C++ compiler, which compiles `dxc.cpp`. Output: two checks. wgpu writes HLSL anew by
//! options of its own; what is shown is that naga's HLSL of these modules compiles to DXIL.

use std::path::{Path, PathBuf};
use std::process::Command;

use lanescope::instrument::CounterScheme;
use lanescope::program::{TargetLanguage, emit_all};
use rayon::prelude::*;
use tempfile::TempDir;

use super::{Case, Form, cases, name};

/// What the folder is called by.
pub(super) const VARIABLE: &str = "LANESCOPE_DXC";

/// What it is called that the tests require.
pub(super) const NAME: &str = "dxc";

/// Shaders that DXC refuses, with a part of its message and the reason.
const REFUSED: [(&str, &str, &str); 2] = [
    ("tests/packed_dot", "dx.op.dot4AddPacked.i64", PACKED_DOT),
    ("tests/directives", "dx.op.dot4AddPacked.i64", PACKED_DOT),
];

/// Why packed dot products are refused.
const PACKED_DOT: &str = "naga writes the sum that `dot4add_i8packed` adds to as a literal, which this DXC takes for 64 bits";

/// The library, where it is there.
fn library() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os(VARIABLE)?);
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libdxcompiler") && name.ends_with(".so")
    })
}

/// Whether there is such a folder.
pub(super) fn is_installed() -> bool {
    library().is_some()
}

/// Builds what calls the library.
fn build(folder: &Path) -> Result<PathBuf, String> {
    let headers = std::env::var(VARIABLE).map_err(|error| error.to_string())?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/portable/dxc.cpp");
    let program = folder.join("dxc");
    let output = Command::new("g++")
        .args(["-std=c++17", "-w", "-fms-extensions", "-I", &headers, "-o"])
        .arg(&program)
        .arg(source)
        .arg("-ldl")
        .output()
        .map_err(|error| format!("g++: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(program).ok_or(errors)
}

/// Compiles files; what is said of those that are refused.
fn compile(program: &Path, files: &[PathBuf]) -> Result<String, String> {
    let library = library().ok_or("there is no DXC")?;
    let output = Command::new(program).arg(library).args(files).output();
    let output = output.map_err(|error| error.to_string())?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0 | 1) => Ok(messages),
        other => Err(format!("{other:?}: {messages}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Writes a program's modules as HLSL.
#[expect(clippy::disallowed_methods, reason = "a compiler reads files")]
fn write(folder: &Path, (number, case): (usize, &Case)) -> Vec<(String, PathBuf)> {
    let forms = [Form::Plain, Form::Counted(CounterScheme::Derived)];
    let modules = case.modules().into_iter().filter(|(form, _)| forms.contains(form));
    let file = |(form, module)| {
        let emissions = emit_all(&module, case.program.text()).unwrap();
        let hlsl = emissions.into_iter().find(|found| found.language == TargetLanguage::Hlsl);
        let bytes = hlsl.unwrap().result.ok()?;
        let path = folder.join(format!("{number}-{}.hlsl", name(form)));
        std::fs::write(&path, bytes).unwrap();
        Some((format!("{} {} ({})", case.shader, case.part, name(form)), path))
    };
    modules.filter_map(file).collect()
}

/// Every module is compiled, but for those on the list.
pub(super) fn takes() -> Result<(), String> {
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let program = build(folder.path())?;
    let all = cases();
    let numbered: Vec<(usize, &Case)> = all.iter().enumerate().collect();
    let files: Vec<(String, PathBuf)> =
        numbered.par_iter().flat_map_iter(|case| write(folder.path(), *case)).collect();
    let messages: Vec<String> = files
        .par_chunks(16)
        .map(|some| {
            let paths: Vec<PathBuf> = some.iter().map(|(_, path)| path.clone()).collect();
            compile(&program, &paths)
        })
        .collect::<Result<_, _>>()?;
    let messages = messages.concat();
    let refused: Vec<String> = files
        .iter()
        .filter_map(|(what, path)| {
            let (_, why) = messages.split_once(&format!("{}: ", path.display()))?;
            let why: String = why.chars().take(400).collect();
            let listed = REFUSED.iter().any(|(shader, says, _)| {
                what.starts_with(&format!("{shader} ")) && why.contains(says)
            });
            (!listed).then(|| format!("{what}: {why}"))
        })
        .collect();
    if files.len() < 300 {
        return Err(format!("{} files alone", files.len()));
    }
    let count = (refused.len(), files.len());
    let all = refused.join("\n");
    refused
        .is_empty()
        .then_some(())
        .ok_or(format!("{} of {} are refused:\n{all}", count.0, count.1))
}

/// A text without its end is refused, so that the check can fail.
#[expect(clippy::disallowed_methods, reason = "a compiler reads files")]
pub(super) fn finds() -> Result<(), String> {
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let program = build(folder.path())?;
    let cases = cases();
    let (_, path) = write(folder.path(), (0, &cases[0])).swap_remove(0);
    let good = compile(&program, std::slice::from_ref(&path))?;
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    std::fs::write(&path, text.trim_end().trim_end_matches('}')).map_err(|e| e.to_string())?;
    let bad = compile(&program, &[path])?;
    if good.is_empty() && bad.contains("error") { Ok(()) } else { Err(format!("{good}{bad}")) }
}
