//! Compiles the PTX that lanescope brings for machines with NVIDIA's driver and no NVRTC.
//!
//! Input: NVRTC of the version that `embedded::MADE_WITH` names, in a folder that `LANESCOPE_NVRTC`
//! names. Output: the archive and its index in `src/run/cuda/embedded`. Only texts that the archive
//! does not hold are compiled; `--all` compiles every text anew. `--list` says what is stale and
//! writes nothing.
//!
//! ```sh
//! pip install --target nvrtc nvidia-cuda-nvrtc-cu12==12.4.127
//! LANESCOPE_NVRTC=nvrtc/nvidia/cuda_nvrtc/lib cargo run --release -p lab -- embed-ptx
//! ```

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use lanescope::run::cuda::embedded::{
    ARCHITECTURE, ARCHIVE, ENDING, EmbeddedText, FOLDER, INDEX, MADE_WITH, PtxIndex, PtxRow, texts,
    unpack,
};
use lanescope::run::cuda::nvrtc::Nvrtc;
use lzma_rust2::{XzOptions, XzWriter};
use rayon::prelude::*;

use crate::root;

/// How hard the archive is compressed: as far as xz goes, for half a minute, with the bits that suit text.
/// It saves a tenth over the preset.
const PRESET: u32 = 9;
const NICE_LENGTH: u32 = 273;
const DEPTH: i32 = 512;
const LITERAL_CONTEXT_BITS: u32 = 4;
const POSITION_BITS: u32 = 0;

/// How far back a repetition may lie, in bytes: all texts share one prelude, and lie together.
const DICTIONARY_BYTES: u32 = 64 << 20;

/// Compiles the PTX that lanescope brings, where it is stale.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Compile every text anew.
    #[arg(long)]
    all: bool,
    /// Say what is stale, and write nothing.
    #[arg(long)]
    list: bool,
}

#[expect(clippy::disallowed_methods, reason = "writes files of the checkout")]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let folder = root().join(FOLDER);
    let texts = texts()?;
    let index = PtxIndex::from_texts(&texts);
    // What lies in the checkout counts, not what this program was built with.
    let there = std::fs::read(folder.join(ARCHIVE)).ok();
    let mut kept = there.map(|bytes| unpack(&bytes)).transpose()?.unwrap_or_default();
    if arguments.all {
        kept.clear();
    }
    let before = kept.len();
    kept.retain(|key, _| texts.contains_key(key));
    let stale: BTreeMap<&String, &EmbeddedText> =
        texts.iter().filter(|(key, _)| !kept.contains_key(*key)).collect();
    println!(
        "{} of {} texts to compile, {} left over",
        stale.len(),
        texts.len(),
        before - kept.len()
    );
    for text in stale.values() {
        println!("  {}", text.row);
    }
    if arguments.list {
        return Ok(ExitCode::SUCCESS);
    }
    let compiled = compile(&stale)?;
    kept.extend(compiled);
    let archive = pack(&texts, &kept)?;
    std::fs::write(folder.join(ARCHIVE), &archive)?;
    std::fs::write(folder.join(INDEX), index_text(&index))?;
    println!("{}: {} files, {} bytes", folder.join(ARCHIVE).display(), kept.len(), archive.len());
    Ok(ExitCode::SUCCESS)
}

/// The PTX of texts, by key.
fn compile(texts: &BTreeMap<&String, &EmbeddedText>) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    if texts.is_empty() {
        return Ok(BTreeMap::new());
    }
    let compiler = Nvrtc::load()?;
    ensure!(
        compiler.version() == MADE_WITH,
        "NVRTC {MADE_WITH:?} is needed, {} is {:?}",
        compiler.path().display(),
        compiler.version()
    );
    texts
        .par_iter()
        .map(|(key, text)| {
            let image = compiler.compile_for(&text.source, ARCHITECTURE);
            let mut ptx = image.with_context(|| text.row.to_string())?.bytes;
            ptx.retain(|byte| *byte != 0);
            Ok(((*key).clone(), ptx))
        })
        .collect()
}

/// The archive: the same bytes from the same files. Texts of one kernel stand together.
fn pack(
    texts: &BTreeMap<String, EmbeddedText>,
    files: &BTreeMap<String, Vec<u8>>,
) -> anyhow::Result<Vec<u8>> {
    let mut order: Vec<(&String, &EmbeddedText)> = texts.iter().collect();
    order.sort_by_key(|(key, text)| {
        (&text.row.kernel, &text.row.entry_point, text.row.counted, &text.row.form, *key)
    });
    let mut options = XzOptions::with_preset(PRESET);
    let lzma = &mut options.lzma_options;
    lzma.dict_size = DICTIONARY_BYTES;
    (lzma.nice_len, lzma.depth_limit) = (NICE_LENGTH, DEPTH);
    (lzma.lc, lzma.pb) = (LITERAL_CONTEXT_BITS, POSITION_BITS);
    let mut builder = tar::Builder::new(XzWriter::new(Vec::new(), options)?);
    for (key, text) in order {
        let ptx = files.get(key).with_context(|| format!("no PTX of {}", text.row))?;
        let mut header = tar::Header::new_ustar();
        header.set_size(ptx.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, format!("{key}{ENDING}"), ptx.as_slice())?;
    }
    let mut writer = builder.into_inner()?;
    writer.flush()?;
    Ok(writer.finish()?)
}

/// The index as a file: one line a text.
fn index_text(index: &PtxIndex) -> String {
    let mut lines = vec![
        format!(
            "# What {ARCHIVE} holds. Made by `lab embed-ptx`, as docs/contributing/development.md says; never edited."
        ),
        format!("nvrtc = \"{}\"", index.nvrtc),
        format!("architecture = \"{}\"", index.architecture),
        String::new(),
        "[texts]".to_owned(),
    ];
    let mut rows: Vec<_> = index.texts.iter().collect();
    rows.sort_by_key(|(key, row)| (&row.kernel, &row.entry_point, row.counted, &row.form, *key));
    for (key, row) in rows {
        lines.push(format!("\"{key}\" = {}", inline(row)));
    }
    lines.join("\n") + "\n"
}

/// A row on one line, its kernel first.
fn inline(row: &PtxRow) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut fields = vec![format!("kernel = {}", quoted(&row.kernel))];
    fields.extend(row.entry_point.iter().map(|name| format!("entry_point = {}", quoted(name))));
    fields.push(format!("class = {}", toml::Value::from(row.class.clone())));
    fields.extend(row.form.iter().map(|form| format!("form = {}", quoted(form))));
    fields.push(format!("counted = {}", row.counted));
    format!("{{ {} }}", fields.join(", "))
}
